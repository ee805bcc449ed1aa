// Prompts and tool results in the shapes that the AI SDK takes.

import type { ContentBlock } from "../types/content.ts";
import type { ToolResult } from "../types/tool.ts";
import {
  isMedia,
  markFailure,
  type Part,
  partsOf,
  type SupportedMedia,
  toParts,
  toText,
} from "./model-content.ts";

export type AiSdkModelOutput =
  | { type: "text"; value: string }
  | { type: "error-text"; value: string }
  | { type: "content"; value: AiSdkContentPart[] };

export type AiSdkContentPart =
  | { type: "text"; text: string }
  | { type: "image-data"; data: string; mediaType: string }
  | { type: "file-data"; data: string; mediaType: string; filename?: string };

type AiSdkPromptPart =
  | { type: "text"; text: string }
  | { type: "image"; image: string; mediaType: string }
  | { type: "file"; data: string; mediaType: string; filename: string };

/** Text alone where there are no media, since every provider takes that. */
export function toResultOutput(result: ToolResult, supported: SupportedMedia): AiSdkModelOutput {
  if (result.isError) return { type: "error-text", value: toText(markFailure(result)) };
  const parts = toParts(result.content, supported);
  if (!parts.some(isMedia)) return { type: "text", value: toText(result.content) };
  return { type: "content", value: parts.map(toContentPart) };
}

/** Never empty: some APIs refuse a message without content. */
export function toPromptContent(
  prompt: readonly ContentBlock[],
  supported: SupportedMedia,
): AiSdkPromptPart[] {
  const content = prompt.flatMap((block) => promptParts(block, supported)).map(toPromptPart);
  return content.length > 0 ? content : [{ type: "text", text: "(empty prompt)" }];
}

/** The text of an attached resource comes with its address, so that the model can refer to it. */
function promptParts(block: ContentBlock, supported: SupportedMedia): Part[] {
  if (block.type !== "resource" || block.resource.text === undefined) {
    return partsOf(block, supported);
  }
  return [{ type: "text", text: `[resource: ${block.resource.uri}]\n${block.resource.text}` }];
}

function toPromptPart(part: Part): AiSdkPromptPart {
  if (part.type === "text") return part;
  const { type, data, mediaType } = part;
  if (type === "image") return { type: "image", image: data, mediaType };
  return { type: "file", data, mediaType, filename: "document.pdf" };
}

function toContentPart(part: Part): AiSdkContentPart {
  if (part.type === "text") return part;
  const { type, data, mediaType } = part;
  if (type === "image") return { type: "image-data", data, mediaType };
  return {
    type: "file-data",
    data,
    mediaType,
    ...(type === "document" && { filename: "document.pdf" }),
  };
}
