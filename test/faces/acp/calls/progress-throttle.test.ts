// How often a call's progress is told.

import { expect, it } from "vitest";
import { Pace } from "../../../../src/faces/acp/calls/progress-throttle.ts";
import { isOver } from "../../../../src/faces/acp/calls/tool-calls.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const progress = (toolCallId: string, title: string) => ({
  sessionUpdate: "tool_call_update" as const,
  toolCallId,
  title,
});

function paced() {
  const clock = new ManualClock();
  const told: unknown[] = [];
  const pace = new Pace(clock, ({ title }) => told.push(title));
  return { clock, told, pace };
}

it("the first is told at once, and then the latest after a moment, each call by itself", async () => {
  const { clock, told, pace } = paced();
  for (const title of ["a1", "a2", "a3"]) pace.add(progress("a", title));
  pace.add(progress("b", "b1"));
  expect(told).toEqual(["a1", "b1"]);
  await clock.advance(99);
  expect(told).toEqual(["a1", "b1"]);
  await clock.advance(1);
  expect(told).toEqual(["a1", "b1", "a3"]);
  pace.add(progress("b", "b2"));
  pace.add(progress("a", "a4"));
  expect(told).toEqual(["a1", "b1", "a3", "b2"]);
  await clock.advance(1000);
  expect(told).toEqual(["a1", "b1", "a3", "b2", "a4"]);
  expect(clock.next()).toBeUndefined();
});

it("nothing is told of a call that has ended, nor of any when it is closed", async () => {
  const { clock, told, pace } = paced();
  for (const id of ["a", "b"]) for (const n of [1, 2]) pace.add(progress(id, `${id}${n}`));
  pace.end("a");
  pace.close();
  await clock.advance(1000);
  expect(told).toEqual(["a1", "b1"]);
});

it.each([
  ["completed", true],
  ["failed", true],
  ["in_progress", false],
  ["pending", false],
  [undefined, false],
] as const)("%s is the end of a call: %s", (status, over) => {
  expect(isOver(status)).toBe(over);
});
