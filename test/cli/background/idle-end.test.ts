import { describe, expect, it } from "vitest";
import { IdleEnd } from "../../../src/cli/background/idle-end.ts";
import { ManualClock } from "../../support/manual-clock.ts";

function idleAfter(ms: number) {
  const clock = new ManualClock();
  let ends = 0;
  const idle = new IdleEnd(clock, ms, () => (ends += 1));
  return { clock, idle, ends: () => ends };
}

describe("a gateway in the background", () => {
  it.each([
    ["the command that started it has time to attach, whatever is configured", 300, 20_000],
    ["the configured time, if that is longer", 60_000, 60_000],
  ])("ends if nobody ever attaches: %s", async (_, configured, after) => {
    const { clock, ends } = idleAfter(configured);
    await clock.advance(after - 1);
    expect(ends()).toBe(0);
    await clock.advance(1);
    expect(ends()).toBe(1);
  });

  it("stays while anybody is attached, however long that is", async () => {
    const { clock, idle, ends } = idleAfter(1000);
    const first = idle.attached();
    const second = idle.attached();
    first();
    // Going twice is going once.
    first();
    await clock.advance(100_000);
    expect(ends()).toBe(0);
    second();
    await clock.advance(999);
    expect(ends()).toBe(0);
    await clock.advance(1);
    expect(ends()).toBe(1);
  });

  it("counts its time anew from each visit", async () => {
    const { clock, idle, ends } = idleAfter(1000);
    for (let visit = 0; visit < 5; visit += 1) {
      await clock.advance(900);
      idle.attached()();
    }
    expect(ends()).toBe(0);
    await clock.advance(1000);
    expect(ends()).toBe(1);
  });

  it("does not end twice once it is stopping", async () => {
    const { clock, idle, ends } = idleAfter(1000);
    const gone = idle.attached();
    idle.stop();
    gone();
    await clock.advance(5000);
    expect(ends()).toBe(0);
  });
});
