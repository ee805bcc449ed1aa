import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { createFile, removeFile } from "../../src/util/own-file.ts";
import { temporaryDirectory } from "../support/directory.ts";

let directory = "";

beforeEach(() => {
  directory = temporaryDirectory();
});

it("creates a file for its owner, and the directories that are missing", async () => {
  const path = join(directory, "a", "b", "file");
  const file = await createFile(path);
  await file.close();
  if (process.platform === "win32") return;
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(directory, "a")).mode & 0o777).toBe(0o700);
});

it.each([
  ["a file that is there", (path: string) => path, "EEXIST"],
  ["a file beneath a file", (path: string) => join(path, "below"), "ENOTDIR"],
])("does not create %s", async (_, place, code) => {
  const path = join(directory, "file");
  writeFileSync(path, "kept");
  await expect(createFile(place(path))).rejects.toMatchObject({ code });
});

it("removes a file that may be gone already, and nothing else", async () => {
  const path = join(directory, "file");
  writeFileSync(path, "");
  await removeFile(path);
  expect(existsSync(path)).toBe(false);
  await removeFile(path);
  await expect(removeFile(directory)).rejects.toThrow(directory);
});
