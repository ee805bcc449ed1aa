// MCP's content as an editor shows it, and a prompt's blocks as text.

import type {
  ContentBlock as AcpBlock,
  SessionUpdate,
  ToolCallContent,
} from "@agentclientprotocol/sdk";
import type { ContentBlock } from "../../../model/content.ts";
import { isJsonObject } from "../../../model/json.ts";
import type { CallOutcome } from "../../../model/tool.ts";
import { asText } from "../../../util/as-text.ts";
import { oneLine, plainText } from "../../../util/text.ts";

const META = "plugboard";
const LONGEST_WORDS = 2000;

export function textBlock(text: string): AcpBlock {
  return { type: "text", text };
}

/** Words in a call. */
export function textContent(text: string): ToolCallContent {
  return { type: "content", content: textBlock(text) };
}

/**
 * A message that no model has said: the agent's own words, and a server's. It is marked, so that a model that goes on
 * with the session is not told that it did.
 */
export function quoted(content: AcpBlock): SessionUpdate {
  return { sessionUpdate: "agent_message_chunk", content, _meta: { [META]: { quoted: true } } };
}

export function isQuoted(update: SessionUpdate): boolean {
  const own = update._meta?.[META];
  return isJsonObject(own) && own["quoted"] === true;
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
      const { mimeType, text, blob } = block.resource;
      const about = { uri: oneLine(block.resource.uri), ...wordsIn({ mimeType }) };
      return typeof blob === "string"
        ? { type: "resource", resource: { ...about, blob } }
        : { type: "resource", resource: { ...about, text: plainText(asText(text ?? "")) } };
    }
    case "resource_link": {
      const { name, title, description, mimeType, size } = block;
      const uri = oneLine(block.uri);
      return {
        type: "resource_link",
        uri,
        name: uri,
        ...wordsIn({ name, title, description, mimeType }),
        ...(Number.isSafeInteger(size) && { size }),
      };
    }
  }
}

/** What a server says of something, as far as it is words: an editor may refuse an update for one that is none. */
function wordsIn<Key extends string>(given: Record<Key, unknown>): Partial<Record<Key, string>> {
  const told: Partial<Record<Key, string>> = {};
  for (const key in given) {
    const value = given[key];
    if (typeof value === "string") told[key] = oneLine(value, LONGEST_WORDS);
  }
  return told;
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
