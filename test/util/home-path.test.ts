import { join } from "node:path";
import { expect, it } from "vitest";
import { expandHome } from "../../src/util/home-path.ts";

it.each<[string, NodeJS.Platform, string]>([
  ["~", "linux", "/home/me"],
  ["~/a/b", "linux", join("/home/me", "a/b")],
  ["~/a", "win32", join("/home/me", "a")],
  ["~\\a", "win32", join("/home/me", "a")],
  // There it is a name like any other.
  ["~\\a", "linux", "~\\a"],
  ["~other/a", "win32", "~other/a"],
  ["/a/~", "linux", "/a/~"],
])("%s on %s", (path, platform, expected) => {
  expect(expandHome(path, "/home/me", platform)).toBe(expected);
});
