// The life of one server as a closed set of states. Only the supervisor moves between them.

import type { PlugboardError } from "./errors.ts";

export type ServerState =
  | { kind: "disabled" }
  | { kind: "untrusted"; remedy: string }
  | { kind: "idle" }
  | { kind: "starting"; attempt: number; since: number }
  | { kind: "ready"; since: number; pid?: number; protocolVersion: string; startMs: number }
  /** `of` is how many attempts there are in all; a remote server has no last one. */
  | { kind: "backoff"; attempt: number; of?: number; retryAt: number; error: PlugboardError }
  | { kind: "needs-auth"; remedy: string }
  | { kind: "failed"; error: PlugboardError }
  | { kind: "stopping" }
  | { kind: "stopped" };

export type ServerStateKind = ServerState["kind"];

/** A call may be sent, now or after a start it triggers or waits for. */
export function isCallable(state: ServerState): boolean {
  switch (state.kind) {
    case "idle":
    case "starting":
    case "ready":
    case "failed":
      return true;
    default:
      return false;
  }
}
