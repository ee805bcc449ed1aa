import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readRegularFile, readRegularFileNow } from "../../src/util/regular-file.ts";
import { temporaryDirectory } from "../support/directory.ts";

function freshPath(): string {
  const directory = temporaryDirectory();
  return join(directory, "file");
}

async function listen(path: string): Promise<void> {
  const server = createServer().listen(path);
  onTestFinished(() => void server.close());
  await once(server, "listening");
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
  ["a socket", listen, "is not a regular file"],
  ["missing", () => {}, "ENOENT"],
])("refuses what is %s, without waiting", async (_, place, reason) => {
  const path = freshPath();
  await place(path);
  await expect(readRegularFile(path)).rejects.toThrow(reason);
  expect(() => readRegularFileNow(path)).toThrow(reason);
});

it("refuses a file that is too large before it reads it", async () => {
  const path = freshPath();
  writeFileSync(path, "");
  truncateSync(path, 2 ** 30);
  await expect(readRegularFile(path)).rejects.toThrow("is larger than 64 MiB");
  await expect(readRegularFile(path, 2 ** 20)).rejects.toThrow("is larger than 1 MiB");
});
