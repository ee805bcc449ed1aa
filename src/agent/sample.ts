// Asks a model once for a server: its words alone, nothing of any other conversation, and no tool but its own.

import type { ModelMessage } from "ai";
import { providerName } from "../bridge/provider-name.ts";
import { normalizeSchema } from "../bridge/schema/normalize.ts";
import { cancelled, PlugboardError } from "../model/errors.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import type {
  SampledMessage,
  SamplingContent,
  SamplingRequest,
  SamplingTool,
} from "../model/sampling.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import { oneLine, plainText } from "../util/text.ts";
import { askModel } from "./ask-model.ts";
import type { ModelCall } from "./call.ts";
import type { AgentModel } from "./model.ts";
import { toModelMessages } from "./sampling-messages.ts";
import { runStep, type StepEnd, type StepSettings } from "./step.ts";

export interface SampleOptions {
  model: AgentModel;
  clock?: Clock;
  /** 0 ≤ n < 1. */
  random?: () => number;
}

/** A server's tool as the model's provider takes it. */
interface Offered {
  name: string;
  description: string;
  schema: JsonObject;
  /** The server's own name for it. */
  original: string;
  toOriginal: (args: JsonObject) => JsonObject;
}

/** Rejects with a PlugboardError that says why there is no answer. */
export async function sampleModel(
  request: SamplingRequest,
  { model, clock = systemClock, random = Math.random }: SampleOptions,
): Promise<SampledMessage> {
  const { systemPrompt, messages, tools = [], signal } = request;
  const offered = new Map(tools.map((tool) => [providerName(tool.name), toOffered(tool, model)]));
  const step = {
    model,
    system: systemPrompt && plainText(systemPrompt),
    messages: toModelMessages(messages, model.media),
    offered,
    settings: settingsOf(request),
    signal,
    onEvent: () => {},
  };
  const answer = await askModel(() => runStep(step), { ...step, clock, random });
  switch (answer.kind) {
    case "failed":
      throw answer.failure.error;
    case "cancelled":
      throw cancelled();
    case "answered":
      return { model: model.id, ...toSampled(answer, offered) };
  }
}

function settingsOf(request: SamplingRequest): StepSettings {
  const { maxTokens, temperature, stopSequences, tools = [], toolChoice } = request;
  return {
    maxOutputTokens: maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences !== undefined && { stopSequences }),
    ...(toolChoice !== undefined && tools.length > 0 && { toolChoice }),
  };
}

function toOffered(
  { name, description = "", inputSchema }: SamplingTool,
  { schemas }: AgentModel,
): Offered {
  const normalized = normalizeSchema(inputSchema, schemas);
  return {
    name: providerName(name),
    description: plainText(description),
    schema: normalized.schema,
    original: name,
    toOriginal: (args) => normalized.toOriginal(args),
  };
}

function toSampled(
  { messages, calls, finish }: Extract<StepEnd, { kind: "answered" }>,
  offered: ReadonlyMap<string, Offered>,
): Pick<SampledMessage, "content" | "stopReason"> {
  const text = messages.map(textOf).join("");
  // A call in an answer that was cut may be cut itself.
  const uses = finish === "stop" ? calls.map((call) => toToolUse(call, offered)) : [];
  const content: SamplingContent[] =
    text === "" && uses.length > 0 ? uses : [{ type: "text", text }, ...uses];
  return { content, stopReason: uses.length > 0 ? "toolUse" : STOP_REASONS[finish] };
}

const STOP_REASONS = { stop: "endTurn", length: "maxTokens", refusal: "refusal" } as const;

function textOf({ content }: ModelMessage): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function toToolUse(
  { id, name, input }: ModelCall,
  offered: ReadonlyMap<string, Offered>,
): SamplingContent {
  const tool = offered.get(name);
  if (tool === undefined) throw unfit(`calls '${oneLine(name, 100)}', which is no tool of it`);
  // What some models send to a tool without parameters.
  const args = input === undefined || input === null || input === "" ? {} : input;
  if (!isJsonObject(args)) throw unfit(`calls '${tool.original}' with what is no JSON object`);
  return { type: "tool_use", id, name: tool.original, input: tool.toOriginal(args) };
}

function unfit(what: string): PlugboardError {
  return new PlugboardError("PROTOCOL", `the model's answer to the server ${what}`);
}
