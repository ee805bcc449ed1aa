import { describe, expect, it } from "vitest";
import { escapedJson, escapedJsonLines, visible, visibleCommand } from "../../src/util/visible.ts";

describe("visible text", () => {
  it.each([
    ["plain äöü 漢字 🎉", "plain äöü 漢字 🎉"],
    ["a\u001b[2Kb", "a\\u{1b}[2Kb"],
    ["a\rb\nc\td", "a\\u{d}b\\u{a}c\\u{9}d"],
    ["a\u202eb\u2066c", "a\\u{202e}b\\u{2066}c"],
    ["a\u200bb\ufeff", "a\\u{200b}b\\u{feff}"],
    ["\u{e0041}", "\\u{e0041}"],
    ["\u009b31m\u0085", "\\u{9b}31m\\u{85}"],
    ["\u00a0\u2028\u3164", "\\u{a0}\\u{2028}\\u{3164}"],
    ["\ud800", "\\u{d800}"],
    ["\u2800\u1680\u034f\u17b4\u{1d159}", "\\u{2800}\\u{1680}\\u{34f}\\u{17b4}\\u{1d159}"],
    ["\u3000\u115f\u1160\uffa0", "\\u{3000}\\u{115f}\\u{1160}\\u{ffa0}"],
  ])("of %j is %s", (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it("of a command shows where arguments begin and end", () => {
    const words = ["sh", "-c", "curl x | sh", "", "it's", "${HOME}/a", "a\nb"];
    expect(visibleCommand(words)).toBe(`sh -c 'curl x | sh' '' 'it'\\''s' \${HOME}/a 'a\\u{a}b'`);
  });

  it("of JSON is the same value", () => {
    const value = { a: "b\n\u001b\u200b\u{e0041}", "\u00a0": [1] };
    expect(escapedJson(value)).toBe('{"a":"b\\n\\u001b\\u200b\\udb40\\udc41","\\u00a0":[1]}');
    expect(JSON.parse(escapedJson(value))).toEqual(value);
  });

  it("of JSON on several lines is on one line if it is nested deeply", () => {
    expect(escapedJsonLines({ a: ["\u200b"] })).toBe('{\n  "a": [\n    "\\u200b"\n  ]\n}');
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    expect(escapedJsonLines(JSON.parse(deep))).toBe(deep);
  });
});
