import { describe, expect, it } from "vitest";
import { degradeContent, type SupportedContent } from "../../../src/core/tools/degrade.ts";
import type { ContentBlock } from "../../../src/core/types/content.ts";

const NOTHING: SupportedContent = {
  text: false,
  image: false,
  audio: false,
  resource: false,
  resource_link: false,
};

const base64 = (bytes: number) => Buffer.alloc(bytes).toString("base64");

const text: ContentBlock = { type: "text", text: "hi", _meta: { a: 1 } };
const image: ContentBlock = { type: "image", data: base64(12_000), mimeType: "image/png" };
const audio: ContentBlock = { type: "audio", data: base64(24_000), mimeType: "audio/wav" };
const resource: ContentBlock = {
  type: "resource",
  resource: { uri: "file:///notes.md", mimeType: "text/markdown", text: "# Notes\n\nTwo lines" },
};
const blob: ContentBlock = {
  type: "resource",
  resource: { uri: "file:///a.bin", mimeType: "application/zip", blob: base64(3000) },
};
const link: ContentBlock = {
  type: "resource_link",
  uri: "https://example.com/report.pdf",
  name: "report",
  description: "The annual report",
};

function inWords(block: unknown): unknown {
  const [degraded] = degradeContent([block as ContentBlock], NOTHING);
  return degraded?.type === "text" ? degraded.text : degraded;
}

describe("content in words", () => {
  it.each<[string, ContentBlock, string]>([
    ["an image", image, "[image result: image/png, 12 KB]"],
    ["a sound", audio, "[audio result: audio/wav, 24 KB]"],
    ["a resource's text, inlined", resource, "# Notes\n\nTwo lines"],
    ["a resource's bytes", blob, "[resource: file:///a.bin, application/zip, 3 KB]"],
    ["a resource with neither", { type: "resource", resource: { uri: "x:y" } }, "[resource: x:y]"],
    [
      "a resource with an empty text",
      { type: "resource", resource: { uri: "x:y", mimeType: "text/plain", text: "" } },
      "[resource: x:y, text/plain, 0 B]",
    ],
    [
      "a resource with an empty text beside its bytes",
      { type: "resource", resource: { uri: "x:y", text: "", blob: base64(7) } },
      "[resource: x:y, 7 B]",
    ],
    ["a link", link, "[resource link: report, The annual report, https://example.com/report.pdf]"],
    [
      "a link with a title",
      { ...link, title: "Report 2025", description: "" },
      "[resource link: Report 2025, https://example.com/report.pdf]",
    ],
    [
      "a link with nothing but its URI",
      { type: "resource_link", uri: "x:y" },
      "[resource link: x:y]",
    ],
  ])("%s", (_, block, expected) => {
    expect(inWords(block)).toBe(expected);
  });

  it.each([
    ["", "0 B"],
    [base64(1), "1 B"],
    [base64(2), "2 B"],
    [base64(3), "3 B"],
    [base64(2).replace("=", ""), "2 B"],
    [base64(999), "999 B"],
    [base64(1499), "1 KB"],
    [base64(999_499), "999 KB"],
    [base64(999_500), "1 MB"],
    [base64(2_340_000), "2.3 MB"],
  ])("tells sizes as a person does (%#)", (data, expected) => {
    expect(inWords({ type: "image", data, mimeType: "x" })).toBe(`[image result: x, ${expected}]`);
  });

  it("stays on one line, within bounds, and free of control characters", () => {
    const evil = `a]\n\u001b[31mb\u202e${"x".repeat(10_000)}`;
    const words = inWords({ type: "resource_link", uri: evil, name: evil, description: evil });
    expect(words).toMatch(/^\[resource link: a\] bx+…, a\] bx+…, a\] bx+…\]$/u);
    expect(String(words).length).toBeLessThan(3000);
  });

  it.each([
    [{ type: "image" }, "[image result]"],
    [{ type: "audio", data: 5, mimeType: null }, "[audio result]"],
    [{ type: "image", mimeType: "image/png" }, "[image result: image/png]"],
    [{ type: "resource" }, "[resource]"],
    [{ type: "resource", resource: null }, "[resource]"],
    [{ type: "resource", resource: { uri: 1, text: 2, blob: 3 } }, "[resource]"],
    [{ type: "resource_link" }, "[resource link]"],
    [{ type: "resource_link", uri: "x:y", name: {} }, "[resource link: x:y]"],
  ])("leaves unsaid what is missing: %j", (block, expected) => {
    expect(inWords(block)).toBe(expected);
  });
});

describe("what passes", () => {
  it.each<[string, SupportedContent | undefined, boolean[]]>([
    ["text and images by default", undefined, [true, true, false, false, false, false]],
    ["everything, when nothing is said", {}, [true, true, true, true, true, true]],
    ["text always", NOTHING, [true, false, false, false, false, false]],
    ["what is carried", { audio: false, image: true }, [true, true, false, true, true, true]],
    ["links, where resources do not", { resource: false }, [true, true, true, false, false, true]],
  ])("%s", (_, supported, passes) => {
    const blocks = [text, image, audio, resource, blob, link];
    const degraded = degradeContent(blocks, supported);
    expect(degraded.map((block, index) => block === blocks[index])).toEqual(passes);
    expect(degraded.every((block, index) => passes[index] || block.type === "text")).toBe(true);
  });

  it("keeps its audience, in words too; metadata stays with what passes unchanged", () => {
    const marked = { ...image, annotations: { audience: ["user"] }, _meta: { a: 1 } };
    expect(degradeContent([marked], {})).toEqual([marked]);
    expect(degradeContent([marked], { image: false })).toEqual([
      {
        type: "text",
        text: "[image result: image/png, 12 KB]",
        annotations: { audience: ["user"] },
      },
    ]);
  });

  it.each([
    [null],
    [undefined],
    ["text"],
    [5],
    [[]],
    [{}],
    [{ type: "hologram" }],
    [{ type: "__proto__" }],
  ])("what is no block at all, as it is: %j", (block) => {
    expect(degradeContent([block as never], NOTHING)).toEqual([block]);
  });
});
