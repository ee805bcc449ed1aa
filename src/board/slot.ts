// What a board keeps per server, and its row in `status()`.

import type { ServerIdentity } from "../model/connection.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Logger } from "../model/logger.ts";
import type { ServerDefinition } from "../model/server-definition.ts";
import { PlugboardError } from "../model/errors.ts";
import { isCallable } from "../model/server-state.ts";
import type { ServerStatus } from "../model/server-status.ts";
import type { Supervisor } from "../server/supervisor/supervisor.ts";
import { closest } from "../util/closest.ts";
import type { ServerSignIn } from "./sign-in.ts";

export interface Slot {
  definition: ServerDefinition;
  supervisor: Supervisor;
  /** Of a remote server. */
  signIn: ServerSignIn | undefined;
  /** Of the definition and where it runs: what its tools depend on. */
  hash: string;
  /** Of the definition alone: what its tools are pinned for. */
  pinKey: string;
  /** Whether its tools are known, and whether this run has confirmed them. */
  knowledge: "none" | "cached" | "live";
  /** When the remembered list was saved. */
  cachedAt: number | undefined;
  identity: ServerIdentity | undefined;
  diagnostics: Diagnostic[];
}

/** `more` are diagnostics about its resources and prompts. */
export function statusOf(
  slot: Slot,
  tools: number,
  more: readonly Diagnostic[] = [],
): ServerStatus {
  const { definition, supervisor, identity } = slot;
  const { state } = supervisor;
  const { endpoint } = definition;
  const error = supervisor.lastError;
  return {
    name: definition.name,
    origin: definition.origin,
    transport: endpoint.kind,
    target:
      endpoint.kind === "stdio" ? [endpoint.command, ...endpoint.args].join(" ") : endpoint.url,
    state,
    tools,
    cached: slot.knowledge === "cached",
    ...(slot.knowledge === "cached" && slot.cachedAt !== undefined && { cachedAt: slot.cachedAt }),
    available: isCallable(state),
    restarts: supervisor.restarts,
    ...(error !== undefined && { lastError: error.message }),
    ...(identity !== undefined && { identity }),
    ...(state.kind === "ready" && state.pid !== undefined && { pid: state.pid }),
    calls: supervisor.stats.snapshot(),
    diagnostics: [...slot.diagnostics, ...more],
    stderr: supervisor.stderrTail(),
  };
}

/** Logs what is new: a restarted server has the same faults again. */
export function diagnose(slot: Slot, diagnostics: Diagnostic[], logger: Logger): void {
  const known = new Set(slot.diagnostics.map((each) => JSON.stringify(each)));
  slot.diagnostics = diagnostics;
  for (const each of diagnostics) {
    if (known.has(JSON.stringify(each))) continue;
    const { server, message, subject } = each;
    logger.warn(message, { server, ...(subject !== undefined && { tool: subject }) });
  }
}

/** Throws UNKNOWN_SERVER, with the name that may be meant. */
export function slotNamed(server: string, slots: ReadonlyMap<string, Slot>): Slot {
  const slot = slots.get(server);
  if (slot !== undefined) return slot;
  const meant = closest(server, slots.keys());
  throw new PlugboardError("UNKNOWN_SERVER", `no server is named '${server}'`, {
    server,
    ...(meant !== undefined && { hint: `did you mean '${meant}'?` }),
  });
}

/** Throws for a server that is a process of this machine. */
export function signInOf({ signIn, definition }: Slot): ServerSignIn {
  if (signIn !== undefined) return signIn;
  const { name } = definition;
  throw new PlugboardError("UNSUPPORTED", `'${name}' is a program, which nobody signs in to`, {
    server: name,
    hint: "give it its credentials in env",
  });
}
