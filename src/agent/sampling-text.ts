// What a server wants to ask the model, as text for the person who decides on it.

import { degradeContent } from "../bridge/degrade.ts";
import type { ContentBlock } from "../model/content.ts";
import type { SamplingContent, SamplingRequest } from "../model/sampling.ts";
import { asText, plainText } from "../util/text.ts";

/** More than anybody reads before they decide; how much is missing is said. */
const LONGEST = 8000;

const IN_WORDS = { image: false, audio: false, resource: false, resource_link: false };

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

/** The answer's words, to be shown beside the question. */
export function sampledText(content: SamplingContent | readonly SamplingContent[]): string {
  const blocks: readonly SamplingContent[] = [content].flat();
  return plainText(blocks.map(inWords).join("\n"));
}

function inWords(block: SamplingContent): string {
  switch (block.type) {
    case "tool_use":
      return `[calls ${block.name} ${asText(block.input)}]`;
    case "tool_result":
      return `[result: ${contentInWords(block.content)}]`;
    default:
      return contentInWords([block]);
  }
}

function contentInWords(content: readonly ContentBlock[]): string {
  return degradeContent(content, IN_WORDS)
    .map((block) => (block.type === "text" ? block.text : `[${block.type}]`))
    .join("\n");
}
