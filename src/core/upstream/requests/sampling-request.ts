// Reads `sampling/createMessage`. A server wrote all of it, so it is checked and bounded before a model or a
// person sees any of it.

import { isJsonObject, isTexts, type JsonObject } from "../../types/json.ts";
import type {
  ModelPreferences,
  SamplingContent,
  SamplingMessage,
  SamplingRequest,
  SamplingTool,
} from "../../types/sampling.ts";
import { isTooDeep } from "../../../util/json-depth.ts";
import { asText, byteSize } from "../../../util/text.ts";

const MAX_MESSAGES = 200;
const MAX_TOOLS = 64;
const MAX_STOPS = 16;
const MAX_HINTS = 16;
/** For all text in a request, in characters, and for all its images and sounds, in characters of base64. */
const MAX_TEXT = 256 * 1024;
const MAX_BINARY = 8 * 1024 * 1024;

/** What the server wrote; the rest of a request comes from the host. */
export type SamplingContents = Omit<
  SamplingRequest,
  "server" | "tool" | "callId" | "approvalRequired" | "signal"
>;

/** Returns a string if the request is refused: the reason, for the server and the log. */
export function readSampling(
  params: unknown,
  { maxTokens, tools: takesTools }: { maxTokens: number; tools: boolean },
): SamplingContents | string {
  if (!isJsonObject(params)) return "the request has no parameters";
  // It could not be measured, nor be sent to a model.
  if (isTooDeep(params)) return "the request has too many levels";
  const { messages: given, systemPrompt, temperature, stopSequences } = params;
  if (!Array.isArray(given) || given.length === 0) return "the request has no messages";
  if (given.length > MAX_MESSAGES) return `the request has more than ${MAX_MESSAGES} messages`;
  const wantsTools = params.tools !== undefined || params.toolChoice !== undefined;
  if (wantsTools && !takesTools) return "tools in sampling are not supported here";
  const messages = given.map(readMessage);
  const tools = wantsTools ? readTools(params.tools ?? []) : [];
  if (!messages.every((each) => each !== undefined) || tools === undefined) {
    return "the request is malformed";
  }
  const size = measure([messages, systemPrompt, tools, stopSequences]);
  if (size.text > MAX_TEXT) return `the request has more than ${byteSize(MAX_TEXT)} of text`;
  if (size.binary > MAX_BINARY) return `the request has more than ${byteSize(MAX_BINARY)} of media`;
  const asked = Number(params.maxTokens);
  return {
    messages,
    maxTokens: asked >= 1 ? Math.min(Math.floor(asked), maxTokens) : maxTokens,
    ...(typeof systemPrompt === "string" && { systemPrompt }),
    ...(typeof temperature === "number" && { temperature }),
    ...(isTexts(stopSequences) && { stopSequences: stopSequences.slice(0, MAX_STOPS) }),
    preferences: readPreferences(params.modelPreferences),
    ...(wantsTools && { tools, ...readChoice(params.toolChoice) }),
  };
}

function readMessage(message: unknown): SamplingMessage | undefined {
  if (!isJsonObject(message)) return undefined;
  const { role, content } = message;
  const blocks: unknown[] = Array.isArray(content) ? content : [content];
  if ((role !== "user" && role !== "assistant") || !blocks.every(isSamplingContent)) {
    return undefined;
  }
  return { role, content: blocks };
}

export function isSamplingContent(block: unknown): block is SamplingContent {
  if (!isJsonObject(block)) return false;
  switch (block.type) {
    case "text":
      return typeof block.text === "string";
    case "image":
    case "audio":
      return typeof block.data === "string" && typeof block.mimeType === "string";
    case "tool_use":
      return (
        typeof block.id === "string" && typeof block.name === "string" && isJsonObject(block.input)
      );
    case "tool_result":
      return typeof block.toolUseId === "string" && Array.isArray(block.content);
    default:
      return false;
  }
}

function readTools(tools: unknown): SamplingTool[] | undefined {
  if (!Array.isArray(tools) || tools.length > MAX_TOOLS) return undefined;
  const read = tools.flatMap((tool: unknown): SamplingTool[] => {
    if (!isJsonObject(tool) || typeof tool.name !== "string") return [];
    const { name, description, inputSchema } = tool;
    if (!isJsonObject(inputSchema)) return [];
    return [{ name, inputSchema, ...(typeof description === "string" && { description }) }];
  });
  return read.length === tools.length ? read : undefined;
}

function readChoice(choice: unknown): Pick<SamplingRequest, "toolChoice"> {
  const mode = isJsonObject(choice) ? choice.mode : undefined;
  return mode === "auto" || mode === "required" || mode === "none" ? { toolChoice: mode } : {};
}

function readPreferences(given: unknown): ModelPreferences | undefined {
  if (!isJsonObject(given)) return undefined;
  const hints = Array.isArray(given.hints) ? given.hints.slice(0, MAX_HINTS) : [];
  const preferences: ModelPreferences = {
    hints: hints.flatMap((hint: unknown) =>
      isJsonObject(hint) && typeof hint.name === "string" ? [hint.name.slice(0, 200)] : [],
    ),
  };
  for (const key of ["costPriority", "speedPriority", "intelligencePriority"] as const) {
    const value = given[key];
    if (typeof value === "number") preferences[key] = value;
  }
  return preferences;
}

/** Counts base64 separately from everything else. */
function measure(parts: readonly unknown[]): { text: number; binary: number } {
  let binary = 0;
  const words = parts.map((part) => withoutMedia(part, (data) => (binary += data.length)));
  return { text: asText(words).length, binary };
}

function withoutMedia(part: unknown, onData: (data: string) => void): unknown {
  if (!Array.isArray(part)) return part;
  return part.map((message: unknown) => {
    if (!isJsonObject(message) || !Array.isArray(message.content)) return message;
    return message.content.map((block: unknown) => withoutData(block, onData));
  });
}

function withoutData(block: unknown, onData: (data: string) => void): unknown {
  if (!isJsonObject(block)) return block;
  if (block.type === "tool_result" && Array.isArray(block.content)) {
    return block.content.map((inner: unknown) => withoutData(inner, onData));
  }
  if (typeof block.data !== "string") return block;
  onData(block.data);
  const { data: _, ...rest }: JsonObject = block;
  return rest;
}
