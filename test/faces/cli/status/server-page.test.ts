import { describe, expect, it } from "vitest";
import { serverPage } from "../../../../src/faces/cli/status/server-page.ts";
import {
  stateCell,
  stateNotes,
  stateToJson,
} from "../../../../src/faces/cli/status/server-state.ts";
import { startingRows } from "../../../../src/faces/cli/status/starting.ts";
import { PlugboardError } from "../../../../src/model/errors.ts";
import type { ServerState } from "../../../../src/model/server-state.ts";
import type { ServerStatus } from "../../../../src/model/server-status.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { terminal } from "../harness.ts";

const NOW = 1_000_000;
const error = new PlugboardError("SPAWN_FAILED", "not found", { hint: "install it" });
const ready: ServerState = {
  kind: "ready",
  since: NOW,
  startMs: 250.4,
  protocolVersion: "2025-11-25",
  pid: 42,
};
const backoff: ServerState = { kind: "backoff", attempt: 2, of: 5, retryAt: NOW + 3000, error };

function status(name: string, state: ServerState, more: Partial<ServerStatus> = {}): ServerStatus {
  return {
    name,
    origin: "defaults",
    transport: "stdio",
    target: "node server.js",
    state,
    tools: 2,
    cached: false,
    available: true,
    restarts: 0,
    calls: { total: 0, failed: 0, inFlight: 0 },
    diagnostics: [],
    stderr: [],
    ...more,
  };
}

const plain = terminal(60, { NO_COLOR: "1" });

describe("a state", () => {
  it.each<[ServerState, string, string, string[]]>([
    [{ kind: "disabled" }, "○ disabled", "- disabled", []],
    [{ kind: "untrusted", remedy: "trust it" }, "! untrusted", "! untrusted", ["trust it"]],
    [{ kind: "idle" }, "○ idle", "- idle", []],
    [
      { kind: "starting", attempt: 1, since: 0 },
      "◌ starting",
      "~ starting",
      ["still starting; it did not become ready in time"],
    ],
    [ready, "✓ ready", "+ ready", []],
    [backoff, "↻ restarting", "~ restarting", ["not found", "hint: install it"]],
    [
      { kind: "needs-auth", remedy: "sign in" },
      "! sign-in required",
      "! sign-in required",
      ["sign in"],
    ],
    [{ kind: "failed", error }, "✗ failed", "x failed", ["not found", "hint: install it"]],
    [{ kind: "stopping" }, "○ stopping", "- stopping", []],
    [{ kind: "stopped" }, "○ stopped", "- stopped", []],
  ])("%o is a word with a sign, and its reason", (state, sign, plainSign, notes) => {
    expect(stateCell(state, terminal(80)).text).toBe(sign);
    expect(stateCell(state, terminal(80, { TERM: "linux" })).text).toBe(plainSign);
    expect(stateNotes(state)).toEqual(notes);
  });

  it("is JSON with its error in it", () => {
    const shown = { code: "SPAWN_FAILED", message: "not found", hint: "install it" };
    expect(stateToJson({ kind: "failed", error })).toEqual({ kind: "failed", error: shown });
    expect(stateToJson(backoff)).toEqual({ ...backoff, error: shown });
    expect(stateToJson(ready)).toEqual({ ...ready, startMs: 250 });
    expect(stateToJson({ kind: "idle" })).toEqual({ kind: "idle" });
    const bare = new PlugboardError("TIMEOUT", "late");
    expect(stateToJson({ kind: "failed", error: bare })).toEqual({
      kind: "failed",
      error: { code: "TIMEOUT", message: "late" },
    });
  });
});

describe("servers that start", () => {
  const clock = new ManualClock();
  const starting: ServerState = { kind: "starting", attempt: 1, since: clock.now() - 1500 };
  const servers = [
    status("a", ready),
    status("b", starting),
    status("c", { kind: "failed", error }),
  ];
  const frame = { spinner: "*", width: 60 };

  it("have a row each, with the time it took or takes", () => {
    expect(startingRows(servers, { ...frame, height: 10 }, clock, plain)).toEqual([
      "a  ✓ ready     250 ms",
      "b  * starting  1.5 s",
      "c  ✗ failed",
    ]);
  });

  it("come first where not all fit", () => {
    const [first] = startingRows(servers, { ...frame, height: 2 }, clock, plain);
    expect(first).toBe("b  * starting  1.5 s");
  });
});

describe("a server in full", () => {
  it("has everything that is known of it", () => {
    const server = status("docs", ready, {
      origin: "agent",
      pid: 42,
      restarts: 1,
      lastError: "crashed once",
      identity: {
        name: "docs-server",
        version: "1.2",
        instructions: "Search first.\n\nThen read.",
        protocolVersion: "2025-11-25",
        era: "legacy",
      },
      calls: { total: 3, failed: 1, inFlight: 0, latencyMs: 12 },
      diagnostics: [
        { server: "docs", subject: "odd", message: "left out" },
        { server: "docs", message: "capped" },
      ],
      stderr: ["\u001b[31mlistening\u001b[0m"],
    });
    expect(serverPage(server, plain, NOW)).toEqual([
      "docs  ✓ ready",
      "  last error  crashed once",
      "  target      node server.js",
      "  transport   stdio",
      "  from        the agent's own servers",
      "  server      docs-server 1.2",
      "  protocol    2025-11-25 (legacy)",
      "  pid         42",
      "  start       250 ms",
      "  tools       2",
      "  restarts    1",
      "  calls       3 calls, 1 failed, 12 ms on average",
      "",
      "notes",
      "  odd: left out",
      "  capped",
      "",
      "stderr, last lines",
      "  listening",
      "",
      "instructions",
      "  Search first.",
      "  Then read.",
    ]);
  });

  it("has the reason why it does not run, once", () => {
    const server = status("docs", backoff, {
      cached: true,
      lastError: "not found",
      calls: { total: 1, failed: 1, inFlight: 0 },
    });
    expect(serverPage(server, plain, NOW)).toEqual([
      "docs  ↻ restarting",
      "  reason        not found",
      "                hint: install it",
      "  next attempt  2 of 5, in 3 s",
      "  target        node server.js",
      "  transport     stdio",
      "  from          the defaults",
      "  tools         2, from the cache",
      "  restarts      0",
      "  calls         1 call, 1 failed",
    ]);
  });
});
