// Where a server begins.

import type { AgentConfig } from "../model/agent-config.ts";
import type { ServerDefinition } from "../model/server-definition.ts";
import type { ServerState } from "../model/server-state.ts";

export function firstState(
  { enabled }: ServerDefinition,
  untrusted: AgentConfig["untrusted"],
): ServerState {
  if (!enabled) return { kind: "disabled" };
  return untrusted === undefined ? { kind: "idle" } : { kind: "untrusted", ...untrusted };
}
