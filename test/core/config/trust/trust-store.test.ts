import { mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Launch } from "../../../../src/core/config/trust/trust.ts";
import { TrustStore } from "../../../../src/core/config/trust/trust-store.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

const launch = (name: string, hash: string): Launch => ({
  kind: "setting",
  label: `setting ${name}`,
  name,
  value: 1,
  hash,
});

let root: string;
let store: TrustStore;
let file: string;

beforeEach(async () => {
  root = temporaryDirectory();
  store = new TrustStore(join(root, "home"));
  await mkdir(join(root, "work"));
  file = join(root, "work", "plugboard.json");
});

describe("the store of trusted files", () => {
  it("has nothing at first", async () => {
    expect(await store.list()).toEqual([]);
    expect(await store.find(file)).toBeUndefined();
  });

  it("remembers what was approved, and when, for its owner alone", async () => {
    await store.approve(file, [launch("a", "1"), launch("__proto__", "2")], 1234);
    const record = {
      file,
      at: 1234,
      approved: new Map([
        ["setting a", "1"],
        ["setting __proto__", "2"],
      ]),
    };
    expect(await store.find(file)).toEqual(record);
    expect(await new TrustStore(join(root, "home")).list()).toEqual([record]);
    expect((await stat(join(root, "home", "trust.json"))).mode & 0o777).toBe(0o600);
  });

  it("replaces an approval by a later one", async () => {
    await store.approve(file, [launch("a", "1")], 1);
    await store.approve(join(root, "other.json"), [], 2);
    await store.approve(file, [launch("a", "2")], 3);
    expect((await store.list()).map(({ at }) => at)).toEqual([2, 3]);
    expect((await store.find(file))?.approved.get("setting a")).toBe("2");
  });

  it("forgets what is revoked, even where the directory is gone", async () => {
    await store.approve(file, [], 1);
    await rm(join(root, "work"), { recursive: true });
    expect(await store.revoke(file)).toBe(true);
    expect(await store.revoke(file)).toBe(false);
    expect(await store.list()).toEqual([]);
  });

  it("knows a directory by its real path", async () => {
    await symlink(join(root, "work"), join(root, "short"));
    await store.approve(join(root, "short", "plugboard.json"), [], 1);
    expect(await store.find(file)).toMatchObject({ file });
  });

  it("does not carry trust through a link into another directory", async () => {
    await writeFile(file, "{}");
    await store.approve(file, [], 1);
    const elsewhere = join(root, "elsewhere");
    await mkdir(elsewhere);
    await symlink(file, join(elsewhere, "plugboard.json"));
    expect(await store.find(join(elsewhere, "plugboard.json"))).toBeUndefined();
  });

  it.each([
    ["is no JSON", "{"],
    ["is of another format", JSON.stringify({ format: 2, files: [] })],
    ["has no list", JSON.stringify({ format: 1, files: {} })],
    [
      "has odd entries",
      JSON.stringify({
        format: 1,
        files: [1, { file: 1 }, { file: "/a", at: 1, approved: [["x"]] }],
      }),
    ],
  ])("trusts nothing where its file %s", async (_, content) => {
    await mkdir(join(root, "home"));
    await writeFile(join(root, "home", "trust.json"), content);
    expect(await store.list()).toEqual([]);
    await store.approve(file, [], 1);
    expect(await readFile(join(root, "home", "trust.json"), "utf8")).toContain(file);
  });
});
