// Content between MCP and ACP: what a server or a tool says as the editor shows it, and what the editor sends as a
// model reads it.

import type {
  ContentBlock as AcpBlock,
  SessionUpdate,
  ToolCallContent,
  ToolCallStatus,
} from "@agentclientprotocol/sdk";
import type { ContentBlock } from "../../../core/types/content.ts";
import { objectIn, textsIn } from "../../../core/types/json.ts";
import type { CallOutcome } from "../../../core/types/tool.ts";
import { asText, oneLine, plainText } from "../../../util/text.ts";

const META = "plugboard";
const LONGEST_STRING = 2000;

export function textBlock(text: string): AcpBlock {
  return { type: "text", text };
}

/** Text in a tool call. */
/** A code block that the text cannot end, for editors that would read Markdown or HTML in it. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: textBlock(text) };
}

/**
 * A message that does not come from the model: the agent's own words, or a server's. The mark keeps it out of the
 * conversation when a model continues the session; the model would take it for its own words.
 */
export function quoted(content: AcpBlock): SessionUpdate {
  return { sessionUpdate: "agent_message_chunk", content, _meta: { [META]: { quoted: true } } };
}

/**
 * A piece of the model's answer. `replaces` are the messages of an answer that broke off: this one takes their place.
 * ACP has no word for that, so clients that do not know the mark show both.
 */
export function spoken(
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
  text: string,
  messageId: string,
  replaces: readonly string[] = [],
): SessionUpdate {
  const about = { sessionUpdate, content: textBlock(text), messageId };
  return replaces.length === 0 ? about : { ...about, _meta: { [META]: { replaces } } };
}

/** Ids of the messages that this one takes the place of. */
export function replacedBy(update: SessionUpdate): string[] {
  return textsIn(objectIn(update._meta?.[META])["replaces"]);
}

export function isQuoted(update: SessionUpdate): boolean {
  return objectIn(update._meta?.[META])["quoted"] === true;
}

export function hasEnded(status: ToolCallStatus | null | undefined): boolean {
  return status === "completed" || status === "failed";
}

/** A call's outcome. Never empty, so that the editor has something to show. */
export function outcomeContent(outcome: CallOutcome): ToolCallContent[] {
  const blocks = outcome.content.map(toAcp);
  const hasText = outcome.content.some((block) => block.type === "text" && block.text !== "");
  if (!hasText && outcome.structuredContent !== undefined) {
    blocks.push(textBlock(asText(outcome.structuredContent)));
  }
  if (blocks.length === 0) {
    blocks.push(
      textBlock(
        outcome.isError ? "(the tool reported an error without details)" : "(empty result)",
      ),
    );
  }
  return blocks.map((content) => ({ type: "content", content }));
}

/** Takes only the keys that ACP defines; whatever else a server added is dropped. */
export function toAcp(block: ContentBlock): AcpBlock {
  switch (block.type) {
    case "text":
      return textBlock(plainText(block.text));
    case "image":
    case "audio":
      return { type: block.type, data: block.data, mimeType: block.mimeType };
    case "resource": {
      const { mimeType, text, blob } = block.resource;
      const about = { uri: oneLine(block.resource.uri), ...stringsIn({ mimeType }) };
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
        ...stringsIn({ name, title, description, mimeType }),
        ...(Number.isSafeInteger(size) && { size }),
      };
    }
  }
}

/** Drops values that are not strings: an editor may refuse the whole update for one of them. */
function stringsIn<Key extends string>(given: Record<Key, unknown>): Partial<Record<Key, string>> {
  const strings: Partial<Record<Key, string>> = {};
  for (const key in given) {
    const value = given[key];
    if (typeof value === "string") strings[key] = oneLine(value, LONGEST_STRING);
  }
  return strings;
}

/** What the user typed: the text blocks, each on its own line. */
export function promptText(prompt: readonly AcpBlock[]): string {
  return prompt
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n")
    .trim();
}

/** What the client sent, for a model. */
export function fromAcp(block: AcpBlock): ContentBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
    case "audio":
      return { type: block.type, data: block.data, mimeType: block.mimeType };
    case "resource": {
      const { uri, mimeType, ...body } = block.resource;
      const contents = "text" in body ? { text: body.text } : { blob: body.blob };
      const about = { uri, ...(typeof mimeType === "string" && { mimeType }) };
      return { type: "resource", resource: { ...about, ...contents } };
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
