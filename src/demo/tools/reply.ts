// How the demo's tools answer: words for a person or a model, the same as data for a program.

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Attempt } from "../attempt.ts";

/** Changes nothing, and reaches for nothing outside the package. */
export const READ_ONLY = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

export function reply(text: string, data: object): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: { ...data } };
}

export function refusal(problem: string): CallToolResult {
  return { content: [{ type: "text", text: problem }], isError: true };
}

export function replyTo<Value extends object>(
  attempt: Attempt<Value>,
  describe: (value: Value) => string,
): CallToolResult {
  return attempt.ok ? reply(describe(attempt.value), attempt.value) : refusal(attempt.problem);
}
