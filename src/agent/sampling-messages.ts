// A server's conversation for the model, in the AI SDK's messages: what it says, and calls of its own tools
// with their results. It is plain text all through, so that the model reads what a person was shown.

import type { AssistantContent, ModelMessage, ToolContent } from "ai";
import { degradeContent } from "../bridge/degrade.ts";
import { providerName } from "../bridge/provider-name.ts";
import type { ContentBlock } from "../model/content.ts";
import type { SamplingContent, SamplingMessage, ToolResultContent } from "../model/sampling.ts";
import { asText, plainText } from "../util/text.ts";
import { toPromptContent, toResultOutput } from "./content.ts";
import { safeName } from "./offer.ts";
import type { AgentModel } from "./model.ts";

type AssistantPart = Exclude<AssistantContent, string>[number];
type Media = AgentModel["media"];

/** What a model says in anything but words is not sent back to it. */
const IN_WORDS = { image: false, audio: false };

export function toModelMessages(
  messages: readonly SamplingMessage[],
  media: Media,
): ModelMessage[] {
  /** Names of the tools by the ids of their calls: a result has the id alone. */
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
        ? [{ role: "user" as const, content: toPromptContent(said, media) }]
        : []),
    ];
  });
}

function assistantParts(block: SamplingContent, called: Map<string, string>): AssistantPart[] {
  if (block.type === "tool_use") {
    const toolName = safeName(providerName(block.name));
    called.set(block.id, toolName);
    return [{ type: "tool-call", toolCallId: block.id, toolName, input: block.input }];
  }
  if (!isContent(block)) return [];
  return degradeContent([toPlain(block)], IN_WORDS).flatMap((each) =>
    each.type === "text" ? [{ type: "text" as const, text: each.text }] : [],
  );
}

function toResultPart(
  { toolUseId, content, structuredContent, isError = false }: ToolResultContent,
  called: ReadonlyMap<string, string>,
  media: Media,
): ToolContent[number] {
  const blocks: ContentBlock[] =
    content.length > 0 || structuredContent === undefined
      ? content.map(toPlain)
      : [{ type: "text", text: asText(structuredContent) }];
  return {
    type: "tool-result",
    toolCallId: toolUseId,
    toolName: called.get(toolUseId) ?? safeName(""),
    output: toResultOutput({ content: blocks, isError }, media),
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
