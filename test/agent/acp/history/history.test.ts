// Calls that were running when the agent was killed.

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { expect, it } from "vitest";
import { endInterruptedCalls } from "../../../../src/agent/acp/history/history.ts";

const call = (toolCallId: string): SessionUpdate => ({
  sessionUpdate: "tool_call",
  toolCallId,
  title: "a call",
});
const update = (
  toolCallId: string,
  status: "in_progress" | "completed" | "failed",
): SessionUpdate => ({ sessionUpdate: "tool_call_update", toolCallId, status });

it.each<[string, SessionUpdate[], string[]]>([
  ["nothing", [], []],
  ["calls that ended", [call("a"), call("b"), update("b", "failed"), update("a", "completed")], []],
  ["one that never did", [call("a"), update("a", "in_progress")], ["a"]],
  ["some of many", [call("a"), call("b"), call("c"), update("b", "completed")], ["a", "c"]],
])("of %s", (_, past, ended) => {
  const ends = endInterruptedCalls(past);
  expect(ends).toMatchObject(ended.map((toolCallId) => update(toolCallId, "failed")));
  expect(endInterruptedCalls([...past, ...ends])).toEqual([]);
});
