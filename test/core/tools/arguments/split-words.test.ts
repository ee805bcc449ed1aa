import { describe, expect, it } from "vitest";
import { splitWords } from "../../../../src/core/tools/arguments/split-words.ts";

describe("a line is split into words as in a shell", () => {
  it.each<[string, string[]]>([
    ["", []],
    ["  a  b\n c ", ["a", "b", "c"]],
    ["text=hi top=3", ["text=hi", "top=3"]],
    ["text='two words'", ["text=two words"]],
    ['text="two words"', ["text=two words"]],
    ["'docs/my tool' a=1", ["docs/my tool", "a=1"]],
    ["a='it'\\''s'", ["a=it's"]],
    ['a="say \\"hi\\" \\\\ \\$x \\n"', ['a=say "hi" \\ $x \\n']],
    ["a='no \\ escape $x'", ["a=no \\ escape $x"]],
    ["a=''", ["a="]],
    ["a=one\\ word", ["a=one word"]],
    ["path=C:\\Users\\ada", ["path=C:\\Users\\ada"]],
    ["a=$HOME b=*", ["a=$HOME", "b=*"]],
    ["a='two\nlines'", ["a=two\nlines"]],
    // JSON without quotes of its own.
    ['{"a": "b c"} d=1', ['{"a": "b c"}', "d=1"]],
    ['filter:={"a": [1, "x }"]} d=1', ['filter:={"a": [1, "x }"]}', "d=1"]],
    ['list:=["a b", "\\"]"] d=1', ['list:=["a b", "\\"]"]', "d=1"]],
    ["filter:='{\"a\": 1}'", ['filter:={"a": 1}']],
    ['{"a": 1', ['{"a": 1']],
    // Elsewhere a bracket is a character like any other.
    ["text={x y}", ["text={x", "y}"]],
    ["a=b:={c d}", ["a=b:={c", "d}"]],
  ])("%j", (line, words) => {
    expect(splitWords(line)).toEqual(words);
  });

  it.each([
    ["text=it's here", "the quote ' at column 8 is never closed"],
    ['a="b', 'the quote " at column 3 is never closed'],
  ])("a quote must be closed: %j", (line, message) => {
    expect(() => splitWords(line)).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENTS", message }),
    );
  });
});
