// Which directories of processes that have ended are removed.

import { chown, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { makeOwnedDirectory, removeLeftBehind } from "../../../src/core/state/owned-directory.ts";
import { ownerName } from "../../../src/core/state/process-owner.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const PREFIX = "plugboard-test-";
const NOBODY = 65_534;

let parent: string;
beforeEach(() => {
  parent = temporaryDirectory();
});

/** A name that this machine would have given before it was started the last time. */
function nameOfDead(suffix: string): string {
  const [host = "", , ...rest] = ownerName().split("-");
  return `${PREFIX}${[host, "00000000", ...rest].join("-")}.${suffix}`;
}

describe("removeLeftBehind", () => {
  it("removes what a process has left, and nothing of one that runs", async () => {
    await mkdir(join(parent, nameOfDead("a"), "deep"), { recursive: true });
    const running = await makeOwnedDirectory(parent, PREFIX);
    await mkdir(join(parent, `${PREFIX}other`));
    await removeLeftBehind(parent, PREFIX);
    const left = (await readdir(parent)).map((name) => join(parent, name));
    expect(left.toSorted()).toEqual([running, join(parent, `${PREFIX}other`)].toSorted());
  });

  it("leaves a link alone, and what it leads to", async () => {
    const elsewhere = join(parent, "elsewhere");
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, "kept"), "");
    await symlink(elsewhere, join(parent, nameOfDead("a")));
    await removeLeftBehind(parent, PREFIX);
    expect(await readdir(parent)).toHaveLength(2);
    expect(await readdir(elsewhere)).toEqual(["kept"]);
  });

  // Only root can make a directory that is somebody else's.
  it.skipIf(process.getuid?.() !== 0)("leaves what belongs to another user alone", async () => {
    const theirs = join(parent, nameOfDead("a"));
    await mkdir(theirs);
    await writeFile(join(theirs, "kept"), "");
    await chown(theirs, NOBODY, NOBODY);
    await removeLeftBehind(parent, PREFIX);
    expect(await readdir(theirs)).toEqual(["kept"]);
  });
});
