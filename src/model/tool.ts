// The unified tool: what an agent sees, whether a server or the host's own code stands behind it.

import type { ContentBlock } from "./content.ts";
import type { ErrorCode } from "./errors.ts";
import type { JsonObject } from "./json.ts";

/** One tool as its server describes it, checked but otherwise untouched. */
export interface ToolDefinition {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: JsonObject;
  _meta?: JsonObject;
}

export type ToolSource = { kind: "mcp"; server: string; tool: string } | { kind: "native" };

export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

/** A sign of life from a running call. */
export interface ToolUpdate {
  content: ContentBlock[];
  progress?: Progress;
}

export type UpdateListener = (update: ToolUpdate) => void;

/** Why a call has no answer of its server's own. */
export interface CallFailure {
  code: ErrorCode;
  message: string;
}

/**
 * How a call ended. Failures are outcomes too: `isError` is set and `content` says, in words a model
 * can act on, what happened; `failure` is there when it was not the tool itself that reported it.
 */
export interface CallOutcome {
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: JsonObject;
  failure?: CallFailure;
}

/** What `execute` gives an agent loop. `details` holds the raw outcome. */
export interface ToolResult<Details = unknown> {
  content: ContentBlock[];
  isError?: boolean;
  details?: Details;
}

export interface Tool<Details = unknown> {
  /** The public name: safe for every provider, unique on the board. */
  name: string;
  label: string;
  description: string;
  /** JSON Schema of the arguments, as the server gave it. */
  parameters: JsonObject;
  annotations?: JsonObject;
  outputSchema?: JsonObject;
  ownerOnly?: boolean;
  /** Kept for people and programs: a model is not to be offered it. */
  include?: "manual";
  source: ToolSource;
  /** Never rejects for what a server does: failures come as results with `isError`. */
  execute(
    toolCallId: string,
    params: JsonObject,
    signal?: AbortSignal,
    onUpdate?: UpdateListener,
  ): Promise<ToolResult<Details>>;
}

/** A tool of the host's own, as the caller writes it. */
export interface NativeTool {
  name: string;
  label?: string;
  description: string;
  parameters: JsonObject;
  annotations?: JsonObject;
  outputSchema?: JsonObject;
  ownerOnly?: boolean;
  execute(
    toolCallId: string,
    params: JsonObject,
    signal?: AbortSignal,
    onUpdate?: UpdateListener,
  ): Promise<NativeToolResult> | NativeToolResult;
}

export interface NativeToolResult {
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  details?: unknown;
}

export interface NativeToolContext {
  workspaceDir?: string;
  /** Whether a native tool that was given before this one has the name. */
  has: (name: string) => boolean;
}

/** Makes a tool for one board; `undefined` leaves it out. */
export type NativeToolFactory = (context: NativeToolContext) => NativeTool | undefined;

export interface ExternalContent {
  untrusted: true;
  source: "mcp_server";
  server: string;
  /** By the server's own name for it. */
  tool: string;
  /** The text stands between markers. */
  wrapped: boolean;
  /** What there is besides text, by kind: markers say nothing about the inside of an image. */
  kinds: Partial<Record<Exclude<ContentBlock["type"], "text">, number>>;
}

/** The raw outcome; for a server's tool with what the host says of it. */
export interface ModelDetails extends CallOutcome {
  externalContent?: ExternalContent;
}
