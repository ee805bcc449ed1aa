// Turns a server's answer to `resources/read` into contents. Malformed content becomes text that says so, so that it is
// neither lost nor passed on.

import { PlugboardError } from "../types/errors.ts";
import { isJsonObject, type JsonObject, objectIn } from "../types/json.ts";
import type { ResourceContents } from "../types/resource.ts";
import { isTooDeep } from "../../util/json-depth.ts";
import { asText } from "../../util/text.ts";

/** Throws if the answer is not a result. */
export function toContents(
  result: unknown,
  uri: string,
): { contents: ResourceContents[]; _meta?: JsonObject } {
  if (!isJsonObject(result) || !Array.isArray(result.contents)) {
    throw new PlugboardError("PROTOCOL", "the server's answer to resources/read has no contents");
  }
  const { _meta } = result;
  return {
    contents: result.contents.map((each) => toPart(each, uri)),
    ...(isJsonObject(_meta) && !isTooDeep(_meta) && { _meta }),
  };
}

function toPart(part: unknown, asked: string): ResourceContents {
  const { uri, mimeType, text, blob, _meta } = objectIn(part);
  const about: ResourceContents = {
    uri: typeof uri === "string" ? uri : asked,
    ...(typeof mimeType === "string" && { mimeType }),
    ...(isJsonObject(_meta) && { _meta }),
  };
  if (typeof text === "string") return { ...about, text };
  if (typeof blob === "string") return { ...about, blob };
  return { ...about, text: `[content that is neither text nor a blob] ${asText(part)}` };
}
