import { expect, it } from "vitest";
import { stem } from "../../../../src/core/catalog/search/stem.ts";

// Porter's own examples, a few for each step.
it.each([
  ["caresses", "caress"],
  ["ponies", "poni"],
  ["cats", "cat"],
  ["feed", "feed"],
  ["agreed", "agre"],
  ["plastered", "plaster"],
  ["motoring", "motor"],
  ["sing", "sing"],
  ["conflated", "conflat"],
  ["sized", "size"],
  ["hopping", "hop"],
  ["falling", "fall"],
  ["filing", "file"],
  ["happy", "happi"],
  ["sky", "sky"],
  ["relational", "relat"],
  ["digitizer", "digit"],
  ["operator", "oper"],
  ["hopefulness", "hope"],
  ["triplicate", "triplic"],
  ["electrical", "electr"],
  ["revival", "reviv"],
  ["replacement", "replac"],
  ["adoption", "adopt"],
  ["homologous", "homolog"],
  ["rate", "rate"],
  ["cease", "ceas"],
  ["roll", "roll"],
  ["yellow", "yellow"],
])("%s becomes %s", (word, term) => {
  expect(stem(word)).toBe(term);
});

it.each(["news", "id", "größe", "文件", "v2", "x".repeat(100_000)])(
  "leaves %.20s alone",
  (word) => {
    expect(stem(word)).toBe(word);
  },
);

it("gives forms of one word one term", () => {
  const forms = ["search", "searches", "searched", "searching"];
  expect(new Set(forms.map(stem)).size).toBe(1);
});
