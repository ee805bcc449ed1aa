import { describe, expect, it } from "vitest";
import type { ProcessEntry } from "../../../src/core/process/process-table.ts";
import {
  relativesOf,
  withAncestors,
  withRelatives,
} from "../../../src/core/process/process-table.ts";

function entry(pid: number, ppid: number, zombie = false, pgid = pid): ProcessEntry {
  return { pid, ppid, pgid, uid: 0, start: "1", ageMs: 0, zombie };
}

// 1 ─ 2 ─ 3 ─ 4 (zombie)
//      └─ 5        6 is its own parent, 7 and 8 are each other's: a table read while pids were reused
//   └─ 9           in the group that 5 leads
const table = [
  entry(1, 0),
  entry(2, 1),
  entry(3, 2),
  entry(4, 3, true),
  entry(5, 2),
  entry(6, 6),
  entry(7, 8),
  entry(8, 7),
  entry(9, 1, false, 5),
];
const pids = (entries: ProcessEntry[]): number[] =>
  entries.map(({ pid }) => pid).toSorted((a, b) => a - b);

describe("relatives", () => {
  it.each([
    [[2], [2, 3, 4, 5, 9]],
    [
      [3, 2],
      [2, 3, 4, 5, 9],
    ],
    [[5], [5, 9]],
    [[9], [9]],
    [[6], [6]],
    [[7], [7, 8]],
    [[], []],
  ])("of %j is %j", (roots, expected) => {
    const entries = table.filter(({ pid }) => roots.includes(pid));
    expect(pids(withRelatives(table, entries))).toEqual(expected);
  });

  it("of a process leave out itself and zombies", () => {
    expect(pids(relativesOf(table, 2))).toEqual([3, 5, 9]);
    expect(pids(relativesOf(table, 99))).toEqual([]);
  });

  it.each([
    [4, [4, 3, 2, 1]],
    [6, [6]],
    [7, [7, 8]],
    [99, [99]],
  ])("and ancestors of %j are %j", (pid, expected) => {
    expect([...withAncestors(table, pid)]).toEqual(expected);
  });
});
