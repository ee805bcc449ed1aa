// The states of a server. Only its supervisor changes them.

import type { PlugboardError } from "./errors.ts";
import type { JsonObject } from "./json.ts";

export type ServerState =
  | { kind: "disabled" }
  | { kind: "untrusted"; remedy: string }
  | { kind: "idle" }
  /** `installer` is the program that gets its package now, such as npx. */
  | { kind: "starting"; attempt: number; since: number; installer?: string }
  | { kind: "ready"; since: number; pid?: number; protocolVersion: string; startMs: number }
  /** `of` is the number of attempts in all; absent for remote servers, which are retried forever. */
  | { kind: "backoff"; attempt: number; of?: number; retryAt: number; error: PlugboardError }
  /**
   * `perUser` means that each person has the server for themselves, and whose board it is has not signed in, or has no JWT
   * to exchange. Nothing is wrong with the server.
   */
  | { kind: "needs-auth"; remedy: string; perUser?: "sign-in" | "exchange" }
  /**
   * `earlier` means that it failed a few minutes ago, in another run, and has not been tried since. `remedy` means that
   * its restarts are used up, and says how to start it again: calls no longer do.
   */
  | { kind: "failed"; error: PlugboardError; earlier?: true; remedy?: string }
  | { kind: "stopping" }
  /** `remedy` means that a person has stopped it, and says how to start it again: calls do not. */
  | { kind: "stopped"; remedy?: string };

export type ServerStateKind = ServerState["kind"];

const CALLABLE: ReadonlySet<ServerStateKind> = new Set(["idle", "starting", "ready", "failed"]);

/** Whether the server can take a call now, or after a start that the call triggers or waits for. */
export function isCallable(state: ServerState): boolean {
  return CALLABLE.has(state.kind) && !isGivenUp(state);
}

/** Whether the restarts of the server are used up, so that a call does not start it. */
export function isGivenUp(state: ServerState): boolean {
  return state.kind === "failed" && state.remedy !== undefined;
}

/** For somebody other than the owner: not where the server runs, nor words that may tell it, such as those of an error. */
export function stateForOthers(state: ServerState): JsonObject {
  const { kind } = state;
  switch (kind) {
    case "backoff":
    case "failed":
      return { kind, error: { code: state.error.code } };
    case "ready":
      return { kind, since: state.since, protocolVersion: state.protocolVersion };
    default:
      return { kind };
  }
}

/** An Error inside the state would come out of JSON.stringify as an empty object. */
export function stateToJson(state: ServerState): object {
  switch (state.kind) {
    case "backoff":
    case "failed": {
      const { code, message, hint } = state.error;
      return { ...state, error: { code, message, hint } };
    }
    case "ready":
      return { ...state, startMs: Math.round(state.startMs) };
    default:
      return state;
  }
}
