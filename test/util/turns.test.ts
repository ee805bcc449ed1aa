import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Turns } from "../../src/util/turns.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "setImmediate", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

function setUp() {
  const turns = new Turns();
  const done: string[] = [];
  const ask = (who: string, name: string): void => {
    void turns.run(who, () => void done.push(name));
  };
  return { turns, done, ask };
}

describe("work", () => {
  it("is done one piece in a turn", () => {
    const { done, ask } = setUp();
    for (const name of ["1", "2", "3"]) ask("a", name);
    expect(done).toEqual([]);
    vi.advanceTimersToNextTimer();
    expect(done).toEqual(["1"]);
    vi.advanceTimersToNextTimer();
    expect(done).toEqual(["1", "2"]);
    vi.advanceTimersToNextTimer();
    expect(done).toEqual(["1", "2", "3"]);
  });

  it("of one caller does not wait for all of another's", () => {
    const { done, ask } = setUp();
    for (const name of ["a1", "a2", "a3"]) ask("a", name);
    ask("b", "b1");
    vi.runAllTimers();
    expect(done).toEqual(["a1", "b1", "a2", "a3"]);
  });

  it("leaves as much time to everything else as it took", () => {
    const turns = new Turns();
    const done: string[] = [];
    void turns.run("a", () => {
      done.push("long");
      vi.advanceTimersByTime(30);
    });
    void turns.run("a", () => done.push("next"));
    vi.advanceTimersToNextTimer();
    expect(done).toEqual(["long"]);
    vi.advanceTimersByTime(29);
    expect(done).toEqual(["long"]);
    vi.advanceTimersByTime(1);
    expect(done).toEqual(["long", "next"]);
  });
});

describe("its end", () => {
  it("is what it returns, or throws", async () => {
    const { turns } = setUp();
    const given = turns.run("a", () => 1);
    const later = turns.run("a", () => Promise.resolve(2));
    const failed = turns.run("a", () => {
      throw new Error("no");
    });
    vi.runAllTimers();
    expect(await given).toBe(1);
    expect(await later).toBe(2);
    await expect(failed).rejects.toThrow("no");
  });

  it("leaves the next piece to its turn", async () => {
    const { turns, done, ask } = setUp();
    const failed = turns.run("a", () => {
      throw new Error("no");
    });
    ask("a", "next");
    vi.runAllTimers();
    await expect(failed).rejects.toThrow("no");
    expect(done).toEqual(["next"]);
    ask("a", "later");
    vi.runAllTimers();
    expect(done).toEqual(["next", "later"]);
  });
});
