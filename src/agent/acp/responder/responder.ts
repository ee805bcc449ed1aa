// What answers a session's prompts with a model, and what it is given to do so.

import type { SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import type { ContentBlock } from "../../../core/types/content.ts";
import type { Diagnostic } from "../../../core/types/diagnostic.ts";
import type { ToolSearchSetting } from "../../../core/types/include.ts";
import type { SamplingOptions } from "../../../core/types/sampling.ts";
import type { SessionBoard } from "../../../core/types/board.ts";
import type { Tool } from "../../../core/types/tool.ts";
import type { CommandContext } from "../commands/run.ts";
import type { ClientSystemPrompt } from "../wire/params.ts";

/** One prompt and everything that is needed to answer it. */
export interface PromptContext extends CommandContext {
  readonly prompt: readonly ContentBlock[];
  readonly board: CommandContext["board"] & Pick<SessionBoard, "cwd" | "search" | "toolSearch">;
  /** The current tools, for a model: each under the session's mode. */
  readonly tools: () => Tool[];
}

/** Which model answers, and which others can be chosen. */
export interface ModelChoice {
  readonly current: string;
  readonly ids: readonly string[];
  /** Takes effect with the next prompt. Rejects if the model cannot be used, and then nothing has changed. */
  choose(id: string): Promise<void>;
}

/** Answers the prompts of one session. */
export interface Responder {
  /** Answers whatever is not a command. Rejects with a PlugboardError if the model cannot answer. */
  answer(prompt: PromptContext): Promise<StopReason>;
  /** What the user should know when the session opens. */
  readonly notice?: string;
  /** Says why the client's system prompt is not used. Undefined if it is, or if there is none. */
  readonly ignoresPrompt?: string;
  /** Loads what the first prompt needs. Does not reject. */
  load?(): Promise<void>;
  /** Converts the tools that the next prompt may give to the model, so that the prompt does not wait for that. */
  prepare?(tools: readonly Tool[]): void;
  /** Which of the tools the session's model does not get, and why. Does not reject. */
  leftOut?(tools: readonly Tool[]): Promise<Diagnostic[]>;
  /** How the session's model gets these tools, if it does not get them all. Does not reject. */
  toolSearch?(tools: readonly Tool[], setting: ToolSearchSetting): Promise<string | undefined>;
  /** Asks the session's model for a server; the caller has asked the user. Undefined if servers cannot ask it. */
  readonly sampling?: SamplingOptions;
  /** Undefined if there is nothing to choose from. */
  readonly models?: ModelChoice;
}

export interface ResponderSettings {
  /** The model that was chosen for the session, which may no longer exist. */
  model?: string;
  systemPrompt?: ClientSystemPrompt;
}

/** `past` is what was said in the session before, the oldest first. Without a model there is no responder. */
export type NewResponder = (
  past: readonly SessionUpdate[],
  settings?: ResponderSettings,
) => Responder | undefined | Promise<Responder | undefined>;
