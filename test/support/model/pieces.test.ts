import { describe, expect, it } from "vitest";
import { pieces, writes } from "./pieces.mjs";

describe("pieces of text", () => {
  it.each([
    ["nothing", "", []],
    ["little", "abc", ["abc"]],
    ["words", "Hello, world", ["Hell", "o, w", "orld"]],
    ["whole characters", "😀😀😀😀😀", ["😀😀😀😀", "😀"]],
    ["escapes, in half", '{"a":"\\n\\"é"}', ['{"a"', ':"\\', "n\\", '"é"}']],
  ])("%s", (_, text, expected) => {
    expect(pieces(text)).toEqual(expected);
  });

  it("are bounded in number for a long text", () => {
    const text = "\\ü".repeat(50_000);
    const cut = pieces(text);
    expect(cut.length).toBeLessThanOrEqual(256);
    expect(cut.join("")).toBe(text);
  });
});

describe("writes of a chunk", () => {
  it.each([
    ["nothing", "", [""]],
    ["plain", "abc", ["abc"]],
    ["inside a character", "aéb", ["a\xc3", "\xa9b"]],
    ["inside an escape", 'a\\"b', ["a\\", '"b']],
    ["inside both", 'a\\"é', ["a\\", '"\xc3', "\xa9"]],
    ["inside both, the other way round", 'é\\"', ["\xc3", "\xa9\\", '"']],
  ])("%s", (_, text, expected) => {
    expect(writes(Buffer.from(text)).map((part) => part.toString("latin1"))).toEqual(expected);
  });
});
