// The responses API: `function_call` items, answered by `function_call_output` items, which carry images and
// files as well.

import { type RunOptions, runCall } from "./shared-call.ts";
import type { Offer } from "./shared-offer.ts";
import { isStrict } from "./openai-offer.ts";
import { type Carries, isMedia, marked, type Part, toDataUrl, toParts } from "./shared-parts.ts";

export interface OpenAiResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: { [key: string]: unknown };
  /** Always said: the API's own default is true. */
  strict: boolean;
}

/** The part of a `function_call` item that a call is made of. */
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

export interface OpenAiResponsesTools {
  /** As the board lists them now: to be read anew for every request. */
  readonly tools: OpenAiResponsesTool[];
  /** Does not reject: failures are outputs too. */
  execute(call: OpenAiFunctionCall, options?: RunOptions): Promise<OpenAiFunctionCallOutput>;
  /** Makes all calls of a response at once; the outputs are in their order. */
  executeAll(
    response: { output: readonly { type: string }[] },
    options?: RunOptions,
  ): Promise<OpenAiFunctionCallOutput[]>;
}

export function toResponsesTools(offer: Offer, carries: Carries): OpenAiResponsesTools {
  const taken = { ...carries, audio: false };

  const execute: OpenAiResponsesTools["execute"] = async (call, options) => {
    const { call_id: id, name, arguments: args } = call;
    const parts = toParts(marked(await runCall(offer, { id, name, args }, options)), taken);
    const [first] = parts;
    const output =
      parts.length === 1 && first?.type === "text" ? first.text : parts.map(toOutputPart);
    return { type: "function_call_output", call_id: id, output };
  };

  return {
    get tools() {
      return offer.list().map((each) => ({
        type: "function" as const,
        name: each.name,
        description: each.description,
        parameters: each.schema,
        strict: isStrict(each),
      }));
    },
    execute,
    executeAll: ({ output }, options) =>
      Promise.all(output.filter(isFunctionCall).map((call) => execute(call, options))),
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
