// A board for Anthropic's messages API: the tools of a request, and the results of the calls in its answer.

import type { ImageType } from "../core/tools/media.ts";
import { type ModelCallOptions, runModelCall } from "../core/tools/model-call.ts";
import { type Part, type SupportedMedia, toParts, toText } from "../core/tools/model-content.ts";
import { OBJECT, OBJECTS, requireKind } from "../core/types/kinds.ts";
import {
  type AdapterBoard,
  type AdapterOptions,
  boardTools,
  type Preselection,
} from "./board-tools.ts";

export interface AnthropicToolsOptions extends AdapterOptions {
  /** What the model takes beside text. Default: images and PDF. */
  carries?: Pick<SupportedMedia, "image" | "document">;
}

export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: { type: "object"; [key: string]: unknown };
}

/** The fields of a `tool_use` block that a call needs. */
export interface AnthropicToolUse {
  id: string;
  name: string;
  input: unknown;
}

export type AnthropicResultContent =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: ImageType; data: string } }
  | { type: "document"; source: { type: "base64"; media_type: "application/pdf"; data: string } };

export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content: AnthropicResultContent[];
  is_error?: true;
}

export interface AnthropicTools extends Preselection {
  /** The board's tools now. Read it again for every request. */
  readonly tools: AnthropicTool[];
  /** Does not reject: failures are results with `is_error`. */
  execute(toolUse: AnthropicToolUse, options?: ModelCallOptions): Promise<AnthropicToolResult>;
  /** Makes all calls of a message at once and returns the results in order, for one user message. */
  executeAll(
    message: { content: readonly { type: string }[] },
    options?: ModelCallOptions,
  ): Promise<AnthropicToolResult[]>;
}

export function toAnthropicTools(
  board: AdapterBoard,
  options: AnthropicToolsOptions = {},
): AnthropicTools {
  const { tools, preselect } = boardTools(board, { providers: ["anthropic"] }, options, {
    describesIndex: true,
  });
  const supported = { image: true, document: true, ...options.carries };

  const execute: AnthropicTools["execute"] = async (toolUse, run) => {
    requireKind("the tool use", toolUse, OBJECT);
    const { id, name, input } = toolUse;
    const { content, isError } = await runModelCall(tools, { id, name, input }, run);
    const base = { type: "tool_result", tool_use_id: id } as const;
    // The API refuses an error that contains anything but text.
    if (isError) return { ...base, content: [toBlock(toText(content))], is_error: true };
    return { ...base, content: toParts(content, supported).map(toContent) };
  };

  return {
    get tools() {
      return [...tools.list().values()].map(({ name, description, schema }) => ({
        name,
        description,
        input_schema: { ...schema, type: "object" as const },
      }));
    },
    preselect,
    execute,
    async executeAll(message, run) {
      requireKind("the message", message, OBJECT);
      requireKind("the content of the message", message.content, OBJECTS);
      const calls = message.content.filter(isToolUse);
      return Promise.all(calls.map((toolUse) => execute(toolUse, run)));
    },
  };
}

function isToolUse(block: { type: string }): block is { type: "tool_use" } & AnthropicToolUse {
  return block.type === "tool_use";
}

function toBlock(text: string): AnthropicResultContent {
  return { type: "text", text };
}

function toContent(part: Part): AnthropicResultContent {
  if (part.type === "text") return toBlock(part.text);
  const { mediaType, data } = part;
  return mediaType === "application/pdf"
    ? { type: "document", source: { type: "base64", media_type: mediaType, data } }
    : { type: "image", source: { type: "base64", media_type: mediaType as ImageType, data } };
}
