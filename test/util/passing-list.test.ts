import { describe, expect, it } from "vitest";
import { type Listed, PassingList } from "../../src/util/passing-list.ts";
import { oldSpaceAfter, oldSpaceOfMap, payload } from "../support/old-space.ts";

interface Named extends Listed {
  name: string;
}

function listOf(...names: string[]) {
  const list = new PassingList<Named>();
  const entries = names.map((name) => ({ name, at: 0 }));
  for (const entry of entries) list.add(entry);
  return { list, entries, names: () => [...list].map(({ name }) => name).sort() };
}

describe("a list of what comes and goes", () => {
  it.each([
    ["first", 0, ["b", "c"]],
    ["middle", 1, ["a", "c"]],
    ["last", 2, ["a", "b"]],
  ])("loses the %s entry and no other, and takes it again", (_, at, left) => {
    const { list, entries, names } = listOf("a", "b", "c");
    const [gone] = entries.splice(at, 1);
    if (gone === undefined) throw new Error("there is none");
    list.remove(gone);
    expect([names(), list.length]).toEqual([left, 2]);
    list.add(gone);
    expect(names()).toEqual(["a", "b", "c"]);
    for (const entry of [gone, ...entries]) list.remove(entry);
    expect([names(), list.length, list.first]).toEqual([[], 0, undefined]);
  });

  it("can be emptied while it is walked through", () => {
    const { list } = listOf("a", "b", "c", "d");
    const visited = [...list].length;
    for (const entry of list) list.remove(entry);
    expect([visited, list.length]).toEqual([4, 0]);
  });

  it("leaves little behind that waits for a full garbage collection", () => {
    const list = new PassingList<Listed & { key: number; payload: number[] }>();
    const kept = oldSpaceAfter(
      (key) => list.add({ key, payload: payload(key), at: 0 }),
      (key) => {
        for (const entry of list) if (entry.key === key) list.remove(entry);
      },
    );
    expect(kept).toBeLessThan(oldSpaceOfMap() / 2);
  });
});
