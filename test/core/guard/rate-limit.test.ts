import { describe, expect, it } from "vitest";
import { rateLimitStage } from "../../../src/core/guard/rate-limit.ts";
import { serverGuards } from "../../../src/core/guard/server-guards.ts";
import { SESSION_RATE_LIMIT } from "../../../src/core/types/server-definition.ts";
import type { ServerGuard } from "../../../src/core/types/guard-settings.ts";
import type { StageFor, Subject } from "../../../src/core/types/guard.ts";
import type { Limits } from "../../../src/core/types/shared-state.ts";
import { LocalLimits } from "../../../src/core/state/local-limits.ts";
import { ManualClock, settle } from "../../support/manual-clock.ts";
import { callOf, contentOf, pass, refusal, subject } from "./subjects.ts";

function limited(rateLimit: ServerGuard["rateLimit"], perMinute?: number | false) {
  const clock = new ManualClock();
  const servers = serverGuards([
    { name: "docs", origin: "agent", guard: { rateLimit } },
    { name: "free", origin: "agent" },
  ]);
  const limits = new LocalLimits(clock);
  return { clock, stage: rateLimitStage({ servers, limits, of: "main", clock, perMinute }) };
}

/** How many of so many calls get through at once. The others are cancelled. */
async function through(stage: StageFor, of: Subject, calls: number): Promise<number> {
  let passed = 0;
  for (let n = 0; n < calls; n += 1) {
    const abort = new AbortController();
    const done = pass(stage, { ...callOf(of), signal: abort.signal }).then(
      () => (passed += 1),
      () => {},
    );
    await settle();
    abort.abort();
    await done;
  }
  return passed;
}

const READ = subject("docs/read");
const WRITE = subject("docs/write");

