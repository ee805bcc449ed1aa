// An outcome as a model reads it. The raw outcome goes along in `details`.

import type { CallOutcome, ToolResult } from "../model/tool.ts";
import { asText } from "./outcome.ts";

export function forModel(outcome: CallOutcome): ToolResult<CallOutcome> {
  const result: ToolResult<CallOutcome> = { content: outcome.content, details: outcome };
  if (outcome.isError) result.isError = true;
  if (isEmpty(outcome)) result.content = [{ type: "text", text: emptyText(outcome) }];
  return result;
}

/** The text for an outcome that says nothing. */
export function emptyText(outcome: CallOutcome): string {
  // Servers need not repeat structured content as text; a model reads nothing else.
  if (outcome.structuredContent !== undefined) return asText(outcome.structuredContent);
  return outcome.isError ? "(the tool reported an error without details)" : "(empty result)";
}

export function isEmpty(outcome: CallOutcome): boolean {
  return outcome.content.every((block) => block.type === "text" && block.text === "");
}
