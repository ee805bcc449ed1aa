import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LocalLimits } from "../../../src/core/state/local-limits.ts";

function limitsAt() {
  const time = { now: 0 };
  return { time, limits: new LocalLimits({ monotonic: () => time.now }) };
}

const ONE = { key: "one", perMinute: 1 };
const TWO = { key: "two", perMinute: 2 };

describe("a bucket", () => {
  it("has one when it said it would, and never more than its size", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.array(fc.integer({ min: 0, max: 90_000 }), { maxLength: 30 }),
        (perMinute, pauses) => {
          const { time, limits } = limitsAt();
          const bucket = { key: "a", perMinute };
          for (const pause of pauses) {
            time.now += pause;
            let taken = 0;
            let delay = limits.take([bucket], 0);
            for (; delay === undefined && taken < 50; delay = limits.take([bucket], 0)) taken += 1;
            expect(taken).toBeLessThanOrEqual(perMinute);
            time.now += delay?.waits[0] ?? 0;
            expect(limits.take([bucket], 0)).toBeUndefined();
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it("gives in advance what comes soon enough, in order", () => {
    const { limits } = limitsAt();
    const waits = [1, 2, 3, 4].map(() => limits.take([TWO], 60_000));
    expect(waits).toEqual([
      undefined,
      undefined,
      { isRefused: false, waits: [30_000] },
      { isRefused: false, waits: [60_000] },
    ]);
    expect(limits.take([TWO], 60_000)).toEqual({ isRefused: true, waits: [90_000] });
    limits.giveBack([TWO]);
    expect(limits.take([TWO], 60_000)).toEqual({ isRefused: false, waits: [60_000] });
  });

  it("is not used up by what another one refuses", () => {
    const { limits } = limitsAt();
    expect(limits.take([TWO, ONE], 0)).toBeUndefined();
    expect(limits.take([TWO, ONE], 0)).toEqual({ isRefused: true, waits: [0, 60_000] });
    expect(limits.take([TWO], 0)).toBeUndefined();
    expect(limits.take([TWO], 0)).toMatchObject({ isRefused: true });
  });

  it("that is in use outlives many that are full again", () => {
    const { time, limits } = limitsAt();
    for (let at = 0; at < 9_999; at += 1) limits.take([{ key: `a ${at}`, perMinute: 1000 }], 0);
    time.now += 1000;
    limits.take([ONE], 0);
    for (let at = 0; at < 5_000; at += 1) limits.take([{ key: `b ${at}`, perMinute: 1000 }], 0);
    expect(limits.take([ONE], 0)).toMatchObject({ isRefused: true });
  });
});
