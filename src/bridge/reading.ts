// A server's answer to `resources/read` as contents: whatever is malformed made visible as text instead of
// being lost or let through.

import { PlugboardError } from "../model/errors.ts";
import { isJsonObject } from "../model/json.ts";
import type { ResourceContents } from "../model/resource.ts";
import { asText } from "../util/text.ts";

/** Throws where the answer is no result at all. */
export function toContents(result: unknown, uri: string): ResourceContents[] {
  if (!isJsonObject(result) || !Array.isArray(result.contents)) {
    throw new PlugboardError("PROTOCOL", "the server's answer to resources/read has no contents");
  }
  return result.contents.map((each) => toPart(each, uri));
}

function toPart(part: unknown, asked: string): ResourceContents {
  const { uri, mimeType, text, blob, _meta } = isJsonObject(part) ? part : {};
  const about: ResourceContents = {
    uri: typeof uri === "string" ? uri : asked,
    ...(typeof mimeType === "string" && { mimeType }),
    ...(isJsonObject(_meta) && { _meta }),
  };
  if (typeof text === "string") return { ...about, text };
  if (typeof blob === "string") return { ...about, blob };
  return { ...about, text: `[content that is neither text nor a blob] ${asText(part)}` };
}
