import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fit, headOf, MAX_MEDIA_BYTES, wholeText } from "../../../../src/core/guard/present/fit.ts";
import type { ContentBlock } from "../../../../src/core/types/content.ts";

const text = (words: string): ContentBlock => ({ type: "text", text: words });
const image: ContentBlock = { type: "image", data: "aGk=", mimeType: "image/png" };
const link: ContentBlock = { type: "resource_link", uri: "https://example.com/", name: "page" };
const resource = (words: string): ContentBlock => ({
  type: "resource",
  resource: { uri: "file:///a", text: words },
});
const base64 = (bytes: number): string => Buffer.alloc(bytes).toString("base64");

describe("the head of a text", () => {
  it.each<[string, number, string]>([
    ["abc", 3, "abc"],
    ["abc", 2, "ab"],
    ["abc", 0, ""],
    ["éé", 4, "éé"],
    ["éé", 3, "é"],
    ["éé", 1, ""],
    ["中文", 5, "中"],
    ["a😀b", 6, "a😀b"],
    ["a😀b", 5, "a😀"],
    ["a😀b", 4, "a"],
    ["a😀b", 2, "a"],
    ["😀😀", 7, "😀"],
    ["a\ud800b", 4, "a\ud800"],
    ["a\ud800b", 3, "a"],
    ["\udc00a", 4, "\udc00a"],
  ])("of %j in %d bytes is %j", (whole, bytes, head) => {
    expect(headOf(whole, bytes)).toBe(head);
  });

  it("is the longest beginning that fits, and no half of a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(64), (whole, bytes) => {
        const head = headOf(whole, bytes);
        expect(whole.startsWith(head)).toBe(true);
        expect(Buffer.byteLength(head)).toBeLessThanOrEqual(bytes);
        const [next] = whole.slice(head.length);
        if (next === undefined) return;
        expect(Buffer.byteLength(head + next)).toBeGreaterThan(bytes);
        expect(/[\ud800-\udbff]$/.test(head) && /^[\udc00-\udfff]/.test(next)).toBe(false);
      }),
    );
  });
});

describe("a result", () => {
  it.each<[string, ContentBlock[], number]>([
    ["that is small", [text("hi"), image, link, resource("words")], 100],
    ["that just fits", [text("héy")], 4],
    ["without a limit", [text("a".repeat(1000))], Infinity],
    ["of images alone", [image], 0],
    ["of nothing", [], 0],
  ])("is left as it is: %s", (_, content, bytes) => {
    const fitted = fit(content, bytes);
    expect(fitted).toEqual({ content, media: [] });
    expect(fitted.content).toBe(content);
  });

  it.each<[string, ContentBlock[], number, ContentBlock[], number, number]>([
    ["one text", [text("abcdef")], 4, [text("abcd")], 4, 6],
    ["at a character", [text("ab😀")], 5, [text("ab")], 2, 6],
    ["the second text", [text("abc"), text("def")], 5, [text("abc"), text("de")], 5, 6],
    ["all behind it", [text("abcd"), text("e"), link], 3, [text("abc")], 3, 29],
    ["not images", [text("abcd"), image, text("e")], 3, [text("abc"), image], 3, 5],
    ["to nothing", [text("abcd"), image], 0, [image], 0, 4],
    ["below nothing", [text("abcd")], -1, [], 0, 4],
    ["a fraction", [text("abcd")], 2.5, [text("ab")], 2, 4],
    ["the text of a resource", [resource("abcdef")], 12, [resource("abc")], 12, 15],
    ["a resource that has no room for text", [resource("abcdef")], 9, [], 0, 15],
    ["a link as a whole", [text("a"), link], 20, [text("a")], 1, 25],
    [
      "a resource without text as a whole",
      [{ type: "resource", resource: { uri: "file:///abc", blob: "aGk=" } }],
      5,
      [],
      0,
      11,
    ],
  ])("that is too long is cut: %s", (_, content, bytes, kept, shownBytes, totalBytes) => {
    expect(fit(content, bytes)).toEqual({
      content: kept,
      cut: { shownBytes, totalBytes },
      media: [],
    });
  });

  it("keeps images up to a size each", () => {
    const data = base64(MAX_MEDIA_BYTES);
    const content: ContentBlock[] = [
      { type: "image", data, mimeType: "image/png" },
      { type: "image", data, mimeType: "image/png" },
    ];
    expect(fit(content, Infinity).content).toBe(content);
  });

  it("names what is larger, and keeps the rest", () => {
    const bytes = MAX_MEDIA_BYTES + 1;
    const data = base64(bytes);
    const uri = "file:///a";
    const content: ContentBlock[] = [
      text("a"),
      { type: "image", data, mimeType: "image/png" },
      { type: "audio", data, mimeType: "audio/wav" },
      { type: "resource", resource: { uri, blob: data } },
      { type: "resource", resource: { uri, blob: data, mimeType: "application/pdf", text: "b" } },
      image,
    ];
    expect(fit(content, Infinity)).toEqual({
      content: [
        text("a"),
        { type: "resource", resource: { uri, mimeType: "application/pdf", text: "b" } },
        image,
      ],
      media: [
        { mimeType: "image/png", data, bytes },
        { mimeType: "audio/wav", data, bytes },
        { mimeType: "", data, bytes },
        { mimeType: "application/pdf", data, bytes },
      ],
    });
  });

  it("is read whole as everything there is to read", () => {
    expect(wholeText([text("a"), text(""), image, resource("b"), link])).toBe(
      "a\nfile:///a\nb\nhttps://example.com/\npage",
    );
  });
});
