import { getEventListeners, once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { pause, systemClock, within } from "../../src/util/clock.ts";
import { ManualClock, settle } from "../support/manual-clock.ts";

/** Timers that keep this process alive. */
function keepers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}

describe("systemClock", () => {
  it("tells the time of day and a time that only goes forward", () => {
    const today = Date.now();
    expect(systemClock.now()).toBeGreaterThanOrEqual(today);
    expect(systemClock.now()).toBeLessThanOrEqual(Date.now());
    const before = systemClock.monotonic();
    expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before);
  });

  it.each(["after", "later"] as const)("runs a task %s a while", async (method) => {
    const ran = new Promise<void>((resolve) => systemClock[method](1, resolve));
    await expect(ran).resolves.toBeUndefined();
  });

  it.each(["after", "later"] as const)("runs nothing that was cancelled (%s)", async (method) => {
    const ran: string[] = [];
    systemClock[method](0, () => ran.push("cancelled")).cancel();
    await new Promise<void>((resolve) => systemClock.after(1, resolve));
    await settle();
    expect(ran).toEqual([]);
  });

  it.each(["after", "later"] as const)(
    "lets what came while the process was busy go first (%s)",
    async (method) => {
      const server = createServer().listen(0, "127.0.0.1");
      const accepted = once(server, "connection") as Promise<[Socket]>;
      await once(server, "listening");
      const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
      try {
        const [[socket]] = await Promise.all([accepted, once(client, "connect")]);
        const happened: string[] = [];
        const heard = once(socket, "data").then(() => happened.push("an answer"));
        const late = new Promise<void>((resolve) => {
          systemClock[method](5, () => {
            happened.push("too late");
            resolve();
          });
        });
        // From here until both are due, nothing can run.
        client.write("x");
        const end = performance.now() + 100;
        while (performance.now() < end);
        await Promise.all([heard, late]);
        expect(happened).toEqual(["an answer", "too late"]);
      } finally {
        client.destroy();
        server.close();
      }
    },
  );

  it("keeps the process alive for `after` and not for `later`", () => {
    const before = keepers();
    const later = systemClock.later(60_000, () => {});
    expect(keepers()).toBe(before);
    const after = systemClock.after(60_000, () => {});
    expect(keepers()).toBe(before + 1);
    after.cancel();
    later.cancel();
    expect(keepers()).toBe(before);
  });

  it.each([2 ** 31, 1e12, Infinity])("does not fire at once for a delay of %d", async (ms) => {
    const ran: string[] = [];
    const timer = systemClock.after(ms, () => ran.push("too early"));
    await new Promise<void>((resolve) => systemClock.after(5, resolve));
    timer.cancel();
    expect(ran).toEqual([]);
  });

  it("fires at once for a negative delay", async () => {
    const ran = new Promise<void>((resolve) => systemClock.after(-5000, resolve));
    await expect(ran).resolves.toBeUndefined();
  });
});

describe("within", () => {
  it("resolves to the promise's value and leaves no timer", async () => {
    const clock = new ManualClock();
    expect(await within(clock, 1000, Promise.resolve("value"))).toBe("value");
    expect(clock.next()).toBeUndefined();
  });

  it("resolves to undefined when the time passes first", async () => {
    const clock = new ManualClock();
    const result = within(clock, 1000, new Promise(() => {}));
    expect(clock.next()).toBe(1000);
    await clock.advance(1000);
    expect(await result).toBeUndefined();
  });

  it("passes a rejection on and leaves no timer", async () => {
    const clock = new ManualClock();
    await expect(within(clock, 1000, Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(clock.next()).toBeUndefined();
  });

  it("swallows a rejection that comes too late", async () => {
    const clock = new ManualClock();
    let reject: (error: Error) => void = () => {};
    const slow = new Promise<string>((_, fail) => {
      reject = fail;
    });
    const result = within(clock, 1000, slow);
    await clock.advance(1000);
    reject(new Error("late"));
    expect(await result).toBeUndefined();
    await settle();
  });
});

describe("pause", () => {
  function setUp() {
    const clock = new ManualClock();
    const abort = new AbortController();
    const log: string[] = [];
    const wait = () =>
      pause(clock, 1000, abort.signal).then(() => {
        log.push("over");
      });
    return { clock, abort, log, wait };
  }

  it("ends when the time has passed, and not before", async () => {
    const { clock, log, wait } = setUp();
    const pausing = wait();
    await clock.advance(999);
    expect(log).toEqual([]);
    await clock.advance(1);
    await pausing;
    expect(log).toEqual(["over"]);
    expect(clock.next()).toBeUndefined();
  });

  it("ends as soon as the signal aborts, without an error and without a timer left", async () => {
    const { clock, abort, wait } = setUp();
    const pausing = wait();
    expect(clock.next()).toBe(1000);
    abort.abort();
    await pausing;
    expect(clock.next()).toBeUndefined();
  });

  it("does not begin when the signal has aborted", async () => {
    const { clock, abort, wait } = setUp();
    abort.abort();
    const pausing = wait();
    expect(clock.next()).toBeUndefined();
    await pausing;
  });

  it("leaves nothing on a signal that outlives it", async () => {
    const { clock, abort, wait } = setUp();
    for (let count = 0; count < 20; count += 1) {
      const pausing = wait();
      await clock.advance(1000);
      await pausing;
    }
    expect(getEventListeners(abort.signal, "abort")).toEqual([]);
  });
});
