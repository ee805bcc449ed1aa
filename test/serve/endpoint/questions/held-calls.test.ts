// A call that is held until its client comes back with answers.

import { expect, it } from "vitest";
import { HeldCall } from "../../../../src/serve/endpoint/questions/held-calls.ts";
import { LightSignal } from "../../../../src/util/abort.ts";

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
