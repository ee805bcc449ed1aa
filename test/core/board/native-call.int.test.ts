// Calls of the host's own tools: what they get, and when they end.

import { describe, expect, it } from "vitest";
import type { BoardOptions } from "../../../src/core/types/board-options.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import type { CallOutcome, NativeTool, NativeToolResult } from "../../../src/core/types/tool.ts";
import { closeBoards, open, textOf } from "../../support/boards.ts";
import { recordingLogger } from "../../support/logger.ts";
import { ManualClock, settle } from "../../support/manual-clock.ts";

closeBoards();

const done: NativeToolResult = { content: [{ type: "text", text: "done" }] };

function tool(more: Partial<NativeTool> = {}): NativeTool {
  const execute = (): NativeToolResult => done;
  return { name: "own", description: "", parameters: { type: "object" }, execute, ...more };
}

/** A tool that never ends, and what it was called with. */
function hanging(more: Partial<NativeTool> = {}) {
  const signals: (AbortSignal | undefined)[] = [];
  const updates: ((message: string) => void)[] = [];
  const execute: NativeTool["execute"] = (_id, _args, signal, onUpdate) => {
    signals.push(signal);
    updates.push((message) => onUpdate?.({ content: [{ type: "text", text: message }] }));
    return new Promise(() => {});
  };
  return { native: tool({ execute, ...more }), signals, updates };
}

describe("arguments", () => {
  const parameters: JsonObject = {
    type: "object",
    properties: {
      path: { type: "string", pattern: "^/" },
      at: { type: "object", properties: { line: { type: "integer" } }, required: ["line"] },
      mode: { oneOf: [{ const: "a" }, { const: "b" }] },
    },
    required: ["path"],
    additionalProperties: false,
  };

  it.each<[string, JsonObject, string | undefined]>([
    ["that fit", { path: "/a", at: { line: 1 }, mode: "a" }, undefined],
    ["with a key without a value", { path: "/a", mode: undefined, extra: undefined }, undefined],
    ["with a value that becomes JSON", { path: new URL("file:///a").pathname }, undefined],
    ["without one that is required", {}, "path: missing, expected string"],
    ["of another type", { path: 1 }, "path: expected string, got 1"],
    [
      "with one that there is not",
      { path: "/a", paht: 1 },
      "there is no parameter 'paht'; did you mean 'path'?",
    ],
    [
      "with another within",
      { path: "/a", at: { line: "1" } },
      'at.line: expected integer, got "1"',
    ],
    ["that break a pattern", { path: "a" }, '/path must match pattern "^/"'],
  ])("%s", async (_, args, problem) => {
    let calls = 0;
    const asked: JsonObject[] = [];
    const execute = (): NativeToolResult => {
      calls += 1;
      return done;
    };
    const board = await open(
      {},
      {
        native: [tool({ parameters, execute })],
        onApproval: (request) => {
          asked.push(request.args);
          return "once";
        },
      },
    );
    const outcome = await board.call("own", args);
    expect(calls).toBe(problem === undefined ? 1 : 0);
    expect(outcome.failure?.code).toBe(problem === undefined ? undefined : "INVALID_ARGUMENTS");
    if (problem !== undefined) {
      expect(textOf(outcome)).toBe(
        `native/own was not called, because its arguments do not fit: ${problem}`,
      );
    }
  });

  it("nobody is asked about a call that cannot be made", async () => {
    const onApproval = (): never => {
      throw new Error("was asked");
    };
    const { openBoard } = await import("../../../src/core/board/board.ts");
    const board = await openBoard(
      { approval: "ask", servers: {} },
      { native: [tool({ parameters })], onApproval },
    );
    const { failure } = await board.call("own", {});
    await board.close();
    expect(failure?.code).toBe("INVALID_ARGUMENTS");
  });

  it("are not checked against a schema that makes no sense, and the log says so once", async () => {
    const logger = recordingLogger();
    const odd = tool({ parameters: { type: "object", $ref: "https://example.com/schema" } });
    const board = await open({}, { native: [odd], logger });
    expect(textOf(await board.call("own", { any: 1 }))).toBe("done");
    expect(textOf(await board.call("own", { any: 1 }))).toBe("done");
    const said = logger.lines.filter(({ message }) => message.includes("are not checked against"));
    expect(said).toHaveLength(1);
  });
});

describe("a tool that does not end", () => {
  async function calling(
    native: NativeTool,
    more: BoardOptions & { signal?: AbortSignal } = {},
  ): Promise<{ clock: ManualClock; outcome: Promise<CallOutcome>; told: string[] }> {
    const { signal, ...options } = more;
    const clock = new ManualClock();
    const board = await open({}, { clock, native: [native], ...options });
    const told: string[] = [];
    const onUpdate = (update: { content: CallOutcome["content"] }): void =>
      void told.push(textOf(update));
    const outcome = board.call("own", {}, { ...(signal && { signal }), onUpdate });
    // The stages of the guard are loaded with the first call.
    while (clock.next() === undefined && native.toolTimeout !== false) await settle();
    return { clock, outcome, told };
  }

  it.each<[string, number, Partial<NativeTool>, BoardOptions]>([
    ["after a minute", 60_000, {}, {}],
    ["after the time of the board", 5000, {}, { defaultToolTimeout: 5000 }],
    ["after a time of its own", 2000, { toolTimeout: 2000 }, { defaultToolTimeout: 5000 }],
  ])("is given up %s", async (_, ms, more, options) => {
    const { native, signals } = hanging(more);
    const { clock, outcome } = await calling(native, options);
    await clock.advance(ms - 1);
    expect(signals.map((each) => each?.aborted)).toEqual([false]);
    await clock.advance(1);
    expect((await outcome).failure).toEqual({
      code: "TIMEOUT",
      message: `'own' did not end within ${ms / 1000} s, and may have taken effect`,
      mayHaveRun: true,
    });
    expect(signals[0]?.reason).toMatchObject({ name: "TimeoutError" });
  });

  it("has more time after each update, and none is heard of it afterwards", async () => {
    const { native, updates } = hanging();
    const { clock, outcome, told } = await calling(native);
    await clock.advance(50_000);
    updates[0]?.("half");
    await clock.advance(59_000);
    updates[0]?.("nearly");
    await clock.advance(60_000);
    expect((await outcome).failure?.code).toBe("TIMEOUT");
    updates[0]?.("late");
    expect(told).toEqual(["half", "nearly"]);
  });

  it("ends with the caller's signal, and gets its reason", async () => {
    const { native, signals } = hanging();
    const caller = new AbortController();
    const { outcome } = await calling(native, { signal: caller.signal });
    const reason = new Error("enough");
    caller.abort(reason);
    expect((await outcome).failure).toMatchObject({ code: "CANCELLED", mayHaveRun: true });
    expect(signals[0]?.reason).toBe(reason);
  });

  it("ends by itself if it says so", async () => {
    let answer: (result: NativeToolResult) => void = () => {};
    const execute = (): Promise<NativeToolResult> =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const { clock, outcome } = await calling(tool({ execute, toolTimeout: false }));
    await clock.advance(3_600_000);
    answer(done);
    expect(textOf(await outcome)).toBe("done");
  });
});
