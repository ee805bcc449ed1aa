// A server asks for the host's model in the middle of a call.

import type { AudioContent, ContentBlock, ImageContent, TextContent } from "./content.ts";
import type { JsonObject } from "./json.ts";

/** What the configuration lets a server do with the host's model. */
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

/** A tool of the server's, for this one request: calls to it come back in the answer. */
export interface SamplingTool {
  name: string;
  description?: string;
  inputSchema: JsonObject;
}

export interface ModelPreferences {
  /** Names or parts of names, the most wanted first. */
  hints: string[];
  /** Each from 0 to 1. */
  costPriority?: number;
  speedPriority?: number;
  intelligencePriority?: number;
}

export interface SamplingRequest {
  server: string;
  /** The tool whose call it is about, by the server's own name; absent where that cannot be told. */
  tool?: string;
  /** The id of that call; absent where several calls may have caused the request. */
  callId?: string;
  /** The configuration says `ask`: somebody has to agree before a model reads it. */
  approvalRequired: boolean;
  /** The server's words, like the system prompt: untrusted. */
  messages: SamplingMessage[];
  systemPrompt?: string;
  /** What the server asks for, or the cap. */
  maxTokens: number;
  temperature?: number;
  stopSequences?: string[];
  preferences?: ModelPreferences;
  /** Only where the host says that it supports them. */
  tools?: SamplingTool[];
  toolChoice?: "auto" | "required" | "none";
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
}

export interface SampledMessage {
  /** The model that wrote it. */
  model: string;
  content: SamplingContent | SamplingContent[];
  /** `endTurn`, `stopSequence`, `maxTokens`, `toolUse` or a provider's own. */
  stopReason?: string;
}

/** A rejection declines as well. */
export type SamplingHandler = (
  request: SamplingRequest,
) => SampledMessage | "declined" | Promise<SampledMessage | "declined">;

export interface SamplingOptions {
  handler: SamplingHandler;
  /** The handler understands `tools` and `toolChoice`. Default false. */
  tools?: boolean;
  /** The most tokens one answer may have, whatever a server asks for. Default 4096. */
  maxTokens?: number;
}

export type OnSampling = SamplingHandler | SamplingOptions;
