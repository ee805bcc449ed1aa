import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SecretMatcher } from "../../../src/core/redaction/matcher.ts";

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

describe("many words", () => {
  const word = (at: number): string => createHash("sha256").update(`${at}`).digest("hex");
  const words = Array.from({ length: 3000 }, (_, at) => word(at));
  const others = Array.from({ length: 1000 }, (_, at) => word(-1 - at));
  const matcher = new SecretMatcher(words);

  it.each(["", "\n", "\\n", "\u200b", "%41"])(
    "are not found in a text of the same kind with %j in between, and each of them is found there",
    (between) => {
      expect(matcher.spans(others.join(between))).toEqual([]);
      const spans = matcher.spans(words.join(between));
      const step = 64 + between.length;
      expect(spans).toEqual(words.flatMap((_, at) => [at * step, at * step + 64]));
    },
  );

  it("are found where one begins inside another, hidden or not", () => {
    const [first = "", second = ""] = words;
    const text = `${first.slice(0, 60)}${second.slice(4)}`;
    const own = new SecretMatcher([...words, text.slice(50)]);
    expect(own.spans(first)).toEqual([0, 64]);
    expect(own.spans(text)).toEqual([50, 120]);
    expect(own.spans(`${text.slice(0, 70)}\n${text.slice(70)}`)).toEqual([50, 121]);
    expect(own.spans(`${text.slice(0, 52)}\u200b${text.slice(52)}`)).toEqual([50, 121]);
  });

  it("that begin alike are told from each other at their ends", () => {
    const alike = words.map((each) => `eyJhbGciOiJIUzI1NiJ9.${each}`);
    const jwt = new SecretMatcher(alike);
    expect(jwt.spans(others.map((each) => `eyJhbGciOiJIUzI1NiJ9.${each}`).join("\n"))).toEqual([]);
    expect(jwt.spans(alike.join(" "))).toHaveLength(2 * alike.length);
  });
});

/** What stands between characters and is not seen, and how a character is written so that only a reader sees it. */
const unseen = fc.constantFrom("", "", "", "\u200b", "\n", "\r\n  ", "\\n", "\u001b[0m");
const written = fc.constantFrom<(unit: string) => string>(
  (unit) => unit,
  (unit) => unit,
  (unit) => unit,
  (unit) => `%${unit.charCodeAt(0).toString(16)}`,
  (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`,
  (unit) => `&#${unit.charCodeAt(0)};`,
);

describe("words that only a reader sees", () => {
  // Of several lengths: what is hidden is then inside a word's first characters, or after them.
  it.each([3, 9, 17, 70])(
    "are all found, and nothing else, if they have %d letters or more",
    (from) => {
      const words = fc.array(letters(from, from + 9), { minLength: 1, maxLength: 20 });
      const units = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), written, unseen), {
        maxLength: 120,
      });
      fc.assert(
        fc.property(words, units, fc.nat(), (random, parts, pick) => {
          const seen = parts.map(([letter]) => letter).join("");
          const start = pick % Math.max(1, seen.length - from);
          const list = [...random, seen.slice(start, start + from)].filter(
            ({ length }) => length >= from,
          );
          fc.pre(list.length > 0);
          const pieces = parts.map(([letter, write, after]) => write(letter) + after);
          const text = pieces.join("");
          const marks = coveredBySpans(text, new SecretMatcher(list).spans(text));
          let at = 0;
          const found = parts.map(([letter, write], index) => {
            const isFound = marks.slice(at, at + write(letter).length).includes(true);
            at += pieces[index]?.length ?? 0;
            return isFound;
          });
          expect(found).toEqual(covered(seen, list));
        }),
        { numRuns: 300 },
      );
    },
  );
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
