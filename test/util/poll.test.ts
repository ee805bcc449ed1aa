import { describe, expect, it } from "vitest";
import { pollUntil } from "../../src/util/poll.ts";
import type { Clock } from "../../src/util/clock.ts";

/** Time passes exactly as asked for, at once. */
function eagerClock(pauses: number[]): Clock {
  let now = 0;
  const after = (ms: number, task: () => void) => {
    pauses.push(ms);
    now += ms;
    queueMicrotask(task);
    return { cancel: () => {} };
  };
  return { now: () => now, monotonic: () => now, after, later: after };
}

describe("polling", () => {
  it("asks at once, and does not wait if it is done already", async () => {
    const pauses: number[] = [];
    expect(await pollUntil(async () => true, 1000, eagerClock(pauses))).toBe(true);
    expect(pauses).toEqual([]);
  });

  it("asks often at first, then less so", async () => {
    const pauses: number[] = [];
    let asked = 0;
    expect(await pollUntil(async () => ++asked > 8, 1000, eagerClock(pauses))).toBe(true);
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 50, 50]);
  });

  it("gives up after the time allowed, having asked a last time", async () => {
    const pauses: number[] = [];
    let asked = 0;
    expect(await pollUntil(async () => ++asked > 99, 10, eagerClock(pauses))).toBe(false);
    expect(pauses).toEqual([1, 2, 4, 3]);
    expect(asked).toBe(5);
  });
});
