// What a gateway and a command say to each other about servers, sessions and calls, and how errors and states of servers
// are written as JSON. The gateway tells what its board has; the command's board derives its events from that.

import { PlugboardError, toPlugboardError, withPossibleEffect } from "../../core/types/errors.ts";
import type { SharedServer } from "../../core/types/gateway-port.ts";
import { isJsonObject, type JsonObject } from "../../core/types/json.ts";
import type { RedactedBeginning } from "../../core/types/redactor.ts";
import type { ServerLine } from "../../core/types/server-log.ts";
import type { ServerState } from "../../core/types/server-state.ts";
import type { NativeTool, Tool, ToolDefinition } from "../../core/types/tool.ts";
import type { Link, RequestOptions } from "./link.ts";

/** What a command asks of a gateway: by method, examples of its arguments. Others of the same kinds are accepted. */
export const METHODS = {
  "gateway/status": [],
  "gateway/reload": [],
  "gateway/stop": [],
  // A link that opens the page, for the owner or a viewer.
  "gateway/page": [""],
  // Of one server, or of all if the name is empty. With `onLine`, new lines are told from then on.
  "gateway/logs": [""],
  // With `onServers`, the agent's servers are told before the answer and from then on.
  "agent/attach": [""],
  // Has a number by which it is ended. Of one server, or of all if the name is empty; 0: of the usual size.
  "agent/trace": [0, "", 0],
  "agent/endTrace": [0],
  // `texts` without the secrets of the agent's servers, which the command does not get. In the same order.
  "agent/redact": [{}],
  // For a text that comes in pieces: as `RedactorElsewhere` has it.
  "agent/redactBeginning": ["", 0, false],
  "server/start": ["", false],
  "server/acquire": [""],
  "server/refresh": [""],
  "server/restart": [""],
  // A link has one session.
  "session/open": [""],
  "session/close": [],
  // Empty: none.
  "session/logLevel": [""],
  "session/find": [""],
  // These are members of the session's board. A tool is called as `server/tool` or `native/tool`.
  "session/call": ["", {}],
  "session/resources/list": [""],
  "session/resources/templates": [""],
  "session/resources/read": [""],
  "session/resources/readForPrompt": [""],
  "session/resources/complete": ["", "", ""],
  "session/resources/subscribe": [""],
  "session/resources/unsubscribe": [""],
  "session/prompts/list": [""],
  "session/prompts/get": ["", {}],
  "session/prompts/complete": ["", "", ""],
} as const;

export type Method = keyof typeof METHODS;
export type Member = Extract<
  Method,
  "session/call" | `session/resources/${string}` | `session/prompts/${string}`
>;
type Kinds<Examples extends readonly unknown[]> = {
  -readonly [At in keyof Examples]: Examples[At] extends string
    ? string
    : Examples[At] extends number
      ? number
      : Examples[At] extends boolean
        ? boolean
        : JsonObject;
};
export type Args<Name extends Method> = Kinds<(typeof METHODS)[Name]>;

interface Results {
  "gateway/page": string;
  "gateway/logs": readonly ServerLine[];
  "agent/redact": string[];
  "agent/redactBeginning": RedactedBeginning;
  /** `tools` is how many are listed. */
  "server/restart": { state: JsonObject; tools: number };
  "session/find": { tool: Omit<Tool, "execute">; isListed: boolean };
}
export type Result<Name extends Method> = Name extends keyof Results ? Results[Name] : unknown;

/** Rejects as the gateway does, and with SERVER_UNAVAILABLE if the link ends. */
export async function ask<Name extends Method>(
  link: Link,
  method: Name,
  args: Args<Name>,
  options?: RequestOptions,
): Promise<Result<Name>> {
  try {
    return (await link.request(method, args, options)) as Result<Name>;
  } catch (error) {
    const { code, hasNotRun } = error as PlugboardError;
    if (method !== "session/call" || link.isOpen || hasNotRun || code !== "SERVER_UNAVAILABLE") {
      throw error;
    }
    const message =
      link.end?.kind === "silent"
        ? "the gateway does not answer any more; the call may have run"
        : "the gateway stopped during the call; it may have run";
    throw withPossibleEffect(new PlugboardError("SERVER_UNAVAILABLE", message, { quote: "" }));
  }
}

/** What the gateway tells whenever something has changed. */
export interface Told {
  /** All servers in order. One that is as it was told before is only its name. */
  servers: (string | WireServer)[];
  /** Left out if they have not changed. */
  native?: WireNative[];
}

/** A server of the gateway. Its tools are left out if nobody knows them, or they are as they were told last. */
export interface WireServer extends Omit<SharedServer, "state" | "tools"> {
  state: JsonObject;
  tools?: ToolDefinition[];
}

/** A native tool without its function. */
type WireNative = Omit<NativeTool, "execute">;

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
  const { code, message: given, isForeign, ...details } = isJsonObject(value) ? value : {};
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
