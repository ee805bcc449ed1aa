// What the ACP face needs of the rest: a board per session, and somebody who answers a prompt.

import type { SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import type { ContentBlock } from "../../model/content.ts";
import type { JsonObject } from "../../model/json.ts";
import type { SessionBoard as WholeBoard, SessionOptions } from "../../model/session-board.ts";
import type { CallOutcome, Tool } from "../../model/tool.ts";

/** The slice of a session's board that this face uses. */
export type SessionBoard = Pick<
  WholeBoard,
  | "tools"
  | "call"
  | "status"
  | "on"
  | "resources"
  | "prompts"
  | "restart"
  | "add"
  | "remove"
  | "close"
  | "notices"
>;

export type SessionRequest = Required<
  Pick<SessionOptions, "id" | "cwd" | "roots" | "servers" | "onApproval">
>;

/** Resolves within the start wait, whatever the servers do. Rejects for a bad configuration alone. */
export type OpenSession = (request: SessionRequest) => Promise<SessionBoard>;

/** One prompt and all that is needed to answer it. */
export interface Turn {
  readonly prompt: readonly ContentBlock[];
  readonly board: SessionBoard;
  readonly signal: AbortSignal;
  /** As they are now, each under the session's mode: what a model calls. */
  readonly tools: () => Tool[];
  /** Shown to the person, and kept. */
  readonly emit: (update: SessionUpdate) => void;
  readonly say: (text: string) => void;
  /** Shown, and about the moment: not kept. */
  readonly notify: (text: string) => void;
  /** Makes the call, and shows it from start to end. */
  readonly call: (tool: Tool, args: JsonObject) => Promise<CallOutcome>;
}

/** Answers what is no command. Must not reject for what a server or a model does. */
export type Answer = (turn: Turn) => Promise<StopReason>;

/** Somebody who answers one session; `past` is what was said in it before, the oldest first. */
export type NewAnswer = (past: readonly SessionUpdate[]) => Answer;
