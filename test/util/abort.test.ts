import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { untilAborted } from "../../src/util/abort.ts";
import { settle } from "../support/manual-clock.ts";

const reason = (): Error => new Error("given up");

describe("untilAborted", () => {
  it("returns the promise's value without a signal", async () => {
    expect(await untilAborted(Promise.resolve(1), undefined, reason)).toBe(1);
    const failed = Promise.reject(new Error("no"));
    await expect(untilAborted(failed, undefined, reason)).rejects.toThrow("no");
  });

  it.each([
    ["value", async () => "value", "value"],
    ["error", () => Promise.reject(new Error("no")), "no"],
  ])("passes the %s on and leaves no listener", async (_, begin, expected) => {
    const { signal } = new AbortController();
    const result = untilAborted(begin(), signal, reason).catch((error: Error) => error.message);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    expect(await result).toBe(expected);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  it("rejects with the reason as soon as the signal aborts and leaves no listener", async () => {
    const controller = new AbortController();
    const result = untilAborted(new Promise(() => {}), controller.signal, reason);
    controller.abort();
    await expect(result).rejects.toThrow("given up");
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
  });

  it("rejects at once if the signal has aborted", async () => {
    const result = untilAborted(Promise.resolve(1), AbortSignal.abort(), reason);
    await expect(result).rejects.toThrow("given up");
  });

  // An unhandled rejection would fail the run.
  it.each(["before", "after"])("swallows a rejection once aborted %s the wait", async (when) => {
    const controller = new AbortController();
    let reject: (error: Error) => void = () => {};
    const slow = new Promise((_, fail) => {
      reject = fail;
    });
    if (when === "before") controller.abort();
    const result = untilAborted(slow, controller.signal, reason);
    if (when === "after") controller.abort();
    await expect(result).rejects.toThrow("given up");
    reject(new Error("late"));
    await settle();
  });
});
