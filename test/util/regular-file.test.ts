import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readRegularFile, readRegularFileNow } from "../../src/util/regular-file.ts";
import { temporaryDirectory } from "../support/directory.ts";

function freshPath(): string {
  const directory = temporaryDirectory();
  return join(directory, "file");
}

it("reads a regular file", async () => {
  const path = freshPath();
  writeFileSync(path, "text");
  expect(await readRegularFile(path)).toBe("text");
  expect(readRegularFileNow(path)).toBe("text");
});

it.each<[string, (path: string) => unknown, string]>([
  ["a named pipe", (path) => execFileSync("mkfifo", [path]), "is not a regular file"],
  ["a directory", (path) => mkdirSync(path), "is not a regular file"],
  ["missing", () => {}, "ENOENT"],
])("refuses what is %s, without waiting", async (_, place, reason) => {
  const path = freshPath();
  place(path);
  await expect(readRegularFile(path)).rejects.toThrow(reason);
  expect(() => readRegularFileNow(path)).toThrow(reason);
});
