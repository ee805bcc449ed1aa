// Images, documents and recordings as providers take them: base64 of a kind that the bytes really are.

import type { ContentBlock } from "../model/content.ts";

export interface Media {
  type: "image" | "document" | "audio";
  /** What the bytes are, whatever the server calls them. */
  mediaType: MediaType;
  /** base64 */
  data: string;
}

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";
type AudioType = "audio/wav" | "audio/mpeg";
type MediaType = ImageType | "application/pdf" | AudioType;

/** How the base64 of each begins. A provider refuses the request for a type that the bytes are not of. */
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

/** Undefined for what is not known to be taken by anybody. */
export function mediaOf(block: ContentBlock): Media | undefined {
  const given = bytesOf(block);
  if (given === undefined) return undefined;
  // Some encoders break lines.
  const data = BASE64.test(given) ? given : given.replace(/\s+/g, "");
  if (data.length % 4 !== 0 || !BASE64.test(data)) return undefined;
  const found = SIGNATURES.find(([beginning]) => beginning.test(data));
  return found && { type: found[1], mediaType: found[2], data };
}

function bytesOf(block: ContentBlock): string | undefined {
  if (block.type === "image" || block.type === "audio") return block.data;
  return block.type === "resource" ? block.resource.blob : undefined;
}
