// A board for the AI SDK: a set of tools that follows the board through the steps of the SDK's own loop.

import {
  type AiSdkContentPart,
  type AiSdkModelOutput,
  toResultOutput,
} from "../core/tools/ai-sdk-content.ts";
import { type ModelCallOptions, runModelCall } from "../core/tools/model-call.ts";
import { markFailure, type SupportedMedia, toText } from "../core/tools/model-content.ts";
import type { ModelTool, ModelTools } from "../core/tools/model-tools.ts";
import type { SchemaProvider } from "../core/tools/schema/normalize.ts";
import type { JsonObject } from "../core/types/json.ts";
import {
  FLAG,
  FUNCTION,
  type Kinds,
  OBJECT,
  requireKind,
  requireOptions,
  TEXT,
} from "../core/types/kinds.ts";
import { PlugboardError } from "../core/types/errors.ts";
import type { CallOutcome, ToolResult, ToolUpdate, UpdateListener } from "../core/types/tool.ts";
import { type AdapterBoard, type AdapterOptions, boardTools, rulesFor } from "./board-tools.ts";

export type { AiSdkContentPart, AiSdkModelOutput };

export interface AiSdkToolsOptions extends AdapterOptions, Pick<ModelCallOptions, "onUpdate"> {
  /** Whose rules the schemas follow. Default: `generic`, which the SDK's provider adapts. */
  provider?: SchemaProvider;
  /**
   * What the model takes beside text. Default: images and PDF. Set both to false for OpenAI's chat API: the
   * SDK would write their bytes as text.
   */
  carries?: SupportedMedia;
  /** Progress becomes preliminary results in the SDK's stream. The last of them is the result itself. */
  progress?: boolean;
}

/** Standard Schema with its JSON Schema: the form that needs no library. */
interface AiSdkSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { value: unknown };
    readonly jsonSchema: {
      readonly input: () => JsonObject;
      readonly output: () => JsonObject;
    };
  };
}

export interface AiSdkTool {
  type: "dynamic";
  title: string;
  description: string;
  inputSchema: AiSdkSchema;
  strict?: true;
  /** Where the tool comes from. The SDK passes it on with every call, but not to the model. */
  metadata: { server?: string; tool: string };
  /**
   * The raw outcome is in `details`. Rejects for a failed call, of which the SDK makes a `tool-error`: with a PlugboardError
   * whose message is for the model, and whose `cause` is the raw outcome.
   */
  execute(
    input: unknown,
    options: { toolCallId: string; abortSignal?: AbortSignal },
  ): Promise<ToolResult>;
  toModelOutput(options: { output: ToolResult }): AiSdkModelOutput;
}

export type AiSdkTools = Record<string, AiSdkTool>;

const KINDS: Kinds<AiSdkToolsOptions> = {
  provider: TEXT,
  carries: OBJECT,
  onUpdate: FUNCTION,
  progress: FLAG,
};

/**
 * A live view: reading its keys gives the board's tools at that moment. A copy (`{ ...tools, mine }`) is a snapshot, in
 * which the model calls what it finds with `call_tool`.
 * A tool that has gone can still be read by its name, so that a call to it gets a result.
 */
