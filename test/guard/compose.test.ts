import { describe, expect, it } from "vitest";
import { compose } from "../../src/guard/compose.ts";
import type { Stage } from "../../src/model/guard.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { callOf, OUTCOME, subject, targetOf } from "./subjects.ts";

const SUBJECT = subject("docs/read");
const clock = new ManualClock();

/** A stage that writes down when it is entered and left. */
function tracing(name: string, trace: string[]): Stage {
  return {
    before: () => void trace.push(`> ${name}`),
    after(_, outcome) {
      trace.push(`< ${name}`);
      return outcome;
    },
    failed(_, error) {
      trace.push(`! ${name}`);
      throw error;
    },
  };
}

describe("stages", () => {
  it("are around the call in their order, the first outermost", async () => {
    const trace: string[] = [];
    const target = targetOf(async () => {
      trace.push("call");
      return OUTCOME;
    });
    const chain = compose([tracing("a", trace), tracing("b", trace)], target, clock);
    expect(await chain(callOf(SUBJECT))).toBe(OUTCOME);
    expect(trace).toEqual(["> a", "> b", "call", "< b", "< a"]);
  });

  it.each<[string, Stage["before"]]>([
    ["at once", () => raise("no")],
    ["after a wait", () => Promise.reject(new Error("no"))],
  ])("may refuse %s: the call is not made, and those around hear of it", async (_, before) => {
    const trace: string[] = [];
    const refusing: Stage = { ...tracing("refusing", trace), before };
    const stages = [tracing("a", trace), refusing, tracing("inner", trace)];
    const target = targetOf(async () => raise("called"));
    const refused = compose(stages, target, clock)(callOf(SUBJECT));
    await expect(refused).rejects.toThrow("no");
    expect(trace).toEqual(["> a", "! a"]);
  });

  it("hear of a call that fails, the innermost first", async () => {
    const trace: string[] = [];
    const stages = [tracing("a", trace), {}, tracing("b", trace)];
    const failing = compose(
      stages,
      targetOf(async () => raise("gone")),
      clock,
    );
    await expect(failing(callOf(SUBJECT))).rejects.toThrow("gone");
    expect(trace).toEqual(["> a", "> b", "! b", "! a"]);
  });

  it.each<[string, Stage["after"]]>([
    ["at once", () => raise("bad")],
    ["after a wait", () => Promise.reject(new Error("bad"))],
  ])("may fail after the call, %s: those around hear of it", async (_, after) => {
    const trace: string[] = [];
    const stages = [tracing("a", trace), { ...tracing("b", trace), after }];
    const failing = compose(
      stages,
      targetOf(async () => OUTCOME),
      clock,
    );
    await expect(failing(callOf(SUBJECT))).rejects.toThrow("bad");
    expect(trace).toEqual(["> a", "> b", "! a"]);
  });

  it("may make an outcome of a failure: for those around, the call has succeeded", async () => {
    const trace: string[] = [];
    const stages = [tracing("a", trace), { failed: () => OUTCOME }];
    const chain = compose(
      stages,
      targetOf(async () => raise("gone")),
      clock,
    );
    expect(await chain(callOf(SUBJECT))).toBe(OUTCOME);
    expect(trace).toEqual(["> a", "< a"]);
  });

  it.each<[string, Stage["after"]]>([
    ["at once", (_, outcome) => ({ ...outcome, isError: true })],
    ["after a wait", async (_, outcome) => ({ ...outcome, isError: true })],
  ])("may change the outcome, %s", async (_, after) => {
    const chain = compose(
      [{ after }],
      targetOf(async () => OUTCOME),
      clock,
    );
    expect(await chain(callOf(SUBJECT))).toEqual({ ...OUTCOME, isError: true });
  });

  it("let a call wait one after another, and share a reading of the clock after that", async () => {
    const call = callOf(SUBJECT, { started: clock.monotonic(), now: clock.monotonic() });
    const waited: number[] = [];
    const since = (): void => void waited.push(call.now - call.started);
    const waiting: Stage = { before: () => clock.advance(10), after: (_, each) => (since(), each) };
    const target = targetOf(async () => {
      since();
      await clock.advance(5);
      return OUTCOME;
    });
    await compose([waiting, waiting], target, clock)(call);
    expect(waited).toEqual([20, 25, 25]);
  });
});

describe("a target", () => {
  it("makes an outcome of its own failures, in sending and in reading the answer", async () => {
    const failed = () => OUTCOME;
    const sending = { send: () => raise("unsent"), received: () => raise("unread"), failed };
    const reading = { ...sending, send: async () => "answer" };
    for (const target of [sending, reading]) {
      expect(await compose([], target, clock)(callOf(SUBJECT))).toBe(OUTCOME);
    }
  });
});

function raise(message: string): never {
  throw new Error(message);
}
