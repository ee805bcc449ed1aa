import { describe, expect, it } from "vitest";
import { resultText } from "../../../src/cli/call/result.ts";
import type { ContentBlock } from "../../../src/core/types/content.ts";
import type { CallOutcome } from "../../../src/core/types/tool.ts";

const data = Buffer.from("some bytes").toString("base64");
const said = (text: string): ContentBlock => ({ type: "text", text });
const image = (mimeType: string): ContentBlock => ({ type: "image", mimeType, data });
const blob: ContentBlock = { type: "resource", resource: { uri: "file:///a.bin", blob: data } };

describe("the text of a result", () => {
  it.each<[string, CallOutcome, string]>([
    ["a text", { content: [said("hi")] }, "hi\n"],
    ["a text that ends its line", { content: [said("hi\n")] }, "hi\n"],
    ["several texts", { content: [said("a"), said(""), said("b\n")] }, "a\nb\n"],
    ["a text with escapes as it is", { content: [said("\u001b[31mred")] }, "\u001b[31mred\n"],
    ["an image", { content: [image("image/png")] }, "[image: image/png, 10 B]\n"],
    [
      "audio",
      { content: [{ type: "audio", mimeType: "audio/wav", data }] },
      "[audio: audio/wav, 10 B]\n",
    ],
    [
      "a resource's text",
      { content: [{ type: "resource", resource: { uri: "x:y", text: "# Hi" } }] },
      "# Hi\n",
    ],
    [
      "a resource's bytes",
      { content: [blob] },
      "[resource: file:///a.bin, application/octet-stream, 10 B]\n",
    ],
    [
      "a resource without either",
      { content: [{ type: "resource", resource: { uri: "x:y" } }] },
      "[resource: x:y]\n",
    ],
    ["a link", { content: [{ type: "resource_link", uri: "x:y" }] }, "[link: x:y]\n"],
    [
      "a link with everything",
      {
        content: [
          { type: "resource_link", uri: "x:y", name: "n", title: "T", mimeType: "a/b", size: 2048 },
        ],
      },
      "[link: x:y, T, a/b, 2 KiB]\n",
    ],
    ["structured content alone", { content: [], structuredContent: { a: 1 } }, '{\n  "a": 1\n}\n'],
    [
      "no structured content beside a text",
      { content: [said("1")], structuredContent: { a: 1 } },
      "1\n",
    ],
    [
      "structured content beside an image",
      { content: [image("image/png")], structuredContent: 5 },
      "[image: image/png, 10 B]\n5\n",
    ],
    ["nothing", { content: [] }, "(empty result)\n"],
    ["an empty text", { content: [said("")] }, "(empty result)\n"],
    [
      "an error of no words",
      { content: [], isError: true },
      "(the tool reported an error without details)\n",
    ],
  ])("with %s", (_, outcome, text) => {
    expect(resultText(outcome)).toBe(text);
  });
});
