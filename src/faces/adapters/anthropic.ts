// A board for Anthropic's messages API: the tools of a request, and the results of the calls in its answer.

import type { ImageType } from "../../bridge/media.ts";
import type { Board } from "../../model/board.ts";
import { type RunOptions, runCall } from "./shared-call.ts";
import { Offer, type OfferOptions } from "./shared-offer.ts";
import { type Carries, type Part, toParts, toText } from "./shared-parts.ts";

export interface AnthropicToolsOptions extends OfferOptions {
  /** What the model takes beside text. Default: images and PDF. */
  carries?: Pick<Carries, "image" | "document">;
}

export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: { type: "object"; [key: string]: unknown };
}

/** The part of a `tool_use` block that a call is made of. */
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

export interface AnthropicTools {
  /** As the board lists them now: to be read anew for every request. */
  readonly tools: AnthropicTool[];
  /** Does not reject: failures are results with `is_error`. */
  execute(toolUse: AnthropicToolUse, options?: RunOptions): Promise<AnthropicToolResult>;
  /** Makes all calls of a message at once; the results are in their order, for one user message. */
  executeAll(
    message: { content: readonly { type: string }[] },
    options?: RunOptions,
  ): Promise<AnthropicToolResult[]>;
}

export function toAnthropicTools(
  board: Pick<Board, "tools">,
  options: AnthropicToolsOptions = {},
): AnthropicTools {
  const offer = new Offer(board, { providers: ["anthropic"] }, options);
  const carries = { image: true, document: true, ...options.carries };

  const execute: AnthropicTools["execute"] = async ({ id, name, input }, run) => {
    const { content, isError } = await runCall(offer, { id, name, args: input }, run);
    const base = { type: "tool_result", tool_use_id: id } as const;
    // The API refuses errors with anything but text in them.
    if (isError) return { ...base, content: [toBlock(toText(content))], is_error: true };
    return { ...base, content: toParts(content, carries).map(toContent) };
  };

  return {
    get tools() {
      return offer.list().map(({ name, description, schema }) => ({
        name,
        description,
        input_schema: { ...schema, type: "object" as const },
      }));
    },
    execute,
    executeAll: ({ content }, run) =>
      Promise.all(content.filter(isToolUse).map((toolUse) => execute(toolUse, run))),
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
