import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { PlugboardError, withoutEffect } from "../../../../src/core/types/errors.ts";
import type { Progress } from "../../../../src/core/types/tool.ts";
import {
  PendingCalls,
  type RequestOptions,
} from "../../../../src/core/upstream/transport/pending-calls.ts";
import { deferred } from "../../../../src/util/deferred.ts";
import { excerpt } from "../../../../src/util/text.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

function setUp() {
  const clock = new ManualClock();
  const abandoned: [id: number, reason: string][] = [];
  const unsent = new Map<number, PlugboardError>();
  const calls = new PendingCalls(
    clock,
    (id, reason) => {
      abandoned.push([id, reason]);
      return unsent.get(id);
    },
    // What a server says in an error has a limit of its own.
    (received, max) =>
      max === undefined ? JSON.stringify(received) : excerpt(received, (text) => text, max),
  );
  /** Starts a request; an error comes as the value. */
  function ask(options: Partial<RequestOptions> = {}, method = "tools/call") {
    let id = 0;
    const answer = calls
      .request(method, { timeout: 1000, ...options }, (given) => {
        id = given;
      })
      .catch((error: unknown) => error);
    return { id, answer };
  }
  return { clock, abandoned, unsent, calls, ask };
}

function failure(code: string, message?: string) {
  return expect.objectContaining({ code, ...(message !== undefined && { message }) });
}

describe("an answer", () => {
  it("settles the call of its id, in whatever order", async () => {
    const { calls, ask } = setUp();
    const first = ask();
    const second = ask();
    expect(calls.size).toBe(2);
    expect(calls.settle(second.id, { result: "second" })).toBe(true);
    expect(calls.settle(first.id, { result: { first: true } })).toBe(true);
    expect(await Promise.all([first.answer, second.answer])).toEqual([{ first: true }, "second"]);
    expect(calls.size).toBe(0);
  });

  it("counts once: one before the request or after the answer is ignored", async () => {
    const { calls, ask } = setUp();
    expect(calls.settle(100_000_000, { result: 0 })).toBe(false);
    const { id, answer } = ask();
    expect(calls.settle(id, { result: 1 })).toBe(true);
    expect(calls.settle(id, { result: 2 })).toBe(false);
    expect(await answer).toBe(1);
  });

  it.each([
    ["message and code", { code: -32602, message: "bad" }, "bad (-32602)"],
    ["a message alone", { message: "bad" }, "bad"],
    ["a code alone", { code: 7 }, "no message (7)"],
    ["a code that is no number", { code: "7", message: "bad" }, "bad"],
    ["nothing in it", {}, "no message"],
    ["text instead of an object", "bad", "bad"],
    ["neither", 5, "no message"],
    ["escapes and line breaks", { message: "\u001b[31mbad\n\nthing" }, "bad thing"],
  ])("that is an error with %s rejects", async (_, error, message) => {
    const { calls, ask } = setUp();
    const { id, answer } = ask({}, "tools/list");
    calls.settle(id, { error });
    expect(await answer).toEqual(failure("SERVER_ERROR", message));
    expect(await answer).toMatchObject({ cause: { method: "tools/list", error } });
  });

  it("with an endless error message has it cut", async () => {
    const { calls, ask } = setUp();
    const { id, answer } = ask();
    calls.settle(id, { error: { message: "x".repeat(1_000_000) } });
    expect(((await answer) as Error).message).toHaveLength(2000);
  });

  it("may say that its error is null", async () => {
    const { calls, ask } = setUp();
    const { id, answer } = ask();
    calls.settle(id, { error: null, result: "fine" });
    expect(await answer).toBe("fine");
  });
});

