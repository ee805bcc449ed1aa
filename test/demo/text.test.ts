import { describe, expect, it } from "vitest";
import { measureText } from "../../src/demo/text.ts";

describe("measureText", () => {
  it("counts nothing in nothing", () => {
    expect(measureText("")).toEqual({
      characters: 0,
      charactersWithoutSpaces: 0,
      words: 0,
      uniqueWords: 0,
      sentences: 0,
      paragraphs: 0,
      lines: 0,
      bytes: 0,
      readingSeconds: 0,
      topWords: [],
    });
  });

  it.each([
    ["a family is one character", "👩‍👩‍👧‍👦", { characters: 1, bytes: 25, words: 0 }],
    ["so is a flag", "🇩🇪", { characters: 1 }],
    ["so is a letter with its accent apart", "e\u0301", { characters: 1, words: 1 }],
    ["so is a line end of two", "a\r\nb", { characters: 3, lines: 2 }],
    ["spaces can be left out", "a b\tc\n", { characters: 6, charactersWithoutSpaces: 3 }],
    ["punctuation is no word", "Well — yes, it's 3.5!", { words: 4 }],
    ["words without spaces are found", "私は学生です", { words: 4, characters: 6 }],
    ["sentences end in several ways", "One. Two? Three!\n\n…", { sentences: 3 }],
    ["an abbreviation may end none", "It costs 3.50 in total.", { sentences: 1 }],
    ["paragraphs have empty lines between", "a\nb\n\n \n\nc\n", { paragraphs: 2, lines: 7 }],
  ])("%s", (_, text, expected) => {
    expect(measureText(text)).toMatchObject(expected);
  });

  it("names the frequent words, without those frequent everywhere", () => {
    const { topWords, uniqueWords } = measureText(
      "The Cat and the cat saw a dog, and THE dog ran.",
    );
    expect(topWords).toEqual([
      { word: "cat", count: 2 },
      { word: "dog", count: 2 },
      { word: "saw", count: 1 },
      { word: "ran", count: 1 },
    ]);
    expect(uniqueWords).toBe(7);
    expect(measureText("x y z", { top: 1 }).topWords).toHaveLength(1);
  });

  it("estimates the reading time from the words", () => {
    const text = "word ".repeat(476);
    expect(measureText(text).readingSeconds).toBe(120);
    expect(measureText(text, { wordsPerMinute: 119 }).readingSeconds).toBe(240);
  });

  it.each([
    ["of lines", "one two\n".repeat(20_000), { words: 40_000, sentences: 20_000, lines: 20_001 }],
    ["of sentences", "One two. ".repeat(20_000), { words: 40_000, sentences: 20_000 }],
    ["of words", "one ".repeat(40_000), { words: 40_000, characters: 160_000 }],
    ["of one word", `x${"👍".repeat(50_000)}`, { characters: 50_001 }],
    ["of nothing", `${"\n \n".repeat(30_000)}x`, { words: 1, paragraphs: 1 }],
  ])("measures a long text %s", (_, text, expected) => {
    expect(measureText(text)).toMatchObject(expected);
  });
});
