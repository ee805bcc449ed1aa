// Asks a model once on behalf of a server: with the server's messages and tools only, nothing of any other
// conversation. Messages are plain text throughout, so that the model reads what the user was shown.

import type { AssistantContent, ModelMessage, ToolContent } from "ai";
import { toPromptContent, toResultOutput } from "../../core/tools/ai-sdk-content.ts";
import { contentInWords } from "../../core/tools/degrade.ts";
import { type ModelCall, readArguments } from "../../core/tools/model-call.ts";
import type { ModelTool } from "../../core/tools/model-tools.ts";
import { providerName, safeName } from "../../core/tools/provider-name.ts";
import { normalizeSchema } from "../../core/tools/schema/normalize.ts";
import type { ContentBlock } from "../../core/types/content.ts";
import { cancelled, PlugboardError } from "../../core/types/errors.ts";
import type {
  SampledMessage,
  SamplingContent,
  SamplingMessage,
  SamplingRequest,
  SamplingTool,
  ToolResultContent,
} from "../../core/types/sampling.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { asText, oneLine, plainText } from "../../util/text.ts";
import { askModel } from "./ask-model.ts";
import type { AgentModel } from "./model.ts";
import type { MediaSupport } from "./provider.ts";
import type { StepEnd, StepSettings } from "./step.ts";

export interface SampleModelOptions {
  model: AgentModel;
  clock?: Clock;
  /** 0 ≤ n < 1. */
  random?: () => number;
}

/** A server's tool in the form that the model's provider takes. */
interface ModelSamplingTool extends Omit<ModelTool, "tool" | "provider"> {
  /** The server's own name for it. */
  originalName: string;
}

/** Rejects with a PlugboardError that says why there is no answer. */
export async function sampleModel(
  request: SamplingRequest,
  { model, clock = systemClock, random = Math.random }: SampleModelOptions,
): Promise<SampledMessage> {
  const { systemPrompt, messages, signal } = request;
  const tools = new Map(
    (request.tools ?? []).map((tool) => [providerName(tool.name), toModelTool(tool, model)]),
  );
  const answer = await askModel({
    model,
    system: systemPrompt && plainText(systemPrompt),
    messages: toModelMessages(messages, model.media),
    tools,
    settings: settingsOf(request),
    signal,
    onEvent: () => {},
    clock,
    random,
  });
  switch (answer.kind) {
    case "failed":
      throw answer.failure.error;
    case "cancelled":
      throw cancelled();
    case "answered":
      return { model: model.id, ...toSampled(answer, tools) };
  }
}

function settingsOf(request: SamplingRequest): StepSettings {
  const { maxTokens, temperature, stopSequences, tools = [], toolChoice } = request;
  return {
    maxOutputTokens: maxTokens,
    temperature,
    stopSequences,
    toolChoice: tools.length > 0 ? toolChoice : undefined,
  };
}

function toModelTool(
  { name, description = "", inputSchema }: SamplingTool,
  { schemas }: AgentModel,
): ModelSamplingTool {
  const normalized = normalizeSchema(inputSchema, schemas);
  return {
    name: providerName(name),
    description: plainText(description),
    schema: normalized.schema,
    originalName: name,
    toOriginal: (args) => normalized.toOriginal(args),
  };
}

function toModelMessages(
  messages: readonly SamplingMessage[],
  media: MediaSupport,
): ModelMessage[] {
  /** Tool names by call id: a result has only the id. */
  const called = new Map<string, string>();
  return messages.flatMap(({ role, content }): ModelMessage[] => {
    if (role === "assistant") {
      return [{ role, content: content.flatMap((block) => assistantParts(block, called)) }];
    }
    const results = content.flatMap((block) =>
      block.type === "tool_result" ? [toResultPart(block, called, media)] : [],
    );
    const said = content.filter(isContent).map(toPlain);
    return [
      ...(results.length > 0 ? [{ role: "tool" as const, content: results }] : []),
      ...(said.length > 0 || results.length === 0
        ? [{ role: "user" as const, content: toPromptContent(said, media.prompts) }]
        : []),
    ];
  });
}

/** Providers do not take media in the model's own messages, so they are described in text. */
function assistantParts(
  block: SamplingContent,
  called: Map<string, string>,
): Exclude<AssistantContent, string> {
  if (block.type === "tool_use") {
    const toolName = safeName(providerName(block.name));
    called.set(block.id, toolName);
    return [{ type: "tool-call", toolCallId: block.id, toolName, input: block.input }];
  }
  const text = isContent(block) ? contentInWords(toPlain(block)) : undefined;
  return text === undefined ? [] : [{ type: "text", text }];
}

function toResultPart(
  { toolUseId, content, structuredContent, isError = false }: ToolResultContent,
  called: ReadonlyMap<string, string>,
  media: MediaSupport,
): ToolContent[number] {
  const blocks: ContentBlock[] =
    content.length > 0 || structuredContent === undefined
      ? content.map(toPlain)
      : [{ type: "text", text: asText(structuredContent) }];
  return {
    type: "tool-result",
    toolCallId: toolUseId,
    toolName: called.get(toolUseId) ?? safeName(""),
    output: toResultOutput({ content: blocks, isError }, media.results),
  };
}

function toPlain<Block extends ContentBlock>(block: Block): Block {
  return block.type === "text" ? { ...block, text: plainText(block.text) } : block;
}

function isContent(
  block: SamplingContent,
): block is Extract<SamplingContent, { type: "text" | "image" | "audio" }> {
  return block.type !== "tool_use" && block.type !== "tool_result";
}

function toSampled(
  { messages, calls, finish }: Extract<StepEnd, { kind: "answered" }>,
  tools: ReadonlyMap<string, ModelSamplingTool>,
): Pick<SampledMessage, "content" | "stopReason"> {
  const text = messages.map(textOf).join("");
  // If the answer was cut off, so may be the arguments of its calls.
  const uses = finish === "stop" ? calls.map((call) => toToolUse(call, tools)) : [];
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
  { id, name, input, problem }: ModelCall,
  tools: ReadonlyMap<string, ModelSamplingTool>,
): SamplingContent {
  const tool = tools.get(name);
  if (tool === undefined) {
    throw invalidAnswer(`calls '${oneLine(name, 100)}', which is not one of its tools`);
  }
  const args = problem ?? readArguments(input);
  if (typeof args === "string")
    throw invalidAnswer(`calls '${tool.originalName}': its arguments ${args}`);
  return { type: "tool_use", id, name: tool.originalName, input: tool.toOriginal(args) };
}

function invalidAnswer(problem: string): PlugboardError {
  return new PlugboardError("PROTOCOL", `the model's answer to the server ${problem}`);
}
