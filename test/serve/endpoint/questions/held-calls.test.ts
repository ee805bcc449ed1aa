// A call that is held until its client comes back with answers, and how many each caller has of them.

import { expect, it } from "vitest";
import { HeldCall, HeldCalls } from "../../../../src/serve/endpoint/questions/held-calls.ts";
import { LightSignal } from "../../../../src/util/abort.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const open = new AbortController().signal;

it("a call that carries the question of another is over only when that is answered", async () => {
  let answered: Promise<unknown> | undefined;
  const held = new HeldCall(async (ask) => {
    answered = ask("elicitation/create", { message: "Your name?" }, open);
    return { result: { content: [] } };
  });
  const signal = new LightSignal();
  const request = { method: "elicitation/create", params: { message: "Your name?" } };
  expect(await held.next(signal)).toEqual({ kind: "asks", requests: { "question-1": request } });
  held.respond({ "question-1": { action: "accept" } });
  expect(await answered).toEqual({ result: { action: "accept" } });
  expect(await held.next(signal)).toEqual({ kind: "ended", answer: { result: { content: [] } } });
});

it.each<[string, boolean, number, number]>([
  ["a caller holds 32 calls, whatever the others hold", false, 32, 32],
  ["a client that makes the calls of many holds what they hold", true, 40, 40],
])("%s", async (_, isForMany, mine, others) => {
  const clock = new ManualClock();
  let ids = 0;
  const held = new HeldCalls(clock, () => String((ids += 1)), isForMany);
  const call = (): HeldCall => new HeldCall(async () => ({ result: {} }));
  const hold = (caller: string): string[] =>
    Array.from({ length: 40 }, () => held.hold(call(), caller)).filter((id) => id !== undefined);
  const [first = "", ...more] = hold("me");
  expect([more.length + 1, hold("another").length]).toEqual([mine, others]);
  expect(held.take(first, "another")).toBeUndefined();
  expect(held.take(first, "me")).toBeDefined();
  expect(held.hold(call(), "me")).toBeDefined();
  // Nobody has come back for any of them.
  await clock.advance(600_000);
  expect(hold("me")).toHaveLength(mine);
  held.close();
});
