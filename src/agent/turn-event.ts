// What a turn tells while it runs.

import type { ContentBlock } from "../model/content.ts";
import type { CallOutcome, Tool, ToolUpdate } from "../model/tool.ts";

export interface TokenUsage {
  input: number;
  output: number;
  /** Of the input. */
  cached: number;
  /** Of the output. */
  reasoning: number;
}

export type TurnEvent =
  /** The model is asked; `step` counts from 1. */
  | { type: "step"; step: number }
  | { type: "text"; text: string }
  | { type: "thought"; text: string }
  /** `tool` is absent where the model made the name up. */
  | { type: "tool_call"; id: string; name: string; input: unknown; tool?: Tool }
  | { type: "tool_update"; id: string; name: string; update: ToolUpdate }
  /** `outcome` is for a person, `content` is what the model reads. */
  | {
      type: "tool_result";
      id: string;
      name: string;
      isError: boolean;
      outcome: CallOutcome;
      content: ContentBlock[];
    }
  /** `used` tokens of the window are taken after this step. */
  | { type: "usage"; usage: TokenUsage; used: number; window: number }
  /** What was streamed of this step does not count: the model is asked again after `delayMs`. */
  | { type: "retry"; attempt: number; delayMs: number; reason: string }
  /** Parts of the conversation were left out to make room. */
  | { type: "compaction"; results: number; messages: number }
  /** Something worth knowing that stopped nothing. */
  | { type: "notice"; text: string };
