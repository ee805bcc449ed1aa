// A result as the parts of a message: text, and the media that the API and the model take. The rest is put
// into words.

import { degradeContent } from "../../bridge/degrade.ts";
import { type Media, mediaOf } from "../../bridge/media.ts";
import type { ContentBlock } from "../../model/content.ts";
import type { ToolResult } from "../../model/tool.ts";

interface TextPart {
  type: "text";
  text: string;
}

export type Part = TextPart | Media;

/** What the model takes beside text. Every one that is not taken reaches it in words. */
export interface Carries {
  /** PNG, JPEG, GIF and WebP. */
  image?: boolean;
  /** PDF. */
  document?: boolean;
  /** WAV and MP3. */
  audio?: boolean;
}

const IN_WORDS = { image: false, audio: false, resource: false, resource_link: false };

/** At least one part; text that stands together is one, and never blank: some APIs refuse that. */
export function toParts(content: readonly ContentBlock[], carries: Carries): Part[] {
  const parts: Part[] = [];
  for (const part of content.flatMap((block) => partsOf(block, carries))) {
    const last = parts.at(-1);
    if (part.type !== "text") parts.push(part);
    else if (part.text.trim() === "") continue;
    else if (last?.type === "text") last.text += `\n${part.text}`;
    else parts.push({ ...part });
  }
  return parts.length > 0 ? parts : [{ type: "text", text: "(empty result)" }];
}

/** Everything in words. */
export function toText(content: readonly ContentBlock[]): string {
  return toParts(content, {})
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("\n");
}

/** The content of a result for an API that has no sign of its own for a failure: the words say it. */
export function marked({ content, isError }: ToolResult): ContentBlock[] {
  return isError ? [{ type: "text", text: "The call failed:" }, ...content] : content;
}

export function isMedia(part: Part): part is Media {
  return part.type !== "text";
}

export function toDataUrl({ mediaType, data }: Media): string {
  return `data:${mediaType};base64,${data}`;
}

function partsOf(block: ContentBlock, carries: Carries): Part[] {
  if (block.type === "text") return [block];
  const words = degradeContent([block], IN_WORDS).flatMap((each) =>
    each.type === "text" ? [each] : [],
  );
  const media = mediaOf(block);
  if (media === undefined || carries[media.type] !== true) return words;
  // Its address would be lost with the bytes alone.
  return block.type === "resource" ? [...words, media] : [media];
}
