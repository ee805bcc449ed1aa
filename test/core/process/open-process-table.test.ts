import { describe, expect, it } from "vitest";
import {
  openProcessTable,
  sharedProcessTable,
  shareScans,
} from "../../../src/core/process/open-process-table.ts";
import type { ProcessEntry, ProcessTable } from "../../../src/core/process/process-table.ts";

/** A table whose scans end when told to. */
function slowTable() {
  const scans: { resolve(): void; reject(error: Error): void }[] = [];
  const table: ProcessTable = {
    list: (since = "") => {
      const number = scans.length;
      return new Promise<ProcessEntry[]>((resolve, reject) => {
        scans.push({ resolve: () => resolve([entry(number, since)]), reject });
      });
    },
    listNow: (since) => [entry(1, since)],
    descendants: async (pid) => [{ pid, start: "d" }],
    living: async (refs) => [...refs],
  };
  return { scans, table };
}

const entry = (pid: number, start: string): ProcessEntry => ({
  pid,
  start,
  ppid: 0,
  pgid: 0,
  uid: 0,
  ageMs: 0,
  zombie: false,
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const scanOf = async (list: Promise<ProcessEntry[]>): Promise<number | undefined> =>
  (await list)[0]?.pid;

describe("shared scans", () => {
  it("serve everybody who asks at the same time", async () => {
    const { scans, table } = slowTable();
    const shared = shareScans(table);
    const lists = [shared.list(), shared.list(), shared.list()];
    await turn();
    expect(scans).toHaveLength(1);
    scans[0]?.resolve();
    expect(await Promise.all(lists.map(scanOf))).toEqual([0, 0, 0]);
  });

  it("never serve a caller who asked after they had begun", async () => {
    const { scans, table } = slowTable();
    const shared = shareScans(table);
    const early = shared.list();
    await turn();
    const late = [shared.list(), shared.list()];
    await turn();
    expect(scans).toHaveLength(1);
    scans[0]?.resolve();
    await turn();
    expect(scans).toHaveLength(2);
    scans[1]?.resolve();
    expect(await Promise.all([early, ...late].map(scanOf))).toEqual([0, 1, 1]);
  });

  it("go back as far as the earliest of those who share them", async () => {
    const { scans, table } = slowTable();
    const shared = shareScans(table);
    const first = [shared.list("70"), shared.list("9"), shared.list("80")];
    await turn();
    const second = [shared.list("80"), shared.list("70")];
    const third = async () => {
      await Promise.all(second);
      return shared.list();
    };
    const all = [...first, ...second, third()];
    for (const number of [0, 1, 2]) {
      await expect.poll(() => scans.length).toBe(number + 1);
      scans[number]?.resolve();
    }
    const starts = (await Promise.all(all)).map(([found]) => found?.start);
    expect(starts).toEqual(["9", "9", "9", "70", "70", "0"]);
  });

  it("go on after one has failed", async () => {
    const { scans, table } = slowTable();
    const shared = shareScans(table);
    const failing = shared.list();
    await turn();
    const next = shared.list();
    scans[0]?.reject(new Error("no table"));
    await expect(failing).rejects.toThrow("no table");
    await turn();
    scans[1]?.resolve();
    expect(await scanOf(next)).toBe(1);
  });

  it("leave the rest of the table as it is", async () => {
    const shared = shareScans(slowTable().table);
    expect(shared.listNow("5")).toMatchObject([{ start: "5" }]);
    expect(await shared.descendants(7)).toEqual([{ pid: 7, start: "d" }]);
    expect(await shared.living([{ pid: 8, start: "l" }])).toEqual([{ pid: 8, start: "l" }]);
  });
});

describe("the table of a platform", () => {
  it("is there except on Windows", () => {
    expect(openProcessTable("linux")).toBeDefined();
    expect(openProcessTable("darwin")).toBeDefined();
    expect(openProcessTable("win32")).toBeUndefined();
  });

  it("is shared by all servers", () => {
    expect(sharedProcessTable(process.platform)).toBe(sharedProcessTable(process.platform));
    expect(sharedProcessTable("win32")).toBeUndefined();
  });
});
