import { describe, expect, it } from "vitest";
import { compose } from "../../../src/core/guard/compose.ts";
import type { Stage } from "../../../src/core/types/guard.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { callOf, OUTCOME, subject, calleeOf } from "./subjects.ts";

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
    const callee = calleeOf(async () => {
      trace.push("call");
      return OUTCOME;
    });
    const chain = compose([tracing("a", trace), tracing("b", trace)], callee, clock);
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
    const callee = calleeOf(async () => raise("called"));
    const refused = compose(stages, callee, clock)(callOf(SUBJECT));
    await expect(refused).rejects.toThrow("no");
    expect(trace).toEqual(["> a", "! a"]);
  });

  it("hear of a call that fails, the innermost first", async () => {
    const trace: string[] = [];
    const stages = [tracing("a", trace), {}, tracing("b", trace)];
    const failing = compose(
      stages,
      calleeOf(async () => raise("gone")),
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
      calleeOf(async () => OUTCOME),
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
      calleeOf(async () => raise("gone")),
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
      calleeOf(async () => OUTCOME),
      clock,
    );
    expect(await chain(callOf(SUBJECT))).toEqual({ ...OUTCOME, isError: true });
  });

  it("let a call wait one after another, and share a reading of the clock after that", async () => {
    const call = callOf(SUBJECT, { started: clock.monotonic(), now: clock.monotonic() });
    const waited: number[] = [];
    const since = (): void => void waited.push(call.now - call.started);
    const waiting: Stage = { before: () => clock.advance(10), after: (_, each) => (since(), each) };
    const callee = calleeOf(async () => {
      since();
      await clock.advance(5);
      return OUTCOME;
    });
    await compose([waiting, waiting], callee, clock)(call);
    expect(waited).toEqual([20, 25, 25]);
  });

  it.each<[string, Stage]>([
    ["refuses it after a wait", { before: () => clock.advance(10).then(() => raise("no")) }],
    ["changes its outcome", { after: (_, outcome) => clock.advance(10).then(() => outcome) }],
  ])("know how long a call took when one of them %s", async (_, slow) => {
    const call = callOf(SUBJECT, { started: clock.monotonic(), now: clock.monotonic() });
    let took = 0;
    const measuring: Stage = {
      after: ({ now, started }, outcome) => ((took = now - started), outcome),
      failed: ({ now, started }) => ((took = now - started), OUTCOME),
    };
    await compose(
      [measuring, slow],
      calleeOf(async () => OUTCOME),
      clock,
    )(call);
    expect(took).toBe(10);
  });
});

describe("a callee", () => {
  it("makes an outcome of its own failures, in sending and in reading the answer", async () => {
    const failed = () => OUTCOME;
    const sending = { send: () => raise("unsent"), received: () => raise("unread"), failed };
    const reading = { ...sending, send: async () => "answer" };
    for (const callee of [sending, reading]) {
      expect(await compose([], callee, clock)(callOf(SUBJECT))).toBe(OUTCOME);
    }
  });
});

function raise(message: string): never {
  throw new Error(message);
}

describe("a call that somebody watches", () => {
  const waiting =
    (ms: number): Stage["before"] =>
    () =>
      clock.advance(ms);
  const watched = (): ReturnType<typeof callOf> =>
    callOf(SUBJECT, { timeline: { steps: [], redacted: [] }, started: clock.monotonic() });

  it("notes what each stage and the tool took, and goes the same way", async () => {
    const trace: string[] = [];
    const stages: Stage[] = [
      tracing("outermost", trace),
      { ...tracing("a", trace), name: "rules" },
      { name: "approval", before: waiting(30) },
    ];
    const callee = calleeOf(async () => {
      await clock.advance(5);
      return OUTCOME;
    });
    const call = watched();
    expect(await compose(stages, callee, clock)(call)).toBe(OUTCOME);
    expect(trace).toEqual(["> outermost", "> a", "< a", "< outermost"]);
    expect(call.timeline?.steps).toEqual([
      { stage: "rules", half: "before", at: 0, ms: 0 },
      { stage: "approval", half: "before", at: 0, ms: 30 },
      { stage: "the tool", half: "call", at: 30, ms: 5 },
      { stage: "rules", half: "after", at: 35, ms: 0 },
    ]);
  });

  it("has the stage that refuses it in its timeline", async () => {
    const call = watched();
    const refusing: Stage = { name: "rules", before: () => raise("no") };
    const chain = compose(
      [refusing],
      calleeOf(async () => OUTCOME),
      clock,
    );
    await expect(chain(call)).rejects.toThrow("no");
    expect(call.timeline?.steps.map(({ stage }) => stage)).toEqual(["rules"]);
  });
});
