import { expect, it } from "vitest";
import { contains } from "../../src/util/contains.ts";

it.each([
  ["/a", "/a", true],
  ["/a", "/a/b/c", true],
  ["/a", "/a/..b", true],
  ["/", "/a", true],
  ["/a", "/ab", false],
  ["/a/b", "/a", false],
  ["/a", "/a/../b", false],
])("%s contains %s: %s", (directory, path, isInside) => {
  expect(contains(directory, path)).toBe(isInside);
});
