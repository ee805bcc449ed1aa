import { describe, expect, it } from "vitest";
import { textForPattern } from "../../../../src/core/tools/arguments/pattern-text.ts";

describe("a text for a pattern", () => {
  it.each([
    ["^[a-f0-9]{24}$", "aaaaaaaaaaaaaaaaaaaaaaaa"],
    ["^\\d{4}-\\d{2}-\\d{2}$", "1111-11-11"],
    ["^(asc|desc)$", "asc"],
    ["^[A-Z]+-\\d+$", "A-1"],
    ["^https?://.+", "https://a"],
    ["^[^\\s@]+@[^\\s@]+$", "a@a"],
    ["^(?:x\\.){2,}y?$", "x.x.y"],
    ["^[\\w.-]*$", "a"],
    ["^[#]$", "#"],
    ["^a{0}b$", "b"],
    ["", ""],
  ])("%s", (pattern, text) => {
    expect(textForPattern(pattern)).toBe(text);
    expect(text).toMatch(new RegExp(pattern));
  });

  it.each([
    ["(?=a)b"],
    ["(?<year>\\d+)"],
    ["\\p{L}"],
    ["(a"],
    ["a)"],
    ["[a"],
    ["*"],
    ["a{x}"],
    ["a{1000}"],
    ["(".repeat(30)],
    ["a".repeat(1000)],
    ["(((((((a{9}){9}){9}){9}){9}){9}){9})"],
  ])("is not made for %s", (pattern) => {
    expect(textForPattern(pattern)).toBeUndefined();
  });
});
