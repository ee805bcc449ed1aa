// How errors, states of servers and what a gateway tells of its servers are written as JSON. The gateway tells what its
// board has; the command's board derives its events from that.

import { PlugboardError, toPlugboardError } from "../../core/types/errors.ts";
import type { ToldServer } from "../../core/types/gateway-port.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../core/types/json.ts";
import type { ServerState } from "../../core/types/server-state.ts";
import type { NativeTool } from "../../core/types/tool.ts";

/** What the gateway tells whenever something has changed. */
export interface Told {
  /** All servers in order. One that is as it was told before is only its name. */
  servers: (string | WireServer)[];
  /** Native tools without their functions. Left out if they have not changed. */
  native?: Omit<NativeTool, "execute">[];
}

/** Its tools are left out if nobody knows them, or they are as they were told last. */
export interface WireServer extends ToldServer {
  state: JsonObject;
}

/** Whoever reads it branches on the code, so the text of a code that it does not know is still told. */
export function errorToWire(given: unknown): JsonObject {
  const error = toPlugboardError(given, "SYSTEM_ERROR");
  const { cause } = error;
  return {
    ...Object.fromEntries(Object.entries(error)),
    message: error.message,
    isForeign: !(given instanceof PlugboardError),
    // The JSON-RPC error that a server answered with: clients of an endpoint get it as it is.
    ...(isJsonObject(cause) && isJsonObject(cause.error) && { cause: { error: cause.error } }),
  };
}

/** An error that was none of Plugboard's is its `cause`. */
export function errorFromWire(value: unknown): PlugboardError {
  const { code, message: given, isForeign, ...details } = objectIn(value);
  const message = typeof given === "string" ? given : "an error without a message";
  return new PlugboardError(
    (typeof code === "string" ? code : "PROTOCOL") as PlugboardError["code"],
    message,
    isForeign === true ? { ...details, cause: new Error(message) } : details,
  );
}

export function stateToWire(state: ServerState): JsonObject {
  return "error" in state ? { ...state, error: errorToWire(state.error) } : { ...state };
}

export function stateFromWire(state: JsonObject): ServerState {
  const read = "error" in state ? { ...state, error: errorFromWire(state.error) } : state;
  return read as ServerState;
}
