import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SecretMatcher } from "../../src/redaction/matcher.ts";

/** The characters that are part of any occurrence, found one by one. */
function covered(text: string, words: readonly string[]): boolean[] {
  const marks = Array.from(text, () => false);
  for (const word of words) {
    for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
      marks.fill(true, at, at + word.length);
    }
  }
  return marks;
}

function coveredBySpans(text: string, spans: readonly number[]): boolean[] {
  const marks = Array.from(text, () => false);
  for (let index = 0; index < spans.length; index += 2) {
    marks.fill(true, spans[index], spans[index + 1]);
  }
  return marks;
}

/** Few letters, so that words repeat, overlap and begin alike. */
const letters = (minLength: number, maxLength: number) =>
  fc
    .array(fc.constantFrom("a", "b", "c"), { minLength, maxLength })
    .map((characters) => characters.join(""));

describe("the words in a text", () => {
  it.each<[string, string[], string, number[]]>([
    ["none", ["secret"], "nothing here", []],
    ["in a text that is shorter", ["secret"], "secre", []],
    ["the whole text", ["secret"], "secret", [0, 6]],
    ["twice", ["secret"], "secret, secret", [0, 6, 8, 14]],
    ["side by side", ["secret"], "secretsecret", [0, 6, 6, 12]],
    ["one inside another", ["cdefgh", "abcdefghij"], "abcdefghij", [0, 10]],
    ["inside what turns out to be none", ["cdefgh", "abcdefghij"], "abcdefghi!", [2, 8]],
    ["overlapping", ["abcdef", "defghi"], "abcdefghi", [0, 9]],
    ["overlapping itself", ["ababab"], "abababab", [0, 8]],
    [
      "a long one among short ones",
      ["abc", "x".repeat(300)],
      `abc${"x".repeat(300)}`,
      [0, 3, 3, 303],
    ],
    ["beyond ASCII", ["пароль", "密码密码密码"], "мой пароль 密码密码密码", [4, 10, 11, 17]],
  ])("are found: %s", (_, words, text, spans) => {
    expect(new SecretMatcher(words).spans(text)).toEqual(spans);
  });

  it("are all found, and nothing else", () => {
    const words = fc.array(letters(3, 9), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(words, letters(0, 80), (list, text) => {
        const spans = new SecretMatcher(list).spans(text);
        expect(coveredBySpans(text, spans)).toEqual(covered(text, list));
      }),
      { numRuns: 500 },
    );
  });

  it("are found in a text of megabytes that is made to look like them all the way", () => {
    const words = ["a".repeat(1000), `${"a".repeat(500)}b`];
    const text = `${"a".repeat(999)}c`.repeat(2000);
    expect(new SecretMatcher(words).spans(text)).toEqual([]);
    expect(new SecretMatcher(words).spans(`${text}${"a".repeat(500)}b`)).toEqual([
      2_000_000, 2_000_501,
    ]);
  });
});

describe("the end of a text", () => {
  it.each<[string, number]>([
    ["", 0],
    ["nothing", 0],
    ["the s", 1],
    ["the secre", 5],
    ["the secret", 6],
    ["the secretsec", 3],
    ["secsec", 3],
  ])("%j may be the beginning of a word by %d characters", (text, count) => {
    expect(new SecretMatcher(["secret", "second"]).opening(text)).toEqual({
      start: text.length - count,
      length: count,
    });
  });

  it("is as long as the longest beginning that fits", () => {
    const words = fc.array(letters(3, 9), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(words, letters(0, 40), (list, text) => {
        const beginnings = Array.from({ length: text.length }, (_, at) => text.slice(at));
        const longest = beginnings.find((end) => list.some((word) => word.startsWith(end))) ?? "";
        expect(new SecretMatcher(list).opening(text).length).toBe(longest.length);
      }),
    );
  });
});
