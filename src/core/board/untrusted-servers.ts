// The servers of configuration files that nobody has trusted: they are on no board, but people see them and read what to
// do about them.

import type { AgentConfig } from "../types/agent-config.ts";
import type { PlugboardError } from "../types/errors.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import type { ServerState } from "../types/server-state.ts";
import type { ServerStatus } from "../types/server-status.ts";
import { describeTarget } from "../redaction/hide.ts";
import { unavailable } from "../upstream/supervisor/unavailable.ts";
import type { Clock } from "../../util/clock.ts";

/** Without those whose name a server on the board has. */
export function untrustedStatus(
  { untrusted = [] }: Pick<AgentConfig, "untrusted">,
  onBoard: readonly { name: string }[],
): ServerStatus[] {
  const names = new Set(onBoard.map(({ name }) => name));
  return untrusted.flatMap(({ servers, remedy }) =>
    servers
      .filter(({ name }) => !names.has(name))
      .map((each) => statusOffBoard(each, stateOf(each, remedy))),
  );
}

/** Why a server of this name cannot be used. Undefined if no untrusted file has one. */
export function untrustedError(
  name: string,
  { untrusted = [] }: Pick<AgentConfig, "untrusted">,
  clock: Clock,
): PlugboardError | undefined {
  for (const { servers, remedy } of untrusted) {
    const server = servers.find((each) => each.name === name);
    if (server !== undefined) return unavailable(server, stateOf(server, remedy), clock);
  }
  return undefined;
}

function stateOf({ enabled }: ServerDefinition, remedy: string): ServerState {
  return enabled ? { kind: "untrusted", remedy } : { kind: "disabled" };
}

/** The status of a server that the board itself does not have. */
export function statusOffBoard(definition: ServerDefinition, state: ServerState): ServerStatus {
  const { name, origin, target, from } = definition;
  return {
    name,
    origin,
    ...(from !== undefined && { from }),
    transport: target.kind,
    target: describeTarget(target),
    state,
    tools: 0,
    promptTokens: 0,
    cached: false,
    available: false,
    restarts: 0,
    calls: { total: 0, failed: 0, inFlight: 0 },
    diagnostics: [],
    stderr: [],
  };
}
