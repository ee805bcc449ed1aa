import { afterEach, describe, expect, it, vi } from "vitest";
import { atValue } from "../../../../src/core/config/issue.ts";
import { parseText } from "../../../../src/core/config/text/document.ts";

describe("JSON5 text", () => {
  it.each([
    ["comments and trailing commas", "// a\n{ a: 1, /* b */ b: [1, 2,], }", { a: 1, b: [1, 2] }],
    ["unquoted and single-quoted keys", "{ a: 'x', 'b': \"y\" }", { a: "x", b: "y" }],
    [
      "numbers of all kinds",
      "[0x10, +1, .5, -Infinity, Infinity]",
      [16, 1, 0.5, -Infinity, Infinity],
    ],
    ["not a number", "[NaN]", [Number.NaN]],
    ["the other literals", "[true, false, null]", [true, false, null]],
    ["a string carried over a line", '["a\\\nb", "c\\\r\nd"]', ["ab", "cd"]],
    ["quotes inside strings and comments", `["'", '"', "\\""] // "`, ["'", '"', '"']],
    ["brackets inside strings", '["{", "["]', ["{", "["]],
  ])("may have %s", (_, text, value) => {
    expect(parseText(text)).toMatchObject({ kind: "document", value, issues: [] });
  });

  it.each([
    [
      "nothing but a comment",
      "// nothing\n",
      "1:11",
      "the file holds no value; expected an object { … }",
    ],
    [
      "no end",
      '{\n  "a": {\n    b: 1\n',
      "3:9",
      'the file ends here; the "{" of 2:8 is not closed',
    ],
    ["no value", "{ a:", "1:5", 'the file ends here; the "{" of 1:1 is not closed'],
    [
      "an open comment",
      "{ a: 1\n/* b }",
      "2:1",
      "a comment starts here and is not closed; expected */",
    ],
    [
      "an open string",
      '{\n  command: "npx,\n  args: ["x"],\n}',
      "2:12",
      "a string starts here and is not closed on the same line",
    ],
    [
      "an open string at the end",
      '{ a: "b',
      "1:6",
      "a string starts here and is not closed on the same line",
    ],
    ["an open string after another mistake", '{ a: 1;\n b: "c', "1:7", 'unexpected ";"'],
    [
      "no comma",
      '{\n  a: "x"\n  b: 1\n}',
      "3:3",
      'unexpected "b"; is a comma or a colon missing before it?',
    ],
    ["no colon", '{ "a" 1 }', "1:7", "unexpected number; is a comma or a colon missing before it?"],
    [
      "a string too many",
      "['a' 'b']",
      "1:6",
      "unexpected string; is a comma or a colon missing before it?",
    ],
    ["a value without quotes", "{ token: hunter2 }", "1:10", "unexpected word"],
    ["two commas", "{ a: 1,, }", "1:8", 'unexpected ","'],
    ["a bare word", "{ a: yes }", "1:6", 'unexpected "yes"'],
    ["too much", "{}}", "1:3", 'unexpected "}"'],
    ["a lone bracket", "]", "1:1", 'unexpected "]"'],
    ["Windows line ends", "{\r\n  a: 1,\r\n  b\r\n}", "4:1", 'unexpected "}"'],
    ["old Mac line ends", "{\r  a: ?\r}", "2:6", 'unexpected "?"'],
    ["a hidden character", "{ a: \u200b1 }", "1:6", 'unexpected "\\u{200b}"'],
    [
      "endless nesting",
      "[".repeat(100_000),
      "1:1",
      "is nested too deeply, or has too many comments in a row, to be read",
    ],
  ])("with %s is refused where it went wrong", (_, text, position, message) => {
    const [line, column] = position.split(":").map(Number);
    expect(parseText(text)).toEqual({ kind: "malformed", position: { line, column }, message });
  });

  it("keeps keys such as __proto__ as keys", () => {
    const parsed = parseText('{ "__proto__": { polluted: true }, constructor: 1 }');
    expect(parsed.kind === "document" && Object.keys(parsed.value as object)).toEqual([
      "__proto__",
      "constructor",
    ]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("finds every repetition of a key, however it is spelled", () => {
    const parsed = parseText("{ a: 1,\n  'a': 2,\n  \\u0061: 3 }");
    expect(parsed).toMatchObject({
      value: { a: 3 },
      issues: [
        {
          path: ["a"],
          message: "duplicate key; the first one is at 1:3",
          position: { line: 2, column: 3 },
        },
        {
          path: ["a"],
          message: "duplicate key; the first one is at 1:3",
          position: { line: 3, column: 3 },
        },
      ],
    });
  });

  it("is not followed deeper than a hundred levels", () => {
    const parsed = parseText(`${"[".repeat(101)}${"]".repeat(101)}`);
    expect(parsed).toMatchObject({
      issues: [{ message: "is nested more than 100 levels deep" }],
    });
  });
});

describe("JSON text", () => {
  afterEach(() => vi.restoreAllMocks());

  it("is searched for positions only when one is asked for", () => {
    const positions = vi.spyOn(WeakMap.prototype, "set");
    const parsed = parseText('{\n  "a": [1,\n    { "b:c\\"": 2 }] }');
    // Vitest has such maps too.
    const searched = positions.mock.calls.length;
    expect(parsed).toMatchObject({
      kind: "document",
      value: { a: [1, { 'b:c"': 2 }] },
      issues: [],
    });
    expect(searched).toBe(0);
    if (parsed.kind !== "document") return;
    const at = (path: (string | number)[]) => parsed.locate(atValue(path, "is wrong"));
    expect(at(["a", 1, 'b:c"'])).toEqual({ line: 3, column: 16 });
    expect(at(["a", 0])).toEqual({ line: 2, column: 9 });
    expect(at(["nothing"])).toEqual({ line: 1, column: 1 });
  });

  it.each([
    ["plainly", '{ "a": 1, "a": 2 }'],
    ["in other characters", '{ "a": 1, "\\u0061": 2 }'],
    ["beside strings with colons", '{ "a:": ":\\\\", "b": { "x": "\\":", "x": 1 } }'],
    ["with a number for a name", '[{ "1": 0, "1": 0 }]'],
    ["with the name of the prototype", '{ "__proto__": 0, "__proto__": 0 }'],
  ])("with a key that is there twice has an issue: %s", (_, text) => {
    const parsed = parseText(text);
    expect(parsed).toMatchObject({
      issues: [{ message: expect.stringMatching(/^duplicate key/) }],
    });
  });

  it("has objects without a prototype, and __proto__ is a key of them", () => {
    const parsed = parseText('{ "__proto__": { "polluted": true }, "list": [{}] }');
    if (parsed.kind !== "document") throw new Error(parsed.message);
    const { value } = parsed;
    expect(Object.keys(value as object)).toEqual(["__proto__", "list"]);
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect(Object.getPrototypeOf((value as { list: object[] }).list[0])).toBeNull();
  });
});
