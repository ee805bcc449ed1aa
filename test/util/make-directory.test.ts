import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { makeDirectory } from "../../src/util/make-directory.ts";
import { temporaryDirectory } from "../support/directory.ts";

let directory: string;

beforeEach(() => {
  directory = temporaryDirectory();
});

it("makes a directory with its parents, for its owner alone, also when several do so at once", async () => {
  const path = join(directory, "a", "b", "c");
  await Promise.all([makeDirectory(path), makeDirectory(path), makeDirectory(join(path, "d"))]);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  await makeDirectory(path);
});

it("fails where there can be no directory", async () => {
  await writeFile(join(directory, "file"), "");
  await expect(makeDirectory(join(directory, "file", "x"))).rejects.toMatchObject({
    code: "ENOTDIR",
  });
  // Node's own recursive mkdir never returns from here.
  if (process.platform !== "linux") return;
  await expect(makeDirectory("/proc/self/x/y")).rejects.toMatchObject({ code: "ENOENT" });
});
