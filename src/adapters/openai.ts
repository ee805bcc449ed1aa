// A board for OpenAI's APIs and compatible ones: the tools of a request, and the messages or items that answer
// the model's calls.

import type { SupportedMedia } from "../core/tools/model-content.ts";
import { FLAG, OBJECT, requireOptions } from "../core/types/kinds.ts";
import { type AdapterBoard, type AdapterOptions, boardTools, rulesFor } from "./board-tools.ts";
import { type OpenAiChatTools, toChatTools } from "./openai-chat.ts";
import { type OpenAiResponsesTools, toResponsesTools } from "./openai-responses.ts";

export type * from "./openai-chat.ts";
export type * from "./openai-responses.ts";

export interface OpenAiToolsOptions extends AdapterOptions {
  api: "chat" | "responses";
  /** Offers schemas in the strict form, which the model cannot break. A schema without a strict form stays as it is. */
  strict?: boolean;
  /** What the model takes beside text. Default: images and PDF. Only the chat API takes audio. */
  carries?: SupportedMedia;
}

const MAX_TOOLS = 128;

export function toOpenAiTools(
  board: AdapterBoard,
  options: OpenAiToolsOptions & { api: "chat" },
): OpenAiChatTools;
export function toOpenAiTools(
  board: AdapterBoard,
  options: OpenAiToolsOptions & { api: "responses" },
): OpenAiResponsesTools;
export function toOpenAiTools(
  board: AdapterBoard,
  options: OpenAiToolsOptions,
): OpenAiChatTools | OpenAiResponsesTools {
  requireOptions<OpenAiToolsOptions>(options, { carries: OBJECT, strict: FLAG });
  const providers = rulesFor(options.strict ? "openai-strict" : "openai");
  const tools = boardTools(board, { providers, maxTools: MAX_TOOLS }, options);
  const supported = { image: true, document: true, ...options.carries };
  return options.api === "chat"
    ? toChatTools(tools, supported)
    : toResponsesTools(tools, supported);
}
