import { describe, expect, it } from "vitest";
import {
  BOUNDS_MS,
  classesOf,
  countDuration,
  quantileMs,
  NATIVE,
  newDurations,
  OTHER_TOOLS,
  Tally,
} from "../../../../src/serve/gateway/monitoring/tally.ts";
import { PlugboardError } from "../../../../src/core/types/errors.ts";
import type { BoardEvents, CallEvent } from "../../../../src/core/types/events.ts";
import type { ServerState } from "../../../../src/core/types/server-state.ts";
import { Emitter } from "../../../../src/util/emitter.ts";

function watched(isOwn: (server: string) => boolean = () => true) {
  const tally = new Tally();
  const board = new Emitter<BoardEvents>((error) => {
    throw error;
  });
  const off = tally.watch("default", board, isOwn);
  const call = (tool: string, more: Partial<CallEvent> = {}): void =>
    board.emit("call", {
      callId: "1",
      tool: `s__${tool}`,
      source: { kind: "mcp", server: "s", tool },
      durationMs: 3,
      isError: false,
      ...more,
    });
  return { tally, board, off, call };
}

describe("the tally", () => {
  it("counts calls, durations and errors by tool", () => {
    const { tally, call, off } = watched();
    call("read");
    call("read", { durationMs: 40 });
    call("read", { isError: true, failure: { code: "TIMEOUT", message: "late" } });
    call("read", { isError: true });
    call("own", { source: { kind: "native" }, tool: "own", durationMs: 400_000 });
    off();
    call("read");
    expect(tally.tools).toMatchObject([
      { agent: "default", server: "s", tool: "read", calls: 4, totalMs: 49 },
      { agent: "default", server: NATIVE, tool: "own", calls: 1 },
    ]);
    const [read, own] = tally.tools;
    expect([...(read?.errors ?? [])]).toEqual([
      ["TIMEOUT", 1],
      ["TOOL_ERROR", 1],
    ]);
    const classes = classesOf(read?.durations ?? []);
    expect(classes[BOUNDS_MS.indexOf(5)]).toBe(3);
    expect(classes[BOUNDS_MS.indexOf(50)]).toBe(1);
    // Longer than every bound.
    expect(classesOf(own?.durations ?? []).at(-1)).toBe(1);
  });

  it("adds up the boards of an agent's sessions", () => {
    const { tally, call } = watched();
    call("read");
    const session = new Emitter<BoardEvents>(() => {});
    tally.watch("default", session, () => false);
    const source = { kind: "mcp", server: "s", tool: "read" } as const;
    session.emit("call", { callId: "2", tool: "s__read", source, durationMs: 1, isError: false });
    expect(tally.tools).toMatchObject([{ tool: "read", calls: 2 }]);
  });

  it("counts tools beyond the first few hundred together", () => {
    const { tally, call } = watched();
    for (let at = 0; at < 1000; at += 1) call(`tool_${at}`);
    call("tool_0");
    call("tool_999");
    expect(tally.tools).toHaveLength(301);
    expect(tally.tools.at(-1)).toMatchObject({ server: "s", tool: OTHER_TOOLS, calls: 701 });
    expect(tally.tools.reduce((sum, { calls }) => sum + calls, 0)).toBe(1002);
  });

  it("tells crashes from starts that failed", () => {
    const { tally, board } = watched((server) => server === "s");
    const error = new PlugboardError("CONNECTION_CLOSED", "gone");
    const ready: ServerState = { kind: "ready", since: 0, startMs: 1, protocolVersion: "1" };
    const starting: ServerState = { kind: "starting", attempt: 1, since: 0 };
    const backoff: ServerState = { kind: "backoff", attempt: 2, retryAt: 0, error };
    const moves: [ServerState, ServerState][] = [
      [starting, ready],
      [ready, backoff],
      [backoff, starting],
      [starting, backoff],
      [starting, { kind: "failed", error }],
      [ready, { kind: "stopping" }],
    ];
    for (const [previous, state] of moves) board.emit("server", { server: "s", state, previous });
    board.emit("server", { server: "of-the-agent", state: backoff, previous: ready });
    expect(tally.servers).toEqual([{ agent: "default", server: "s", crashes: 1, failedStarts: 2 }]);
  });
});

describe("the median", () => {
  const counted = (...all: [ms: number, count: number][]): Float64Array => {
    const durations = newDurations();
    for (const [ms, count] of all) {
      for (let at = 0; at < count; at += 1) countDuration(durations, ms);
    }
    return durations;
  };

  it("of no calls is not known", () => expect(quantileMs(newDurations(), 0.5)).toBeUndefined());

  it.each<[string, Float64Array, least: number, most: number]>([
    ["is near what callers saw", counted([52, 100]), 50, 56.25],
    ["has the upper bound of its part", counted([10, 4]), 9.375, 10],
    ["leaves out the slow half", counted([10, 9], [1000, 1]), 9.375, 10],
    ["may be no time at all", counted([0, 4]), 0, 0.125],
    ["of calls beyond every bound is the last bound", counted([1e6, 3]), 300_000, 300_000],
  ])("%s", (_, durations, least, most) => {
    expect(quantileMs(durations, 0.5)).toBeGreaterThanOrEqual(least);
    expect(quantileMs(durations, 0.5)).toBeLessThanOrEqual(most);
  });
});
