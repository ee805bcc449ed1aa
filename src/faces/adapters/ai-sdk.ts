// A board for the AI SDK: a set of tools that follows the board, step by step of the SDK's own loop.

import type { Board } from "../../model/board.ts";
import type { ToolResult } from "../../model/tool.ts";
import type { SchemaProvider } from "../../bridge/schema/normalize.ts";
import { watched } from "./ai-sdk-progress.ts";
import { type AiSdkSchema, toAiSdkSchema } from "./ai-sdk-schema.ts";
import { type RunOptions, runCall } from "./shared-call.ts";
import { Offer, type OfferedTool, type OfferOptions } from "./shared-offer.ts";
import { type Carries, isMedia, marked, type Part, toParts, toText } from "./shared-parts.ts";

export interface AiSdkToolsOptions extends OfferOptions, Pick<RunOptions, "onUpdate"> {
  /** Whose rules the schemas follow. Default: `generic`, and the SDK's provider adapts them. */
  provider?: SchemaProvider;
  /**
   * What the model takes beside text. Default: images and PDF. With OpenAI's chat API it is nothing: the SDK
   * would write their bytes as text.
   */
  carries?: Carries;
  /** Signs of life become preliminary results in the SDK's stream. Its last one is then the result itself. */
  progress?: boolean;
}

export type AiSdkModelOutput =
  | { type: "text"; value: string }
  | { type: "error-text"; value: string }
  | { type: "content"; value: AiSdkContentPart[] };

export type AiSdkContentPart =
  | { type: "text"; text: string }
  | { type: "image-data"; data: string; mediaType: string }
  | { type: "file-data"; data: string; mediaType: string; filename?: string };

export interface AiSdkTool {
  type: "dynamic";
  title: string;
  description: string;
  inputSchema: AiSdkSchema;
  strict?: true;
  /** Where it comes from; the SDK hands it on with every call, not to the model. */
  metadata: { server?: string; tool: string };
  /** Does not reject: failures are results with `isError`. The raw outcome is in `details`. */
  execute(
    input: unknown,
    options: { toolCallId: string; abortSignal?: AbortSignal },
  ): Promise<ToolResult>;
  toModelOutput(options: { output: ToolResult }): AiSdkModelOutput;
}

export type AiSdkTools = Record<string, AiSdkTool>;

/**
 * A live view: whoever reads its keys gets what the board lists then. A copy (`{ ...tools }`) is a snapshot.
 * A tool that was there once can still be had by its name, so that a call to it has a result.
 */
export function toAiSdkTools(
  board: Pick<Board, "tools">,
  options: AiSdkToolsOptions = {},
): AiSdkTools {
  const { provider = "generic" } = options;
  const providers = provider === "openai-strict" ? [provider, "openai" as const] : [provider];
  const offer = new Offer(board, { providers }, options);
  const made = new WeakMap<OfferedTool, AiSdkTool>();
  const known = new Map<string, AiSdkTool>();
  let names: string[] | undefined;

  const toTool = (offered: OfferedTool): AiSdkTool => {
    const tool = made.get(offered) ?? toAiSdkTool(offered, offer, options);
    made.set(offered, tool);
    return tool;
  };

  /** Held until the reader lets others run: reading all of it asks the board once. */
  const look = (): string[] => {
    if (names !== undefined) return names;
    const listed = offer.list();
    for (const offered of listed) known.set(offered.name, toTool(offered));
    names = listed.map(({ name }) => name);
    queueMicrotask(() => {
      names = undefined;
    });
    return names;
  };

  const find = (key: string | symbol): AiSdkTool | undefined => {
    look();
    return typeof key === "string" ? known.get(key) : undefined;
  };

  return new Proxy<AiSdkTools>(Object.create(null) as AiSdkTools, {
    ownKeys: look,
    has: (_, key) => find(key) !== undefined,
    get: (_, key) => find(key),
    getOwnPropertyDescriptor(_, key) {
      const value = find(key);
      return value && { value, enumerable: true, configurable: true };
    },
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
  });
}

function toAiSdkTool(
  offered: OfferedTool,
  offer: Pick<Offer, "find" | "list">,
  { carries, onUpdate, progress }: AiSdkToolsOptions,
): AiSdkTool {
  const { name, description, schema, tool } = offered;
  const { source } = tool;
  const taken = { image: true, document: true, ...carries };
  return {
    type: "dynamic",
    title: tool.label,
    description,
    inputSchema: toAiSdkSchema(schema),
    ...(offered.provider === "openai-strict" && { strict: true }),
    metadata: source.kind === "mcp" ? { server: source.server, tool: source.tool } : { tool: name },
    execute(input, { toolCallId, abortSignal: signal }) {
      const call = { id: toolCallId, name, args: input };
      if (!progress) return runCall(offer, call, { signal, onUpdate });
      return watched((tell) =>
        runCall(offer, call, {
          signal,
          onUpdate(update, id) {
            tell(update);
            onUpdate?.(update, id);
          },
        }),
      );
    },
    toModelOutput: ({ output }) => toModelOutput(output, taken),
  };
}

/** Text alone where that is all there is, which every provider takes. */
function toModelOutput(result: ToolResult, carries: Carries): AiSdkModelOutput {
  if (result.isError) return { type: "error-text", value: toText(marked(result)) };
  const parts = toParts(result.content, carries);
  if (!parts.some(isMedia)) return { type: "text", value: toText(result.content) };
  return { type: "content", value: parts.map(toContentPart) };
}

function toContentPart(part: Part): AiSdkContentPart {
  if (part.type === "text") return { type: "text", text: part.text };
  const { type, data, mediaType } = part;
  if (type === "image") return { type: "image-data", data, mediaType };
  return {
    type: "file-data",
    data,
    mediaType,
    ...(type === "document" && { filename: "document.pdf" }),
  };
}
