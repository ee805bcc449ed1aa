import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeGenerated } from "../../src/cli/generated-file.ts";
import { useScratch } from "./harness.ts";

const scratch = useScratch();
const TEXT = "#!/usr/bin/env node\n// Written by `plugboard generate-cli`.\n";

function write(
  file: string,
  { isProgram = false, signal = new AbortController().signal } = {},
): Promise<void> {
  const { io } = scratch.start(["--version"]);
  return writeGenerated(file, TEXT, { io, signal }, { isProgram });
}

describe("a generated file", () => {
  it.each<[name: string, before: string | undefined]>([
    ["to nothing", undefined],
    ["to an empty file", ""],
    ["to a file that was generated", TEXT],
    ["to another file", "mine"],
  ])("is not written through a link %s", async (_, before) => {
    const target = join(scratch.directory, "target");
    if (before !== undefined) writeFileSync(target, before);
    symlinkSync(target, join(scratch.directory, "docs.mjs"));
    await expect(write("docs.mjs", { isProgram: true })).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: "docs.mjs is a link, so it was not replaced",
    });
    expect(existsSync(target) ? readFileSync(target, "utf8") : undefined).toBe(before);
  });

  it.each<[string, (path: string) => unknown]>([
    ["a directory", (path) => mkdirSync(path)],
    ["not a file", (path) => execFileSync("mkfifo", [path])],
  ])("is not written where there is %s", async (what, place) => {
    place(join(scratch.directory, "docs.mjs"));
    await expect(write("docs.mjs")).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: `docs.mjs is ${what}, so it was not replaced`,
      hint: "name another one with --output",
    });
  });

  it("is not written after an interrupt", async () => {
    const interrupted = write("docs.mjs", { signal: AbortSignal.abort() });
    await expect(interrupted).rejects.toMatchObject({ code: "CANCELLED" });
    expect(existsSync(join(scratch.directory, "docs.mjs"))).toBe(false);
  });

  it.each([
    [0o640, 0o750],
    [0o600, 0o700],
    [0o644, 0o755],
  ])("with the mode %o can be run by whoever may read it: %o", async (mode, runnable) => {
    const path = scratch.file("docs.mjs", TEXT);
    chmodSync(path, mode);
    await write("docs.mjs", { isProgram: true });
    expect(statSync(path).mode & 0o777).toBe(runnable);
  });
});
