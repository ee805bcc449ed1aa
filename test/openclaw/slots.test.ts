import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import {
  readSlotRecord,
  readSlots,
  slotsFile,
  slotUrl,
  writeSlotRecord,
  writeSlots,
  type SlotFile,
} from "../../src/openclaw/slots.ts";
import { temporaryDirectory } from "../support/directory.ts";

let home: string;

beforeEach(() => {
  home = temporaryDirectory();
});

const SLOT = { name: "plugboard-1", port: 18_901, token: "t1" };
const FILE: SlotFile = {
  version: 1,
  basePort: 18_900,
  slots: [SLOT, { name: "plugboard-2", port: 18_902, token: "t2" }],
  gateway: { url: "ws://127.0.0.1:18789" },
};

test("the slots are read as they were written, and only their owner can read the file", async () => {
  expect(await readSlots(home)).toBeUndefined();
  await writeSlots(home, FILE);
  expect(await readSlots(home)).toEqual(FILE);
  expect((await stat(slotsFile(home))).mode & 0o777).toBe(0o600);
  expect(slotUrl(SLOT)).toBe("http://127.0.0.1:18901/mcp/plugboard-1");
});

test.each<[string, unknown]>([
  ["no JSON", undefined],
  ["another version", { ...FILE, version: 2 }],
  ["no slots", { version: 1, basePort: 1 }],
  ["an invalid port", { ...FILE, slots: [{ ...SLOT, port: 70_000 }] }],
  ["no token", { ...FILE, slots: [{ ...SLOT, token: "" }] }],
  ["a name that is a path", { ...FILE, slots: [{ ...SLOT, name: "../x" }] }],
  ["the name of the shared entry", { ...FILE, slots: [{ ...SLOT, name: "plugboard" }] }],
  ["a name twice", { ...FILE, slots: [SLOT, { ...SLOT, port: 2 }] }],
  ["a port twice", { ...FILE, slots: [SLOT, { ...SLOT, name: "b" }] }],
  ["too many slots", { ...FILE, slots: Array.from({ length: 1001 }, () => SLOT) }],
])("a file with %s is refused with what to do", async (_, value) => {
  await mkdir(dirname(slotsFile(home)), { recursive: true });
  await writeFile(slotsFile(home), value === undefined ? "{" : JSON.stringify(value));
  await expect(readSlots(home)).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: `${slotsFile(home)} is not a list of slots`,
    hint: "write it again with 'plugboard openclaw setup'",
  });
});

test("a record says which session has a slot or had it last; one of an earlier version is of a slot that is on", async () => {
  const record = { version: 1, sessionKey: "agent:main:x", gateway: "/state", since: 5 } as const;
  expect(await readSlotRecord(home, SLOT)).toBeUndefined();
  for (const isOn of [true, false]) {
    await writeSlotRecord(home, SLOT, { ...record, isOn });
    expect(await readSlotRecord(home, SLOT)).toEqual({ ...record, isOn });
  }
  expect(await readdir(join(home, "openclaw", "slots"))).toEqual(["plugboard-1.json"]);
  await writeFile(join(home, "openclaw", "slots", "plugboard-1.json"), JSON.stringify(record));
  expect(await readSlotRecord(home, SLOT)).toEqual({ ...record, isOn: true });
});

test("a record that cannot be read is ignored", async () => {
  await mkdir(join(home, "openclaw", "slots"), { recursive: true });
  const file = join(home, "openclaw", "slots", "plugboard-1.json");
  for (const text of [
    "{",
    "[]",
    '{"version":1}',
    '{"version":2,"sessionKey":"x","gateway":"y"}',
    '{"version":1,"sessionKey":"x"}',
  ]) {
    await writeFile(file, text);
    expect(await readSlotRecord(home, SLOT)).toBeUndefined();
  }
});
