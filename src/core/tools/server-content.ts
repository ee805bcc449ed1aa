// Reads what a server answers about its resources and prompts. Malformed content becomes text that says so, so that it is
// neither lost nor passed on.

import { PlugboardError } from "../types/errors.ts";
import { isJsonObject, type JsonObject, objectIn } from "../types/json.ts";
import type { PromptMessage } from "../types/prompt.ts";
import type { Completion, ResourceContents } from "../types/resource.ts";
import { isTooDeep } from "../../util/json-depth.ts";
import { asText } from "../../util/text.ts";
import { toBlock } from "./outcome.ts";

/** The protocol allows no more. */
const MOST_COMPLETIONS = 100;
const LONGEST_COMPLETION = 4096;

/** Reads the answer to `resources/read`. Throws if the answer is not a result. */
export function toContents(
  result: unknown,
  uri: string,
): { contents: ResourceContents[]; _meta?: JsonObject } {
  if (!isJsonObject(result) || !Array.isArray(result.contents)) {
    throw new PlugboardError("PROTOCOL", "the server's answer to resources/read has no contents");
  }
  const { _meta } = result;
  return {
    contents: result.contents.map((each) => toPart(each, uri)),
    ...(isJsonObject(_meta) && !isTooDeep(_meta) && { _meta }),
  };
}

function toPart(part: unknown, asked: string): ResourceContents {
  const { uri, mimeType, text, blob, _meta } = objectIn(part);
  const about: ResourceContents = {
    uri: typeof uri === "string" ? uri : asked,
    ...(typeof mimeType === "string" && { mimeType }),
    ...(isJsonObject(_meta) && { _meta }),
  };
  if (typeof text === "string") return { ...about, text };
  if (typeof blob === "string") return { ...about, blob };
  return { ...about, text: `[content that is neither text nor a blob] ${asText(part)}` };
}

interface ReadPrompt {
  description?: string;
  messages: PromptMessage[];
  _meta?: JsonObject;
}

/** Reads the answer to `prompts/get`. Throws if the answer is not a result. */
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

/** Reads the answer to `completion/complete`. Throws if the answer is not a result. Drops values that are not texts or are too long. */
export function toCompletion(result: unknown): Completion {
  const completion = isJsonObject(result) ? result.completion : undefined;
  if (!isJsonObject(completion) || !Array.isArray(completion.values)) {
    throw new PlugboardError(
      "PROTOCOL",
      "the server's answer to completion/complete has no values",
    );
  }
  const values = completion.values.filter(
    (value): value is string => typeof value === "string" && value.length <= LONGEST_COMPLETION,
  );
  const { total, hasMore } = completion;
  const isCut = values.length > MOST_COMPLETIONS;
  return {
    values: values.slice(0, MOST_COMPLETIONS),
    ...(typeof total === "number" && { total }),
    ...((isCut || typeof hasMore === "boolean") && { hasMore: isCut || hasMore === true }),
  };
}
