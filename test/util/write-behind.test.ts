import { describe, expect, it } from "vitest";
import { WriteBehind } from "../../src/util/write-behind.ts";
import { ManualClock, settle } from "../support/manual-clock.ts";

/** Notes what is written, and lets a write take until it is told to end. */
function open() {
  const clock = new ManualClock();
  const written: string[][] = [];
  const ends: (() => void)[] = [];
  const behind = new WriteBehind<string>(clock, (items) => {
    written.push(items);
    return new Promise((resolve) => ends.push(resolve));
  });
  const end = async (): Promise<void> => {
    ends.shift()?.();
    await settle();
  };
  return { clock, written, behind, end };
}

describe("what is written behind", () => {
  it("is written together, a moment after the first", async () => {
    const { clock, written, behind } = open();
    behind.add("a");
    await clock.advance(299);
    behind.add("b");
    expect(written).toEqual([]);
    await clock.advance(1);
    await settle();
    expect(written).toEqual([["a", "b"]]);
  });

  it("is written once, as it was last, and in the order in which it came", async () => {
    const { written, behind, end } = open();
    behind.add("old", "key");
    behind.add("other");
    behind.add("other");
    behind.add("new", "key");
    const flushed = behind.flush();
    await settle();
    expect(written).toEqual([["new", "other"]]);
    await end();
    await flushed;
  });

  it("is written after what is being written, and awaited with it", async () => {
    const { clock, written, behind, end } = open();
    behind.add("a");
    await clock.advance(300);
    await settle();
    behind.add("b");
    let isFlushed = false;
    const flushed = behind.flush().then(() => {
      isFlushed = true;
    });
    await settle();
    expect([written, isFlushed]).toEqual([[["a"]], false]);
    await end();
    expect([written, isFlushed]).toEqual([[["a"], ["b"]], false]);
    await end();
    await flushed;
    expect(isFlushed).toBe(true);
  });

  it("leaves no timer when it was flushed, and writes nothing twice", async () => {
    const { clock, written, behind, end } = open();
    behind.add("a");
    const flushed = [behind.flush(), behind.flush()];
    await settle();
    await end();
    await Promise.all(flushed);
    await clock.advance(1000);
    await behind.flush();
    expect(written).toEqual([["a"]]);
  });
});
