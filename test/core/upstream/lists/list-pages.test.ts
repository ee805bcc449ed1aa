import { describe, expect, it } from "vitest";
import { measure } from "../../../../src/core/upstream/lists/list-pages.ts";

function nest(depth: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < depth; level += 1) value = { not: value };
  return value;
}

describe("measure", () => {
  it.each<[unknown, number]>([
    [null, 8],
    [5, 8],
    ["four", 12],
    [[], 8],
    [{ key: "four" }, 23],
    [[1, [2]], 35],
  ])("takes %j for %d bytes", (value, bytes) => {
    expect(measure(value, 1000)).toBe(bytes);
  });

  it.each<[string, unknown]>([
    ["a long text", "x".repeat(5000)],
    ["a long list", Array(5000).fill(0)],
    ["many keys", Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`key-${n}`, n]))],
    ["one long key", { ["k".repeat(5000)]: 1 }],
    ["nesting", nest(5000)],
    ["millions of items", { list: Array(20_000_000).fill(0) }],
  ])("says one more than the limit for %s", (_, value) => {
    expect(measure(value, 1000)).toBe(1001);
  });
});
