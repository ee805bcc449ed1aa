import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SealKeyFile } from "../../../../src/core/state/files/seal-key-file.ts";
import { type Clock, systemClock } from "../../../../src/util/clock.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

let stateDir: string;
let file: string;
let clock: ManualClock;
let problems: string[];
let opened: SealKeyFile[];

beforeEach(() => {
  stateDir = temporaryDirectory();
  file = join(stateDir, "gateway", "keys.json");
  clock = new ManualClock();
  problems = [];
  opened = [];
});

afterEach(async () => {
  for (const keys of opened) keys.close();
});

async function open(at: Clock = clock): Promise<SealKeyFile> {
  const onProblem = (message: string): void => void problems.push(message);
  const keys = await SealKeyFile.open({
    stateDir,
    clock: at,
    random: randomBytes,
    keepFor: 7 * DAY,
    onProblem,
  });
  opened.push(keys);
  return keys;
}

function bytesOf(key: { key: { export(): Buffer } } | undefined): string | undefined {
  return key?.key.export().toString("hex");
}

async function storedIds(): Promise<number[]> {
  return JSON.parse(await readFile(file, "utf8")).keys.map(({ id }: { id: number }) => id);
}

/** Files are written in real time, however long that takes, and the next look is set after that. */
async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    if (clock.next() !== undefined) await clock.advance(HOUR);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe("SealKeyFile", () => {
  it("makes a key at the first start, which only its owner can read, and keeps it", async () => {
    const first = await open();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(first.current.key.symmetricKeySize).toBe(32);
    const second = await open();
    expect(second.current.id).toBe(first.current.id);
    expect(bytesOf(second.current)).toBe(bytesOf(first.current));
    expect(problems).toEqual([]);
  });

  it("makes one key when several gateways start at once", async () => {
    const all = await Promise.all([systemClock, systemClock, systemClock].map(open));
    expect(new Set(all.map(({ current }) => bytesOf(current))).size).toBe(1);
  });

  it("seals with a new key after 30 days, and opens with the old one until its sessions have expired", async () => {
    const keys = await open();
    const old = keys.current;
    await clock.advance(29 * DAY);
    expect(keys.current.id).toBe(old.id);
    await clock.advance(DAY);
    await until(() => keys.current.id !== old.id);
    expect(keys.current.id).toBe((old.id + 1) % 256);
    expect(bytesOf(keys.find(old.id))).toBe(bytesOf(old));

    await clock.advance(30 * DAY);
    await until(() => keys.current.id === (old.id + 2) % 256);
    expect(keys.find(old.id)).toBeUndefined();
    expect(await storedIds()).toEqual([(old.id + 2) % 256, (old.id + 1) % 256]);
  });

  it("finds a key that another gateway has added, and reads the file at most once a second for it", async () => {
    const idle = await open();
    idle.close();
    const old = idle.current;
    await clock.advance(31 * DAY);
    const active = await open();
    expect(active.current.id).not.toBe(old.id);
    expect(bytesOf(idle.find(active.current.id))).toBe(bytesOf(active.current));
    expect(idle.find((old.id + 100) % 256)).toBeUndefined();
    await rm(file);
    expect(idle.find(active.current.id)).toBeDefined();
  });

  it.each([
    ["is empty", ""],
    ["is not JSON", "{"],
    ["has another format", '{"format":2,"keys":[]}'],
    ["has no keys", '{"format":1,"keys":[]}'],
    ["has a short key", '{"format":1,"keys":[{"id":1,"key":"AAAA","createdAt":1}]}'],
    [
      "has a strange id",
      `{"format":1,"keys":[{"id":256,"key":"${"A".repeat(43)}=","createdAt":1}]}`,
    ],
    ["is too large", `"${"x".repeat(70_000)}"`],
  ])("replaces a file that %s, and says that sessions are lost", async (_, text) => {
    await mkdir(join(stateDir, "gateway"));
    await writeFile(file, text);
    const keys = await open();
    expect(problems).toEqual([expect.stringMatching(/keys\.json is damaged.*new sessions/)]);
    expect(await storedIds()).toEqual([keys.current.id]);
  });

  it("goes on with the old key while a new one cannot be written, and says so", async () => {
    const keys = await open();
    const old = keys.current;
    await rm(join(stateDir, "gateway"), { recursive: true });
    await writeFile(join(stateDir, "gateway"), "in the way");
    await clock.advance(31 * DAY);
    await until(() => problems.length > 0);
    expect(problems[0]).toMatch(/cannot be written, so the old key is used/);
    expect(keys.current).toBe(old);
  });
});
