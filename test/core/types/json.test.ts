import { expect, it } from "vitest";
import { isJsonObject, isOfType, jsonType } from "../../../src/core/types/json.ts";

it.each([
  [{}, true],
  [JSON.parse('{"__proto__":1}'), true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  [undefined, false],
  ["{}", false],
  [1, false],
  [true, false],
])("%j is an object: %s", (value, verdict) => {
  expect(isJsonObject(value)).toBe(verdict);
});

it.each<[unknown, string, string[]]>([
  [null, "null", ["null"]],
  [[], "array", ["array"]],
  [{}, "object", ["object"]],
  ["1", "string", ["string"]],
  [true, "boolean", ["boolean"]],
  [1, "integer", ["integer", "number"]],
  [1.5, "number", ["number"]],
])("%j is of the type %s", (value, type, types) => {
  expect(jsonType(value)).toBe(type);
  const all = ["null", "array", "object", "string", "boolean", "integer", "number"];
  expect(all.filter((each) => isOfType(value, [each]))).toEqual(types);
  expect(isOfType(value, [])).toBe(false);
});
