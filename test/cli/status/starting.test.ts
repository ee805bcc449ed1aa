import { describe, expect, it } from "vitest";
import { startingRows, untilStarted } from "../../../src/cli/status/starting.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import type { ServerState } from "../../../src/core/types/server-state.ts";
import type { ServerStatus } from "../../../src/core/types/server-status.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { terminal } from "../harness.ts";
import { status } from "./status.ts";

const error = new PlugboardError("SPAWN_FAILED", "not found", { hint: "install it" });
const ready: ServerState = {
  kind: "ready",
  since: 0,
  startMs: 250.4,
  protocolVersion: "2025-11-25",
  pid: 42,
};
const plain = terminal(60, { NO_COLOR: "1" });

describe("servers that start", () => {
  const clock = new ManualClock();
  const starting: ServerState = { kind: "starting", attempt: 1, since: clock.now() - 1500 };
  const servers = [
    status("a", ready),
    status("b", starting),
    status("c", { kind: "failed", error }),
  ];
  const installing = status("d", { ...starting, installer: "npx" });
  const frame = { spinner: "*", width: 60 };

  it("have a row each, with their start time so far", () => {
    expect(startingRows(servers, { ...frame, height: 10 }, clock, plain)).toEqual([
      "a  ✓ ready     250 ms",
      "b  * starting  1.5 s",
      "c  ✗ failed",
    ]);
  });

  it("say what npx does for them", () => {
    expect(startingRows([installing], { ...frame, height: 10 }, clock, plain)).toEqual([
      "d  * npx is installing it  1.5 s",
    ]);
  });

  it("come first if not all rows fit", () => {
    const [first] = startingRows(servers, { ...frame, height: 2 }, clock, plain);
    expect(first).toBe("b  * starting  1.5 s");
  });
});

describe("the wait for servers", () => {
  const starting: ServerState = { kind: "starting", attempt: 1, since: 0 };

  function waiting(servers: readonly ServerStatus[], leavesCached: boolean) {
    const clock = new ManualClock();
    const states = new Map(servers.map((each) => [each.name, each]));
    const heard = new Set<(event: { server: string; state: ServerState }) => void>();
    const board = {
      status: () => [...states.values()],
      on: (_: string, listener: (event: { server: string; state: ServerState }) => void) => {
        heard.add(listener);
        return () => heard.delete(listener);
      },
    };
    const screen = { live: () => ({ stop() {} }), terminal: plain };
    const context = { screen, clock, signal: new AbortController().signal };
    let isOver = false;
    void untilStarted(board as never, context as never, { leavesCached }).then(() => {
      isOver = true;
    });
    const move = (server: string, state: ServerState): void => {
      states.set(server, status(server, state));
      for (const listener of heard) listener({ server, state });
    };
    const forward = async (ms: number): Promise<boolean> => {
      await clock.advance(ms);
      return isOver;
    };
    return { move, forward, heard };
  }

  const cached = status("cached", starting, { cached: true });
  const other = status("other", starting, { cached: true });
  const unknown = status("unknown", starting);

  it("goes on until all have started", async () => {
    const { move, forward, heard } = waiting([cached, unknown], false);
    move("unknown", ready);
    expect(await forward(60_000)).toBe(false);
    move("cached", ready);
    expect(await forward(0)).toBe(true);
    expect(heard.size).toBe(0);
  });

  it("leaves those behind that earlier runs know, once nothing has moved for 5 s", async () => {
    const { move, forward, heard } = waiting([cached, other, unknown], true);
    expect(await forward(60_000)).toBe(false);
    move("unknown", ready);
    expect(await forward(4000)).toBe(false);
    move("other", ready);
    expect(await forward(4000)).toBe(false);
    expect(await forward(1000)).toBe(true);
    expect(heard.size).toBe(0);
  });
});
