// Finds the images, documents and recordings that providers accept, by their bytes.

import type { ContentBlock } from "../types/content.ts";

export interface Media {
  type: "image" | "document" | "audio";
  /** The type of the bytes, whatever type the server claims. */
  mediaType: MediaType;
  /** base64 */
  data: string;
}

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";
type AudioType = "audio/wav" | "audio/mpeg";
type MediaType = ImageType | "application/pdf" | AudioType;

/** How the base64 of each type begins. A provider refuses the request if type and bytes do not match. */
const SIGNATURES: readonly [RegExp, Media["type"], MediaType][] = [
  [/^iVBORw0KGgo/, "image", "image/png"],
  [/^\/9j\//, "image", "image/jpeg"],
  [/^R0lGODdh|^R0lGODlh/, "image", "image/gif"],
  [/^UklGR.{6}XRUJQ/, "image", "image/webp"],
  [/^JVBERi0/, "document", "application/pdf"],
  [/^UklGR.{6}XQVZF/, "audio", "audio/wav"],
  [/^SUQz|^\/\/[I-Po-v]/, "audio", "audio/mpeg"],
];

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Undefined for content that no provider accepts as media. */
export function mediaOf(block: ContentBlock): Media | undefined {
  const given = bytesOf(block);
  if (given === undefined) return undefined;
  // Some encoders insert line breaks.
  const data = BASE64.test(given) ? given : given.replace(/\s+/g, "");
  if (data.length % 4 !== 0 || !BASE64.test(data)) return undefined;
  const found = SIGNATURES.find(([beginning]) => beginning.test(data));
  return found && { type: found[1], mediaType: found[2], data };
}

function bytesOf(block: ContentBlock): string | undefined {
  if (block.type === "image" || block.type === "audio") return block.data;
  return block.type === "resource" ? block.resource.blob : undefined;
}
