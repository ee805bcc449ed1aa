// The strings of a content block that a reader may see, in a fixed order.

import type { ContentBlock } from "../../types/content.ts";
import { oneLine } from "../../../util/text.ts";

const LONGEST_TYPE = 100;

/** `isText` marks the content itself, which an adapter may join with that of adjacent blocks. */
type Change = (value: string, isText: boolean) => string;

/** A copy with every such string passed through `change`. Apart from them, only data and size are kept. */
export function mapBlockStrings(block: ContentBlock, change: Change): ContentBlock {
  const field = <Key extends string>(key: Key, value: unknown): { [K in Key]?: string } =>
    typeof value === "string"
      ? ({ [key]: change(value, key === "text") } as { [K in Key]?: string })
      : {};
  switch (block.type) {
    case "text":
      return { type: "text", text: change(block.text, true) };
    case "image":
    case "audio":
      return {
        type: block.type,
        data: block.data,
        mimeType: change(oneLine(block.mimeType, LONGEST_TYPE), false),
      };
    case "resource": {
      const { uri, mimeType, text, blob } = block.resource;
      return {
        type: "resource",
        resource: {
          uri: change(uri, false),
          ...field("mimeType", mimeType),
          ...field("text", text),
          ...(typeof blob === "string" && { blob }),
        },
      };
    }
    case "resource_link":
      return {
        type: "resource_link",
        uri: change(block.uri, false),
        ...field("name", block.name),
        ...field("title", block.title),
        ...field("description", block.description),
        ...field("mimeType", block.mimeType),
        ...(typeof block.size === "number" && { size: block.size }),
      };
  }
}

export function stringsOf(block: ContentBlock): string[] {
  const strings: string[] = [];
  mapBlockStrings(block, (text) => {
    strings.push(text);
    return text;
  });
  return strings;
}
