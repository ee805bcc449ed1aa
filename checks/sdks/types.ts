// What the adapters give fits what the SDKs take.

import type { ToolSet } from "ai";
import type OpenAI from "openai";
import type { Board } from "../../dist/index.js";
import { toAiSdkTools } from "../../dist/adapters/ai-sdk.js";
import { toOpenAiTools } from "../../dist/adapters/openai.js";

export function fits(board: Board, response: OpenAI.Responses.Response) {
  const set: ToolSet = { ...toAiSdkTools(board) };
  const adapter = toOpenAiTools(board, { api: "responses", strict: true });
  const tools: OpenAI.Responses.Tool[] = adapter.tools;
  const chat: OpenAI.Chat.Completions.ChatCompletionTool[] = toOpenAiTools(board, {
    api: "chat",
  }).tools;
  const answers: Promise<OpenAI.Responses.ResponseInputItem[]> = adapter.executeAll(response);
  return { set, tools, chat, answers };
}
