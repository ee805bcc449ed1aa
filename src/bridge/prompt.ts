// A server's answer to `prompts/get` as messages: every kind of content kept, whatever is malformed made
// visible as text.

import { PlugboardError } from "../model/errors.ts";
import { isJsonObject } from "../model/json.ts";
import type { PromptMessage } from "../model/prompt.ts";
import { toBlock } from "./outcome.ts";

export interface ReadPrompt {
  description?: string;
  messages: PromptMessage[];
}

/** Throws where the answer is no result at all. */
export function toPrompt(result: unknown): ReadPrompt {
  if (!isJsonObject(result) || !Array.isArray(result.messages)) {
    throw new PlugboardError("PROTOCOL", "the server's answer to prompts/get has no messages");
  }
  const { description } = result;
  return {
    ...(typeof description === "string" && { description }),
    messages: result.messages.flatMap(toMessages),
  };
}

/** One a block: some servers give a message several. */
function toMessages(message: unknown): PromptMessage[] {
  const { role, content } = isJsonObject(message) ? message : { content: message };
  const blocks: unknown[] = Array.isArray(content) ? content : [content];
  return blocks.map((block) => ({
    role: role === "assistant" ? "assistant" : "user",
    content: typeof block === "string" ? { type: "text", text: block } : toBlock(block),
  }));
}
