// How much of an answer is shown: all of it, unless it is so large that a client would drop the connection
// over it. Clients give up on messages of 32 MiB; a character may take six bytes of one.

import type { ContentBlock, SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import { isTooDeep } from "../../../server/schema-bounds.ts";
import { byteSize } from "../../../util/text.ts";
import { textBlock } from "../wire/content.ts";

const TEXT_CHARS = 2 * 2 ** 20;
const MEDIA_CHARS = 16 * 2 ** 20;
const RAW_CHARS = 2 ** 20;
/** Bytes in a character of it. */
const BASE64 = 3 / 4;

interface Room {
  text: number;
  media: number;
}

export function shownUpdate(update: SessionUpdate): SessionUpdate {
  const room: Room = { text: TEXT_CHARS, media: MEDIA_CHARS };
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
      return { ...update, content: shownBlock(update.content, room) };
    case "tool_call": {
      const { rawInput, ...rest } = update;
      return { ...rest, ...(!isTooLarge(rawInput) && { rawInput }) };
    }
    case "tool_call_update": {
      const { content, rawOutput, ...rest } = update;
      return {
        ...rest,
        ...(content && { content: content.map((each) => shownContent(each, room)) }),
        // For programs, and of no use to them in part.
        ...(!isTooLarge(rawOutput) && { rawOutput }),
      };
    }
    default:
      return update;
  }
}

function shownContent(content: ToolCallContent, room: Room): ToolCallContent {
  return content.type === "content"
    ? { ...content, content: shownBlock(content.content, room) }
    : content;
}

/** Text is cut, and media left out with a word, when there is no more room. */
function shownBlock(block: ContentBlock, room: Room): ContentBlock {
  const text = textOf(block);
  if (text !== undefined) {
    const left = room.text;
    room.text = Math.max(0, left - text.length);
    if (text.length <= left) return block;
    return textBlock(`${text.slice(0, left)}\n(${byteSize(text.length - left)} more not shown)`);
  }
  const { length } = dataOf(block);
  if (length > room.media) {
    return textBlock(`(${block.type} of ${byteSize(length * BASE64)}, too large to be shown)`);
  }
  room.media -= length;
  return block;
}

/** Or nested so deep that it cannot even be written. */
function isTooLarge(raw: unknown): boolean {
  return raw === undefined || isTooDeep(raw) || JSON.stringify(raw).length > RAW_CHARS;
}

function textOf(block: ContentBlock): string | undefined {
  if (block.type === "text") return block.text;
  return block.type === "resource" && "text" in block.resource ? block.resource.text : undefined;
}

function dataOf(block: ContentBlock): string {
  if (block.type === "image" || block.type === "audio") return block.data;
  return block.type === "resource" && "blob" in block.resource ? block.resource.blob : "";
}
