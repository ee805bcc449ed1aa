// Turns a server's answer to `tools/call` into an outcome. Malformed content becomes text that says so, so that it is
// neither lost nor passed on.

import type { ContentBlock } from "../model/content.ts";
import { PlugboardError } from "../model/errors.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import type { CallOutcome } from "../model/tool.ts";
import { asText, oneLine } from "../util/text.ts";

/** Throws if the answer is not a result. */
export function toOutcome(result: unknown): CallOutcome {
  if (!isJsonObject(result)) {
    throw new PlugboardError("PROTOCOL", "the server's answer to tools/call is not a result");
  }
  const outcome: CallOutcome = { content: toContent(result) };
  if (result.structuredContent !== undefined && result.structuredContent !== null) {
    outcome.structuredContent = result.structuredContent;
  }
  if (result.isError === true) outcome.isError = true;
  if (isJsonObject(result._meta)) outcome._meta = result._meta;
  return outcome;
}

function toContent(result: JsonObject): ContentBlock[] {
  const { content, toolResult } = result;
  if (Array.isArray(content)) {
    return content.every(isContentBlock) ? content : content.map(toBlock);
  }
  // In the protocol version 2024-10-07 a result is one value of any type.
  if (content === undefined && toolResult !== undefined) {
    return [{ type: "text", text: asText(toolResult) }];
  }
  if (content === undefined || content === null) return [];
  return [{ type: "text", text: asText(content) }];
}

/** Malformed content becomes a text that says so. */
export function toBlock(block: unknown): ContentBlock {
  if (isContentBlock(block)) return block;
  const type = isJsonObject(block) && typeof block.type === "string" ? block.type : undefined;
  const what =
    type === undefined
      ? "content without a type"
      : `content of type '${oneLine(type, 40)}' that is unknown or malformed`;
  return { type: "text", text: `[${what}] ${asText(block)}` };
}

function isContentBlock(block: unknown): block is ContentBlock {
  if (!isJsonObject(block)) return false;
  switch (block.type) {
    case "text":
      return typeof block.text === "string";
    case "image":
    case "audio":
      return typeof block.data === "string" && typeof block.mimeType === "string";
    case "resource":
      return isJsonObject(block.resource) && typeof block.resource.uri === "string";
    case "resource_link":
      return typeof block.uri === "string";
    default:
      return false;
  }
}
