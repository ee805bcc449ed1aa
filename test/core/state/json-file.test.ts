import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { readJsonFile, writeJsonFile } from "../../../src/core/state/json-file.ts";
import { temporaryDirectory } from "../../support/directory.ts";

let directory: string;
let path: string;

beforeEach(() => {
  directory = temporaryDirectory();
  path = join(directory, "file.json");
});

describe("readJsonFile", () => {
  it.each([{ a: [1, "é", null] }, [], "text", 5, null])("reads back %j", async (value) => {
    await writeJsonFile(path, value);
    expect(await readJsonFile(path, 1000)).toEqual(value);
  });

  it.each<[string, () => Promise<unknown>]>([
    ["absent", async () => {}],
    ["empty", () => writeFile(path, "")],
    ["not JSON", () => writeFile(path, "{")],
    ["a directory", () => mkdir(path)],
    ["a named pipe", async () => execFileSync("mkfifo", [path])],
    ["a link to nothing", () => symlink(join(directory, "nowhere"), path)],
    ["too large", () => writeFile(path, JSON.stringify("x".repeat(1000)))],
  ])("returns nothing if the file is %s", async (_, place) => {
    await place();
    expect(await readJsonFile(path, 1000)).toBeUndefined();
  });

  it("reads a file of exactly the limit", async () => {
    await writeFile(path, '"12345678"');
    expect(await readJsonFile(path, 10)).toBe("12345678");
    expect(await readJsonFile(path, 9)).toBeUndefined();
  });
});

describe("writeJsonFile", () => {
  it.runIf(process.platform !== "win32")("gives only the owner access", async () => {
    const deep = join(directory, "one", "two", "file.json");
    await writeJsonFile(deep, 1);
    expect(await mode(deep)).toBe(0o600);
    expect(await mode(join(directory, "one", "two"))).toBe(0o700);
    expect(await mode(join(directory, "one"))).toBe(0o700);
  });

  it.runIf(process.platform !== "win32")("removes access that others had", async () => {
    await writeFile(path, "1", { mode: 0o666 });
    await writeJsonFile(path, 2);
    expect(await mode(path)).toBe(0o600);
  });

  it("replaces a link instead of writing through it", async () => {
    const target = join(directory, "target.json");
    await writeFile(target, "1");
    await symlink(target, path);
    await writeJsonFile(path, 2);
    expect(await readFile(target, "utf8")).toBe("1");
    expect(await readJsonFile(path, 10)).toBe(2);
  });

  it("leaves the old file and nothing else behind when it fails", async () => {
    await writeJsonFile(path, { old: true });
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    await expect(writeJsonFile(path, cycle)).rejects.toThrow(TypeError);
    expect(await readJsonFile(path, 1000)).toEqual({ old: true });
    expect(await readdir(directory)).toEqual(["file.json"]);
  });

  it("fails if there is something other than a file", async () => {
    await mkdir(path);
    await expect(writeJsonFile(path, 1)).rejects.toMatchObject({ syscall: "rename" });
    await expect(writeJsonFile(join(path, "..", "file.json", "x\u0000"), 1)).rejects.toThrow();
    expect(await readdir(directory)).toEqual(["file.json"]);
  });

  it("is atomic: with many writers a reader sees one of the values as a whole", async () => {
    await writeJsonFile(path, "first");
    const values = Array.from({ length: 32 }, (_, n) => String(n).repeat(10_000));
    const writing = Promise.all(values.map((value) => writeJsonFile(path, value)));
    const seen: unknown[] = [];
    for (let turn = 0; turn < 100; turn += 1) seen.push(await readJsonFile(path, 1 << 20));
    await writing;
    seen.push(await readJsonFile(path, 1 << 20));
    const valid = new Set<unknown>(["first", ...values]);
    expect(seen.filter((value) => !valid.has(value))).toEqual([]);
    expect(await readdir(directory)).toEqual(["file.json"]);
  });
});

async function mode(of: string): Promise<number> {
  return (await stat(of)).mode & 0o777;
}
