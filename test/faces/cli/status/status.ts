// A server's status with defaults for what a test does not care about.

import type { ServerState } from "../../../../src/model/server-state.ts";
import type { ServerStatus } from "../../../../src/model/server-status.ts";

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
