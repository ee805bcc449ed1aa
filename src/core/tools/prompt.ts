// Turns a server's answer to `prompts/get` into messages. Malformed content becomes text that says so.

import { PlugboardError } from "../types/errors.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import type { PromptMessage } from "../types/prompt.ts";
import { isTooDeep } from "../../util/json-depth.ts";
import { toBlock } from "./outcome.ts";

export interface ReadPrompt {
  description?: string;
  messages: PromptMessage[];
  _meta?: JsonObject;
}

/** Throws if the answer is not a result. */
export function toPrompt(result: unknown): ReadPrompt {
  if (!isJsonObject(result) || !Array.isArray(result.messages)) {
    throw new PlugboardError("PROTOCOL", "the server's answer to prompts/get has no messages");
  }
  const { description, _meta } = result;
  return {
    ...(typeof description === "string" && { description }),
    messages: result.messages.flatMap(toMessages),
    ...(isJsonObject(_meta) && !isTooDeep(_meta) && { _meta }),
  };
}

/** One message for each block: some servers put several blocks into a message. */
function toMessages(message: unknown): PromptMessage[] {
  const { role, content } = isJsonObject(message) ? message : { content: message };
  const blocks: unknown[] = Array.isArray(content) ? content : [content];
  return blocks.map((block) => ({
    role: role === "assistant" ? "assistant" : "user",
    content: typeof block === "string" ? { type: "text", text: block } : toBlock(block),
  }));
}
