import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileGlob } from "../../src/util/glob.ts";

describe("a pattern", () => {
  it.each([
    ["read", "read", true],
    ["read", "reads", false],
    ["read", "Read", false],
    ["", "", true],
    ["", "a", false],
    ["*", "", true],
    ["*", "anything/at all\n", true],
    ["**", "x", true],
    ["read_*", "read_", true],
    ["read_*", "read_file", true],
    ["read_*", "bread_file", false],
    ["*_file", "read_file", true],
    ["*_file", "read_files", false],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["ab*ba", "aba", false],
    ["a*b*c", "a-c-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["*ab*ab*", "abab", true],
    ["*ab*ab*", "aba", false],
    ["*b", "bab", true],
    ["a*b*b", "ab", false],
    // Nothing but the star is special.
    ["a.c", "abc", false],
    ["a?c", "abc", false],
    ["[ab]", "a", false],
    ["(a+)+$", "(a+)+$", true],
    ["\\*", "\\x", true],
  ])("%j on %j: %s", (pattern, name, expected) => {
    expect(compileGlob(pattern)(name)).toBe(expected);
  });

  const alphabet = fc.constantFrom("a", "b", "/", "*");
  const patterns = fc.array(alphabet, { maxLength: 12 }).map((letters) => letters.join(""));
  const names = fc
    .array(fc.constantFrom("a", "b", "/"), { maxLength: 12 })
    .map((letters) => letters.join(""));

  it("matches what its definition says", () => {
    fc.assert(
      fc.property(patterns, names, (pattern, name) => {
        expect(compileGlob(pattern)(name)).toBe(reference(pattern, name));
      }),
      { numRuns: 2000 },
    );
  });

  it("matches whatever its stars are filled with", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), fc.string(), (parts, filling) => {
        expect(compileGlob(parts.join("*"))(parts.join(filling))).toBe(true);
      }),
    );
  });

  it("with a thousand stars ends at once on a name that almost fits", () => {
    const matches = compileGlob(`${"a*".repeat(1000)}b`);
    expect(matches("a".repeat(100_000))).toBe(false);
    expect(matches(`${"a".repeat(100_000)}b`)).toBe(true);
  });
});

/** By the book, in exponential time. */
function reference(pattern: string, name: string): boolean {
  if (pattern === "") return name === "";
  const rest = pattern.slice(1);
  if (!pattern.startsWith("*"))
    return name.startsWith(pattern.charAt(0)) && reference(rest, name.slice(1));
  return reference(rest, name) || (name !== "" && reference(pattern, name.slice(1)));
}

describe("a pattern for tools", () => {
  it.each([
    ["*", "", true],
    ["*", "abc", true],
    ["a*c", "abc", true],
    ["a*c", "ac", true],
    ["a*a", "a", false],
    ["*b*", "abc", true],
    ["a*b*c*d", "a-b-c-d", true],
    ["a*c*b*d", "a-b-c-d", false],
    ["a.c", "abc", false],
    ["abc", "abcd", false],
  ])("%s on %s: %s", (pattern, text, expected) => {
    expect(compileGlob(pattern)(text)).toBe(expected);
  });

  it("takes no time over a hostile pattern", () => {
    expect(compileGlob(`${"*a".repeat(2000)}b`)("a".repeat(20_000))).toBe(false);
  });
});
