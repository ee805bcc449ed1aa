// MCP's content as an editor shows it, and a prompt's blocks as text.

import type { ContentBlock as AcpBlock, ToolCallContent } from "@agentclientprotocol/sdk";
import type { ContentBlock } from "../../model/content.ts";
import type { CallOutcome } from "../../model/tool.ts";
import { asText } from "../../util/as-text.ts";
import { plainText } from "../../util/text.ts";

export function textBlock(text: string): AcpBlock {
  return { type: "text", text };
}

/** What a call came to; never empty, so that an editor has something to show. */
export function outcomeContent(outcome: CallOutcome): ToolCallContent[] {
  const blocks = outcome.content.map(toAcp);
  const hasText = outcome.content.some((block) => block.type === "text" && block.text !== "");
  if (!hasText && outcome.structuredContent !== undefined) {
    blocks.push(textBlock(asText(outcome.structuredContent)));
  }
  if (blocks.length === 0) {
    const words = outcome.isError
      ? "(the tool reported an error without details)"
      : "(empty result)";
    blocks.push(textBlock(words));
  }
  return blocks.map((content) => ({ type: "content", content }));
}

/** Only the keys that ACP has: what a server put beside them is not the editor's. */
export function toAcp(block: ContentBlock): AcpBlock {
  switch (block.type) {
    case "text":
      return textBlock(plainText(block.text));
    case "image":
    case "audio":
      return { type: block.type, data: block.data, mimeType: block.mimeType };
    case "resource": {
      const { uri, mimeType, text, blob } = block.resource;
      const about = { uri, ...(mimeType !== undefined && { mimeType }) };
      return blob === undefined
        ? { type: "resource", resource: { ...about, text: text ?? "" } }
        : { type: "resource", resource: { ...about, blob } };
    }
    case "resource_link": {
      const { uri, name = uri, title, description, mimeType, size } = block;
      return {
        type: "resource_link",
        uri,
        name,
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        ...(mimeType !== undefined && { mimeType }),
        ...(size !== undefined && { size }),
      };
    }
  }
}

/** What somebody typed: the text blocks, on lines of their own. */
export function promptText(prompt: readonly AcpBlock[]): string {
  return prompt
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n")
    .trim();
}

/** The other way round: what a client sent, for a model. */
export function fromAcp(block: AcpBlock): ContentBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
    case "audio":
      return { type: block.type, data: block.data, mimeType: block.mimeType };
    case "resource": {
      const { uri, mimeType, ...body } = block.resource;
      const about = { uri, ...(typeof mimeType === "string" && { mimeType }) };
      const held = "text" in body ? { text: body.text } : { blob: body.blob };
      return { type: "resource", resource: { ...about, ...held } };
    }
    case "resource_link": {
      const { uri, name, title, description, mimeType, size } = block;
      return {
        type: "resource_link",
        uri,
        name,
        ...(typeof title === "string" && { title }),
        ...(typeof description === "string" && { description }),
        ...(typeof mimeType === "string" && { mimeType }),
        ...(typeof size === "number" && { size }),
      };
    }
  }
}
