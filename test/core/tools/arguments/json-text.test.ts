import { describe, expect, it } from "vitest";
import { parseJson, parseJsonObject } from "../../../../src/core/tools/arguments/json-text.ts";

describe("JSON that a person typed", () => {
  it("is parsed", async () => {
    expect(await parseJson('[1, {"a": null}]', "x")).toEqual([1, { a: null }]);
    expect(await parseJsonObject(' {"a": 1} ', "x")).toEqual({ a: 1 });
  });

  it.each([
    ["{a:1}", "unexpected 'a' at line 1, column 2", "  {a:1}\n   ^"],
    ['{"a":1,}', "unexpected '}' at line 1, column 8", '  {"a":1,}\n         ^'],
    ['{"a":', "the text ends too early at line 1, column 6", '  {"a":\n       ^'],
    ['{"a":"x', "the text ends too early at line 1, column 8", '  {"a":"x\n         ^'],
    ['{"a" 1}', "unexpected '1' at line 1, column 6", '  {"a" 1}\n       ^'],
    ['{"a":1}}', "unexpected '}' at line 1, column 8", '  {"a":1}}\n         ^'],
    ['{\n  "a": 1\n  "b": 2\n}', `unexpected '"' at line 3, column 3`, '    "b": 2\n    ^'],
    ["{\t'a':1}", `unexpected ''' at line 1, column 3`, "  { 'a':1}\n    ^"],
  ])("says where %j is wrong", async (text, what, excerpt) => {
    await expect(parseJson(text, "the argument")).rejects.toThrow(
      expect.objectContaining({
        code: "INVALID_ARGUMENTS",
        message: `the argument is not valid JSON: ${what}\n${excerpt}`,
        hint: expect.stringContaining("single quotes"),
      }),
    );
  });

  it("shows a part of a long line", async () => {
    const text = `{"a": "${"x".repeat(100)}" oops, "b": "${"y".repeat(100)}"}`;
    const excerpt = `  ${"x".repeat(28)}" oops, "b": "${"y".repeat(18)}\n  ${" ".repeat(30)}^`;
    await expect(parseJson(text, "f.json")).rejects.toThrow(excerpt);
  });

  it.each([
    ["", "f.json: expected JSON, got nothing"],
    [" \n", "f.json: expected JSON, got nothing"],
    ["[1]", "f.json: expected a JSON object, got an array"],
    ["null", "f.json: expected a JSON object, got null"],
    ['"a"', "f.json: expected a JSON object, got a string"],
  ])("refuses %j as arguments", async (text, message) => {
    await expect(parseJsonObject(text, "f.json")).rejects.toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENTS", message }),
    );
  });
});
