import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import {
  findStaleTemporaries,
  removeStaleTemporaries,
} from "../../../src/core/state/stale-files.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;
const MARK = "0123456789ab";
let home = "";
let elsewhere = "";

beforeEach(() => {
  home = temporaryDirectory();
  elsewhere = temporaryDirectory();
});

function write(path: string, age = 2 * HOUR): string {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, "{");
  const seconds = (NOW - age) / 1000;
  utimesSync(path, seconds, seconds);
  return path;
}

const search = () => ({
  stateDir: home,
  beside: [join(elsewhere, "plugboard.json")],
  now: NOW,
});

it("finds and removes what a killed process was writing, and nothing else", async () => {
  const ours = [
    write(join(home, `pins.json.${MARK}.tmp`)),
    write(join(home, "gateway", "a", `note.json.${MARK}.tmp`)),
    write(join(elsewhere, `plugboard.json.${MARK}.tmp`)),
  ];
  const others = [
    write(join(home, `young.json.${MARK}.tmp`), HOUR / 2),
    write(join(home, "mine.tmp")),
    write(join(home, "bundles", "tool", `cache.${MARK}.tmp`)),
    write(join(home, `x.${MARK}z.tmp`)),
    write(join(elsewhere, `other.json.${MARK}.tmp`)),
    write(join(elsewhere, "plugboard.json")),
    write(join(elsewhere, "deep", `plugboard.json.${MARK}.tmp`)),
  ];
  const target = write(join(elsewhere, "target"));
  symlinkSync(target, join(home, `link.json.${MARK}.tmp`));
  mkdirSync(join(home, `directory.json.${MARK}.tmp`));
  expect((await findStaleTemporaries(search())).toSorted()).toEqual(ours.toSorted());
  expect((await removeStaleTemporaries(search())).toSorted()).toEqual(ours.toSorted());
  expect(await findStaleTemporaries(search())).toEqual([]);
  for (const path of [...others, target]) {
    expect(readdirSync(join(path, ".."))).toContain(path.slice(path.lastIndexOf("/") + 1));
  }
});

it("finds nothing where there is nothing", async () => {
  expect(await removeStaleTemporaries({ ...search(), stateDir: join(home, "none") })).toEqual([]);
});
