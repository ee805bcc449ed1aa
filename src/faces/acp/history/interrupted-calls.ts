// The calls that an agent was in the middle of when it ended without a chance to say so.

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { isOver } from "../calls/tool-calls.ts";
import { textContent } from "../wire/content.ts";

const WORDS = "The agent ended before this call did, so it is not known what became of it.";

/** What ends them: without it an editor would show them as running for ever. */
export function endOfCalls(past: readonly SessionUpdate[]): SessionUpdate[] {
  const running = new Set<string>();
  for (const update of past) {
    if (update.sessionUpdate === "tool_call") running.add(update.toolCallId);
    if (update.sessionUpdate !== "tool_call_update") continue;
    if (isOver(update.status)) running.delete(update.toolCallId);
  }
  return [...running].map((toolCallId) => ({
    sessionUpdate: "tool_call_update",
    toolCallId,
    status: "failed",
    content: [textContent(WORDS)],
  }));
}
