import { describe, expect, it } from "vitest";
import { markFailure, toParts, toText } from "../../../src/core/tools/model-content.ts";
import type { ContentBlock } from "../../../src/core/types/content.ts";

const ALL = { image: true, document: true, audio: true };

const bytes = (...given: (string | number[])[]): string =>
  Buffer.concat(given.map((each) => Buffer.from(each as string))).toString("base64");
const image = (data: string, mimeType = "image/png"): ContentBlock => ({
  type: "image",
  data,
  mimeType,
});
const text = (value: string): ContentBlock => ({ type: "text", text: value });

describe("toParts", () => {
  it.each([
    ["image/png", bytes([0x89], "PNG\r\n", [0x1a, 0x0a, 0, 0])],
    ["image/jpeg", bytes([0xff, 0xd8, 0xff, 0xe0, 0, 0])],
    ["image/gif", bytes("GIF87a")],
    ["image/gif", bytes("GIF89a")],
    ["image/webp", bytes("RIFF", [1, 2, 3, 4], "WEBPVP8 ")],
    ["application/pdf", bytes("%PDF-1.7\n")],
    ["audio/wav", bytes("RIFF", [9, 0xff, 0, 0], "WAVEfmt ")],
    ["audio/mpeg", bytes("ID3", [4, 0, 0])],
    ["audio/mpeg", bytes([0xff, 0xfb, 0x90, 0x64, 0, 0])],
    ["audio/mpeg", bytes([0xff, 0xf3, 0x40, 0xc4, 0, 0])],
  ])("recognises %s by its bytes, whatever the server calls it", (mediaType, data) => {
    expect(toParts([image(data, "image/anything")], ALL)).toMatchObject([{ mediaType, data }]);
  });

  it.each([
    ["text that is not base64", "!!!!"],
    ["base64 that ends early", "iVBORw0KGgo"],
    ["bytes of an unknown kind", bytes("<svg/>")],
    ["nothing", ""],
  ])("describes %s in text", (_, data) => {
    expect(toParts([image(data)], ALL)).toMatchObject([
      { type: "text", text: expect.stringMatching(/^\[image result: image\/png, \d+ B\]$/) },
    ]);
  });

  it("accepts base64 with line breaks", () => {
    expect(toParts([image("iVBORw0K\r\nGgoA\n")], ALL)).toEqual([
      { type: "image", mediaType: "image/png", data: "iVBORw0KGgoA" },
    ]);
  });

  it.each(["image", "document", "audio"] as const)("passes on only supported kinds: %s", (kind) => {
    const content = [image("iVBORw0KGgoA"), image(bytes("%PDF-1.7\n")), image(bytes("ID3xxx"))];
    const kinds = toParts(content, { [kind]: true }).map(({ type }) => type);
    expect(kinds.filter((type) => type !== "text")).toEqual([kind]);
  });

  it("gives a resource's address beside its bytes, but not beside its text", () => {
    const blob = { type: "resource", resource: { uri: "a:b", blob: "iVBORw0KGgoA" } } as const;
    const note = { type: "resource", resource: { uri: "a:b", text: "note" } } as const;
    expect(toParts([blob, note], ALL)).toEqual([
      { type: "text", text: "[resource: a:b, 9 B]" },
      { type: "image", mediaType: "image/png", data: "iVBORw0KGgoA" },
      { type: "text", text: "note" },
    ]);
  });

  it("joins adjacent texts and drops blank ones", () => {
    const content = [text("a"), text(" \n"), text("b"), image("iVBORw0KGgoA"), text("c")];
    expect(toParts(content, ALL).map((part) => (part.type === "text" ? part.text : ""))).toEqual([
      "a\nb",
      "",
      "c",
    ]);
    expect(content[0]).toEqual(text("a"));
  });

  it("is never empty", () => {
    expect(toParts([text("")], ALL)).toEqual([{ type: "text", text: "(empty result)" }]);
  });
});

it("toText describes everything in text", () => {
  expect(toText([text("a"), image("iVBORw0KGgoA")])).toBe("a\n[image result: image/png, 9 B]");
});

it("markFailure says in the text that a call failed", () => {
  const content = [text("a")];
  expect(markFailure({ content })).toBe(content);
  expect(toText(markFailure({ content, isError: true }))).toBe("The call failed:\na");
});
