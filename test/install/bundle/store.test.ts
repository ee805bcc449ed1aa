import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import {
  bundleName,
  inPartialDirectory,
  place,
  removeUnusedBundles,
} from "../../../src/install/bundle/store.ts";
import { ownerName } from "../../../src/core/state/process-owner.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { temporaryDirectory } from "../../support/directory.ts";

let home = "";
beforeEach(() => {
  home = temporaryDirectory();
});

const store = () => ({ home, clock: systemClock });
const ID = { name: "Tiny One", version: "1.0", sha256: "0123456789abcdef".repeat(4) };
/** Half of it: with eight digits, somebody could make another file for the same place. */
const HASH = "0123456789abcdef".repeat(2);
const NAME = `Tiny-One@1.0-${HASH}`;
const listed = (): string[] =>
  existsSync(join(home, "bundles"))
    ? readdirSync(join(home, "bundles")).filter((name) => name !== ".lock")
    : [];
/** A process that is certainly gone: its machine has been started again. */
const GONE = ownerName().replace(/^([^-]+)-([^-]+)/, "$1-00000000");

const put = (id = ID, content = "x") =>
  inPartialDirectory(store(), (partial) =>
    place(store(), id, partial, async (directory) =>
      writeFileSync(join(directory, "file"), content),
    ),
  );

/** A configuration with these words in it. */
function config(name: string, ...words: string[]): string {
  const path = join(home, name);
  writeFileSync(path, JSON.stringify(words));
  return path;
}

describe("the place of a bundle", () => {
  for (const [name, version, expected] of [
    ["tiny", "1.0.0", `tiny@1.0.0-${HASH}`],
    ["My Server!", "1.0 beta", `My-Server@1.0-beta-${HASH}`],
    ["../../etc", "..", `etc@bundle-${HASH}`],
    ["漢字", "/", `bundle@bundle-${HASH}`],
    ["x".repeat(300), "1", `${"x".repeat(64)}@1-${HASH}`],
  ] as const) {
    it(`of ${name.slice(0, 20)} is ${expected.slice(-50)}`, () => {
      expect(bundleName({ name, version, sha256: ID.sha256 })).toBe(expected);
    });
  }

  it("is made for its owner alone, and nothing else stays", async () => {
    const directory = await put();
    expect(directory).toBe(join(home, "bundles", NAME));
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(home, "bundles")).mode & 0o777).toBe(0o700);
    expect(listed().filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("that is there is used again", async () => {
    await put(ID, "first");
    await put(ID, "second");
    expect(statSync(join(home, "bundles", NAME, "file")).size).toBe("first".length);
  });

  it("is taken by one of several that come at once", async () => {
    expect(new Set(await Promise.all([put(), put(), put()]))).toEqual(
      new Set([join(home, "bundles", NAME)]),
    );
  });

  it("stays empty if it cannot be filled", async () => {
    const filling = inPartialDirectory(store(), (partial) =>
      place(store(), ID, partial, async (directory) => {
        writeFileSync(join(directory, "half"), "");
        throw new Error("damaged");
      }),
    );
    await expect(filling).rejects.toThrow("damaged");
    await removeUnusedBundles(store(), config("plugboard.json"));
    expect(listed()).toEqual([]);
  });

  it("is cleared of what a killed process has left", async () => {
    mkdirSync(join(home, "bundles", `.partial-${GONE}-0123456789ab`), { recursive: true });
    mkdirSync(join(home, "bundles", `.partial-${ownerName()}-0123456789ab`));
    mkdirSync(join(home, "bundles", `.partial-${GONE}-0123456789ac`));
    await removeUnusedBundles(store(), config("plugboard.json"));
    expect(listed().filter((name) => name.startsWith(".partial"))).toHaveLength(1);
    mkdirSync(join(home, "bundles", `.partial-${GONE}-0123456789ab`));
    await put();
    expect(listed().filter((name) => name.startsWith(".partial"))).toEqual([
      `.partial-${ownerName()}-0123456789ab`,
    ]);
  });
});

describe("a bundle is removed", () => {
  it("once nobody uses it, and not before", async () => {
    await put();
    const [one, other] = [config("one.json", NAME), config("other.json", NAME)];
    await removeUnusedBundles(store(), one);
    await removeUnusedBundles(store(), other);
    config("one.json");
    await removeUnusedBundles(store(), one);
    expect(listed()).toContain(NAME);
    config("other.json");
    await removeUnusedBundles(store(), other);
    expect(listed()).toEqual([]);
  });

  it("with the next change, if a file that used it is gone or names it no more", async () => {
    await put();
    const one = config("one.json", NAME);
    await removeUnusedBundles(store(), one);
    rmSync(one);
    await removeUnusedBundles(store(), config("other.json"));
    expect(listed()).toEqual([]);
  });

  it("if it was not wanted in the end", async () => {
    await put();
    await removeUnusedBundles(store(), join(home, "plugboard.json"));
    expect(listed()).toEqual([]);
  });

  it("but not while another process is about to use it", async () => {
    await put();
    const claim = `${NAME}.claim-another-machine`;
    writeFileSync(join(home, "bundles", claim), "");
    await removeUnusedBundles(store(), config("plugboard.json"));
    expect(listed().toSorted()).toEqual([NAME, claim]);
  });

  it("although a process that is gone was about to use it", async () => {
    await put();
    writeFileSync(join(home, "bundles", `${NAME}.claim-${GONE}`), "");
    await removeUnusedBundles(store(), config("plugboard.json"));
    expect(listed()).toEqual([]);
  });

  it("by name alone: nothing else in the directory is touched", async () => {
    await put();
    writeFileSync(join(home, "bundles", "notes.txt"), "mine");
    await removeUnusedBundles(store(), config("plugboard.json"));
    expect(listed()).toEqual(["notes.txt"]);
  });
});

it("without bundles nothing is made", async () => {
  await removeUnusedBundles(store(), config("plugboard.json"));
  expect(listed()).toEqual([]);
});
