import { describe, expect, it, vi } from "vitest";
import { Turns } from "../../../src/server/requests/turns.ts";
import { settle } from "../../support/manual-clock.ts";

const forever = (): AbortSignal => new AbortController().signal;
const never = (): Promise<never> => new Promise(() => {});

describe("turns", () => {
  it("come one after the other, whatever became of the one before", async () => {
    const turns = new Turns();
    const whom = {};
    const order: string[] = [];
    const failed = turns.take(whom, forever(), async () => {
      order.push("first");
      await settle();
      order.push("first ends");
      throw new Error("no");
    });
    const second = turns.take(whom, forever(), async () => order.push("second"));
    await expect(failed).rejects.toThrow("no");
    await second;
    expect(order).toEqual(["first", "first ends", "second"]);
  });

  it("of different people do not wait for each other", async () => {
    const turns = new Turns();
    void turns.take({}, forever(), never);
    expect(await turns.take({}, forever(), async () => "asked")).toBe("asked");
  });

  it("are given up with their signal, in the line or out of it", async () => {
    const turns = new Turns();
    const whom = {};
    const gone = new AbortController();
    const task = vi.fn<() => Promise<never>>(never);
    const first = turns.take(whom, gone.signal, task);
    const waiting = turns.take(whom, gone.signal, task);
    const third = turns.take(whom, forever(), async () => "asked");
    await settle();
    gone.abort();
    await expect(first).rejects.toThrow("nobody waits");
    await expect(waiting).rejects.toThrow("nobody waits");
    expect(await third).toBe("asked");
    expect(task).toHaveBeenCalledTimes(1);
    await expect(turns.take(whom, gone.signal, task)).rejects.toThrow("nobody waits");
  });

  it("are not kept for everybody who wants one", async () => {
    const turns = new Turns();
    const whom = {};
    for (let each = 0; each < 8; each += 1) void turns.take(whom, forever(), never);
    expect(await turns.take(whom, forever(), async () => "asked")).toBeUndefined();
  });
});
