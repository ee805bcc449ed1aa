// One request to the model and its streamed answer.

import type { AssistantModelMessage, ModelMessage, ToolSet } from "ai";
import { type ModelCall, NESTED_TOO_DEEPLY } from "../../core/tools/model-call.ts";
import type { ModelTool } from "../../core/tools/model-tools.ts";
import { safeName } from "../../core/tools/provider-name.ts";
import { tryParseJson } from "../../core/types/json.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { isDeeperThan, REFUSED_DEPTH } from "../../util/json-depth.ts";
import { duration } from "../../util/text.ts";
import type { AgentModel } from "./model.ts";
import { imagesAfterResults } from "./result-images.ts";

export interface StepOptions {
  model: AgentModel;
  system?: string;
  messages: ModelMessage[];
  tools: ReadonlyMap<string, Pick<ModelTool, "name" | "description" | "schema">>;
  settings?: StepSettings;
  signal: AbortSignal;
  onEvent: (event: StepEvent) => void;
  clock: Clock;
}

/** Without a setting, the model's default applies. */
export interface StepSettings {
  maxOutputTokens?: number;
  temperature?: number;
  stopSequences?: string[];
  toolChoice?: "auto" | "required" | "none";
}

export type StepEvent =
  | { type: "text"; text: string }
  | { type: "thought"; text: string }
  /** The model has said nothing for a while. */
  | { type: "notice"; text: string };

export interface TokenUsage {
  input: number;
  output: number;
  /** Included in the input. */
  cached: number;
  /** Included in the output. */
  reasoning: number;
}

/** `text` is what the model has said so far. */
export type StepEnd =
  | {
      kind: "answered";
      /** The assistant's messages, to be sent back unchanged. */
      messages: ModelMessage[];
      calls: ModelCall[];
      finish: "stop" | "length" | "refusal";
      usage: TokenUsage;
    }
  | { kind: "broken"; error: unknown; text: string }
  /** The model said nothing for longer than it may. */
  | { kind: "silent"; text: string }
  | { kind: "cancelled"; text: string };

/** Does not reject. */
export async function runStep(options: StepOptions): Promise<StepEnd> {
  const { signal } = options;
  if (signal.aborted) return { kind: "cancelled", text: "" };
  const said = { text: "" };
  const over = new AbortController();
  const silence = new Silence(options, () => over.abort());
  const endOf = (end: StepEnd): StepEnd => {
    if (signal.aborted) return { kind: "cancelled", text: said.text };
    return silence.isTooLong ? { kind: "silent", text: said.text } : end;
  };
  try {
    const both = AbortSignal.any([signal, over.signal]);
    return endOf(await stream({ ...options, signal: both }, said, silence));
  } catch (error) {
    return endOf({ kind: "broken", error, text: said.text });
  } finally {
    silence.end();
    // A stream that we leave early would keep its connection open.
    over.abort();
  }
}

/**
 * Tells the user of a model that says nothing, once in a step, and gives it up later. Bytes that only keep the
 * connection open do not count.
 */
class Silence {
  readonly #options: StepOptions;
  readonly #giveUp: () => void;
  #timer: Timer | undefined;
  #wasTold = false;
  #isTooLong = false;

  constructor(options: StepOptions, giveUp: () => void) {
    this.#options = options;
    this.#giveUp = giveUp;
    this.begin();
  }

  get isTooLong(): boolean {
    return this.#isTooLong;
  }

  begin(): void {
    const { notice, timeout } = this.#options.model.silence;
    this.end();
    if (this.#wasTold || notice >= timeout) return this.#giveUpIn(timeout);
    // One timer begins the other. A process that was busy has timers that are due together, and they run in any order.
    this.#timer = this.#options.clock.later(notice, () => {
      this.#tell();
      this.#giveUpIn(timeout - notice);
    });
  }

  end(): void {
    this.#timer?.cancel();
  }

  #giveUpIn(ms: number): void {
    this.#timer = this.#options.clock.later(ms, () => {
      this.#isTooLong = true;
      this.#giveUp();
    });
  }

  #tell(): void {
    const { model, onEvent } = this.#options;
    const { notice, timeout } = model.silence;
    this.#wasTold = true;
    const text = `the model ${model.id} has said nothing for ${duration(notice)}; it is given up after ${duration(timeout)}`;
    onEvent({ type: "notice", text });
  }
}

/** What the SDK reports before the model has said anything. */
const NOT_SAID: ReadonlySet<string> = new Set(["start", "start-step", "raw"]);

