// How often a call's progress is sent.

import { expect, it } from "vitest";
import { ProgressThrottle } from "../../../../src/agent/acp/calls/progress-throttle.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const progress = (toolCallId: string, title: string) => ({
  sessionUpdate: "tool_call_update" as const,
  toolCallId,
  title,
});

function throttled() {
  const clock = new ManualClock();
  const sent: unknown[] = [];
  const throttle = new ProgressThrottle(clock, ({ title }) => sent.push(title));
  return { clock, sent, throttle };
}

it("the first update is sent at once, then the latest after an interval, for each call by itself", async () => {
  const { clock, sent, throttle } = throttled();
  for (const title of ["a1", "a2", "a3"]) throttle.add(progress("a", title));
  throttle.add(progress("b", "b1"));
  expect(sent).toEqual(["a1", "b1"]);
  await clock.advance(99);
  expect(sent).toEqual(["a1", "b1"]);
  await clock.advance(1);
  expect(sent).toEqual(["a1", "b1", "a3"]);
  throttle.add(progress("b", "b2"));
  throttle.add(progress("a", "a4"));
  expect(sent).toEqual(["a1", "b1", "a3", "b2"]);
  await clock.advance(1000);
  expect(sent).toEqual(["a1", "b1", "a3", "b2", "a4"]);
  expect(clock.next()).toBeUndefined();
});

it("nothing is sent for a call that has ended, nor for any after it is closed", async () => {
  const { clock, sent, throttle } = throttled();
  for (const id of ["a", "b"]) for (const n of [1, 2]) throttle.add(progress(id, `${id}${n}`));
  throttle.end("a");
  throttle.close();
  await clock.advance(1000);
  expect(sent).toEqual(["a1", "b1"]);
});
