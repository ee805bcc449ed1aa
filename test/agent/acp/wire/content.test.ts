// Content between MCP and ACP, both ways.

import type { ContentBlock as AcpBlock } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import {
  fromAcp,
  hasEnded,
  outcomeContent,
  promptText,
  toAcp,
} from "../../../../src/agent/acp/wire/content.ts";
import type { ContentBlock } from "../../../../src/core/types/content.ts";

const uri = "file:///a";

describe("content that passes both ways unchanged", () => {
  it.each<ContentBlock & AcpBlock>([
    { type: "text", text: "hi" },
    { type: "image", data: "AA==", mimeType: "image/png" },
    { type: "audio", data: "AA==", mimeType: "audio/wav" },
    { type: "resource", resource: { uri, text: "x" } },
    { type: "resource", resource: { uri, mimeType: "image/png", blob: "AA==" } },
    { type: "resource_link", uri, name: "a" },
    {
      type: "resource_link",
      uri,
      name: "a",
      title: "A",
      description: "It",
      mimeType: "text/plain",
      size: 1,
    },
  ])("$type", (block) => {
    expect(toAcp(block)).toEqual(block);
    expect(fromAcp(block)).toEqual(block);
  });
});

describe("toAcp", () => {
  it.each<[string, ContentBlock, AcpBlock]>([
    [
      "leaves out what ACP does not have",
      { type: "text", text: "a\u001b[1mb", _meta: { secret: 1 } },
      { type: "text", text: "ab" },
    ],
    [
      "gives a link without a name its URI",
      { type: "resource_link", uri },
      { type: "resource_link", uri, name: uri },
    ],
    [
      "takes a resource with nothing in it for an empty text",
      { type: "resource", resource: { uri } },
      { type: "resource", resource: { uri, text: "" } },
    ],
  ])("%s", (_, block, shown) => {
    expect(toAcp(block)).toEqual(shown);
  });
});

describe("outcomeContent", () => {
  it.each([
    ["nothing", { content: [] }, "(empty result)"],
    [
      "an empty error",
      { content: [], isError: true },
      "(the tool reported an error without details)",
    ],
    ["structured content alone", { content: [], structuredContent: { a: 1 } }, '{"a":1}'],
  ])("%s is shown as text", (_, outcome, text) => {
    expect(outcomeContent(outcome)).toEqual([{ type: "content", content: { type: "text", text } }]);
  });
});

describe("promptText", () => {
  it("is what the user typed, without other blocks", () => {
    const link: AcpBlock = { type: "resource_link", uri, name: "a" };
    const blocks: AcpBlock[] = [{ type: "text", text: " a" }, link, { type: "text", text: "b\n" }];
    expect(promptText(blocks)).toBe("a\nb");
  });
});

it.each([
  ["completed", true],
  ["failed", true],
  ["in_progress", false],
  ["pending", false],
  [undefined, false],
] as const)("a call that is %s has ended: %s", (status, ended) => {
  expect(hasEnded(status)).toBe(ended);
});