async function stream(
  { model, system, messages, tools, settings, signal, onEvent }: StepOptions,
  said: { text: string },
  silence: Pick<Silence, "begin">,
): Promise<StepEnd> {
  const { streamText, jsonSchema } = model.sdk;
  const toolSet: ToolSet = Object.create(null) as ToolSet;
  // Without `execute`, the SDK leaves the calls to us.
  for (const { name, description, schema } of tools.values()) {
    toolSet[name] = { description, inputSchema: jsonSchema(schema) };
  }
  /** Ids of calls whose arguments were left out. */
  const tooDeep = new Set<string>();
  const result = streamText({
    model: withoutDeepArguments(model, (id) => tooDeep.add(id)),
    ...(system && { system }),
    messages: withBreakpoint(model.media.imagesFollow ? imagesAfterResults(messages) : messages),
    ...(tools.size > 0 && { tools: toolSet }),
    ...settings,
    providerOptions: model.options,
    // We retry ourselves, where retries can be shown and cancelled.
    maxRetries: 0,
    abortSignal: signal,
    onError: () => {},
  });
  const calls: ModelCall[] = [];
  let finish: (StepEnd & { kind: "answered" })["finish"] | undefined;
  let usage: TokenUsage = { input: 0, output: 0, cached: 0, reasoning: 0 };
  for await (const part of result.fullStream) {
    if (!NOT_SAID.has(part.type)) silence.begin();
    switch (part.type) {
      case "text-delta":
        said.text += part.text;
        if (part.text !== "") onEvent({ type: "text", text: part.text });
        break;
      case "reasoning-delta":
        if (part.text !== "") onEvent({ type: "thought", text: part.text });
        break;
      case "tool-call":
        if (part.providerExecuted) break;
        calls.push({
          id: part.toolCallId,
          name: part.toolName,
          input: part.input,
          ...(tooDeep.has(part.toolCallId) && { problem: NESTED_TOO_DEEPLY }),
        });
        break;
      case "finish-step":
        finish = toFinish(part.finishReason, part.rawFinishReason);
        usage = {
          input: part.usage.inputTokens ?? 0,
          output: part.usage.outputTokens ?? 0,
          cached: part.usage.inputTokenDetails.cacheReadTokens ?? 0,
          reasoning: part.usage.outputTokenDetails.reasoningTokens ?? 0,
        };
        break;
      case "error":
        return { kind: "broken", error: part.error, text: said.text };
      default:
    }
  }
  // An answer without a finish reason was cut off, even if its last chunk looks complete.
  if (finish === undefined) return { kind: "broken", error: undefined, text: said.text };
  const answer = (await result.response).messages.flatMap((message) =>
    message.role === "assistant" ? withSafeNames(message) : [],
  );
  return { kind: "answered", messages: answer, calls, finish, usage };
}

/**
 * The SDK, the next request, the events and the history all write the arguments of a call as JSON, which overflows the
 * stack if they are nested thousands of levels deep. So they are left out before the SDK reads them.
 */
function withoutDeepArguments(
  { sdk, languageModel }: Pick<AgentModel, "sdk" | "languageModel">,
  onLeftOut: (toolCallId: string) => void,
): AgentModel["languageModel"] {
  return sdk.wrapLanguageModel({
    model: languageModel,
    middleware: {
      specificationVersion: "v3",
      async wrapStream({ doStream }) {
        const { stream: parts, ...rest } = await doStream();
        type Part = typeof parts extends ReadableStream<infer Each> ? Each : never;
        const flatten = new TransformStream<Part, Part>({
          transform(part, controller) {
            if (part.type !== "tool-call" || !isTooDeepText(part.input))
              return controller.enqueue(part);
            onLeftOut(part.toolCallId);
            controller.enqueue({ ...part, input: "{}" });
          },
        });
        return { ...rest, stream: parts.pipeThrough(flatten) };
      },
    },
  });
}

function isTooDeepText(json: string): boolean {
  return json.length > 2 * REFUSED_DEPTH && isDeeperThan(REFUSED_DEPTH, tryParseJson(json));
}

function toFinish(
  reason: string,
  raw: string | undefined,
): "stop" | "length" | "refusal" | undefined {
  switch (reason) {
    case "length":
      return "length";
    case "content-filter":
      return "refusal";
    case "stop":
    case "tool-calls":
      return "stop";
    default:
      // A finish reason that the SDK does not know still ends the answer.
      return raw === undefined ? undefined : "stop";
  }
}

/** Anthropic caches only up to a marked message. The next request starts with everything up to this one. */
function withBreakpoint(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.map((message, index) =>
    index === messages.length - 1
      ? { ...message, providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }
      : message,
  );
}

function withSafeNames(message: AssistantModelMessage): AssistantModelMessage {
  if (typeof message.content === "string") return message;
  const content = message.content.map((part) =>
    part.type === "tool-call" ? { ...part, toolName: safeName(part.toolName) } : part,
  );
  return { ...message, content };
}
