// A conversation as another model can go on with it: without what only the one that wrote it understands, and
// in words where the other takes no more.

import type { AssistantModelMessage, ModelMessage, ToolModelMessage, UserModelMessage } from "ai";
import type { MediaSupport } from "./provider.ts";

type AssistantPart = Exclude<AssistantModelMessage["content"], string>[number];
type UserPart = Exclude<UserModelMessage["content"], string>[number];
type ToolPart = ToolModelMessage["content"][number];

/** What every API takes for the id of a call. */
const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Leaves what it is given as it is. */
export function handOver(messages: readonly ModelMessage[], media: MediaSupport): ModelMessage[] {
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

/** Thoughts are signed by whoever had them; a message of nothing else is gone. */
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
  const isTaken = output.type !== "content" || media === "full";
  const taken: typeof output = isTaken
    ? output
    : {
        type: "text",
        value: output.value
          .map((each) =>
            each.type === "text" ? each.text : "[a file that this model cannot read]",
          )
          .join("\n"),
      };
  return { type: "tool-result", toolCallId: safeId(toolCallId), toolName, output: taken };
}

function userContent(
  content: UserModelMessage["content"],
  media: MediaSupport,
): UserModelMessage["content"] {
  if (typeof content === "string" || media === "full") return content;
  return content.map((part): UserPart =>
    part.type === "file"
      ? { type: "text", text: `[${part.filename ?? "a file"}, which this model cannot read]` }
      : part,
  );
}
