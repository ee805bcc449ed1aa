// A board's tools for LangChain: a `DynamicStructuredTool` for each, made with the caller's own classes, so
// that there is one copy of the library and we do not depend on it.

import { randomUUID } from "node:crypto";
import type { Media } from "../core/tools/media.ts";
import { runModelCall } from "../core/tools/model-call.ts";
import { isMedia, markFailure, toDataUrl, toParts, toText } from "../core/tools/model-content.ts";
import { withoutPatterns } from "../core/tools/without-patterns.ts";
import { PlugboardError } from "../core/types/errors.ts";
import type { JsonObject } from "../core/types/json.ts";
import { FUNCTION, OBJECT, requireKind } from "../core/types/kinds.ts";
import type { ToolResult } from "../core/types/tool.ts";
import { type AdapterBoard, type AdapterOptions, boardTools, SNAPSHOT } from "./board-tools.ts";

export type LangChainContent = string | LangChainBlock[];

export type LangChainBlock =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" };

/** The fields of `DynamicStructuredTool`. */
export interface LangChainToolFields<Message> {
  name: string;
  description: string;
  schema: JsonObject;
  responseFormat: "content_and_artifact";
  /** Tells a model that gave wrong arguments what is wrong with them. */
  verboseParsingErrors: true;
  metadata: Record<string, unknown>;
  func: (
    input: unknown,
    run?: LangChainRun,
    config?: LangChainConfig,
  ) => Promise<[LangChainContent | Message, unknown]>;
}

/** The fields of `ToolMessage`. */
export interface LangChainMessageFields {
  status: "error";
  content: LangChainContent;
  artifact: unknown;
  tool_call_id: string;
  name: string;
}

interface LangChainRun {
  handleToolEvent?: (event: unknown) => Promise<unknown>;
}

interface LangChainConfig {
  signal?: AbortSignal;
  toolCall?: { id?: string };
}

/** From `@langchain/core/tools` and `@langchain/core/messages`. */
export interface LangChainClasses<Tool, Message> {
  DynamicStructuredTool: new (fields: LangChainToolFields<Message>) => Tool;
  ToolMessage: new (fields: LangChainMessageFields) => Message;
}

export interface LangChainOptions extends AdapterOptions {
  /**
   * How images reach the model: as `words` (the default, since a model that does not take images refuses the
   * whole request), as LangChain's `blocks`, or in the form of OpenAI's `responses` API. The artifact always
   * has them.
   */
  images?: "words" | "blocks" | "responses";
}

/** A snapshot of the board's tools: call it again on the board's `tools` event. */
export function toLangChainTools<Tool, Message>(
  board: AdapterBoard,
  classes: LangChainClasses<Tool, Message>,
  options: LangChainOptions = {},
): Tool[] {
  requireKind("the classes", classes, OBJECT);
  requireKind("options", options, OBJECT);
  const { DynamicStructuredTool, ToolMessage } = classes;
  requireKind("DynamicStructuredTool", DynamicStructuredTool, FUNCTION);
  requireKind("ToolMessage", ToolMessage, FUNCTION);
  const toContent = contentMaker(options);
  const listed = boardTools(board, { providers: ["generic"] }, options, SNAPSHOT).tools.list();
  return [...listed.values()].map((modelTool) => {
    const { name, description, schema } = modelTool;
    const { label, source, annotations } = modelTool.tool;
    return new DynamicStructuredTool({
      name,
      description,
      schema: withoutPatterns(schema),
      responseFormat: "content_and_artifact",
      verboseParsingErrors: true,
      // For traces, and for code that decides about calls.
      metadata: { label, source, ...(annotations !== undefined && { annotations }) },
      async func(input, run, { toolCall, signal } = {}) {
        const id = toolCall?.id;
        const call = { id: id ?? randomUUID(), name, input };
        const result = await runModelCall(new Map([[name, modelTool]]), call, {
          signal,
          // A listener that fails must not fail the call.
          onUpdate: (update) => void run?.handleToolEvent?.(update).catch(() => {}),
        });
        const { details: artifact = result } = result;
        const content = toContent(result);
        if (!result.isError) return [content, artifact];
        if (id === undefined) {
          // There is no message to answer with, and bare content would look like success.
          const text = toText(markFailure(result));
          throw new PlugboardError("TOOL_FAILED", text, { cause: artifact });
        }
        const fields = { content, artifact, tool_call_id: id, name };
        return [new ToolMessage({ status: "error", ...fields }), artifact];
      },
    });
  });
}

/** The text says that a call failed, since not every model's API can flag it. */
function contentMaker({
  images = "words",
}: LangChainOptions): (of: ToolResult) => LangChainContent {
  if (images === "words") return (result) => toText(markFailure(result));
  const isResponses = images === "responses";
  const type = isResponses ? "input_text" : "text";
  // LangChain has several blocks for an image; all of its models take `image_url`.
  const toMedia = (part: Media): LangChainBlock =>
    isResponses
      ? { type: "input_image", image_url: toDataUrl(part), detail: "auto" }
      : { type: "image_url", image_url: { url: toDataUrl(part) } };
  return (result) => {
    const parts = toParts(markFailure(result), { image: true });
    // Every API takes plain text in a tool message.
    if (!parts.some(isMedia)) return toText(markFailure(result));
    return parts.map((part) => (isMedia(part) ? toMedia(part) : { type, text: part.text }));
  };
}
