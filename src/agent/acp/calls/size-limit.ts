// Keeps updates to the editor below the size at which clients drop the connection. They give up on messages of
// 32 MiB, and a character can take six bytes in one.

import type { ContentBlock, SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import { isTooDeep } from "../../../util/json-depth.ts";
import { byteSize } from "../../../util/text.ts";
import { textBlock } from "../wire/content.ts";

const TEXT_CHARS = 2 * 2 ** 20;
const MEDIA_CHARS = 16 * 2 ** 20;
const RAW_CHARS = 2 ** 20;
const BYTES_PER_BASE64_CHAR = 3 / 4;

/** How many characters of one update are left. */
interface SizeBudget {
  text: number;
  media: number;
}

export function limitSize(update: SessionUpdate): SessionUpdate {
  const budget: SizeBudget = { text: TEXT_CHARS, media: MEDIA_CHARS };
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
      return { ...update, content: limitBlock(update.content, budget) };
    case "tool_call":
      return { ...update, rawInput: limitRaw(update.rawInput) };
    case "tool_call_update":
      return {
        ...update,
        content: update.content?.map((each) => limitContent(each, budget)),
        rawOutput: limitRaw(update.rawOutput),
      };
    default:
      return update;
  }
}

function limitContent(content: ToolCallContent, budget: SizeBudget): ToolCallContent {
  return content.type === "content"
    ? { ...content, content: limitBlock(content.content, budget) }
    : content;
}

/** Cuts text that exceeds the budget. A text block takes the place of media that does. */
function limitBlock(block: ContentBlock, budget: SizeBudget): ContentBlock {
  const text = textOf(block);
  if (text !== undefined) {
    const left = budget.text;
    budget.text = Math.max(0, left - text.length);
    if (text.length <= left) return block;
    return textBlock(`${text.slice(0, left)}\n(${byteSize(text.length - left)} more not shown)`);
  }
  const { length } = dataOf(block);
  if (length > budget.media) {
    return textBlock(
      `(${block.type} of ${byteSize(length * BYTES_PER_BASE64_CHAR)}, too large to show)`,
    );
  }
  budget.media -= length;
  return block;
}

/** All or nothing: programs read this value, and a part of it would be useless to them. */
function limitRaw(raw: unknown): unknown {
  // A value that is nested too deeply cannot even be serialized.
  if (raw === undefined || isTooDeep(raw)) return undefined;
  return JSON.stringify(raw).length > RAW_CHARS ? undefined : raw;
}

function textOf(block: ContentBlock): string | undefined {
  if (block.type === "text") return block.text;
  return block.type === "resource" && "text" in block.resource ? block.resource.text : undefined;
}

function dataOf(block: ContentBlock): string {
  if (block.type === "image" || block.type === "audio") return block.data;
  return block.type === "resource" && "blob" in block.resource ? block.resource.blob : "";
}
