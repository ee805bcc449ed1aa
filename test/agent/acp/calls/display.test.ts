// What the editor shows with a call, while it runs and after it has ended.

import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { CallDisplay, type CallAttachments } from "../../../../src/agent/acp/calls/display.ts";

const terminal: ToolCallContent = { type: "terminal", terminalId: "t" };
const diff: ToolCallContent = { type: "diff", path: "/p/a", oldText: null, newText: "x" };
const words: ToolCallContent = { type: "content", content: { type: "text", text: "said" } };

function displayWith(attachments: CallAttachments) {
  const sent: SessionUpdate[] = [];
  const display = new CallDisplay({
    cwd: "/p",
    roots: ["/p", "/q"],
    send: (each) => sent.push(each),
  });
  display.attach("c", attachments);
  return { display, sent };
}

function update(status: "in_progress" | "completed" | "failed"): SessionUpdate {
  return { sessionUpdate: "tool_call_update", toolCallId: "c", status, content: [words] };
}

describe("an attachment", () => {
  it.each([
    ["a terminal stays while the call runs", [terminal], "in_progress", [terminal, words], [words]],
    [
      "a terminal that has shown the whole result replaces it",
      [terminal],
      "completed",
      undefined,
      [words],
    ],
    ["a terminal gives way to what failed", [terminal], "failed", [words], [words]],
    ["a diff stays", [diff], "completed", [diff, words], [diff, words]],
  ] as const)("%s", (_, content, status, shown, kept) => {
    const { display, sent } = displayWith({ content, locations: [{ path: "/p/a" }] });
    expect(sent).toMatchObject([{ toolCallId: "c", status: "in_progress", content }]);
    const completed = display.complete(update(status));
    expect(completed.shown).toMatchObject({ status, locations: [{ path: "/p/a" }] });
    expect(completed.shown).toHaveProperty("toolCallId", "c");
    expect("content" in completed.shown ? completed.shown.content : undefined).toEqual(shown);
    expect(completed.kept).toMatchObject({ status, content: kept });
  });

  it("is forgotten when the call is over", () => {
    const { display } = displayWith({ content: [diff] });
    display.complete(update("completed"));
    expect(display.complete(update("completed")).shown).toEqual(update("completed"));
  });
});

it.each<SessionUpdate>([
  { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "hi" } },
  { sessionUpdate: "tool_call_update", toolCallId: "other", status: "completed" },
  { sessionUpdate: "tool_call_update", toolCallId: "other", content: [words] },
])("an update without attachments is unchanged: %o", (given) => {
  const { display } = displayWith({ content: [diff] });
  expect(display.complete(given)).toEqual({ shown: given, kept: given });
});

describe("a diff in an answer", () => {
  const diffOf = (path: string): string => `--- ${path}\n+++ ${path}\n@@ -1 +1 @@\n-a\n+b\n`;
  const answered = (text: string): unknown[] => {
    const { display } = displayWith({});
    const { shown } = display.complete({
      sessionUpdate: "tool_call_update",
      toolCallId: "other",
      status: "completed",
      content: [{ type: "content", content: { type: "text", text } }],
    });
    return "content" in shown && Array.isArray(shown.content) ? shown.content : [];
  };

  it.each([
    ["a", "/p/a"],
    ["/p/a/b", "/p/a/b"],
    ["../q/a", "/q/a"],
  ])("of %s is shown as one", (path, file) => {
    expect(answered(diffOf(path))).toEqual([
      { type: "diff", path: file, oldText: "a\n", newText: "b\n" },
    ]);
  });

  it.each([
    ["a file elsewhere", diffOf("/etc/passwd")],
    ["a file above", diffOf("../a")],
    ["one of two elsewhere", `${diffOf("a")}${diffOf("/pa")}`],
  ])("of %s stays text", (_, text) => {
    expect(answered(text)).toEqual([{ type: "content", content: { type: "text", text } }]);
  });
});
