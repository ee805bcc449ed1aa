// Sampling: a server asks you to run a model for it, in the middle of a call.

import type { AudioContent, ContentBlock, ImageContent, TextContent } from "./content.ts";
import type { JsonObject } from "./json.ts";

/** Whether a server may use your model; `ask` means only after a person has agreed. */
export type SamplingMode = "deny" | "ask" | "allow";

export interface ToolUseContent {
  type: "tool_use";
  id: string;
  name: string;
  input: JsonObject;
  _meta?: JsonObject;
}

export interface ToolResultContent {
  type: "tool_result";
  toolUseId: string;
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: JsonObject;
}

export type SamplingContent =
  | TextContent
  | ImageContent
  | AudioContent
  | ToolUseContent
  | ToolResultContent;

export interface SamplingMessage {
  role: "user" | "assistant";
  content: SamplingContent[];
}

/** A tool that exists for this request only. The server runs it: return the model's calls of it in the answer. */
export interface SamplingTool {
  name: string;
  description?: string;
  inputSchema: JsonObject;
}

export interface ModelPreferences {
  /** Names of models or parts of names, the preferred ones first. */
  hints: string[];
  /** Each from 0 to 1. */
  costPriority?: number;
  speedPriority?: number;
  intelligencePriority?: number;
}

export interface SamplingRequest {
  server: string;
  /** The server's own name of the tool whose call it is about; absent if that is not certain. */
  tool?: string;
  /** The id of that call; absent if several calls may have caused the request. */
  callId?: string;
  /** True if a person must agree before a model reads this, since the configuration says `ask`. */
  approvalRequired: boolean;
  /** Written by the server, as is `systemPrompt`: untrusted. */
  messages: SamplingMessage[];
  systemPrompt?: string;
  /** What the server asks for, at most `maxTokens` of SamplingOptions. */
  maxTokens: number;
  temperature?: number;
  stopSequences?: string[];
  preferences?: ModelPreferences;
  /** Absent unless SamplingOptions has `tools` set. */
  tools?: SamplingTool[];
  toolChoice?: "auto" | "required" | "none";
  /** Aborts when the answer no longer matters. */
  signal: AbortSignal;
}

export interface SampledMessage {
  /** The name of the model that wrote the answer. */
  model: string;
  content: SamplingContent | SamplingContent[];
  /** `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a reason of the provider's own. */
  stopReason?: string;
}

/** Runs the model. If you reject, the request is declined. */
export type SamplingHandler = (
  request: SamplingRequest,
) => SampledMessage | "declined" | Promise<SampledMessage | "declined">;

export interface SamplingOptions {
  handler: SamplingHandler;
  /** Whether the handler supports `tools` and `toolChoice`. Default false. */
  tools?: boolean;
  /** The maximum that a server may ask for in `maxTokens`. Default 4096. */
  maxTokens?: number;
}

export type OnSampling = SamplingHandler | SamplingOptions;
