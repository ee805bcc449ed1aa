// A call as loops of pi's kind make it, `execute(toolCallId, params, signal, onUpdate)`: its result is text
// and images, the raw outcome beside them.

import { PlugboardError } from "../../model/errors.ts";
import type { ToolResult, ToolUpdate } from "../../model/tool.ts";
import { runCall } from "./shared-call.ts";
import type { OfferedTool } from "./shared-offer.ts";
import { isMedia, marked, type Part, toParts, toText } from "./shared-parts.ts";

type AgentContent =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string };

export interface AgentResult {
  content: AgentContent[];
  /** The raw outcome; in an update, the update. */
  details: unknown;
  isError?: boolean;
}

/** How a failure is told to the loop. */
export type AgentErrors = "throw" | "return";

export interface AgentCall {
  toolCallId: string;
  params: unknown;
  signal: AbortSignal | undefined;
  onUpdate: ((partial: AgentResult) => void) | undefined;
}

/** Rejects for a failure that is to be thrown, and for nothing else. */
export async function runAgentCall(
  offered: OfferedTool,
  call: AgentCall,
  errors: AgentErrors,
): Promise<AgentResult> {
  const { toolCallId: id, params: args, signal, onUpdate } = call;
  const result = await runCall(
    { find: () => offered, list: () => [offered] },
    { id, name: offered.name, args },
    {
      ...(signal !== undefined && { signal }),
      ...(onUpdate !== undefined && { onUpdate: (update) => onUpdate(toPartial(update)) }),
    },
  );
  return toAgentResult(result, errors);
}

/** A failure says so in words too: whether the model's API has a sign for it, the loop alone knows. */
export function toAgentResult(result: ToolResult, errors: AgentErrors): AgentResult {
  const { details = result, isError } = result;
  if (isError && errors === "throw") {
    throw new PlugboardError("TOOL_FAILED", toText(marked(result)), { cause: details });
  }
  const content = toParts(marked(result), { image: true }).map(toContent);
  return { content, details, ...(isError && { isError }) };
}

/** Without words there is only the number, which is in the details. */
function toPartial(update: ToolUpdate): AgentResult {
  const parts = update.content.length === 0 ? [] : toParts(update.content, { image: true });
  return { content: parts.map(toContent), details: update };
}

function toContent(part: Part): AgentContent {
  return isMedia(part)
    ? { type: "image", data: part.data, mimeType: part.mediaType }
    : { type: "text", text: part.text };
}
