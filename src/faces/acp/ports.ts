// What the ACP face needs of the rest: a board per session, and somebody who answers a prompt.

import type { SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import type { ContentBlock } from "../../model/content.ts";
import type { JsonObject } from "../../model/json.ts";
import type { SamplingOptions } from "../../model/sampling.ts";
import type { SessionBoard as WholeBoard } from "../../model/board.ts";
import type { SessionOptions } from "../../model/board-options.ts";
import type { CallOutcome, Tool } from "../../model/tool.ts";

/** The slice of a session's board that this face uses. */
export type SessionBoard = Pick<
  WholeBoard,
  | "cwd"
  | "tools"
  | "call"
  | "status"
  | "on"
  | "resources"
  | "prompts"
  | "restart"
  | "add"
  | "remove"
  | "setEnabled"
  | "wake"
  | "close"
  | "notices"
>;

export type SessionRequest = Required<
  Pick<SessionOptions, "id" | "cwd" | "roots" | "servers" | "onApproval">
> &
  Pick<SessionOptions, "onElicitation" | "onSampling" | "native">;

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

/** Which model answers, and which others there are. */
export interface ModelChoice {
  readonly current: string;
  readonly options: readonly { id: string; name: string }[];
  /** From the next prompt on. Rejects where the model cannot be used, and then nothing has changed. */
  choose(id: string): Promise<void>;
}

/** Somebody who answers one session. */
export interface Responder {
  /** Answers what is no command. Must not reject for what a server or a model does. */
  answer(turn: Turn): Promise<StopReason>;
  /** Once: gets ready, so that the first prompt need not wait. Does not reject. */
  warmUp?(): Promise<void>;
  /** Tools that the next prompt may offer to the model: what has to be made of them can be made now. */
  prepare?(tools: readonly Tool[]): void;
  /** Asks the session's model for a server; absent where there is none. The caller has asked the person. */
  readonly sampling?: SamplingOptions;
  /** Absent where there is nothing to choose from. */
  readonly models?: ModelChoice;
}

/**
 * `past` is what was said in the session before, the oldest first; `model` is what was chosen for it, which may
 * not be there any more.
 */
export type NewResponder = (past: readonly SessionUpdate[], model?: string) => Responder;
