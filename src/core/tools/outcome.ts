// Turns a server's answer to `tools/call` into an outcome. Malformed content becomes text that says so, so that it is
// neither lost nor passed on; an answer without any content, or nested too deeply to be passed on, is an error.

import type { InputRequired } from "../types/caller-options.ts";
import type { ContentBlock } from "../types/content.ts";
import { PlugboardError } from "../types/errors.ts";
import { isJsonObject, type JsonObject, objectIn } from "../types/json.ts";
import type { CallOutcome } from "../types/tool.ts";
import { isDeeperThan, REFUSED_DEPTH } from "../../util/json-depth.ts";
import { asText, isPlainName } from "../../util/text.ts";

/** Throws if the answer is not a result, and shows it as `quote` does. */
export function toOutcome(received: unknown, quote: (received: unknown) => string): CallOutcome {
  if (!isJsonObject(received)) throw malformed("is not a result", quote(received));
  const result = unwrapped(received);
  const content = toContent(result);
  if (content === undefined) throw malformed("has no content", quote(result));
  const outcome: CallOutcome = { content };
  if (result.structuredContent !== undefined && result.structuredContent !== null) {
    outcome.structuredContent = result.structuredContent;
  }
  // Some servers write the flag as other protocols do.
  if (result.isError === true || result.is_error === true) outcome.isError = true;
  if (isJsonObject(result._meta)) outcome._meta = result._meta;
  requireShallow(outcome);
  return outcome;
}

/** What the server wants to know first, if its answer says so. */
export function toInputRequired(result: unknown): InputRequired | undefined {
  if (!isJsonObject(result) || result.resultType !== "input_required") return undefined;
  const { inputRequests, requestState } = result;
  const required: InputRequired = {
    inputRequests: objectIn(inputRequests),
    ...(requestState !== undefined && { requestState }),
  };
  requireShallow(required);
  return required;
}

/** Whoever writes a deeper value as JSON may overflow the stack. */
function requireShallow(value: unknown): void {
  if (!isDeeperThan(REFUSED_DEPTH, value)) return;
  const message = `its answer is nested more than ${REFUSED_DEPTH} levels deep`;
  throw new PlugboardError("INVALID_RESULT", message);
}

function malformed(fault: string, shown: string): PlugboardError {
  const message = `the server's answer to tools/call ${fault}: ${shown}`;
  return new PlugboardError("PROTOCOL", message, { quote: shown });
}

/** Servers that were written for the protocol version 2024-10-07 put a whole result of today into its one value. */
function unwrapped(result: JsonObject): JsonObject {
  if (result.content !== undefined || !isJsonObject(result.toolResult)) return result;
  const { toolResult, ...rest } = result;
  return isJsonObject(toolResult) && Array.isArray(toolResult.content)
    ? { ...rest, ...toolResult }
    : result;
}

function toContent(result: JsonObject): ContentBlock[] | undefined {
  const { content, structuredContent, toolResult } = result;
  if (Array.isArray(content)) {
    return content.every(isContentBlock) ? content : content.map(toBlock);
  }
  // In the protocol version 2024-10-07 a result is one value of any type.
  if (content === undefined && toolResult !== undefined) {
    return [{ type: "text", text: asText(toolResult) }];
  }
  if (content === undefined || content === null) {
    return structuredContent === undefined || structuredContent === null ? undefined : [];
  }
  return [{ type: "text", text: asText(content) }];
}

/** Malformed content becomes a text that says so. */
export function toBlock(block: unknown): ContentBlock {
  if (isContentBlock(block)) return block;
  const type = isJsonObject(block) && typeof block.type === "string" ? block.type : undefined;
  const what =
    type === undefined
      ? "content without a type"
      : `content of ${isPlainName(type) ? `type '${type}'` : "a type"} that is unknown or malformed`;
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
