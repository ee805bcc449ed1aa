// Content for a reader that does not support every kind of it: the other kinds are described in text.

import type { ContentBlock } from "../types/content.ts";
import { isJsonObject, objectIn } from "../types/json.ts";
import { LIST, OBJECT, requireKind } from "../types/kinds.ts";
import { oneLine } from "../../util/text.ts";

/** Which kinds of content a reader supports. A kind that is not listed counts as supported. */
export type SupportedContent = Partial<Record<ContentBlock["type"], boolean>>;

const LONGEST_NAME = 200;
const LONGEST_DESCRIPTION = 500;
const LONGEST_URI = 2000;

/** What nearly every model and loop supports. */
const TEXT_AND_IMAGES: SupportedContent = { audio: false, resource: false, resource_link: false };

/**
 * `supported` is text and images by default. Supported blocks pass by reference; the others become text, which every reader supports. Does not
 * throw, whatever is missing from a block: the description leaves it out.
 */
export function degradeContent(
  blocks: readonly ContentBlock[],
  supported: SupportedContent = TEXT_AND_IMAGES,
): ContentBlock[] {
  requireKind("the content", blocks, LIST);
  requireKind("what is supported", supported, OBJECT);
  return blocks.map((block) => {
    if (!isJsonObject(block) || block.type === "text" || supported[block.type] !== false) {
      return block;
    }
    const text = contentInWords(block);
    if (text === undefined) return block;
    // Audience and priority hold for the description too.
    return isJsonObject(block.annotations)
      ? { type: "text", text, annotations: block.annotations }
      : { type: "text", text };
  });
}

/** A text, or the description of any other block. Undefined for a kind that does not exist. */
export function contentInWords(block: ContentBlock): string | undefined {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return note(`${block.type} result`, [
        word(block.mimeType, LONGEST_NAME),
        base64Size(block.data),
      ]);
    case "resource": {
      const { uri, mimeType, text, blob } = objectIn(block.resource);
      if (typeof text === "string" && text !== "") return text;
      return note("resource", [
        word(uri, LONGEST_URI),
        word(mimeType, LONGEST_NAME),
        base64Size(blob ?? text),
      ]);
    }
    case "resource_link":
      return note("resource link", [
        word(block.title, LONGEST_NAME) ?? word(block.name, LONGEST_NAME),
        word(block.description, LONGEST_DESCRIPTION),
        word(block.uri, LONGEST_URI),
      ]);
    default:
      return undefined;
  }
}

function note(what: string, about: (string | undefined)[]): string {
  const known = about.filter((part) => part !== undefined);
  return known.length === 0 ? `[${what}]` : `[${what}: ${known.join(", ")}]`;
}

/** On one line, so that a server's text cannot look like anything but a part of the note. */
function word(value: unknown, longest: number): string | undefined {
  if (typeof value !== "string") return undefined;
  return oneLine(value, longest) || undefined;
}

/** The size of the decoded bytes, without decoding what may be very long. */
function base64Size(data: unknown): string | undefined {
  if (typeof data !== "string") return undefined;
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  return size(Math.floor(((data.length - padding) * 3) / 4));
}

function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_500) return `${Math.round(bytes / 1000)} KB`;
  return `${(bytes / 1_000_000).toFixed(1).replace(/\.0$/, "")} MB`;
}
