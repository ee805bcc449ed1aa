// A board for OpenAI's APIs, and for those that speak like them: the tools of a request, and the messages or
// items that answer the calls of the model.

import type { Board } from "../../model/board.ts";
import { type OpenAiChatTools, toChatTools } from "./openai-chat.ts";
import { type OpenAiOptions, offerFor } from "./openai-offer.ts";
import { type OpenAiResponsesTools, toResponsesTools } from "./openai-responses.ts";

export type * from "./openai-chat.ts";
export type * from "./openai-responses.ts";

export interface OpenAiToolsOptions extends OpenAiOptions {
  api: "chat" | "responses";
}

export function toOpenAiTools(
  board: Pick<Board, "tools">,
  options: OpenAiToolsOptions & { api: "chat" },
): OpenAiChatTools;
export function toOpenAiTools(
  board: Pick<Board, "tools">,
  options: OpenAiToolsOptions & { api: "responses" },
): OpenAiResponsesTools;
export function toOpenAiTools(
  board: Pick<Board, "tools">,
  options: OpenAiToolsOptions,
): OpenAiChatTools | OpenAiResponsesTools {
  const offer = offerFor(board, options);
  const carries = { image: true, document: true, ...options.carries };
  return options.api === "chat" ? toChatTools(offer, carries) : toResponsesTools(offer, carries);
}
