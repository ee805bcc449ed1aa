import { describe, expect, it } from "vitest";
import { Relist } from "../../../../src/core/upstream/lists/relist.ts";
import { ManualClock, settle } from "../../../support/manual-clock.ts";

/** A list takes `ms`; the times at which each began and ended are kept. */
function setUp(ms = 0) {
  const clock = new ManualClock();
  const begun: number[] = [];
  const start = clock.monotonic();
  const onBegin: (() => void)[] = [];
  const relist = new Relist(clock, async () => {
    begun.push(clock.monotonic() - start);
    await Promise.resolve();
    for (const listener of onBegin) listener();
    if (ms > 0) await new Promise<void>((resolve) => clock.after(ms, resolve));
  });
  return { clock, relist, begun, onBegin };
}

describe("list_changed", () => {
  it("is answered by one list shortly after", async () => {
    const { clock, relist, begun } = setUp();
    relist.changed();
    await clock.advance(10_000);
    expect(begun).toEqual([100]);
  });

  it("in a burst is answered once", async () => {
    const { clock, relist, begun } = setUp();
    for (let change = 0; change < 50; change += 1) {
      relist.changed();
      await clock.advance(1);
    }
    await clock.advance(10_000);
    expect(begun).toEqual([100]);
  });

  it("soon after a list waits until a second has passed", async () => {
    const { clock, relist, begun } = setUp();
    relist.changed();
    await clock.advance(150);
    relist.changed();
    await clock.advance(10_000);
    expect(begun).toEqual([100, 1100]);
  });

  it("long after a list does not", async () => {
    const { clock, relist, begun } = setUp();
    relist.changed();
    await clock.advance(5000);
    relist.changed();
    await clock.advance(10_000);
    expect(begun).toEqual([100, 5100]);
  });

  it("during a list is answered by another, a second after its end", async () => {
    const { clock, relist, begun } = setUp(5000);
    relist.changed();
    await clock.advance(200);
    relist.changed();
    relist.changed();
    await clock.advance(60_000);
    expect(begun).toEqual([100, 6100]);
  });

  it.each([0, 50])("without end costs a list a second (each taking %d ms)", async (ms) => {
    const { clock, relist, begun, onBegin } = setUp(ms);
    onBegin.push(() => relist.changed());
    relist.changed();
    await clock.advance(60_000);
    relist.cancel();
    expect(begun.length).toBeGreaterThan(50);
    expect(begun.length).toBeLessThanOrEqual(60);
  });
});

describe("now", () => {
  it("lists at once and resolves when that has ended", async () => {
    const { clock, relist, begun } = setUp(500);
    let done = false;
    const listing = relist.now().then(() => {
      done = true;
    });
    await clock.advance(499);
    expect(done).toBe(false);
    await clock.advance(1);
    expect(done).toBe(true);
    await listing;
    expect(begun).toEqual([0]);
  });

  it("does not join a list that began before, and shares the next one", async () => {
    const { clock, relist, begun } = setUp(500);
    const first = relist.now();
    await clock.advance(100);
    const later = [relist.now(), relist.now()];
    await clock.advance(2000);
    await Promise.all([first, ...later]);
    expect(begun).toEqual([0, 500]);
  });
});

describe("cancel", () => {
  it("forgets a change that waits, and one that came during a list", async () => {
    const { clock, relist, begun } = setUp(500);
    relist.changed();
    relist.cancel();
    await clock.advance(5000);
    expect(begun).toEqual([]);

    void relist.now();
    await settle();
    relist.changed();
    relist.cancel();
    await clock.advance(5000);
    expect(begun).toEqual([5000]);
    expect(clock.next()).toBeUndefined();
  });

  it("leaves room for a change after it", async () => {
    const { clock, relist, begun } = setUp();
    relist.changed();
    relist.cancel();
    relist.cancel();
    relist.changed();
    await clock.advance(5000);
    expect(begun).toEqual([100]);
  });
});