describe("a line that looks like an answer", () => {
  it.each([
    ["nothing", {}],
    ["nothing but null", { error: null }],
    ["nonsense", { nonsense: true }],
  ])("has %s: it rejects and is shown", async (_, message) => {
    const { calls, ask } = setUp();
    const { id, answer } = ask();
    expect(calls.settle(id, message)).toBe(true);
    const shown = JSON.stringify(message);
    const text = `the server's answer to tools/call has neither a result nor an error: ${shown}`;
    expect(await answer).toEqual(failure("PROTOCOL", text));
  });

  it.each<[string, (id: number) => string]>([
    ["its id at the beginning", (id) => `{"jsonrpc":"2.0","id":${id},"result":{"n":NaN}}`],
    ["its id at the end", (id) => `{"result":"${"x".repeat(10_000)}",,"id" : ${id}}`],
    ["its id as text", (id) => ` {"id":"${id}","error":{`],
  ])("is not JSON, but has %s: it rejects and is shown", async (_, line) => {
    const { calls, ask } = setUp();
    const { id, answer } = ask();
    expect(calls.failUnreadable(line(id))).toBe(true);
    const why = line(id).includes("NaN") ? ", because it has NaN" : "";
    const text = `the server's answer to tools/call is not valid JSON${why}: ${JSON.stringify(line(id))}`;
    expect(await answer).toEqual(failure("PROTOCOL", text));
  });

  it.each<[string, (id: number) => string]>([
    ["is a log line", (id) => `INFO {"id":${id},"result":`],
    ["repeats the request", (id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","error"`],
    ["has no result", (id) => `{"jsonrpc":"2.0","id":${id},`],
    ["is for nobody", (id) => `{"jsonrpc":"2.0","id":${id + 1},"result":`],
    ["has a longer id", (id) => `{"jsonrpc":"2.0","id":${id}0,"result":`],
    [
      "has its id in the middle",
      (id) => `{${" ".repeat(3000)}"id":${id},"result":${" ".repeat(3000)}`,
    ],
  ])("is not taken for one if it %s", (_, line) => {
    const { calls, ask } = setUp();
    const { id } = ask();
    expect(calls.failUnreadable(line(id))).toBe(false);
    expect(calls.waits(id)).toBe(true);
    calls.failAll(new PlugboardError("CONNECTION_CLOSED", "over"));
  });
});

describe("an id", () => {
  it("is an integer above the SDK's and below 2^31, never used twice", () => {
    const { calls, ask } = setUp();
    const ids = Array.from({ length: 100 }, () => ask().id);
    expect(new Set(ids).size).toBe(100);
    for (const id of ids) {
      expect(Number.isInteger(id)).toBe(true);
      expect(id).toBeGreaterThanOrEqual(100_000_000);
      expect(id).toBeLessThan(2 ** 31);
      expect(calls.ownId(id)).toBe(id);
    }
    calls.failAll(new PlugboardError("CONNECTION_CLOSED", "over"));
  });

  it.each<[unknown, number | undefined]>([
    [0, undefined],
    [99_999_999, undefined],
    [100_000_000, 100_000_000],
    [999_999_999, 999_999_999],
    [1_000_000_000, undefined],
    [Number.NaN, undefined],
    ["100000000", 100_000_000],
    ["1e8", undefined],
    ["1000000000", undefined],
    [null, undefined],
  ])("of %j is the table's own: %s", (id, own) => {
    expect(setUp().calls.ownId(id)).toBe(own);
  });
});

describe("a timeout", () => {
  it("rejects, and tells the server", async () => {
    const { clock, calls, abandoned, ask } = setUp();
    const { id, answer } = ask({ timeout: 1000 }, "initialize");
    await clock.advance(998);
    expect(calls.size).toBe(1);
    await clock.advance(2);
    expect(await answer).toEqual(failure("TIMEOUT", "no answer to initialize within 1 s"));
    expect(abandoned).toEqual([[id, "timed out"]]);
    expect(calls.settle(id, { result: "late" })).toBe(false);
  });

  it("says what kept the request from being sent, if the server has never seen it", async () => {
    const { clock, unsent, ask } = setUp();
    const sent = ask();
    const waiting = ask();
    unsent.set(waiting.id, new PlugboardError("SERVER_UNAVAILABLE", "the server does not read"));
    await clock.advance(1000);
    expect(await sent.answer).toEqual(failure("TIMEOUT", "no answer to tools/call within 1 s"));
    const message =
      "the server does not read: tools/call could not be sent within 1 s, and has not run";
    expect(await waiting.answer).toEqual(failure("SERVER_UNAVAILABLE", message));
  });

  it("tells how much of it is left", async () => {
    const { calls, clock, ask } = setUp();
    const { id, answer } = ask({ timeout: 1000 });
    await clock.advance(300);
    expect(calls.timeLeft(id)).toBe(700);
    const asked = deferred();
    void calls.hold(id, asked.promise);
    expect(calls.timeLeft(id)).toBe(Infinity);
    asked.resolve();
    calls.settle(id, { result: 1 });
    await answer;
    expect(calls.timeLeft(id)).toBeLessThan(0);
  });

  it("comes to each call in its own time, with one timer", async () => {
    const { clock, calls, abandoned, ask } = setUp();
    const slow = ask({ timeout: 3000 });
    const fast = ask({ timeout: 1000 });
    const answered = ask({ timeout: 2000 });
    expect(clock.next()).toBe(1000);
    calls.settle(answered.id, { result: 1 });
    await clock.advance(1000);
    expect(abandoned).toEqual([[fast.id, "timed out"]]);
    expect(clock.next()).toBe(2000);
    await clock.advance(2000);
    expect(abandoned).toEqual([
      [fast.id, "timed out"],
      [slow.id, "timed out"],
    ]);
    expect(clock.next()).toBeUndefined();
    expect(await answered.answer).toBe(1);
  });

  it("of a call that is over leaves no timer behind a nearer one", async () => {
    const { clock, calls, ask } = setUp();
    const slow = ask({ timeout: 3000 });
    ask({ timeout: 1000 });
    calls.settle(slow.id, { result: 1 });
    await clock.advance(1000);
    expect(clock.next()).toBeUndefined();
  });

  it("leaves the timer running when everything has been answered", async () => {
    const { clock, calls, abandoned, ask } = setUp();
    const first = ask();
    calls.settle(first.id, { result: 1 });
    await clock.advance(1000);
    expect(clock.next()).toBeUndefined();
    const second = ask();
    expect(clock.next()).toBe(1000);
    await clock.advance(1000);
    expect(abandoned).toEqual([[second.id, "timed out"]]);
  });
});

describe("progress", () => {
  it("extends the time up to the ceiling, and no further", async () => {
    const { clock, calls, abandoned, ask } = setUp();
    const { id, answer } = ask({ timeout: 1000, ceiling: 2500 });
    for (const progress of [1, 2, 3, 4]) {
      await clock.advance(600);
      expect(calls.progress(id, { progress })).toBe(true);
    }
    expect(calls.size).toBe(1);
    await clock.advance(100);
    expect(await answer).toEqual(failure("TIMEOUT"));
    expect(((await answer) as Error).message).toContain("or within 2.5 s in all");
    expect(abandoned).toEqual([[id, "timed out"]]);
  });

  it("does not extend the time without a ceiling", async () => {
    const { clock, calls, ask } = setUp();
    const { id, answer } = ask({ timeout: 1000 });
    await clock.advance(900);
    calls.progress(id, { progress: 1 });
    await clock.advance(100);
    expect(await answer).toEqual(failure("TIMEOUT"));
  });

  it("extends the time by one timeout: silence after that ends the call", async () => {
    const { clock, calls, ask } = setUp();
    const { id, answer } = ask({ timeout: 1000, ceiling: 60_000 });
    await clock.advance(900);
    calls.progress(id, { progress: 1 });
    await clock.advance(998);
    expect(calls.size).toBe(1);
    await clock.advance(2);
    expect(await answer).toEqual(failure("TIMEOUT"));
  });

  it.each<[string, Record<string, unknown>, Progress[]]>([
    ["its number", { progress: 1 }, [{ progress: 1 }]],
    [
      "its total and message",
      { progress: 1, total: 2, message: "half" },
      [{ progress: 1, total: 2, message: "half" }],
    ],
    ["not what is malformed", { progress: 1, total: "2", message: 3 }, [{ progress: 1 }]],
    ["nothing without a number", { progress: "1", message: "half" }, []],
  ])("tells the caller %s", (_, params, told) => {
    const { calls, ask } = setUp();
    const heard: Progress[] = [];
    const { id } = ask({ onProgress: (progress) => heard.push(progress) });
    expect(calls.progress(id, params)).toBe(true);
    expect(heard).toEqual(told);
  });

  it.each([
    ["a call that is over", 100_000_000, true],
    ["the SDK's", 1, false],
    ["a token that is text", "100000000", true],
    ["no token", undefined, false],
  ])("for %s (%j) is handled: %s", (_, token, taken) => {
    expect(setUp().calls.progress(token, { progress: 1 })).toBe(taken);
  });
});

describe("cancellation", () => {
  it("rejects at once, tells the server and leaves no listener", async () => {
    const { calls, abandoned, ask } = setUp();
    const controller = new AbortController();
    const { id, answer } = ask({ signal: controller.signal });
    controller.abort();
    expect(await answer).toEqual(failure("CANCELLED", "the call was cancelled"));
    expect(abandoned).toEqual([[id, "cancelled by the caller"]]);
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
    expect(calls.settle(id, { result: "late" })).toBe(false);
  });

  it("before the call sends nothing", async () => {
    const { abandoned, ask } = setUp();
    const { id, answer } = ask({ signal: AbortSignal.abort() });
    expect(await answer).toEqual(failure("CANCELLED"));
    expect(id).toBe(0);
    expect(abandoned).toEqual([]);
  });

  it.each<[string, (calls: PendingCalls, id: number) => void]>([
    ["answered", (calls, id) => calls.settle(id, { result: 1 })],
    ["failed", (calls, id) => calls.fail(id, new PlugboardError("PROTOCOL", "no"))],
    [
      "ended with the rest",
      (calls) => calls.failAll(new PlugboardError("CONNECTION_CLOSED", "over")),
    ],
  ])("does nothing to a call that was %s", async (_, finish) => {
    const { calls, abandoned, ask } = setUp();
    const controller = new AbortController();
    const { id, answer } = ask({ signal: controller.signal });
    finish(calls, id);
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
    controller.abort();
    await answer;
    expect(abandoned).toEqual([]);
  });
});

describe("the end", () => {
  it("says of the calls that were never sent that they have not run", async () => {
    const { calls, ask } = setUp();
    const [sent, unsent] = [ask(), ask()];
    // What was refused is another request, such as one for the server's own messages.
    const refused = new PlugboardError("NETWORK", "refused", { hasNotRun: true });
    calls.failAll(refused, [unsent.id]);
    expect(await sent.answer).toMatchObject({ code: "NETWORK", hasNotRun: false });
    expect(await unsent.answer).toMatchObject({ code: "NETWORK", hasNotRun: true });
  });

  it("fails pending and later calls, with the first reason", async () => {
    const { clock, calls, abandoned, ask } = setUp();
    const waiting = [ask(), ask()];
    const over = new PlugboardError("CONNECTION_CLOSED", "gone");
    calls.failAll(over);
    calls.failAll(new PlugboardError("CONNECTION_CLOSED", "another reason"));
    expect(await Promise.all(waiting.map(({ answer }) => answer))).toEqual([over, over]);
    const { id, answer } = ask();
    // It was never sent.
    expect(await answer).toEqual(withoutEffect(over));
    expect(id).toBe(0);
    expect(calls.size).toBe(0);
    expect(clock.next()).toBeUndefined();
    expect(abandoned).toEqual([]);
  });

  it("of one call leaves the others", async () => {
    const { calls, ask } = setUp();
    const one = ask();
    const other = ask();
    calls.fail(one.id, new PlugboardError("SERVER_UNAVAILABLE", "not taken"));
    calls.fail(one.id, new PlugboardError("PROTOCOL", "twice"));
    expect(await one.answer).toEqual(failure("SERVER_UNAVAILABLE", "not taken"));
    expect(calls.size).toBe(1);
    calls.settle(other.id, { result: 1 });
    expect(await other.answer).toBe(1);
  });

  it("comes at once to a call that cannot be sent", async () => {
    const { calls, abandoned, clock } = setUp();
    const thrown = new TypeError("a BigInt has no JSON");
    const answer = calls.request("tools/call", { timeout: 1000 }, () => {
      throw thrown;
    });
    await expect(answer).rejects.toMatchObject({ code: "INVALID_ARGUMENTS", cause: thrown });
    expect(calls.size).toBe(0);
    await clock.advance(1000);
    expect(abandoned).toEqual([]);
  });
});

describe("time in which a person is asked", () => {
  it("does not count: the call's clock stops and goes on afterwards", async () => {
    const { clock, calls, ask } = setUp();
    const { id, answer } = ask();
    await clock.advance(400);
    let sayIt: (text: string) => void = () => {};
    const held = calls.hold(id, new Promise<string>((resolve) => (sayIt = resolve)));
    await clock.advance(3_600_000);
    sayIt("signed in");
    expect(await held).toBe("signed in");
    await clock.advance(599);
    expect(calls.waits(id)).toBe(true);
    await clock.advance(10);
    expect(await answer).toEqual(failure("TIMEOUT"));
  });

  it("moves the ceiling too", async () => {
    const { clock, calls, ask } = setUp();
    const { id, answer } = ask({ ceiling: 1500 });
    let sayIt: () => void = () => {};
    const held = calls.hold(id, new Promise<void>((resolve) => (sayIt = resolve)));
    await clock.advance(10_000);
    sayIt();
    await held;
    await clock.advance(900);
    calls.progress(id, { progressToken: id, progress: 1 });
    await clock.advance(590);
    expect(calls.waits(id)).toBe(true);
    await clock.advance(20);
    expect(await answer).toEqual(failure("TIMEOUT"));
  });

  it("counts once if several people are asked at once", async () => {
    const { clock, calls, ask } = setUp();
    const { id, answer } = ask();
    await clock.advance(400);
    let first: () => void = () => {};
    let second: () => void = () => {};
    const held = [
      calls.hold(id, new Promise<void>((resolve) => (first = resolve))),
      calls.hold(id, new Promise<void>((resolve) => (second = resolve))),
    ];
    await clock.advance(10_000);
    first();
    await clock.advance(10_000);
    expect(calls.waits(id)).toBe(true);
    second();
    await Promise.all(held);
    await clock.advance(599);
    expect(calls.waits(id)).toBe(true);
    await clock.advance(10);
    expect(await answer).toEqual(failure("TIMEOUT"));
  });

  it("stays stopped when progress comes meanwhile, which then counts in full", async () => {
    const { clock, calls, ask } = setUp();
    const { id, answer } = ask({ ceiling: 5000 });
    await clock.advance(400);
    let sayIt: () => void = () => {};
    const held = calls.hold(id, new Promise<void>((resolve) => (sayIt = resolve)));
    calls.progress(id, { progressToken: id, progress: 1 });
    await clock.advance(60_000);
    expect(calls.waits(id)).toBe(true);
    sayIt();
    await held;
    await clock.advance(990);
    expect(calls.waits(id)).toBe(true);
    await clock.advance(20);
    expect(await answer).toEqual(failure("TIMEOUT"));
  });

  it("ends with a rejection too, which is passed on", async () => {
    const { clock, calls, ask } = setUp();
    const { id, answer } = ask();
    await expect(calls.hold(id, Promise.reject(new Error("no")))).rejects.toThrow("no");
    await clock.advance(1001);
    expect(await answer).toEqual(failure("TIMEOUT"));
  });

  it("prevents neither an answer nor a cancellation", async () => {
    const { clock, calls, ask } = setUp();
    const abort = new AbortController();
    const first = ask();
    const second = ask({ signal: abort.signal });
    let sayIt: () => void = () => {};
    const wait = new Promise<void>((resolve) => (sayIt = resolve));
    const held = [calls.hold(first.id, wait), calls.hold(second.id, wait)];
    calls.settle(first.id, { result: "early" });
    abort.abort();
    expect(await first.answer).toBe("early");
    expect(await second.answer).toEqual(failure("CANCELLED"));
    sayIt();
    await Promise.all(held);
    expect(clock.next() ?? 0).toBeLessThanOrEqual(1000);
    expect(calls.size).toBe(0);
  });

  it("without a call is only awaited", async () => {
    const { calls } = setUp();
    expect(await calls.hold(5, Promise.resolve("value"))).toBe("value");
  });

  it("stops the clock of all calls if we cannot tell whose question it is", async () => {
    const { clock, calls, ask } = setUp();
    const early = [ask(), ask({ timeout: 2000 })];
    let sayIt: (text: string) => void = () => {};
    const held = calls.holdAll(new Promise<string>((resolve) => (sayIt = resolve)));
    const late = ask();
    await clock.advance(1500);
    expect(await late.answer).toEqual(failure("TIMEOUT"));
    await clock.advance(60_000);
    expect(early.every(({ id }) => calls.waits(id))).toBe(true);
    sayIt("answered");
    expect(await held).toBe("answered");
    await clock.advance(1001);
    expect(early.map(({ id }) => calls.waits(id))).toEqual([false, true]);
    await clock.advance(1001);
    expect(calls.size).toBe(0);
  });

  it("passes on the rejection that all waited for", async () => {
    const { calls, ask } = setUp();
    const { id } = ask();
    await expect(calls.holdAll(Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(calls.waits(id)).toBe(true);
  });
});
