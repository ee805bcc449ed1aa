import { expect, it } from "vitest";
import { isJsonObject } from "../../../src/core/types/json.ts";

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
