import {
  chmod,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  realpath,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { readTextFile, writeTextFile } from "../../../../src/core/config/text/text-file.ts";
import { failure, writeConfig } from "../files.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

describe("a file that is written back", () => {
  it("has the new text and the old mode, and nothing is left beside it", async () => {
    const file = await writeConfig("\uFEFFold");
    await chmod(file, 0o640);
    const read = await readTextFile(file);
    expect(read.text).toBe("\uFEFFold");
    await writeTextFile(read, "\uFEFFnew");
    expect(await readFile(file, "utf8")).toBe("\uFEFFnew");
    expect((await stat(file)).mode & 0o777).toBe(0o640);
    expect(await readdir(dirname(file))).toEqual(["plugboard.json"]);
  });

  it("stays a link to its target", async () => {
    const file = await writeConfig("old");
    const alias = join(dirname(file), "alias.json");
    await symlink("plugboard.json", alias);
    await writeTextFile(await readTextFile(alias), "new");
    expect((await lstat(alias)).isSymbolicLink()).toBe(true);
    expect(await readFile(file, "utf8")).toBe("new");
  });

  it("is made behind a link that leads to nothing yet, and no directories are", async () => {
    const directory = temporaryDirectory();
    const alias = join(directory, "alias.json");
    await symlink("target.json", alias);
    await writeTextFile(await readTextFile(alias), "{}");
    expect(await readFile(join(directory, "target.json"), "utf8")).toBe("{}");
    const nowhere = join(directory, "nowhere.json");
    await symlink("deep/target.json", nowhere);
    await symlink("none/deeper", join(directory, "linked"));
    for (const file of [nowhere, join(directory, "linked/new.json")]) {
      await expect(writeTextFile(await readTextFile(file), "{}")).rejects.toMatchObject({
        message: expect.stringContaining("is behind a link to"),
        hint: expect.stringContaining("make the directory"),
      });
    }
    expect(await readdir(directory)).toEqual([
      "alias.json",
      "linked",
      "nowhere.json",
      "target.json",
    ]);
  });

  it("has one place behind a linked directory, before and after it is made", async () => {
    const directory = await realpath(temporaryDirectory());
    await mkdir(join(directory, "real"));
    await symlink("real", join(directory, "linked"));
    const file = join(directory, "linked/new/deep.json");
    const before = await readTextFile(file);
    await writeTextFile(before, "new");
    const after = await readTextFile(file);
    expect([before.target, after.target]).toEqual(
      Array(2).fill(join(directory, "real/new/deep.json")),
    );
  });

  it("keeps its other names", async () => {
    const file = await writeConfig("a longer text");
    const other = join(dirname(file), "other.json");
    await link(file, other);
    await writeTextFile(await readTextFile(file), "new");
    expect(await readFile(other, "utf8")).toBe("new");
  });

  it("is made with its directories, in the mode that was asked for", async () => {
    const file = join(temporaryDirectory(), "a/b/plugboard.json");
    const read = await readTextFile(file);
    expect(read.text).toBeUndefined();
    await writeTextFile(read, "new", { mode: 0o600 });
    expect(await readFile(file, "utf8")).toBe("new");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });
});

describe("a file that is not written", () => {
  it.each<[what: string, before: string | undefined, meanwhile: (file: string) => Promise<void>]>([
    ["changed", "old", (file) => writeFile(file, "theirs")],
    ["been made", undefined, (file) => writeFile(file, "theirs")],
    ["changed", "old", (file) => rm(file)],
  ])("has %s since it was read", async (what, before, meanwhile) => {
    const file = join(temporaryDirectory(), "plugboard.json");
    if (before !== undefined) await writeFile(file, before);
    const read = await readTextFile(file);
    await meanwhile(file);
    const after = await readFile(file, "utf8").catch(() => undefined);
    const error = await failure(() => writeTextFile(read, "new"));
    expect(error.code).toBe("SYSTEM_ERROR");
    expect(error.message).toContain(`${file} has ${what} meanwhile`);
    expect(await readFile(file, "utf8").catch(() => undefined)).toBe(after);
  });

  it("is read-only", async () => {
    const file = await writeConfig("old");
    await chmod(file, 0o444);
    const error = await failure(async () => writeTextFile(await readTextFile(file), "new"));
    expect(error.message).toBe(`${file} is read-only`);
    expect(error.hint).toBe(`to make it writable: chmod u+w ${file}`);
    expect(await readFile(file, "utf8")).toBe("old");
  });

  it("would be inside a file", async () => {
    const file = join(await writeConfig("old"), "plugboard.json");
    const error = await failure(() => readTextFile(file));
    expect(error.code).toBe("CONFIG_INVALID");
  });

  it("is a directory", async () => {
    const directory = join(temporaryDirectory(), "plugboard.json");
    await mkdir(directory);
    const error = await failure(() => readTextFile(directory));
    expect(error.message).toMatch(/is (?:a directory|not a file)/);
  });

  it("is something that a read could wait for", async () => {
    const error = await failure(() => readTextFile("/dev/null"));
    expect(error.message).toContain("is not a file");
  });
});
