import { describe, expect, it } from "vitest";
import { liveView } from "../../../src/cli/up/live-view.ts";
import { Clients } from "../../../src/serve/gateway/monitoring/clients.ts";
import { Tally } from "../../../src/serve/gateway/monitoring/tally.ts";
import type { BoardEvents } from "../../../src/core/types/events.ts";
import type { ServerState } from "../../../src/core/types/server-state.ts";
import { Emitter } from "../../../src/util/emitter.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { terminal } from "../harness.ts";

const READY: ServerState = { kind: "ready", since: 0, startMs: 1, protocolVersion: "1" };

function view(servers: [agent: string, name: string][], env: Record<string, string> = {}) {
  const clock = new ManualClock();
  const tally = new Tally();
  const board = new Emitter<BoardEvents>(() => {});
  tally.watch("default", board, () => true);
  const clients = new Clients(clock);
  clients.seen({ id: "1", label: "a" }, "default", { name: "c" });
  const stop = new AbortController();
  const attached = { total: 0 };
  const calls = { total: 0, failed: 0, inFlight: 2 };
  const monitoring = {
    tally,
    clients,
    since: clock.now(),
    status: () => ({ sessions: { total: 3 }, attached }) as never,
    servers: () =>
      servers.map(([agent, name]) => ({
        agent,
        status: { name, state: READY, calls, restarts: 1 } as never,
      })),
  };
  const render = liveView(monitoring, "http://127.0.0.1:1/mcp", {
    clock,
    screen: { terminal: terminal(100, env) } as never,
    signal: stop.signal,
  });
  const call = (times: number, durationMs: number, isError = false): void => {
    const source = { kind: "mcp", server: "files", tool: "t" } as const;
    for (let at = 0; at < times; at += 1) {
      board.emit("call", { callId: "1", tool: "files__t", source, durationMs, isError });
    }
  };
  const draw = (width = 99): string[] => render({ spinner: "", width, height: 20 });
  return { clock, call, draw, stop, attached };
}

describe("the live view", () => {
  const plain = { NO_COLOR: "1" };

  it("shows rates and medians of the last seconds, and errors of all", async () => {
    const { clock, call, draw } = view([["default", "files"]], plain);
    draw();
    call(20, 100, true);
    await clock.advance(5000);
    draw();
    await clock.advance(20_000);
    draw();
    call(50, 3);
    await clock.advance(10_000);
    const [head, titles, row] = draw();
    expect(head).toBe("http://127.0.0.1:1/mcp · 1 client · 3 sessions · up 35 s");
    expect(titles?.split(/ {2,}/)).toEqual(
      "server,state,calls/s,p50,errors,in flight,restarts,calls".split(","),
    );
    expect(row?.split(/ {2,}/)).toEqual([
      "files",
      "✓ ready",
      "5.0",
      "2.9 ms",
      "20",
      "2",
      "1",
      "70",
    ]);
  });

  it("keeps the name and the state where there is little room", () => {
    const { draw } = view([["default", "files"]], plain);
    expect(draw(20)).toEqual(["http://127.0.0.1:1/…", "server  state", "files   ✓ ready"]);
  });

  it("names the agents where there are several, the commands that are attached, and says that it stops", () => {
    const { draw, stop, attached } = view(
      [
        ["default", "files"],
        ["other", "files"],
      ],
      { ...plain, TERM: "linux" },
    );
    stop.abort();
    attached.total = 2;
    const [head, , ...rows] = draw();
    expect(head).toBe(
      "http://127.0.0.1:1/mcp, 1 client, 3 sessions, 2 attached commands, stopping",
    );
    expect(rows.map((row) => row.split(/ {2,}/)[0])).toEqual(["default/files", "other/files"]);
  });

  it("says so where there are no servers", () => {
    expect(view([], plain).draw()[1]).toBe("no servers are configured");
  });

  it("has colours only where they are wanted", () => {
    expect(
      view([["default", "files"]], plain)
        .draw()
        .join(""),
    ).not.toContain("\u001b");
    expect(
      view([["default", "files"]])
        .draw()
        .join(""),
    ).toContain("\u001b[32m✓ ready");
  });
});
