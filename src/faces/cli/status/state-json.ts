// A server's state as JSON. An Error would come out as an empty object.

import type { PlugboardError } from "../../../model/errors.ts";
import type { ServerState } from "../../../model/server-state.ts";

interface ErrorJson {
  code: string;
  message: string;
  hint?: string;
}

export type StateJson =
  | Exclude<ServerState, { error: PlugboardError }>
  | (Omit<Extract<ServerState, { kind: "backoff" }>, "error"> & { error: ErrorJson })
  | { kind: "failed"; error: ErrorJson };

export function stateToJson(state: ServerState): StateJson {
  switch (state.kind) {
    case "backoff":
    case "failed":
      return { ...state, error: errorToJson(state.error) };
    case "ready":
      return { ...state, startMs: Math.round(state.startMs) };
    default:
      return state;
  }
}

function errorToJson({ code, message, hint }: PlugboardError): ErrorJson {
  return { code, message, ...(hint !== undefined && { hint }) };
}
