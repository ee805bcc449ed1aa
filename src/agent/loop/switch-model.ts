// Prepares a conversation for another model: removes what only the previous model's provider understands, and
// describes media that the new model does not support.

import type {
  AssistantModelMessage,
  ModelMessage,
  ToolModelMessage,
  ToolResultPart,
  UserModelMessage,
} from "ai";
import type { MediaSupport } from "./provider.ts";

type AssistantPart = Exclude<AssistantModelMessage["content"], string>[number];
type UserPart = Exclude<UserModelMessage["content"], string>[number];
type ToolPart = ToolModelMessage["content"][number];
type ResultOutput = ToolResultPart["output"];

/** Call ids that every API accepts. */
const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Does not modify its argument. */
export function switchModel(
  messages: readonly ModelMessage[],
  media: MediaSupport,
): ModelMessage[] {
  const ids = new Map<string, string>();
  const safeId = (id: string): string => {
    if (SAFE_ID.test(id)) return id;
    const known = ids.get(id) ?? `renamed_${ids.size}`;
    ids.set(id, known);
    return known;
  };
  return messages.flatMap((message): ModelMessage[] => {
    switch (message.role) {
      case "assistant":
        return assistantMessage(message, safeId);
      case "tool":
        return [
          { role: "tool", content: message.content.map((part) => toolPart(part, safeId, media)) },
        ];
      case "user":
        return [{ role: "user", content: userContent(message.content, media) }];
      case "system":
        return [message];
    }
  });
}

/** Drops reasoning, which its provider has signed; a message of nothing but reasoning is dropped too. */
function assistantMessage(
  { content }: AssistantModelMessage,
  safeId: (id: string) => string,
): ModelMessage[] {
  if (typeof content === "string") return [{ role: "assistant", content }];
  const kept = content.flatMap((part): AssistantPart[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    if (part.type !== "tool-call") return [];
    const { toolName, input, toolCallId } = part;
    return [{ type: "tool-call", toolCallId: safeId(toolCallId), toolName, input }];
  });
  return kept.length === 0 ? [] : [{ role: "assistant", content: kept }];
}

function toolPart(part: ToolPart, safeId: (id: string) => string, media: MediaSupport): ToolPart {
  if (part.type !== "tool-result") return part;
  const { toolName, toolCallId, output } = part;
  const kept = output.type === "content" ? resultContent(output, media.results) : output;
  return { type: "tool-result", toolCallId: safeId(toolCallId), toolName, output: kept };
}

/** A text if only text is left, since every provider takes that. */
function resultContent(
  { value }: Extract<ResultOutput, { type: "content" }>,
  { image, document }: MediaSupport["results"],
): ResultOutput {
  const kept = value.map((each): typeof each => {
    const isRead = each.type === "text" || (each.type === "image-data" ? image : document);
    return isRead ? each : { type: "text", text: "[a file that this model cannot read]" };
  });
  const texts = kept.flatMap((each) => (each.type === "text" ? [each.text] : []));
  if (texts.length < kept.length) return { type: "content", value: kept };
  return { type: "text", value: texts.join("\n") };
}

function userContent(
  content: UserModelMessage["content"],
  media: MediaSupport,
): UserModelMessage["content"] {
  if (typeof content === "string" || media.prompts.document) return content;
  return content.map((part): UserPart =>
    part.type === "file"
      ? { type: "text", text: `[${part.filename ?? "a file"}, which this model cannot read]` }
      : part,
  );
}