describe("a rate limit", () => {
  it("lets so many calls through at once, then one by one", async () => {
    const { stage, clock } = limited({ default: 3 });
    expect(await through(stage, READ, 5)).toBe(3);
    await clock.advance(19_999);
    expect(await through(stage, READ, 1)).toBe(0);
    await clock.advance(1);
    expect(await through(stage, READ, 2)).toBe(1);
    await clock.advance(3_600_000);
    expect(await through(stage, READ, 5)).toBe(3);
  });

  it("is shared by the tools of a server", async () => {
    const { stage } = limited({ default: 3 });
    expect(await through(stage, READ, 2)).toBe(2);
    expect(await through(stage, WRITE, 2)).toBe(1);
    expect(await through(stage, subject("free/read"), 9)).toBe(9);
  });

  it("of a tool counts beside the server's", async () => {
    const { stage } = limited({ default: 3, tools: { write: 1 } });
    expect(await through(stage, WRITE, 2)).toBe(1);
    expect(await through(stage, READ, 9)).toBe(2);
  });

  it("of a tool does not use up the server's when it refuses", async () => {
    const { stage } = limited({ default: 3, tools: { write: 1 } });
    expect(await through(stage, WRITE, 9)).toBe(1);
    expect(await through(stage, READ, 9)).toBe(2);
  });

  it("of the server does not use up the tool's when it refuses", async () => {
    const { stage, clock } = limited({ default: 2, tools: { write: 1 } });
    expect(await through(stage, READ, 2)).toBe(2);
    expect(await through(stage, WRITE, 2)).toBe(0);
    await clock.advance(30_000);
    expect(await through(stage, WRITE, 2)).toBe(1);
  });

  it("tells a call how long it waits, and for which limit", async () => {
    const { stage, clock } = limited({ default: 3 });
    const told: unknown[] = [];
    const call = (): Promise<unknown> =>
      pass(stage, callOf(READ, { onUpdate: (update) => told.push(update) }));
    for (let n = 0; n < 3; n += 1) await call();
    expect(told).toEqual([]);
    const waiting = call();
    await settle();
    expect(JSON.stringify(told)).toContain("waits 20 s: calls to docs are slowed down to 3 calls");
    await clock.advance(20_000);
    await waiting;
    expect(told).toHaveLength(1);
  });

  it("of a tool alone leaves the others free", async () => {
    const { stage } = limited({ tools: { write: 1 } });
    expect(await through(stage, WRITE, 2)).toBe(1);
    expect(stage(READ)).toBeUndefined();
  });

  it("stays with a tool that changes", async () => {
    const { stage } = limited({ tools: { write: 1 } });
    expect(await through(stage, WRITE, 1)).toBe(1);
    expect(await through(stage, { ...WRITE, hash: "h2" }, 1)).toBe(0);
  });

  it.each<[string, ServerGuard["rateLimit"], number | false | undefined, Subject]>([
    ["nothing is configured", undefined, undefined, READ],
    ["it is switched off", { default: false }, 100, READ],
    ["it is switched off for the tool", { default: 1, tools: { read: false } }, 100, READ],
    ["there is no limit for all servers", undefined, false, READ],
    ["the tool is the host's own", undefined, 1, subject("native/read")],
  ])("costs nothing where %s", (_, rateLimit, perMinute, of) => {
    expect(limited(rateLimit, perMinute).stage(of)).toBeUndefined();
  });

  it("for all servers holds for each server that has no limit of its own", async () => {
    const { stage } = limited({ default: 2 }, SESSION_RATE_LIMIT);
    expect(await through(stage, READ, 200)).toBe(2);
    expect(await through(stage, subject("free/read"), 200)).toBe(100);
    expect(await through(stage, subject("other/read"), 200)).toBe(100);
  });

  it("is counted apart for a session's server of the same name", async () => {
    const { stage } = limited({ default: 2 }, 3);
    expect(await through(stage, READ, 9)).toBe(2);
    expect(await through(stage, { ...READ, origin: "session" }, 9)).toBe(3);
  });

  it("makes a call wait for its turn, in order and at the rate", async () => {
    const { stage, clock } = limited({ default: 60 });
    const done: number[] = [];
    const calls = Array.from({ length: 63 }, async (_, n) => {
      await pass(stage, callOf(READ));
      done.push(n);
    });
    await settle();
    expect(done).toHaveLength(60);
    for (const n of [60, 61, 62]) {
      await clock.advance(999);
      expect(done).toHaveLength(n);
      await clock.advance(1);
      expect(done.at(-1)).toBe(n);
    }
    await Promise.all(calls);
    expect(clock.next()).toBeUndefined();
  });

  it("waits as long as the slower of two limits says", async () => {
    const { stage, clock } = limited({ default: 60, tools: { write: 6 } });
    expect(await through(stage, WRITE, 6)).toBe(6);
    let isDone = false;
    const call = pass(stage, callOf(WRITE)).then(() => (isDone = true));
    await clock.advance(9999);
    expect(isDone).toBe(false);
    await clock.advance(1);
    await call;
  });

  it("ends the wait of a cancelled call, whose turn the next one gets", async () => {
    const { stage, clock } = limited({ default: 60 });
    expect(await through(stage, READ, 60)).toBe(60);
    const abort = new AbortController();
    const cancelled = pass(stage, { ...callOf(READ), signal: abort.signal });
    abort.abort();
    await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
    expect(clock.next()).toBeUndefined();
    await clock.advance(1000);
    expect(await through(stage, READ, 2)).toBe(1);
  });

  it("says what it does, with the setting, whenever it does it", async () => {
    const { stage } = limited({ default: 60 }, 120);
    const told: string[] = [];
    const slow = async (of: Subject, limit: number): Promise<void> => {
      expect(await through(stage, of, limit)).toBe(limit);
      const signal = AbortSignal.abort();
      const call = { ...callOf(of), signal, notify: (text: string) => void told.push(text) };
      await expect(pass(stage, call)).rejects.toMatchObject({ code: "CANCELLED" });
    };
    await slow(READ, 60);
    await slow(subject("free/read"), 120);
    await slow({ ...READ, origin: "session" }, 120);
    expect(told).toEqual([
      "calls to docs are slowed down to 60 calls a minute; rateLimit of the server 'docs' changes that",
      "calls to free are slowed down to 120 calls a minute; rateLimit of the server 'free' changes that",
      "calls to docs are slowed down to 120 calls a minute; mcp.session.rateLimit changes that",
    ]);
  });

  it.each<[ServerGuard["rateLimit"], number, string, string]>([
    [
      { default: 1 },
      1,
      "too many calls to docs: the limit is 1 call a minute",
      "try again in 60 s; rateLimit of the server 'docs' changes the limit",
    ],
    [
      { tools: { read: 40 } },
      // Those that can be made at once, and those that wait up to 30 s.
      40 + 20,
      "too many calls to docs/read: the limit is 40 calls a minute",
      "try again in 32 s; rateLimit of the server 'docs' changes the limit",
    ],
  ])("refuses a call that would wait too long: %j", async (rateLimit, before, message, hint) => {
    const { stage, clock } = limited(rateLimit);
    const others = Array.from({ length: before }, () => pass(stage, callOf(READ)));
    await settle();
    const call = callOf(READ);
    const error = await refusal(pass(stage, call));
    expect(error).toMatchObject({ code: "RATE_LIMITED", server: "docs", message, hint });
    expect(call.decision.verdict).toBe("refused");
    await clock.advance(30_000);
    await Promise.all(others);
  });
});

it("is the same where calls are counted elsewhere", async () => {
  const clock = new ManualClock();
  const local = new LocalLimits(clock);
  const limits: Pick<Limits, "take" | "giveBack"> = {
    take: async (...args) => local.take(...args),
    giveBack: (buckets) => local.giveBack(buckets),
  };
  const guard = { rateLimit: { default: 2 } };
  const servers = serverGuards([{ name: "docs", origin: "agent", guard }]);
  const stage = rateLimitStage({ servers, limits, of: "main", clock });
  expect(await through(stage, READ, 3)).toBe(2);
  const waiting = pass(stage, callOf(READ));
  const refused = await refusal(pass(stage, callOf(READ)));
  expect(refused).toMatchObject({ code: "RATE_LIMITED" });
  await clock.advance(30_000);
  await waiting;
});

describe("reads of resources and prompts", () => {
  const [A, B] = [contentOf("docs/resource:a:1"), contentOf("docs/resource:a:2")];

  it("count together where one pattern names them, and apart from calls", async () => {
    const { stage } = limited({ default: 2, tools: { "docs/resource:a:*": 3 } });
    expect(await through(stage, A, 2)).toBe(2);
    expect(await through(stage, B, 2)).toBe(1);
    expect(await through(stage, READ, 3)).toBe(2);
  });

  it.each([
    ["no pattern names them", { default: 1, tools: { "*": 1, "resource_*": 1 } }, 1],
    [
      "a pattern takes the limit away",
      { default: 1, tools: { "resource:a:*": false as const } },
      1,
    ],
  ])("do not count where %s", (_, rateLimit, perMinute) => {
    expect(limited(rateLimit, perMinute).stage(A)).toBeUndefined();
  });
});
