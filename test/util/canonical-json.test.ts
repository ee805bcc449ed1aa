import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, jsonOfAnyDepth } from "../../src/util/canonical-json.ts";

describe("canonicalJson", () => {
  it.each<[unknown, string]>([
    [{ b: 1, a: [2, { d: null, c: "é" }] }, '{"a":[2,{"c":"é","d":null}],"b":1}'],
    [[], "[]"],
    [{}, "{}"],
    ["x", '"x"'],
    [null, "null"],
    [undefined, "null"],
    [[undefined, 1], "[null,1]"],
    [{ a: undefined, b: true }, '{"b":true}'],
    [{ 10: 1, 9: 2 }, '{"10":1,"9":2}'],
  ])("of %j", (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it("keeps keys such as __proto__", () => {
    const value: unknown = JSON.parse('{"__proto__":{"b":1},"constructor":2}');
    expect(canonicalJson(value)).toBe('{"__proto__":{"b":1},"constructor":2}');
  });

  it("parses to the same value, independent of the order of keys", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const wire = JSON.stringify(value);
        const text = canonicalJson(JSON.parse(wire));
        expect(JSON.parse(text)).toEqual(JSON.parse(wire));
        expect(canonicalJson(reversed(JSON.parse(wire)))).toBe(text);
      }),
    );
  });

  it("writes values of any depth", () => {
    const depth = 100_000;
    let value: unknown = 1;
    for (let level = 0; level < depth; level += 1) value = [value];
    expect(canonicalJson(value)).toHaveLength(2 * depth + 1);
  });
});

describe("jsonOfAnyDepth", () => {
  it.each<[string, unknown]>([
    ["plain values", [1, "é", null, true, { b: 1, a: [], c: {} }]],
    ["what JSON leaves out", { a: undefined, b: [undefined], c: new Date(0) }],
  ])("is JSON.stringify for %s", (_, value) => {
    expect(jsonOfAnyDepth(value)).toBe(JSON.stringify(value));
    expect(jsonOfAnyDepth(value, 2)).toBe(JSON.stringify(value, undefined, 2));
  });

  it.each([6000, 200_000])("writes %i levels on one line, in the order of the keys", (depth) => {
    let value: unknown = 1;
    for (let level = 0; level < depth; level += 1) value = { b: value, a: 0 };
    const text = `${'{"b":'.repeat(depth)}1${',"a":0}'.repeat(depth)}`;
    expect(jsonOfAnyDepth(value, 2)).toBe(text);
  });

  it("still refuses a value that contains itself", () => {
    const value: Record<string, unknown> = {};
    value["self"] = value;
    expect(() => jsonOfAnyDepth(value)).toThrow(TypeError);
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, reversed(each)] as const);
  return Object.fromEntries(entries.reverse());
}
