import { describe, expect, it } from "vitest";
import { compose } from "../../src/board/call-stages.ts";
import type { Next, StageFor } from "../../src/model/guard.ts";
import { callOf, OUTCOME, subject } from "../guard/subjects.ts";

const SUBJECT = subject("docs/read");

/** A stage that writes down when it is entered and left. */
function tracing(name: string, trace: string[]): StageFor {
  return () => async (call, next) => {
    trace.push(`> ${name}`);
    const outcome = await next(call);
    trace.push(`< ${name}`);
    return outcome;
  };
}

describe("stages", () => {
  it("are around the call in their order, the first outermost", async () => {
    const trace: string[] = [];
    const last: Next = async () => {
      trace.push("call");
      return OUTCOME;
    };
    const chain = compose([tracing("a", trace), tracing("b", trace)], SUBJECT, last);
    expect(await chain(callOf(SUBJECT))).toBe(OUTCOME);
    expect(trace).toEqual(["> a", "> b", "call", "< b", "< a"]);
  });

  it("cost nothing where there is none to do", () => {
    const last: Next = async () => OUTCOME;
    expect(compose([], SUBJECT, last)).toBe(last);
    expect(compose([() => undefined, () => undefined], SUBJECT, last)).toBe(last);
  });

  it("are made once, for the tool", async () => {
    const made: string[] = [];
    const stageFor: StageFor = ({ canonical }) => {
      made.push(canonical);
      return (call, next) => next(call);
    };
    const chain = compose([stageFor], SUBJECT, async () => OUTCOME);
    await chain(callOf(SUBJECT));
    await chain(callOf(SUBJECT));
    expect(made).toEqual(["docs/read"]);
  });

  it("may refuse without the call being made", async () => {
    let calls = 0;
    const refusing: StageFor = () => () => Promise.reject(new Error("no"));
    const chain = compose([refusing], SUBJECT, async () => {
      calls += 1;
      return OUTCOME;
    });
    await expect(chain(callOf(SUBJECT))).rejects.toThrow("no");
    expect(calls).toBe(0);
  });

  it("may pass on another call and another outcome", async () => {
    const changing: StageFor = () => async (call, next) => {
      const outcome = await next({ ...call, args: { changed: true } });
      return { ...outcome, isError: true };
    };
    const chain = compose([changing], SUBJECT, async ({ args }) => ({
      content: [],
      structuredContent: args,
    }));
    expect(await chain(callOf(SUBJECT))).toEqual({
      content: [],
      structuredContent: { changed: true },
      isError: true,
    });
  });
});
