import { describe, expect, it } from "vitest";
import { jsonLength } from "../../src/util/json-length.ts";

describe("jsonLength", () => {
  it.each<[value: unknown, least: number, most: number]>([
    ["x".repeat(100), 100, 110],
    [Array.from({ length: 100 }, () => "x".repeat(10)), 1000, 1500],
    [{ key: "x".repeat(100), other: [1, true, null] }, 100, 150],
    [undefined, 0, 10],
  ])("%j is at least %i long, at most %i, and Infinity beyond a limit", (value, least, most) => {
    const length = jsonLength(value, most);
    expect([length >= least, length <= most, jsonLength(value, length - 1)]).toEqual([
      true,
      true,
      Infinity,
    ]);
  });

  it("stops at the most values", () => {
    const value = Array.from({ length: 9 }, () => 1);
    expect([jsonLength(value, 1000, 10), jsonLength(value, 1000, 9)]).toEqual([39, Infinity]);
  });

  it("takes any depth", () => {
    let value: unknown = 0;
    for (let level = 0; level < 200_000; level += 1) value = { a: [value] };
    expect(jsonLength(value, 1000)).toBe(Infinity);
    expect(jsonLength(value, 1e9)).toBeLessThan(1e9);
  });
});
