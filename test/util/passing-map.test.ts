import { describe, expect, it } from "vitest";
import { PassingMap } from "../../src/util/passing-map.ts";
import { oldSpaceAfter, oldSpaceOfMap, payload } from "../support/old-space.ts";

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
    expect(kept).toBeLessThan(oldSpaceOfMap() / 2);
  });
});
