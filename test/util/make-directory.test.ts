import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeDirectory } from "../../src/util/make-directory.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "plugboard-mkdir-"));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

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
