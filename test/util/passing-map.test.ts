import { setFlagsFromString, getHeapSpaceStatistics } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { PassingMap } from "../../src/util/passing-map.ts";

describe("a map of what comes and goes", () => {
  it("has what was set until it is taken", () => {
    const map = new PassingMap<number, { text: string }>();
    map.set(1, { text: "a" });
    map.set(2, { text: "b" });
    map.set(2, { text: "c" });
    expect([...map]).toEqual([
      [1, { text: "a" }],
      [2, { text: "c" }],
    ]);
    expect(map.take(1)).toEqual({ text: "a" });
    expect(map.take(1)).toBeUndefined();
    expect([map.has(1), map.get(1), map.get(2), map.size]).toEqual([
      false,
      undefined,
      { text: "c" },
      1,
    ]);
    expect([[...map.keys()], [...map.values()]]).toEqual([[2], [{ text: "c" }]]);
  });

  it("can be emptied while it is walked through", () => {
    const map = new PassingMap<number, object>();
    for (const key of [1, 2, 3]) map.set(key, {});
    for (const [key] of map) map.take(key);
    expect(map.size).toBe(0);
  });

  it("leaves little behind that waits for a full garbage collection", () => {
    const map = new PassingMap<number, number[]>();
    const kept = oldSpaceAfter(
      (key) => map.set(key, payload(key)),
      (key) => map.take(key),
    );
    const plain = new Map<number, number[]>();
    const keptByMap = oldSpaceAfter(
      (key) => plain.set(key, payload(key)),
      (key) => plain.delete(key),
    );
    expect(kept).toBeLessThan(keptByMap / 2);
  });
});

function payload(key: number): number[] {
  return Array.from({ length: 100 }, () => key);
}

/** How many bytes have become old when many entries have come and gone, of which a few are there at a time. */
function oldSpaceAfter(set: (key: number) => void, remove: (key: number) => void): number {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as (options?: { type: "minor" }) => void;
  gc();
  set(-1);
  remove(-1);
  // From here on the table itself is old.
  for (let round = 0; round < 3; round += 1) gc({ type: "minor" });
  const before = oldSpace();
  for (let key = 0; key < 10_000; key += 1) {
    set(key);
    remove(key - 32);
  }
  gc({ type: "minor" });
  gc({ type: "minor" });
  return oldSpace() - before;
}

function oldSpace(): number {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === "old_space");
  return space?.space_used_size ?? 0;
}
