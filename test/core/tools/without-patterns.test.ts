// Patterns of a server never reach a regular expression of JavaScript's.

import { expect, it } from "vitest";
import { withoutPatterns } from "../../../src/core/tools/without-patterns.ts";

const EVIL = "^(a+)+$";
const bad = { type: "string", pattern: EVIL };
const good = { type: "string", description: `Must match ${EVIL}` };

it.each([
  ["itself", bad, good],
  ["a property", { properties: { a: bad } }, { properties: { a: good } }],
  ["a property named pattern", { properties: { pattern: bad } }, { properties: { pattern: good } }],
  ["items", { items: bad }, { items: good }],
  ["a list of items", { items: [bad, {}] }, { items: [good, {}] }],
  ["a branch", { anyOf: [{ type: "null" }, bad] }, { anyOf: [{ type: "null" }, good] }],
  ["other properties", { additionalProperties: bad }, { additionalProperties: good }],
  ["a definition", { $defs: { a: { allOf: [bad] } } }, { $defs: { a: { allOf: [good] } } }],
  ["names", { patternProperties: { [EVIL]: {} }, propertyNames: bad, a: 1 }, { a: 1 }],
])("%s", (_, given, expected) => {
  const before = structuredClone(given);
  expect(withoutPatterns(given)).toEqual(expected);
  expect(given).toEqual(before);
});

it("keeps what the description says, and cuts what is long", () => {
  expect(withoutPatterns({ description: "A code", pattern: "^[A-Z]{3}$" })).toEqual({
    description: "A code (Must match ^[A-Z]{3}$)",
  });
  const { description } = withoutPatterns({ pattern: "a".repeat(1000) });
  expect(description).toHaveLength("Must match ".length + 200);
});

it("leaves alone what has none, values that look like one included", () => {
  const schema = {
    type: "object",
    properties: { a: { const: bad, default: bad }, __proto: true },
    anyOf: [{}, true],
    items: false,
  };
  expect(withoutPatterns(schema)).toBe(schema);
});

it("keeps a property named __proto__", () => {
  const schema = JSON.parse(`{ "properties": { "__proto__": { "pattern": "a" } } }`);
  expect(JSON.stringify(withoutPatterns(schema))).toBe(
    '{"properties":{"__proto__":{"description":"Must match a"}}}',
  );
});
