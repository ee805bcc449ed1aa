// A result as the parts of a message: text, and the media that the API and the model take. The rest is put
// into words.

import { degradeContent } from "../../bridge/degrade.ts";
import type { ContentBlock } from "../../model/content.ts";
import type { ToolResult } from "../../model/tool.ts";

interface TextPart {
  type: "text";
  text: string;
}

export interface MediaPart {
  type: "image" | "document" | "audio";
  /** What the bytes are, whatever the server calls them. */
  mediaType: MediaType;
  /** base64 */
  data: string;
}

export type Part = TextPart | MediaPart;

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";
type AudioType = "audio/wav" | "audio/mpeg";
type MediaType = ImageType | "application/pdf" | AudioType;

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

/** How the base64 of each begins. A provider refuses the request for a type that the bytes are not of. */
const SIGNATURES: readonly [RegExp, MediaPart["type"], MediaType][] = [
  [/^iVBORw0KGgo/, "image", "image/png"],
  [/^\/9j\//, "image", "image/jpeg"],
  [/^R0lGODdh|^R0lGODlh/, "image", "image/gif"],
  [/^UklGR.{6}XRUJQ/, "image", "image/webp"],
  [/^JVBERi0/, "document", "application/pdf"],
  [/^UklGR.{6}XQVZF/, "audio", "audio/wav"],
  [/^SUQz|^\/\/[I-Po-v]/, "audio", "audio/mpeg"],
];

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

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

export function isMedia(part: Part): part is MediaPart {
  return part.type !== "text";
}

export function toDataUrl({ mediaType, data }: MediaPart): string {
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

function mediaOf(block: ContentBlock): MediaPart | undefined {
  const given = block.type === "image" || block.type === "audio" ? block.data : blobOf(block);
  if (given === undefined) return undefined;
  // Some encoders break lines.
  const data = BASE64.test(given) ? given : given.replace(/\s+/g, "");
  if (data.length % 4 !== 0 || !BASE64.test(data)) return undefined;
  const found = SIGNATURES.find(([beginning]) => beginning.test(data));
  return found && { type: found[1], mediaType: found[2], data };
}

function blobOf(block: ContentBlock): string | undefined {
  return block.type === "resource" ? block.resource.blob : undefined;
}
