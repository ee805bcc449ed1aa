import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";
import { isOnPath } from "../../src/util/on-path.ts";
import { temporaryDirectory } from "../support/directory.ts";

it("a program is found that can be run, in any directory of the path", () => {
  const directory = temporaryDirectory();
  for (const name of ["tool", "plain", "tool.cmd"]) writeFileSync(join(directory, name), "");
  chmodSync(join(directory, "tool"), 0o755);
  chmodSync(join(directory, "tool.cmd"), 0o755);
  mkdirSync(join(directory, "folder"));
  const PATH = ["", "/nowhere", directory].join(delimiter);
  const found = (name: string, platform = "linux"): boolean => isOnPath(name, { PATH }, platform);
  expect(["tool", "plain", "folder", "other"].map((name) => found(name))).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(isOnPath("tool", { Path: directory, PATHEXT: ".cmd" }, "win32")).toBe(true);
  expect(isOnPath("tool", {}, "linux")).toBe(false);
});
