import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { abortSignalOf, LightSignal, untilAborted } from "../../src/util/abort.ts";
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

describe("a light signal", () => {
  it("calls each listener once, in any number, and none that is removed or too late", () => {
    const signal = new LightSignal();
    const heard: string[] = [];
    const listeners = ["a", "b", "c", "d"].map((name) => () => void heard.push(name));
    const [a, b, c, d] = listeners;
    if (!a || !b || !c || !d) throw new Error("four listeners");
    for (const each of [a, a, b, b, c, d]) signal.addEventListener("abort", each, { once: true });
    signal.removeEventListener("abort", a);
    signal.removeEventListener("abort", c);
    signal.addEventListener("abort", a);
    signal.abort();
    signal.abort();
    signal.addEventListener("abort", c);
    expect(heard.toSorted()).toEqual(["a", "b", "d"]);
    expect(signal.aborted).toBe(true);
  });

  it("shows its listeners that it is aborted", () => {
    const signal = new LightSignal();
    let seen: boolean | undefined;
    signal.addEventListener("abort", () => (seen = signal.aborted));
    signal.abort();
    expect(seen).toBe(true);
  });

  it.each(["before", "after"])("is an AbortSignal for who asks for one %s the abort", (when) => {
    const signal = new LightSignal();
    const early = when === "before" ? abortSignalOf(signal) : undefined;
    expect(early?.aborted).toBe(when === "before" ? false : undefined);
    const any = early && AbortSignal.any([early]);
    signal.abort();
    expect(abortSignalOf(signal).aborted).toBe(true);
    expect(abortSignalOf(signal)).toBe(abortSignalOf(signal));
    expect(any?.aborted).toBe(when === "before" ? true : undefined);
  });

  it("ends a wait and is left without a listener", async () => {
    const signal = new LightSignal();
    expect(await untilAborted(Promise.resolve(1), signal, reason)).toBe(1);
    const result = untilAborted(new Promise(() => {}), signal, reason);
    signal.abort();
    await expect(result).rejects.toThrow("given up");
    await expect(untilAborted(Promise.resolve(1), signal, reason)).rejects.toThrow("given up");
  });
});

it("an AbortSignal stays what it is", () => {
  const { signal } = new AbortController();
  expect(abortSignalOf(signal)).toBe(signal);
});
