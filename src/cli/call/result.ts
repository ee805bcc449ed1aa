// A call's outcome as text. Content that is not text becomes a line that describes it.

import type { ContentBlock } from "../../core/types/content.ts";
import type { CallOutcome } from "../../core/types/tool.ts";
import { jsonOfAnyDepth } from "../../util/canonical-json.ts";
import { byteSize, oneLine } from "../../util/text.ts";

/** The bytes of an image, audio or binary resource. */
export interface BinaryContent {
  mimeType: string;
  /** base64 */
  data: string;
}

/** `saved` maps a block to the file it was saved to. */
export function resultText(
  { content, structuredContent, isError }: CallOutcome,
  saved: ReadonlyMap<ContentBlock, string> = new Map(),
): string {
  const parts = content.map((block) => blockText(block, saved.get(block)));
  const hasText = content.some((block) => block.type === "text" && block.text !== "");
  if (!hasText && structuredContent !== undefined) {
    parts.push(jsonOfAnyDepth(structuredContent, 2));
  }
  const text = parts
    .filter((part) => part !== "")
    .map((part) => (part.endsWith("\n") ? part : `${part}\n`))
    .join("");
  if (text !== "") return text;
  return isError ? "(the tool reported an error without details)\n" : "(empty result)\n";
}

export function binaryOf(block: ContentBlock): BinaryContent | undefined {
  switch (block.type) {
    case "image":
    case "audio":
      return { mimeType: block.mimeType, data: block.data };
    case "resource": {
      const { blob, mimeType = "application/octet-stream" } = block.resource;
      return typeof blob === "string" ? { mimeType, data: blob } : undefined;
    }
    default:
      return undefined;
  }
}

function blockText(block: ContentBlock, savedTo: string | undefined): string {
  const end = savedTo === undefined ? "" : ` saved to ${savedTo}`;
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type}: ${aboutBytes(block.mimeType, block.data)}]${end}`;
    case "resource": {
      const { uri, text } = block.resource;
      if (typeof text === "string") return text;
      const binary = binaryOf(block);
      const about = binary === undefined ? "" : `, ${aboutBytes(binary.mimeType, binary.data)}`;
      return `[resource: ${oneLine(uri)}${about}]${end}`;
    }
    case "resource_link": {
      const { uri, title, name, mimeType, size } = block;
      const about = [
        title ?? name,
        mimeType,
        typeof size === "number" ? byteSize(size) : undefined,
      ];
      return `[link: ${[uri, ...about]
        .filter((part) => typeof part === "string")
        .map((part) => oneLine(part))
        .join(", ")}]`;
    }
  }
}

function aboutBytes(mimeType: string, data: string): string {
  return `${oneLine(mimeType, 100)}, ${byteSize(Buffer.byteLength(data, "base64"))}`;
}
