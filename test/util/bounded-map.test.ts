// Maps a list with a promise for each item, a few at a time.

import { describe, expect, it } from "vitest";
import { boundedMap } from "../../src/util/bounded-map.ts";

const turn = (): Promise<void> => new Promise(setImmediate);

describe("boundedMap", () => {
  it("keeps the order, and never has more than the limit under way", async () => {
    const items = Array.from({ length: 50 }, (_, at) => at);
    let underWay = 0;
    let most = 0;
    const doubled = await boundedMap(items, 4, async (item) => {
      underWay += 1;
      most = Math.max(most, underWay);
      for (let wait = item % 3; wait >= 0; wait -= 1) await turn();
      underWay -= 1;
      return item * 2;
    });
    expect(doubled).toEqual(items.map((item) => item * 2));
    expect(most).toBe(4);
  });

  it("begins none after a failure, and rejects when those under way have ended", async () => {
    const begun: number[] = [];
    const ended: number[] = [];
    const mapping = boundedMap([0, 1, 2, 3, 4, 5], 2, async (item) => {
      begun.push(item);
      await turn();
      if (item === 0) throw new Error("no");
      await turn();
      ended.push(item);
    });
    await expect(mapping).rejects.toThrow("no");
    expect(begun).toEqual([0, 1]);
    expect(ended).toEqual([1]);
  });

  it("maps an empty list", async () => {
    expect(await boundedMap([], 4, async () => 1)).toEqual([]);
  });
});
