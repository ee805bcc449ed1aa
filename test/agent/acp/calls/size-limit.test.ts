// How large an update to the editor can become.

import type { ContentBlock, SessionUpdate } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { limitSize } from "../../../../src/agent/acp/calls/size-limit.ts";

const MIB = 2 ** 20;
/** The largest message that the SDK's client accepts. */
const LIMIT = 32 * MIB;

const message = (content: ContentBlock): SessionUpdate => ({
  sessionUpdate: "agent_message_chunk",
  content,
});
const ended = (blocks: ContentBlock[], rawOutput?: unknown): SessionUpdate => ({
  sessionUpdate: "tool_call_update",
  toolCallId: "1",
  status: "completed",
  content: blocks.map((content) => ({ type: "content", content })),
  ...(rawOutput !== undefined && { rawOutput }),
});
const text = (length: number, of = "x"): ContentBlock => ({
  type: "text",
  text: of.repeat(length),
});
const image = (length: number): ContentBlock => ({
  type: "image",
  mimeType: "image/png",
  data: "A".repeat(length),
});
const resource = (body: { text: string } | { blob: string }): ContentBlock => ({
  type: "resource",
  resource: { uri: "file:///a", ...body },
});

describe("an update within the limits is unchanged", () => {
  it.each<[string, SessionUpdate]>([
    ["a message", message(text(2 * MIB))],
    ["an image", message(image(16 * MIB))],
    ["a link", message({ type: "resource_link", uri: "file:///a", name: "a" })],
    ["a call", ended([text(MIB), image(8 * MIB), text(MIB)], { sum: 3 })],
    ["a call without raw output", ended([])],
    [
      "a diff and a terminal",
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "1",
        content: [
          { type: "diff", path: "/a", newText: "b" },
          { type: "terminal", terminalId: "t" },
        ],
      },
    ],
    ["a call's state alone", { sessionUpdate: "tool_call_update", toolCallId: "1" }],
    ["anything else", { sessionUpdate: "usage_update", used: 1, size: 2 }],
  ])("%s", (_, update) => {
    expect(limitSize(update)).toEqual(update);
  });
});

describe("an update that is too large", () => {
  it.each<[string, SessionUpdate, SessionUpdate]>([
    [
      "text is cut",
      message(text(3 * MIB)),
      message({ type: "text", text: `${"x".repeat(2 * MIB)}\n(1 MiB more not shown)` }),
    ],
    [
      "text of a resource is cut",
      message(resource({ text: "x".repeat(4 * MIB) })),
      message({ type: "text", text: `${"x".repeat(2 * MIB)}\n(2 MiB more not shown)` }),
    ],
    [
      "media are left out",
      message(image(32 * MIB)),
      message({ type: "text", text: "(image of 24 MiB, too large to show)" }),
    ],
    [
      "so is a file",
      message(resource({ blob: "A".repeat(32 * MIB) })),
      message({ type: "text", text: "(resource of 24 MiB, too large to show)" }),
    ],
    ["raw output is left out", ended([text(1)], { text: "x".repeat(2 * MIB) }), ended([text(1)])],
  ])("%s", (_, update, expected) => {
    expect(limitSize(update)).toEqual(expected);
  });

  it("is limited over all its blocks, even if every character takes six bytes", () => {
    const blocks = Array.from({ length: 8 }, () => [text(MIB, "\u0001"), image(4 * MIB)]).flat();
    const raw = { text: "\u00e9".repeat(MIB - 11) };
    const size = Buffer.byteLength(JSON.stringify(limitSize(ended(blocks, raw))));
    expect(size).toBeLessThan(LIMIT);
    expect(size).toBeGreaterThan(LIMIT / 2);
  });
});

it("the arguments of a call are left out if they are too large or nested too deeply", () => {
  const started = (rawInput: unknown): SessionUpdate => ({
    sessionUpdate: "tool_call",
    toolCallId: "1",
    title: "t",
    rawInput,
  });
  const deep: unknown = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`);
  expect(limitSize(started({ a: 1 }))).toEqual(started({ a: 1 }));
  for (const raw of ["x".repeat(MIB), deep, undefined]) {
    expect(JSON.stringify(limitSize(started(raw)))).not.toContain("rawInput");
  }
});
