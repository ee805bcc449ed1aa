// A server's sampling request as text, for the user who decides on it.

import { contentInWords } from "../../core/tools/degrade.ts";
import type { ContentBlock } from "../../core/types/content.ts";
import type { SamplingContent, SamplingRequest } from "../../core/types/sampling.ts";
import { asText, plainText } from "../../util/text.ts";

/** More than anybody reads before deciding. The text says how much is missing. */
const LONGEST = 8000;

export function samplingText({ systemPrompt, messages, tools = [] }: SamplingRequest): string {
  const parts = [
    ...(systemPrompt === undefined ? [] : [`system prompt: ${systemPrompt}`]),
    ...messages.map(({ role, content }) => `${role}: ${content.map(inWords).join("\n")}`),
    ...(tools.length === 0 ? [] : [`tools: ${tools.map(({ name }) => name).join(", ")}`]),
  ];
  const text = plainText(parts.join("\n\n"));
  if (text.length <= LONGEST) return text;
  return `${text.slice(0, LONGEST)}\n\n(and ${text.length - LONGEST} more characters)`;
}

/** The model's answer, to be shown beside the request. */
export function sampledText(content: SamplingContent | readonly SamplingContent[]): string {
  const blocks: readonly SamplingContent[] = [content].flat();
  return plainText(blocks.map(inWords).join("\n"));
}

function inWords(block: SamplingContent | ContentBlock): string {
  switch (block.type) {
    case "tool_use":
      return `[calls ${block.name} ${asText(block.input)}]`;
    case "tool_result":
      return `[result: ${block.content.map(inWords).join("\n")}]`;
    default:
      return contentInWords(block) ?? `[${block.type}]`;
  }
}
