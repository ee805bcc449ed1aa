// Makes a result small enough for a model: it cuts text to a budget, at a character boundary, and takes out
// images, audio and other bytes above a size. It reports what did not fit, so that it can be saved.

import type { ContentBlock } from "../../types/content.ts";
import { stringsOf } from "./strings.ts";

/** The decoded size of one image, audio clip or binary resource. */
export const MAX_MEDIA_BYTES = 5 * 1024 ** 2;

export interface OversizedMedia {
  mimeType: string;
  /** base64 */
  data: string;
  bytes: number;
}

export interface CutText {
  shownBytes: number;
  totalBytes: number;
}

export interface Fitted {
  content: readonly ContentBlock[];
  cut?: CutText;
  media: OversizedMedia[];
}

export function fit(content: readonly ContentBlock[], maxTextBytes: number): Fitted {
  const media: OversizedMedia[] = [];
  const small = content.some((block) => oversized(block) !== undefined)
    ? content.flatMap((block) => withoutOversized(block, media))
    : content;
  const total = small.reduce((sum, block) => sum + textBytes(block), 0);
  if (total <= maxTextBytes) return { content: small, media };
  const budget = Math.max(0, Math.floor(maxTextBytes));
  const { kept, shownBytes } = cutAfter(small, budget);
  return { content: kept, media, cut: { shownBytes, totalBytes: total } };
}

/** The whole text, as it is saved if only a part is shown. */
export function wholeText(content: readonly ContentBlock[]): string {
  return content
    .flatMap(readable)
    .filter((text) => text !== "")
    .join("\n");
}

/** The longest beginning that takes at most `maxBytes` in UTF-8 and does not split a character. */
export function headOf(text: string, maxBytes: number): string {
  // Every UTF-16 unit takes at least one byte, so no more units can fit.
  const { read } = new TextEncoder().encodeInto(text.slice(0, maxBytes), new Uint8Array(maxBytes));
  return text.slice(0, splitsPair(text, read) ? read - 1 : read);
}

function cutAfter(
  content: readonly ContentBlock[],
  budget: number,
): { kept: ContentBlock[]; shownBytes: number } {
  const kept: ContentBlock[] = [];
  let left = budget;
  let full = false;
  for (const block of content) {
    const bytes = textBytes(block);
    if (bytes === 0) {
      kept.push(block);
    } else if (!full && bytes <= left) {
      kept.push(block);
      left -= bytes;
    } else if (!full) {
      full = true;
      const part = partOf(block, left);
      if (part === undefined) continue;
      kept.push(part);
      left -= textBytes(part);
    }
  }
  return { kept, shownBytes: budget - left };
}

/** The beginning of a block. A link or a URI is kept whole or left out. */
function partOf(block: ContentBlock, maxBytes: number): ContentBlock | undefined {
  if (block.type === "text") {
    const text = headOf(block.text, maxBytes);
    return text === "" ? undefined : { ...block, text };
  }
  if (block.type !== "resource" || typeof block.resource.text !== "string") return undefined;
  const left = maxBytes - textBytes(block) + Buffer.byteLength(block.resource.text);
  const text = left > 0 ? headOf(block.resource.text, left) : "";
  return text === "" ? undefined : { ...block, resource: { ...block.resource, text } };
}

/** The bytes that count towards `maxTextBytes`. An image is never cut, and its type is short. */
function textBytes(block: ContentBlock): number {
  if (block.type === "text") return Buffer.byteLength(block.text);
  return readable(block).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function readable(block: ContentBlock): string[] {
  return block.type === "image" || block.type === "audio" ? [] : stringsOf(block);
}

function oversized(block: ContentBlock): OversizedMedia | undefined {
  let data: unknown;
  let mimeType: unknown;
  if (block.type === "image" || block.type === "audio") ({ data, mimeType } = block);
  else if (block.type === "resource") ({ blob: data, mimeType } = block.resource);
  if (typeof data !== "string") return undefined;
  const bytes = Buffer.byteLength(data, "base64");
  if (bytes <= MAX_MEDIA_BYTES) return undefined;
  return { mimeType: typeof mimeType === "string" ? mimeType : "", data, bytes };
}

/** A resource loses its bytes but keeps its text. */
function withoutOversized(block: ContentBlock, media: OversizedMedia[]): ContentBlock[] {
  const found = oversized(block);
  if (found === undefined) return [block];
  media.push(found);
  if (block.type !== "resource" || typeof block.resource.text !== "string") return [];
  const { blob: _, ...resource } = block.resource;
  return [{ ...block, resource }];
}

/** The encoder takes half of a surrogate pair for a character, so a cut between the halves must be found here. */
function splitsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const behind = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && behind >= 0xdc00 && behind <= 0xdfff;
}
