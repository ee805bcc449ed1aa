// The state of a server that can be called: since when, over what, and how long its start took.

import type { Connection } from "../model/connection.ts";
import type { ServerState } from "../model/server-state.ts";

export function readyState(
  { identity, pid }: Pick<Connection, "identity" | "pid">,
  since: number,
  startMs: number,
): ServerState {
  const { protocolVersion } = identity;
  return { kind: "ready", since, startMs, protocolVersion, ...(pid !== undefined && { pid }) };
}
