import { describe, expect, it } from "vitest";
import { followPointer } from "../../src/util/json-pointer.ts";

const root = { a: [{ b: 1 }], "c/d": 2, "e~f": 3, "g h": 4, "%": 5, "": 6 };

describe("a pointer", () => {
  it.each<[string, unknown]>([
    ["#", root],
    ["#/a/0/b", 1],
    ["#/c~1d", 2],
    ["#/e~0f", 3],
    ["#/g%20h", 4],
    ["#/%", 5],
    ["#/", 6],
    ["#/a/0/b/c", undefined],
    ["#/nowhere/at/all", undefined],
    ["#/constructor", undefined],
    ["#a", undefined],
  ])("%s leads to %j", (fragment, value) => {
    expect(followPointer(root, fragment)).toEqual(value);
  });
});
