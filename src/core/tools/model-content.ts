// Content as the parts of a model's message: text, and the media that the model and its API support.
// Everything else is described in text.

import { type ContentBlock, EMPTY_RESULT } from "../types/content.ts";
import type { ToolResult } from "../types/tool.ts";
import { contentInWords } from "./degrade.ts";
import { type Media, mediaOf } from "./media.ts";

export type Part = { type: "text"; text: string } | Media;

/** The media that a model reads. Other media reach it as a description. */
export interface SupportedMedia {
  /** PNG, JPEG, GIF and WebP. */
  image?: boolean;
  /** PDF. */
  document?: boolean;
  /** WAV and MP3. */
  audio?: boolean;
}

/** At least one part. Adjacent texts are joined, and no text is blank: some APIs refuse blank text. */
export function toParts(content: readonly ContentBlock[], supported: SupportedMedia): Part[] {
  const parts: Part[] = [];
  for (const part of content.flatMap((block) => partsOf(block, supported))) {
    const last = parts.at(-1);
    if (part.type === "text" && last?.type === "text") last.text += `\n${part.text}`;
    else parts.push(part);
  }
  return parts.length > 0 ? parts : [{ type: "text", text: EMPTY_RESULT }];
}

/** All content as one text. */
export function toText(content: readonly ContentBlock[]): string {
  return toParts(content, {})
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("\n");
}

/** The parts of one block; none for blank text. */
export function partsOf(block: ContentBlock, supported: SupportedMedia): Part[] {
  const text = contentInWords(block);
  const words: Part[] = text === undefined || text.trim() === "" ? [] : [{ type: "text", text }];
  const media = mediaOf(block);
  if (media === undefined || supported[media.type] !== true) return words;
  // The bytes of a resource do not say where they come from, the words do.
  return block.type === "resource" ? [...words, media] : [media];
}

/** The content of a result, starting with a line that says so if the call failed: some APIs cannot flag a failure. */
export function markFailure({ content, isError }: ToolResult): ContentBlock[] {
  return isError ? [{ type: "text", text: "The call failed:" }, ...content] : content;
}

export function isMedia(part: Part): part is Media {
  return part.type !== "text";
}

export function toDataUrl({ mediaType, data }: Media): string {
  return `data:${mediaType};base64,${data}`;
}
