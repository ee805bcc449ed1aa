import { describe, expect, it } from "vitest";
import {
  BOUNDS_MS,
  medianMs,
  NATIVE,
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
    expect(read?.durations[BOUNDS_MS.indexOf(5)]).toBe(3);
    expect(read?.durations[BOUNDS_MS.indexOf(50)]).toBe(1);
    // Longer than every bound.
    expect(own?.durations.at(-1)).toBe(1);
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
  const classes = (...at: [bound: number, count: number][]): number[] => {
    const counts = BOUNDS_MS.map(() => 0);
    for (const [bound, count] of at) counts[BOUNDS_MS.indexOf(bound as never)] = count;
    return [...counts, 0];
  };

  it.each<[string, number[], number | undefined]>([
    ["of no calls is not known", classes(), undefined],
    ["lies within its class", classes([10, 4]), 7.5],
    ["leaves out the slow half", classes([10, 9], [1000, 1]), 5 + (5 * 5) / 9],
    ["of calls beyond every bound is the last bound", [...BOUNDS_MS.map(() => 0), 3], 300_000],
  ])("%s", (_, durations, median) => {
    expect(medianMs(durations)).toEqual(median);
  });
});
