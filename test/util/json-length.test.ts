import { describe, expect, it } from "vitest";
import { isLongerThan } from "../../src/util/json-length.ts";

describe("isLongerThan", () => {
  it.each<[value: unknown, least: number, most: number]>([
    ["x".repeat(100), 100, 110],
    [Array.from({ length: 100 }, () => "x".repeat(10)), 1000, 1500],
    [{ key: "x".repeat(100), other: [1, true, null] }, 100, 150],
    [undefined, 0, 10],
  ])("%j is longer than %i, and not longer than %i", (value, least, most) => {
    expect([isLongerThan(Math.max(0, least - 1), value), isLongerThan(most, value)]).toEqual([
      true,
      false,
    ]);
  });

  it("takes any depth", () => {
    let value: unknown = 0;
    for (let level = 0; level < 200_000; level += 1) value = { a: [value] };
    expect([isLongerThan(1000, value), isLongerThan(1e9, value)]).toEqual([true, false]);
  });
});