export function toAiSdkTools(board: AdapterBoard, options: AiSdkToolsOptions = {}): AiSdkTools {
  requireOptions<AiSdkToolsOptions>(options, KINDS);
  const { provider = "generic" } = options;
  const { tools, preselect } = boardTools(board, { providers: rulesFor(provider) }, options, {
    // A copy, `{ ...tools, mine }`, cannot be told from the SDK's own look at the tools.
    grows: "maybe",
    // OpenAI refuses a long description, and the whole request with it.
    describesIndex: !provider.startsWith("openai"),
  });
  const made = new WeakMap<ModelTool, AiSdkTool>();
  const known = new Map<string, AiSdkTool>();
  let names: string[] | undefined;

  const toTool = (modelTool: ModelTool): AiSdkTool => {
    const tool = made.get(modelTool) ?? toAiSdkTool(modelTool, tools, options);
    made.set(modelTool, tool);
    return tool;
  };

  /** Kept until the reader yields, so that reading every property lists the board's tools once. */
  const look = (): string[] => {
    if (names !== undefined) return names;
    const listed = tools.list();
    for (const [name, modelTool] of listed) known.set(name, toTool(modelTool));
    names = [...listed.keys()];
    queueMicrotask(() => {
      names = undefined;
    });
    return names;
  };

  const find = (key: string | symbol): AiSdkTool | undefined => {
    look();
    if (typeof key !== "string") return undefined;
    const listed = known.get(key);
    if (listed !== undefined) return listed;
    const other = tools.find(key);
    return other && toTool(other);
  };

  const view = new Proxy<AiSdkTools>(Object.create(null) as AiSdkTools, {
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
  preselecting.set(view, preselect);
  return view;
}

const preselecting = new WeakMap<AiSdkTools, (message: string) => Promise<void>>();

/**
 * Where the model searches for tools, brings a few of them into `tools` that fit what the user says. Call it before the
 * first step with what `toAiSdkTools` returned. Does not reject.
 */
export async function preselectAiSdkTools(tools: AiSdkTools, message: string): Promise<void> {
  await preselecting.get(tools)?.(message);
}

function toAiSdkTool(
  { name, description, schema, provider, tool }: ModelTool,
  tools: ModelTools,
  { carries, onUpdate, progress }: AiSdkToolsOptions,
): AiSdkTool {
  const { source } = tool;
  const supported = { image: true, document: true, ...carries };
  return {
    type: "dynamic",
    title: tool.label,
    description,
    inputSchema: toAiSdkSchema(schema),
    ...(provider === "openai-strict" && { strict: true }),
    metadata: source.kind === "mcp" ? { server: source.server, tool: source.tool } : { tool: name },
    execute(input, run) {
      requireKind("options", run, OBJECT);
      const { toolCallId: id, abortSignal: signal } = run;
      const call = { id, name, input };
      if (!progress) return runModelCall(tools, call, { signal, onUpdate }).then(orThrow);
      return withProgress((tell) =>
        runModelCall(tools, call, {
          signal,
          onUpdate(update) {
            tell(update);
            onUpdate?.(update, id);
          },
        }).then(orThrow),
      );
    },
    toModelOutput: ({ output }) => toResultOutput(output, supported),
  };
}

/** The SDK tells failures by an error that is thrown, and gives the model its message. */
function orThrow(result: ToolResult): ToolResult {
  if (result.isError !== true) return result;
  const { details: cause = result } = result;
  const code = (cause as Partial<CallOutcome>).failure?.code ?? "TOOL_FAILED";
  throw new PlugboardError(code, toText(markFailure(result)), { cause });
}

/** The SDK recognises its own schemas by this symbol and leaves them as they are; in others it closes every object. */
const SDK_SCHEMA = Symbol.for("vercel.ai.schema");

/** Validates nothing: the server checks the arguments against its own schema. */
function toAiSdkSchema(schema: JsonObject): AiSdkSchema {
  const copy = (): JsonObject => structuredClone(schema);
  const form = {
    [SDK_SCHEMA]: true,
    jsonSchema: schema,
    validate: undefined,
    "~standard": {
      version: 1 as const,
      vendor: "plugboard",
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: copy, output: copy },
    },
  };
  return form;
}

/** Await it for the result, or iterate it for the progress and then the result. */
function withProgress(
  run: (onUpdate: UpdateListener) => Promise<ToolResult>,
): Promise<ToolResult> & AsyncIterable<ToolResult> {
  const waiting: ToolResult[] = [];
  let wake = (): void => {};
  let ended = false;
  const result = run((update) => {
    waiting.push(toPreliminary(update));
    wake();
  }).finally(() => {
    ended = true;
    wake();
  });

  async function* iterate(): AsyncGenerator<ToolResult> {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) yield next;
      else if (ended) break;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    yield await result;
  }

  return Object.assign(result, { [Symbol.asyncIterator]: iterate });
}

function toPreliminary({ content, progress }: ToolUpdate): ToolResult {
  return { content, ...(progress !== undefined && { details: { progress } }) };
}
