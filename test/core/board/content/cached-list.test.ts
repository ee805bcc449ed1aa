import { describe, expect, it } from "vitest";
import { CachedList } from "../../../../src/core/board/content/cached-list.ts";
import type { PlugboardError } from "../../../../src/core/types/errors.ts";
import type { ServerContent, PromptList } from "../../../../src/core/types/server-content.ts";
import { FakeConnection } from "../../../support/fake-connection.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const { content } = new FakeConnection();

/** A cached list whose server is played by the test. */
function keep(refreshMs = 1000) {
  const clock = new ManualClock();
  const state = {
    content: content as ServerContent | undefined,
    names: ["a"],
    failure: undefined as Error | undefined,
    asked: 0,
    changes: 0,
    errors: [] as PlugboardError[],
  };
  const list = new CachedList<PromptList>({
    clock,
    refreshMs: () => refreshMs,
    async ask() {
      state.asked += 1;
      if (state.failure !== undefined) throw state.failure;
      return { prompts: state.names.map((name) => ({ name })), diagnostics: [] };
    },
    content: () => state.content,
    onChange: () => {
      state.changes += 1;
    },
    onError: (error) => state.errors.push(error),
  });
  const names = async () => (await list.fresh())?.prompts.map(({ name }) => name);
  return { clock, list, state, names };
}

describe("a cached list", () => {
  it("is requested once for all callers, and again when it is too old", async () => {
    const { clock, state, names } = keep();
    expect(await Promise.all([names(), names()])).toEqual([["a"], ["a"]]);
    expect(state.asked).toBe(1);
    await clock.advance(999);
    await names();
    expect(state.asked).toBe(1);
    await clock.advance(1);
    await names();
    expect(state.asked).toBe(2);
  });

  it("is undefined while the server was never up, and stays known when it goes down", async () => {
    const { clock, state, names } = keep();
    state.content = undefined;
    expect(await names()).toBeUndefined();
    state.content = content;
    expect(await names()).toEqual(["a"]);
    state.content = undefined;
    await clock.advance(5000);
    expect(await names()).toEqual(["a"]);
    expect(state.asked).toBe(1);
  });

  it("rejects if the server fails, unless there is an old list", async () => {
    const { state, names } = keep(0);
    state.failure = new Error("no");
    await expect(names()).rejects.toThrow("no");
    state.failure = undefined;
    await names();
    state.failure = new Error("not again");
    expect(await names()).toEqual(["a"]);
    expect(state.errors.map(({ message }) => message)).toEqual(["not again"]);
  });
});

describe("a change", () => {
  it("is reported without a request if nobody has asked for the list yet", async () => {
    const { clock, list, state } = keep();
    list.changed();
    await clock.advance(100);
    expect([state.changes, state.asked]).toEqual([1, 0]);
  });

  it("is reported only if the list differs", async () => {
    const { clock, list, state, names } = keep();
    await names();
    list.changed();
    await clock.advance(100);
    expect([state.changes, state.asked]).toEqual([0, 2]);
    state.names = ["b"];
    list.changed();
    await clock.advance(1000);
    expect([state.changes, state.asked]).toEqual([1, 3]);
    expect(await names()).toEqual(["b"]);
  });

  it("that the server reports all the time leads to one request per second", async () => {
    const { clock, list, state, names } = keep(1e9);
    await names();
    for (let each = 0; each < 1000; each += 1) {
      list.changed();
      await clock.advance(10);
    }
    expect(state.asked).toBeLessThanOrEqual(12);
  });

  it("of a server that is down or fails keeps the last list", async () => {
    const { clock, list, state, names } = keep(1e9);
    await names();
    state.content = undefined;
    list.changed();
    await clock.advance(100);
    state.content = content;
    state.failure = new Error("no");
    list.changed();
    await clock.advance(2000);
    expect([state.changes, state.errors.length]).toEqual([0, 1]);
    expect(await names()).toEqual(["a"]);
  });

  it("is ignored after cancel", async () => {
    const { clock, list, state, names } = keep();
    await names();
    list.changed();
    list.cancel();
    await clock.advance(5000);
    expect(state.asked).toBe(1);
  });
});
