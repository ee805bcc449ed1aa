import { describe, expect, it } from "vitest";
import { isTooDeep, MAX_DEPTH } from "../../src/util/json-depth.ts";

function nest(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = wrap(value);
  return value;
}

describe("a JSON value", () => {
  it.each<[string, (inner: unknown) => unknown]>([
    ["objects", (inner) => ({ inner })],
    ["lists", (inner) => [inner]],
  ])("of nested %s is too deep beyond the limit, however deep it is", (_, wrap) => {
    expect(isTooDeep(nest(MAX_DEPTH + 1, wrap))).toBe(false);
    expect(isTooDeep(nest(MAX_DEPTH + 2, wrap))).toBe(true);
    expect(isTooDeep(nest(200_000, wrap))).toBe(true);
  });

  it.each([undefined, null, 1, "text"])("without members is not: %j", (value) => {
    expect(isTooDeep(value)).toBe(false);
  });
});
