// A server's status with defaults for what a test does not care about, and states that it may have.

import { PlugboardError } from "../../../src/core/types/errors.ts";
import type { ServerState } from "../../../src/core/types/server-state.ts";
import type { ServerStatus } from "../../../src/core/types/server-status.ts";

export function status(
  name: string,
  state: ServerState,
  more: Partial<ServerStatus> = {},
): ServerStatus {
  return {
    name,
    origin: "defaults",
    transport: "stdio",
    target: "node server.js",
    state,
    tools: 2,
    promptTokens: 0,
    cached: false,
    available: true,
    restarts: 0,
    calls: { total: 0, failed: 0, inFlight: 0 },
    diagnostics: [],
    stderr: [],
    ...more,
  };
}

export const NOW = 1_000_000;
export const error = new PlugboardError("SPAWN_FAILED", "not found", { hint: "install it" });
export const ready: ServerState = {
  kind: "ready",
  since: NOW,
  startMs: 250.4,
  protocolVersion: "2025-11-25",
  pid: 42,
};
export const backoff: ServerState = {
  kind: "backoff",
  attempt: 2,
  of: 5,
  retryAt: NOW + 3000,
  error,
};
