// How much a call has answered, as the audit and people who watch calls are told.

import type { ContentBlock } from "../types/content.ts";
import type { CallOutcome } from "../types/tool.ts";

/** In characters: counting bytes would mean reading all of it. */
export function outcomeSize({ content }: Pick<CallOutcome, "content">): number {
  let size = 0;
  for (const block of content) size += blockSize(block);
  return size;
}

function blockSize(block: ContentBlock): number {
  switch (block.type) {
    case "text":
      return block.text.length;
    case "image":
    case "audio":
      return block.data.length;
    case "resource":
      return block.resource.text?.length ?? block.resource.blob?.length ?? 0;
    case "resource_link":
      return block.uri.length;
  }
}
