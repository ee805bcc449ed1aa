// What a gateway and an attached command say to each other about a session: the messages, and how tools and states of
// servers are written as JSON. The gateway sends what its session board has; the command derives the events from it.

import type { ServerInstructions } from "../../core/types/board.ts";
import type { SessionOptions } from "../../core/types/board-options.ts";
import type { CallerOptions } from "../../core/types/caller-options.ts";
import type { BoardEvents } from "../../core/types/events.ts";
import type { UnmatchedRule } from "../../core/types/guard-settings.ts";
import type { JsonObject } from "../../core/types/json.ts";
import type { ServerState } from "../../core/types/server-state.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import type { Tool } from "../../core/types/tool.ts";
import { errorFromWire, errorToWire } from "./wire-error.ts";

/** The options of a session that the gateway applies. The session's own servers and tools stay with the command. */
export type SharedSessionOptions = Pick<
  SessionOptions,
  | "cwd"
  | "id"
  | "approval"
  | "framing"
  | "tools"
  | "rateLimit"
  | "owner"
  | "toolNames"
  | "defaultToolTimeout"
  | "toolTimeout"
  | "resourceTools"
  | "startShared"
>;

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
  /** Whether the command is told the tools, the instructions and the rules, or only what it asks for. */
  lists: boolean;
  /** A command's board sees what an agent's board sees, with the rules that match nothing. */
  of: "board" | "session";
  options: SharedSessionOptions;
  /** Names of shared servers that the session does not have from the start. */
  withheld: string[];
  handlers: WireHandlers;
}

/** The events that cost a message for each call. They are sent only while somebody listens to them. */
const COSTLY_EVENTS = ["callStart", "call", "log"] as const satisfies (keyof BoardEvents)[];
export type CostlyEvent = (typeof COSTLY_EVENTS)[number];

export function isCostly(event: unknown): event is CostlyEvent {
  return (COSTLY_EVENTS as readonly unknown[]).includes(event);
}

/** Functions are left out when a tool is written as JSON. */
export type WireTool = Omit<Tool, "execute">;

/** What has changed on the session board, or all of it when the session opens. */
export interface SessionChange {
  /** The public names of all tools in order, and the tools among them that are new or have changed. */
  tools?: { order: string[]; changed: WireTool[] };
  /** The names of all servers in order, and the status of those for which it has changed. */
  servers?: { order: string[]; changed: WireStatus[] };
  instructions?: ServerInstructions[];
  notices?: readonly string[];
  unmatchedRules?: UnmatchedRule[];
  hasResources?: boolean;
}

/** What goes with a call, a read or a prompt. */
export interface WireCallerOptions extends Pick<
  CallerOptions,
  "callId" | "caller" | "approvalsOf" | "meta" | "input" | "clientCapabilities"
> {
  handlers?: WireHandlers;
}

export interface WireStatus extends Omit<ServerStatus, "state"> {
  state: JsonObject;
}

export function statusToWire(status: ServerStatus): WireStatus {
  return { ...status, state: stateToWire(status.state) };
}

export function statusFromWire(status: WireStatus): ServerStatus {
  return { ...status, state: stateFromWire(status.state) };
}

function stateToWire(state: ServerState): JsonObject {
  return "error" in state ? { ...state, error: errorToWire(state.error) } : { ...state };
}

function stateFromWire(state: JsonObject): ServerState {
  const read = "error" in state ? { ...state, error: errorFromWire(state.error) } : state;
  return read as ServerState;
}
