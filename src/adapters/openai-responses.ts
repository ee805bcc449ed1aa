// OpenAI's responses API: `function_call` items, answered by `function_call_output` items, which can carry images
// and files.

import { type ModelCallOptions, runModelCall } from "../core/tools/model-call.ts";
import {
  isMedia,
  markFailure,
  type Part,
  type SupportedMedia,
  toDataUrl,
  toParts,
} from "../core/tools/model-content.ts";
import { OBJECT, OBJECTS, requireKind } from "../core/types/kinds.ts";
import type { BoardTools, Preselection } from "./board-tools.ts";

export interface OpenAiResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: { [key: string]: unknown };
  /** Always given, since the API defaults to true. */
  strict: boolean;
}

/** The fields of a `function_call` item that a call needs. */
export interface OpenAiFunctionCall {
  call_id: string;
  name: string;
  arguments: string;
}

export type OpenAiOutputPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" }
  | { type: "input_file"; filename: string; file_data: string };

export interface OpenAiFunctionCallOutput {
  type: "function_call_output";
  call_id: string;
  output: string | OpenAiOutputPart[];
}

export interface OpenAiResponsesTools extends Preselection {
  /** The board's tools now. Read it again for every request. */
  readonly tools: OpenAiResponsesTool[];
  /** Does not reject: failures are outputs too. */
  execute(call: OpenAiFunctionCall, options?: ModelCallOptions): Promise<OpenAiFunctionCallOutput>;
  /** Makes all calls of a response at once and returns their outputs in order. */
  executeAll(
    response: { output: readonly { type: string }[] },
    options?: ModelCallOptions,
  ): Promise<OpenAiFunctionCallOutput[]>;
}

export function toResponsesTools(
  { tools, preselect }: BoardTools,
  supported: SupportedMedia,
): OpenAiResponsesTools {
  const withoutAudio = { ...supported, audio: false };

  const execute: OpenAiResponsesTools["execute"] = async (call, options) => {
    requireKind("the call", call, OBJECT);
    const { call_id: id, name, arguments: input } = call;
    const result = await runModelCall(tools, { id, name, input }, options);
    const parts = toParts(markFailure(result), withoutAudio);
    const [first] = parts;
    const output =
      parts.length === 1 && first?.type === "text" ? first.text : parts.map(toOutputPart);
    return { type: "function_call_output", call_id: id, output };
  };

  return {
    preselect,
    get tools() {
      return [...tools.list().values()].map((each) => ({
        type: "function" as const,
        name: each.name,
        description: each.description,
        parameters: each.schema,
        strict: each.provider === "openai-strict",
      }));
    },
    execute,
    async executeAll(answer, options) {
      requireKind("the response", answer, OBJECT);
      requireKind("the output of the response", answer.output, OBJECTS);
      const calls = answer.output.filter(isFunctionCall);
      return Promise.all(calls.map((call) => execute(call, options)));
    },
  };
}

function isFunctionCall(item: {
  type: string;
}): item is { type: "function_call" } & OpenAiFunctionCall {
  return item.type === "function_call";
}

function toOutputPart(part: Part): OpenAiOutputPart {
  if (!isMedia(part)) return { type: "input_text", text: part.text };
  if (part.type === "image") {
    return { type: "input_image", image_url: toDataUrl(part), detail: "auto" };
  }
  return { type: "input_file", filename: "document.pdf", file_data: toDataUrl(part) };
}
