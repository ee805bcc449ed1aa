import fc from "fast-check";
import { RE2JS, RE2JSException } from "re2js";
import { describe, expect, it } from "vitest";
import { programSize } from "../../../../src/core/guard/output/pattern.ts";

describe("the size of a pattern's program", () => {
  it.each([
    ["", 0],
    ["abc", 3],
    ["[a-z]+", 2],
    ["(^*){0,20}", 125],
    ["[]a]", 1],
    ["[\\]]", 1],
    ["\\d{4}", 9],
    ["(a{30}){30}", 1983],
    ["a{2,}", 5],
    ["a{", 2],
    ["a{x}", 4],
    [")", 1],
    ["[a", 1],
  ])("of %s is at most %i", (pattern, size) => {
    expect(programSize(pattern)).toBe(size);
  });

  it("is never below what the engine makes of it, give or take its frame", () => {
    const atom = fc.constantFrom("a", "[b-d]", "\\w", ".", "^", "$", "\\u0041");
    const times = fc.constantFrom("", "*", "+?", "?", "{3}", "{2,9}", "{0,20}", "{4,}");
    const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
      part: fc.oneof(
        { maxDepth: 4 },
        fc.tuple(atom, times).map(([what, count]) => what + count),
        fc.tuple(tie("pattern"), times).map(([inner, count]) => `(${inner})${count}`),
        fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => `(?:${a}|${b})`),
      ),
      pattern: fc.array(tie("part"), { minLength: 1, maxLength: 3 }).map((parts) => parts.join("")),
    }));
    const frame = 4;
    fc.assert(
      fc.property(pattern, (each) => {
        const real = engineSize(each);
        if (real !== undefined) expect(programSize(each) + frame).toBeGreaterThanOrEqual(real);
      }),
      { numRuns: 300 },
    );
  });
});

function engineSize(pattern: string): number | undefined {
  if (programSize(pattern) > 4000) return undefined;
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern)).programSize();
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}
