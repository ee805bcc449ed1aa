import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FileWatch } from "../../../src/core/config/watch.ts";
import { type Clock, systemClock } from "../../../src/util/clock.ts";
import { eventually } from "../../support/processes.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const SPEED = 10;
/** Time that goes faster: files are real, so the clock cannot stand still. */
const clock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic() * SPEED,
  after: (ms, task) => systemClock.after(ms / SPEED, task),
  later: (ms, task) => systemClock.later(ms / SPEED, task),
};
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, () => resolve()));

let directory = "";
let file = "";
let changes = 0;
let watch: FileWatch | undefined;

beforeEach(async () => {
  directory = temporaryDirectory();
  file = join(directory, "plugboard.json");
  writeFileSync(file, "one");
  changes = 0;
  watch = new FileWatch([file, join(directory, "other.json")], {
    clock,
    onChange: async () => {
      changes += 1;
    },
  });
  // Once at the start: the file may have changed since it was read.
  await eventually(() => changes === 1);
});
afterEach(async () => {
  await watch?.close();
});

it.each([
  ["is written to", () => writeFileSync(file, "two")],
  [
    "is replaced by another file",
    () => {
      writeFileSync(`${file}.new`, "two");
      renameSync(`${file}.new`, file);
    },
  ],
  [
    "is replaced by a link",
    () => {
      writeFileSync(join(directory, "elsewhere"), "one");
      rmSync(file);
      symlinkSync("elsewhere", file);
    },
  ],
  [
    "is gone for a moment",
    () => {
      rmSync(file);
      setTimeout(() => writeFileSync(file, "two"), 50 / SPEED);
    },
  ],
  ["has a companion that appears", () => writeFileSync(join(directory, "other.json"), "{}")],
])("notices a file that %s, once", async (_, edit) => {
  edit();
  await eventually(() => changes === 2);
  await pause(1500);
  expect(changes).toBe(2);
});

it("notices that the target of a link is replaced, as with configuration that is mounted", async () => {
  for (const version of ["1", "2"]) writeFileSync(join(directory, version), version);
  rmSync(file);
  symlinkSync("data", file);
  symlinkSync("1", join(directory, "data"));
  await eventually(() => changes === 2);
  symlinkSync("2", join(directory, "data.new"));
  renameSync(join(directory, "data.new"), join(directory, "data"));
  await eventually(() => changes === 3);
});

it("waits until a file is written to the end", async () => {
  for (let part = 1; part <= 8; part += 1) {
    writeFileSync(file, "x".repeat(part));
    await pause(60);
    expect(changes).toBe(1);
  }
  await eventually(() => changes === 2);
});

it("tells that a file is gone only when it stays away, and that it is back", async () => {
  rmSync(file);
  await pause(1200);
  expect(changes).toBe(1);
  await eventually(() => changes === 2);
  await pause(1500);
  expect(changes).toBe(2);
  writeFileSync(file, "two");
  await eventually(() => changes === 3);
});

it("looks at nothing after it is closed", async () => {
  await watch?.close();
  writeFileSync(file, "two");
  await pause(1500);
  expect(changes).toBe(1);
});
