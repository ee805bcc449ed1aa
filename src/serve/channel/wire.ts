// What a gateway and a command say to each other about servers, sessions and calls, and how errors and states of servers
// are written as JSON. The gateway tells what its board has; the command's board derives its events from that.

import type { CallerOptions } from "../../core/types/caller-options.ts";
import { PlugboardError, toPlugboardError } from "../../core/types/errors.ts";
import type { BoardInGateway } from "../../core/types/gateway-port.ts";
import { isJsonObject, type JsonObject } from "../../core/types/json.ts";
import type { ServerContent } from "../../core/types/server-content.ts";
import type { ServerLine } from "../../core/types/server-log.ts";
import type { ServerState } from "../../core/types/server-state.ts";
import type { ToldStatus } from "../../core/types/supervisor.ts";
import type { NativeTool, Tool, ToolDefinition } from "../../core/types/tool.ts";
import type { TraceOptions } from "../../core/types/trace.ts";
import type { Link, RequestOptions } from "./link.ts";
import type { HandlerNumbers } from "./questions.ts";

/** What goes with a request of a session. */
export interface WireOptions extends Pick<
  CallerOptions,
  "callId" | "caller" | "approvalsOf" | "meta" | "input" | "clientCapabilities"
> {
  /** Whose resource, template or prompt it is. */
  server?: string;
  /** For a completion: the values of other arguments. */
  known?: Record<string, string>;
  handlers?: HandlerNumbers;
  wantsUpdates?: boolean;
}

/** What of a board or session the gateway applies. Its own servers and tools stay with the command. */
export interface WireSession extends Omit<
  BoardInGateway,
  "onApproval" | "onElicitation" | "onSampling" | "onNotice"
> {
  handlers?: HandlerNumbers;
}

const server = "";

/** What a command asks of a gateway: by method, an example of its parameters. Others of the same kinds are accepted. */
export const METHODS = {
  "gateway/status": {},
  "gateway/reload": {},
  "gateway/stop": {},
  // Empty: of all servers. With `follow`, new lines are told from then on.
  "gateway/logs": { server, follow: false },
  // Is told of the agent's servers before the answer and from then on.
  "agent/attach": { agent: "" },
  "agent/trace": { trace: 0, options: {} as TraceOptions },
  "agent/endTrace": { trace: 0 },
  "server/start": { server, onlyToList: false },
  "server/acquire": { server },
  "server/refresh": { server },
  "server/restart": { server },
  // A link has one session.
  "session/open": { agent: "", options: {} as WireSession },
  "session/close": {},
  // Empty: none.
  "session/logLevel": { level: "" },
  "session/find": { name: "" },
  // Uses one of MEMBERS.
  "session/ask": { member: "", args: [] as unknown[], options: {} as WireOptions },
};

/** What a command may use of a session's board, with examples of the arguments. Options follow them. */
export const MEMBERS = {
  call: ["", {}],
  "resources.list": [""],
  "resources.templates": [""],
  "resources.read": [""],
  "resources.readForPrompt": [""],
  "resources.complete": ["", "", ""],
  "resources.subscribe": [""],
  "resources.unsubscribe": [""],
  "prompts.list": [""],
  "prompts.get": ["", {}],
  "prompts.complete": ["", "", ""],
};
export type Member = keyof typeof MEMBERS;

export type Method = keyof typeof METHODS;
export type Params<Name extends Method> = (typeof METHODS)[Name];

interface Results {
  "gateway/logs": readonly ServerLine[];
  /** `tools` is how many are listed. */
  "server/restart": { state: JsonObject; tools: number };
  "session/find": { tool: Omit<Tool, "execute">; isListed: boolean };
}
export type Result<Name extends Method> = Name extends keyof Results ? Results[Name] : unknown;

export function ask<Name extends Method>(
  link: Link,
  method: Name,
  params: Params<Name>,
  options?: RequestOptions,
): Promise<Result<Name>> {
  return link.request(method, params, options) as Promise<Result<Name>>;
}

/** What the gateway tells whenever something has changed. */
export interface Told {
  /** All servers in order. One that is as it was told before is only its name. */
  servers: (string | WireServer)[];
  /** Left out if they have not changed. */
  native?: WireNative[];
}

/** A server of the gateway. */
export interface WireServer extends ToldStatus {
  name: string;
  state: JsonObject;
  has?: ServerContent["has"] | undefined;
  /** Left out if nobody knows them, or they have not changed since they were told last. */
  tools?: ToolDefinition[];
  /** The tools that are not as they were pinned. Left out if none of them is pinned. */
  unpinned?: readonly string[] | undefined;
}

/** A native tool without its function. */
type WireNative = Omit<NativeTool, "execute">;

/** Whether the value has all that the example has, of the same kinds. `mayLack`: or nothing in its place. */
export function isLike(value: unknown, example: object, mayLack = false): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value) !== Array.isArray(example)) return false;
  const given = value as Record<string, unknown>;
  return Object.entries(example).every(([name, each]) => {
    if (given[name] === undefined) return mayLack;
    return typeof each === "object"
      ? isLike(given[name], each)
      : typeof given[name] === typeof each;
  });
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
