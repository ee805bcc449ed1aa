import { expect, it } from "vitest";
import { stem } from "../../../../src/core/catalog/search/stem.ts";
import { readSynonyms } from "../../../../src/core/catalog/search/synonyms.ts";

const synonyms = readSynonyms();
const of = (word: string): readonly string[] => synonyms.get(stem(word)) ?? [];

it.each([
  ["erase", "delete"],
  ["delete", "erase"],
  ["picture", "image"],
  ["film", "movie"],
  ["pr", "pull"],
])("%s also finds %s", (word, other) => {
  expect(of(word)).toContain(stem(other));
});

it("a line with > counts one way only", () => {
  expect(of("laptop")).toContain(stem("product"));
  expect(of("product")).not.toContain(stem("laptop"));
});

it("no word is its own synonym, and none is there twice", () => {
  for (const [term, others] of synonyms) {
    expect(others, term).not.toContain(term);
    expect(new Set(others).size, term).toBe(others.length);
  }
});
