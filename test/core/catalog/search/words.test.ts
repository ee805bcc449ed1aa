import { describe, expect, it } from "vitest";
import { isStopWord, Stems, wordsOf } from "../../../../src/core/catalog/search/words.ts";

describe("the words of a text", () => {
  it.each([
    ["list_pull_requests", ["list", "pull", "requests"]],
    ["listPullRequests", ["list", "pull", "requests"]],
    ["browser.take-screenshot", ["browser", "take", "screenshot"]],
    ["parseHTTPResponse2", ["parse", "http", "response", "2"]],
    ["On GitHub", ["on", "github", "git", "hub"]],
    ["the user's file", ["the", "user", "s", "file"]],
    ["Café für Señor", ["cafe", "fur", "senor"]],
    ["ÜberBlick", ["uberblick", "uber", "blick"]],
    ["読む file", ["読む", "file"]],
    ["文件搜索", ["文件", "件搜", "搜索"]],
    ["", []],
    ["!?… 🙂", []],
    ["__proto__ constructor", ["proto", "constructor"]],
  ])("of %j", (text, words) => {
    expect(wordsOf(text, 1000)).toEqual(words);
  });

  it("are those of the first characters, however long the text is", () => {
    expect(wordsOf("abc def ghi", 7)).toEqual(["abc", "def"]);
    expect(wordsOf("word ".repeat(200_000), 2000)).toHaveLength(400);
    expect(wordsOf("Aa".repeat(100_000), 2000)).toHaveLength(1000);
  });
});

it("words that say nothing are known, also as stems of 'doesn't'", () => {
  expect(["the", "please", "don", "t"].every(isStopWord)).toBe(true);
  expect(["search", "constructor", "toString"].some(isStopWord)).toBe(false);
});

it("stems are remembered up to a limit", () => {
  const stems = new Stems(2);
  for (const word of ["files", "pages", "hopping", "files"]) stems.of(word);
  expect(stems.of("files")).toBe("file");
});
