// How many calls a minute, and how many at once.

import { describe, expect, it } from "vitest";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import type { Board } from "../../../src/core/types/board.ts";
import { type Clock, systemClock } from "../../../src/util/clock.ts";
import { closeBoards, fixture, openWith, statusOf, textOf } from "../../support/boards.ts";
import { eventually } from "../../support/processes.ts";

closeBoards();

/** The system's, but for the monotonic time, which stands still until it is set forward. */
function skippingClock(): Clock & { skip(ms: number): void } {
  let ahead = 0;
  const stopped = systemClock.monotonic();
  return {
    ...systemClock,
    monotonic: () => stopped + ahead,
    skip(ms) {
      ahead += ms;
    },
  };
}

describe("rateLimit", () => {
  async function calling(rateLimit: NonNullable<ServerConfig["rateLimit"]>) {
    const clock = skippingClock();
    const servers = { echo: { ...fixture("echo"), rateLimit }, other: fixture("echo") };
    const board = await openWith({ servers }, { clock });
    /** "ok", or why not. */
    const call = async (name: string): Promise<string> => {
      const { failure } = await board.call(name, { text: "x" });
      return failure === undefined ? "ok" : `${failure.code}: ${failure.message}`;
    };
    return { board, call, clock };
  }

  it("is shared by the tools of a server; a call that would wait too long is told when to try again", async () => {
    const { board, call, clock } = await calling(1);
    const told: string[] = [];
    board.on("notice", ({ text }) => told.push(text));
    expect(await call("echo/pid")).toBe("ok");
    const refusal = (wait: string): string =>
      `RATE_LIMITED: too many calls to echo: the limit is 1 call a minute (try again in ${wait}; rateLimit of the server 'echo' changes the limit)`;
    expect(await call("mcp__echo__echo")).toBe(refusal("60 s"));
    expect(await call("other/echo")).toBe("ok");
    expect(statusOf(board, "echo").calls).toMatchObject({ total: 2, failed: 1 });
    clock.skip(5000);
    expect(await call("echo/pid")).toBe(refusal("55 s"));
    clock.skip(55_000);
    expect(await call("echo/echo")).toBe("ok");
    expect(await call("echo/echo")).toBe(refusal("60 s"));
    expect(told).toHaveLength(1);
  });

  it("of a tool counts beside its server's", async () => {
    const { call } = await calling({ default: 1, tools: { echo: 1, pid: false } });
    expect(await call("echo/echo")).toBe("ok");
    expect(await call("echo/echo")).toMatch(
      /^RATE_LIMITED: too many calls to echo\/echo: the limit is 1 call a minute/,
    );
    expect(await call("echo/cwd")).toMatch(/^RATE_LIMITED: too many calls to echo: /);
    expect(await call("echo/pid")).toBe("ok");
  });

  it("is not used up by what a rule refuses", async () => {
    const servers = { echo: { ...fixture("echo"), rateLimit: 1 } };
    const board = await openWith({ tools: { deny: ["echo/crash"] }, servers });
    await board.call("echo/crash");
    await board.call("echo/crash");
    expect(textOf(await board.call("echo/echo", { text: "x" }))).toBe("x");
  });
});

describe("concurrency", () => {
  interface Report {
    most: number;
    now: number;
    began: string[];
  }

  /** `report` and `release` are other tools of the same server. */
  async function holding(concurrency: NonNullable<ServerConfig["concurrency"]>) {
    const counts = { ...fixture("counts-calls"), concurrency, toolTimeout: 20_000 };
    const board = await openWith({ servers: { counts } });
    const hold = (key: string, signal?: AbortSignal, tool = "hold") =>
      board.call(`counts/${tool}`, { key }, signal === undefined ? {} : { signal });
    return { board, hold };
  }

  const report = async (board: Board): Promise<Report> =>
    JSON.parse(textOf(await board.call("counts/report"))) as Report;

  it("of a tool: more wait and get their turn in order", async () => {
    const { board, hold } = await holding({ tools: { hold: 2 } });
    const keys = ["a", "b", "c", "d", "e"];
    const calls = keys.map((key) => hold(key));
    for (let released = 0; released < keys.length; released += 1) {
      const { began, now } = await report(board);
      expect(now).toBe(Math.min(2, keys.length - released));
      expect(began).toEqual(keys.slice(0, released + 2));
      await board.call("counts/release");
      // Its answer frees the place before the next call can begin.
      await calls[released];
    }
    expect((await Promise.all(calls)).map(textOf)).toEqual(keys);
    expect((await report(board)).most).toBe(2);
  });

  it("of a server: all its tools together", async () => {
    const servers = { echo: { ...fixture("echo"), concurrency: 1 } };
    const board = await openWith({ servers });
    const done: string[] = [];
    await Promise.all(
      ["sleep", "pid", "cwd"].map(async (tool) => {
        await board.call(`echo/${tool}`, { ms: 100 });
        done.push(tool);
      }),
    );
    expect(done).toEqual(["sleep", "pid", "cwd"]);
  });

  it("a call that is cancelled while it waits was never made, and keeps no place", async () => {
    const { board, hold } = await holding({ tools: { hold: 1 } });
    const abort = new AbortController();
    const first = hold("a");
    const second = hold("b", abort.signal);
    const third = hold("c");
    abort.abort();
    expect((await second).failure?.code).toBe("CANCELLED");
    await board.call("counts/release");
    expect(textOf(await first)).toBe("a");
    await eventually(() => statusOf(board, "counts").calls.inFlight > 0);
    await board.call("counts/release");
    expect(textOf(await third)).toBe("c");
    expect((await report(board)).began).toEqual(["a", "c"]);
  });

  it("a call that is cancelled while it runs makes room", async () => {
    const { board, hold } = await holding({ tools: { hold: 1 } });
    const abort = new AbortController();
    const first = hold("a", abort.signal);
    const second = hold("b");
    expect((await report(board)).began).toEqual(["a"]);
    abort.abort();
    expect((await first).failure?.code).toBe("CANCELLED");
    while (!(await report(board)).began.includes("b"));
    await board.call("counts/release");
    expect(textOf(await second)).toBe("b");
  });

  it("who waits for a place of a tool keeps none of the server's", async () => {
    const { board, hold } = await holding({ default: 3, tools: { hold: 1 } });
    const held = [hold("a"), hold("b"), hold("c")];
    const kept = hold("d", undefined, "keep");
    expect((await report(board)).began).toEqual(["a", "d"]);
    for (let calls = 0; calls < 4; calls += 1) {
      while ((await report(board)).now === 0);
      await board.call("counts/release");
    }
    expect((await Promise.all([...held, kept])).map(textOf)).toEqual(["a", "b", "c", "d"]);
  });

  it("the wait does not count towards toolTimeout", async () => {
    const servers = { echo: { ...fixture("echo"), concurrency: 1, toolTimeout: 1200 } };
    const board = await openWith({ servers });
    const calls = await Promise.all([1, 2, 3].map(() => board.call("echo/sleep", { ms: 500 })));
    expect(calls.map(textOf)).toEqual(Array.from({ length: 3 }, () => "slept 500 ms"));
  });
});
