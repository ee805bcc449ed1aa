import { describe, expect, it } from "vitest";
import { serverPage } from "../../../src/cli/status/server-page.ts";
import { terminal } from "../harness.ts";
import { backoff, NOW, ready, status } from "./status.ts";

const plain = terminal(60, { NO_COLOR: "1" });

describe("a server in full", () => {
  it("shows everything that is known about it", () => {
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
      calls: { total: 3, failed: 1, inFlight: 0, latencyMs: 12, waitedMs: 180_000 },
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
      "  calls       3 calls, 1 failed, 12 ms on average; waited 3",
      "              min for answers",
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

  it("shows once why it does not run", () => {
    const server = status("docs", backoff, {
      cached: true,
      lastError: "not found",
      calls: { total: 1, failed: 1, inFlight: 0 },
    });
    expect(serverPage(server, plain, NOW)).toEqual([
      "docs  ↻ restarting",
      "  reason        not found",
      "                hint: install it",
      "                more: plugboard help SPAWN_FAILED",
      "  next attempt  2 of 5, in 3 s",
      "  target        node server.js",
      "  transport     stdio",
      "  from          the servers of every agent",
      "  tools         2, from the cache",
      "  restarts      0",
      "  calls         1 call, 1 failed",
    ]);
  });
});
