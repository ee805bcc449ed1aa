// Runs a tool for pi and clawtools, which both call `execute(toolCallId, params, signal, onUpdate)` and expect
// text and images, with the raw outcome in `details`.

import { runModelCall } from "../core/tools/model-call.ts";
import { isMedia, markFailure, type Part, toParts, toText } from "../core/tools/model-content.ts";
import type { ModelTool } from "../core/tools/model-tools.ts";
import { PlugboardError } from "../core/types/errors.ts";
import type { ToolResult, ToolUpdate } from "../core/types/tool.ts";

type AgentContent =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string };

export interface AgentToolResult {
  content: AgentContent[];
  /** The raw outcome; in an update, the update. */
  details: unknown;
  isError?: boolean;
}

/** Whether a failed call throws or returns a result with `isError`. */
export type AgentToolErrors = "throw" | "return";

export interface AgentToolCall {
  toolCallId: string;
  params: unknown;
  signal?: AbortSignal;
  onUpdate?: (partial: AgentToolResult) => void;
}

/** Rejects only for a failed call, and only if `errors` is `throw`. */
export async function executeAgentTool(
  modelTool: ModelTool,
  { toolCallId: id, params: input, signal, onUpdate }: AgentToolCall,
  errors: AgentToolErrors,
): Promise<AgentToolResult> {
  const { name } = modelTool;
  const result = await runModelCall(
    new Map([[name, modelTool]]),
    { id, name, input },
    { signal, onUpdate: onUpdate && ((update) => onUpdate(toPartial(update))) },
  );
  return toAgentToolResult(result, errors);
}

/** The text says that a call failed, since we do not know whether the model's API can flag it. */
export function toAgentToolResult(result: ToolResult, errors: AgentToolErrors): AgentToolResult {
  const { details = result, isError } = result;
  if (isError && errors === "throw") {
    throw new PlugboardError("TOOL_FAILED", toText(markFailure(result)), { cause: details });
  }
  const content = toParts(markFailure(result), { image: true }).map(toContent);
  return { content, details, ...(isError && { isError }) };
}

/** An update without content is progress alone, which is in the details. */
function toPartial(update: ToolUpdate): AgentToolResult {
  const parts = update.content.length === 0 ? [] : toParts(update.content, { image: true });
  return { content: parts.map(toContent), details: update };
}

function toContent(part: Part): AgentContent {
  return isMedia(part)
    ? { type: "image", data: part.data, mimeType: part.mediaType }
    : { type: "text", text: part.text };
}
