// What a gateway and a command say to each other about servers, sessions and calls, and how states and failures of servers
// are written as JSON. The gateway tells what its board has; the command's board derives its events from that.

import type { CallerOptions } from "../../core/types/caller-options.ts";
import type { JsonObject } from "../../core/types/json.ts";
import type { ServerContent } from "../../core/types/server-content.ts";
import type { ServerState } from "../../core/types/server-state.ts";
import type { BoardInGateway, ToldStatus } from "../../core/types/gateway-port.ts";
import type { NativeTool, ToolDefinition } from "../../core/types/tool.ts";
import { errorFromWire, errorToWire } from "./wire-error.ts";

/** What of a board or session the gateway applies. Its own servers and tools stay with the command. */
type WireSharing = Omit<BoardInGateway, "onApproval" | "onElicitation" | "onSampling" | "onNotice">;

/** Which handler of the command answers a question: functions have numbers on the channel. */
export interface WireHandlers {
  approval?: number;
  elicitation?: number;
  sampling?: { handler: number; tools?: boolean; maxTokens?: number };
}

/** The parameters of `session/open`. */
export interface OpenRequest {
  /** Chosen by the command, so that it hears of the session from its first message on. */
  session: number;
  agent: string;
  options: WireSharing;
  handlers: WireHandlers;
}

/** The events that a gateway tells a session of. */
export type SessionEvent = "resources" | "prompts" | "log" | "notice";

/** What goes with a call, a read or a prompt. */
export interface WireCallerOptions extends Pick<
  CallerOptions,
  "callId" | "caller" | "approvalsOf" | "meta" | "input" | "clientCapabilities"
> {
  handlers?: WireHandlers | undefined;
}

/** A server of the gateway. */
export interface WireServer extends ToldStatus {
  name: string;
  state: JsonObject;
  has?: ServerContent["has"] | undefined;
  /** Left out if they are not known, or have not changed since they were told last. */
  tools?: ToolDefinition[];
  /** The tools that are not as they were pinned. Left out if none of them is pinned. */
  unpinned?: readonly string[] | undefined;
}

/** The answer to `server/restart`. */
export interface WireRestarted {
  state: JsonObject;
  /** How many are listed. */
  tools: number;
}

/** A native tool without its function. */
export type WireNative = Omit<NativeTool, "execute">;

/** What has changed on an agent's board, or all of it when the command attaches. */
export interface AgentChange {
  /** The names of all servers in order, and those for which anything has changed. */
  servers?: { order: string[]; changed: WireServer[] };
  native?: WireNative[];
}

export function stateToWire(state: ServerState): JsonObject {
  return "error" in state ? { ...state, error: errorToWire(state.error) } : { ...state };
}

export function stateFromWire(state: JsonObject): ServerState {
  const read = "error" in state ? { ...state, error: errorFromWire(state.error) } : state;
  return read as ServerState;
}
