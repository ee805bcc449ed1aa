import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseLine, repeatsKey, withValue } from "../../../src/agent/front/json-bytes.ts";

const changed = (text: string, path: string[], value: unknown): string =>
  withValue(Buffer.from(text), path, value).toString();

describe("one value changes, and every other byte stays", () => {
  it.each<[text: string, path: string, value: unknown, expected: string]>([
    ['{"id":1}', "id", "x", '{"id":"x"}'],
    [
      ' {"a":1.0e3 , "id" : 1.00,"b":"\\u00e4"}\r',
      "id",
      2,
      ' {"a":1.0e3 , "id" : 2,"b":"\\u00e4"}\r',
    ],
    ['{"\\u0069d":1}', "id", 2, '{"\\u0069d":2}'],
    ['{"id":1,"id":2}', "id", 3, '{"id":1,"id":3}'],
    ['{"p":{"id":1},"id":{"id":9}}', "id", 3, '{"p":{"id":1},"id":3}'],
    ['{"a":"}","b":[{"c":"]\\""}],"d":null}', "d", [], '{"a":"}","b":[{"c":"]\\""}],"d":[]}'],
    ['{"a":{"b":{"c":true}}}', "a.b.c", false, '{"a":{"b":{"c":false}}}'],
    ["{}", "a.b", 1, '{"a":{"b":1}}'],
    ['{"x":1}', "a.b", 1, '{"x":1,"a":{"b":1}}'],
    ['{"a":{}}', "a.b", 1, '{"a":{"b":1}}'],
    ['{"a":{ "x":1 }}', "a.b", 1, '{"a":{ "x":1 ,"b":1}}'],
    ['{"a":null,"z":0}', "a.b", 1, '{"a":{"b":1},"z":0}'],
    ['{"a":[1,2],"z":-0}', "a", "é", '{"a":"é","z":-0}'],
  ])("%s, %s = %j", (text, path, value, expected) => {
    expect(changed(text, path.split("."), value)).toBe(expected);
  });

  it("as setting it in the parsed value does, for any JSON", () => {
    const value = fc.jsonValue();
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), fc.string(), value, (object, key, set) => {
        fc.pre(
          key !== "__proto__" && !("__proto__" in object && Object.hasOwn(object, "__proto__")),
        );
        const text = JSON.stringify(object, null, 1);
        expect(JSON.parse(changed(text, [key], set))).toEqual(
          JSON.parse(JSON.stringify({ ...object, [key]: set })),
        );
      }),
    );
  });
});

describe("a key that is there twice", () => {
  it.each<[text: string, isTwice: boolean]>([
    ['{"a":1,"b":{"a":2},"c":[{"a":3},{"a":":"}]}', false],
    ['{"a":1,"a":1}', true],
    ['{"a":1,"\\u0061":1}', true],
    ['{"a":[{"b":{"c":1,"c":2}}]}', true],
    ['{"__proto__":1,"a":{"__proto__":{}}}', false],
    ['{"__proto__":1,"__proto__":2}', true],
    ['{"a":"\\"a\\":1","b:":null}', false],
    ["[]", false],
  ])("%s: %s", (text, isTwice) => {
    expect(repeatsKey(Buffer.from(text))).toBe(isTwice);
  });

  it("is in no text that JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(repeatsKey(Buffer.from(JSON.stringify([value])))).toBe(false);
      }),
    );
  });

  it("is found in a value of any depth", () => {
    const deep = `${'{"a":'.repeat(200_000)}{"b":1,"b":2}${"}".repeat(200_000)}`;
    expect(repeatsKey(Buffer.from(deep))).toBe(true);
  });
});

it.each<[line: string, isMessage: boolean]>([
  ["{}", true],
  ["[]", true],
  ['{"a":1} ', true],
  ["", false],
  ["12", false],
  ['"text"', false],
  ["null", false],
  ["{", false],
  ["\ufeff{}", false],
  ["INFO: {}", false],
])("%j: %s", (line, isMessage) => {
  expect(parseLine(Buffer.from(line)) !== undefined).toBe(isMessage);
});
