// A board's tools for LangChain: a `DynamicStructuredTool` for each, made with the caller's own classes, so
// that there is one copy of the library and no dependency on it here.

import type { Media } from "../../bridge/media.ts";
import { withoutPatterns } from "../../bridge/without-patterns.ts";
import type { Board } from "../../model/board.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import type { ToolResult, ToolUpdate } from "../../model/tool.ts";
import { runCall } from "./shared-call.ts";
import { Offer, type OfferedTool, type OfferOptions } from "./shared-offer.ts";
import { isMedia, marked, toDataUrl, toParts, toText } from "./shared-parts.ts";

export type LangChainContent = string | LangChainBlock[];

export type LangChainBlock =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" };

/** What `DynamicStructuredTool` is made of. */
export interface LangChainToolFields<Message> {
  name: string;
  description: string;
  schema: JsonObject;
  responseFormat: "content_and_artifact";
  /** A model that gives wrong arguments is told what is wrong with them. */
  verboseParsingErrors: true;
  metadata: Record<string, unknown>;
  func: (
    input: unknown,
    run?: LangChainRun,
    config?: LangChainConfig,
  ) => Promise<[LangChainContent | Message, unknown]>;
}

/** What `ToolMessage` is made of. */
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

/** Of `@langchain/core/tools` and `@langchain/core/messages`. */
export interface LangChainClasses<Tool, Message> {
  DynamicStructuredTool: new (fields: LangChainToolFields<Message>) => Tool;
  ToolMessage: new (fields: LangChainMessageFields) => Message;
}

export interface LangChainOptions extends OfferOptions {
  /**
   * How images reach the model: `words` (the default, since a model that does not take them refuses the
   * whole request), `blocks` of LangChain, or the `responses` API of OpenAI. Whatever it is, they are in
   * the artifact.
   */
  images?: "words" | "blocks" | "responses";
}

/** What the board lists now: to be asked for again when its `tools` event says so. */
export function toLangChainTools<Tool, Message>(
  board: Pick<Board, "tools">,
  classes: LangChainClasses<Tool, Message>,
  options: LangChainOptions = {},
): Tool[] {
  const { DynamicStructuredTool, ToolMessage } = classes;
  const toContent = contentMaker(options);
  const offer = new Offer(board, { providers: ["generic"] }, options);
  return offer.list().map((offered) => {
    const { name, description, schema } = offered;
    return new DynamicStructuredTool({
      name,
      description,
      schema: withoutPatterns(schema),
      responseFormat: "content_and_artifact",
      verboseParsingErrors: true,
      metadata: metadataOf(offered),
      async func(input, run, config) {
        const id = config?.toolCall?.id;
        const result = await call(offered, input, run, config);
        const { details: artifact = result } = result;
        if (!result.isError) return [toContent(result), artifact];
        // Without a call there is no message to answer it with, and bare content would pass for success.
        if (id === undefined) throw toError(result, artifact);
        const fields = { content: toContent(result), artifact, tool_call_id: id, name };
        return [new ToolMessage({ status: "error", ...fields }), artifact];
      },
    });
  });
}

function call(
  offered: OfferedTool,
  args: unknown,
  run: LangChainRun | undefined,
  config: LangChainConfig | undefined,
): Promise<ToolResult> {
  const { name } = offered;
  // A listener that fails is no reason for the call to.
  const onUpdate = (update: ToolUpdate): void =>
    void run?.handleToolEvent?.(update).catch(() => {});
  return runCall(
    { find: () => offered, list: () => [offered] },
    { id: config?.toolCall?.id ?? "", name, args },
    { onUpdate, ...(config?.signal !== undefined && { signal: config.signal }) },
  );
}

/** For traces, and for whoever decides about calls. */
function metadataOf({ tool: { label, source, annotations } }: OfferedTool): JsonObject {
  return { label, source, ...(annotations !== undefined && { annotations }) };
}

/** A failure says so in words too: not every model's API has a sign for it. */
function contentMaker({
  images = "words",
}: LangChainOptions): (of: ToolResult) => LangChainContent {
  if (images === "words") return (result) => toText(marked(result));
  const toMedia = images === "responses" ? toInputImage : toImageBlock;
  const type = images === "responses" ? "input_text" : "text";
  return (result) => {
    const parts = toParts(marked(result), { image: true });
    // Text alone is what every API takes in a tool message.
    if (!parts.some(isMedia)) return toText(marked(result));
    return parts.map((part) => (isMedia(part) ? toMedia(part) : { type, text: part.text }));
  };
}

/** Of LangChain's several blocks for an image, the one that its models agree on. */
function toImageBlock(part: Media): LangChainBlock {
  return { type: "image_url", image_url: { url: toDataUrl(part) } };
}

function toInputImage(part: Media): LangChainBlock {
  return { type: "input_image", image_url: toDataUrl(part), detail: "auto" };
}

function toError(result: ToolResult, cause: unknown): PlugboardError {
  return new PlugboardError("TOOL_FAILED", toText(marked(result)), { cause });
}
