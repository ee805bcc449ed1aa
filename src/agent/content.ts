// What is said to a model, in the parts that the AI SDK takes: a person's prompt, a tool's result. What a
// model cannot take is put into words.

import type { ToolResultPart, UserContent } from "ai";
import { degradeContent } from "../bridge/degrade.ts";
import { type Media, mediaOf } from "../bridge/media.ts";
import type { ContentBlock } from "../model/content.ts";
import type { ToolResult } from "../model/tool.ts";
import type { MediaSupport } from "./provider.ts";

type Part = { type: "text"; text: string } | Media;
type Output = ToolResultPart["output"];

const IN_WORDS = { image: false, audio: false, resource: false, resource_link: false };

/** Never empty: some APIs refuse a message without content. */
export function toPromptContent(prompt: readonly ContentBlock[], media: MediaSupport): UserContent {
  const isTaken = (each: Media): boolean =>
    each.type === "image" || (each.type === "document" && media === "full");
  const content = prompt.flatMap((block) => promptParts(block, isTaken)).map(toUserPart);
  return content.length > 0 ? content : [{ type: "text", text: "(empty prompt)" }];
}

export function toResultOutput({ content, isError }: ToolResult, media: MediaSupport): Output {
  const isTaken = ({ type }: Media): boolean => media === "full" && !isError && type !== "audio";
  const parts = content.flatMap((block) => partsOf(block, isTaken));
  const text = parts.flatMap((part) => ("text" in part ? part.text : [])).join("\n");
  // Not every API has a sign for a failure.
  if (isError) return { type: "error-text", value: `The call failed:\n${text}`.trimEnd() };
  if (parts.every((part) => "text" in part))
    return { type: "text", value: text || "(empty result)" };
  return { type: "content", value: parts.map(toResultPart) };
}

/** A resource that a person attached comes with its address. */
function promptParts(block: ContentBlock, isTaken: (media: Media) => boolean): Part[] {
  if (block.type !== "resource" || block.resource.text === undefined) {
    return partsOf(block, isTaken);
  }
  return [{ type: "text", text: `[resource: ${block.resource.uri}]\n${block.resource.text}` }];
}

function partsOf(block: ContentBlock, isTaken: (media: Media) => boolean): Part[] {
  const media = mediaOf(block);
  const words = degradeContent([block], IN_WORDS).flatMap((each): Part[] =>
    each.type === "text" && each.text.trim() !== "" ? [{ type: "text", text: each.text }] : [],
  );
  if (media === undefined || !isTaken(media)) return words;
  // Its address would be lost with the bytes alone.
  return block.type === "resource" ? [...words, media] : [media];
}

function toUserPart(part: Part): Exclude<UserContent, string>[number] {
  if ("text" in part) return part;
  const { type, data, mediaType } = part;
  if (type === "image") return { type: "image", image: data, mediaType };
  return { type: "file", data, mediaType, filename: "document.pdf" };
}

function toResultPart(part: Part): Extract<Output, { type: "content" }>["value"][number] {
  if ("text" in part) return part;
  const { type, data, mediaType } = part;
  if (type === "image") return { type: "image-data", data, mediaType };
  return { type: "file-data", data, mediaType, filename: "document.pdf" };
}
