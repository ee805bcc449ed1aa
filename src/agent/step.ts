// One request to the model and its streamed answer.

import type { AssistantModelMessage, ModelMessage, ToolSet } from "ai";
import type { ModelCall } from "./call.ts";
import type { AgentModel } from "./model.ts";
import { type OfferedTool, safeName } from "./offer.ts";
import type { TokenUsage, TurnEvent } from "./turn-event.ts";

export interface StepOptions {
  model: AgentModel;
  system: string | undefined;
  messages: ModelMessage[];
  offered: ReadonlyMap<string, Pick<OfferedTool, "name" | "description" | "schema">>;
  settings?: StepSettings;
  signal: AbortSignal;
  onEvent: (event: Extract<TurnEvent, { type: "text" | "thought" }>) => void;
}

/** Where they are absent the model's own hold. */
export interface StepSettings {
  maxOutputTokens?: number;
  temperature?: number;
  stopSequences?: string[];
  toolChoice?: "auto" | "required" | "none";
}

export type StepEnd =
  | {
      kind: "answered";
      /** The assistant's, to be sent back as they are. */
      messages: ModelMessage[];
      calls: ModelCall[];
      finish: "stop" | "length" | "refusal";
      usage: TokenUsage;
    }
  | { kind: "broken"; error: unknown }
  /** `text` is what had been said. */
  | { kind: "cancelled"; text: string };

/** Does not reject. */
export async function runStep(options: StepOptions): Promise<StepEnd> {
  const { signal } = options;
  const said = { text: "" };
  const over = new AbortController();
  const onAbort = (): void => over.abort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    if (signal.aborted) return { kind: "cancelled", text: "" };
    const end = await stream({ ...options, signal: over.signal }, said);
    return over.signal.aborted ? { kind: "cancelled", text: said.text } : end;
  } catch (error) {
    return over.signal.aborted ? { kind: "cancelled", text: said.text } : { kind: "broken", error };
  } finally {
    signal.removeEventListener("abort", onAbort);
    // A stream that is left early would keep its connection.
    over.abort();
  }
}

async function stream(
  { model, system, messages, offered, settings, signal, onEvent }: StepOptions,
  said: { text: string },
): Promise<StepEnd> {
  const { streamText, jsonSchema } = await import("ai");
  // Its warnings would go to the console, some of them to stdout.
  globalThis.AI_SDK_LOG_WARNINGS ??= false;
  const tools: ToolSet = Object.create(null) as ToolSet;
  // Without a way to run them the SDK leaves the calls to us.
  for (const { name, description, schema } of offered.values()) {
    tools[name] = { description, inputSchema: jsonSchema(schema) };
  }
  const result = streamText({
    model: model.languageModel,
    ...(system && { system }),
    messages: withBreakpoint(messages),
    ...(offered.size > 0 && { tools }),
    ...settings,
    providerOptions: model.options,
    // Retrying is this loop's own: it can be seen and cancelled.
    maxRetries: 0,
    abortSignal: signal,
    onError: () => {},
  });
  const calls: ModelCall[] = [];
  let finish: (StepEnd & { kind: "answered" })["finish"] | undefined;
  let usage: TokenUsage = { input: 0, output: 0, cached: 0, reasoning: 0 };
  for await (const part of result.fullStream) {
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
        calls.push({ id: part.toolCallId, name: part.toolName, input: part.input });
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
        return { kind: "broken", error: part.error };
      default:
    }
  }
  // An answer without an end has been cut, however well its last byte was formed.
  if (finish === undefined) return { kind: "broken", error: undefined };
  const answer = (await result.response).messages.flatMap((message) =>
    message.role === "assistant" ? withSafeNames(message) : [],
  );
  return { kind: "answered", messages: answer, calls, finish, usage };
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
      // A reason of the provider's own is an end all the same.
      return raw === undefined ? undefined : "stop";
  }
}

/** One API remembers only what it is told to: all up to here, which the next request begins with. */
function withBreakpoint(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.map((message, index) =>
    index === messages.length - 1
      ? { ...message, providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }
      : message,
  );
}

/** A name that the model made up would have the whole conversation refused, if it is no name at all. */
function withSafeNames(message: AssistantModelMessage): AssistantModelMessage {
  if (typeof message.content === "string") return message;
  const content = message.content.map((part) =>
    part.type === "tool-call" ? { ...part, toolName: safeName(part.toolName) } : part,
  );
  return { ...message, content };
}
