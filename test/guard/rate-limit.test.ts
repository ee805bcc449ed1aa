import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rateLimitStage, TokenBucket } from "../../src/guard/rate-limit.ts";
import { serverGuards } from "../../src/guard/server-guards.ts";
import { SESSION_RATE_LIMIT } from "../../src/guard/session-limits.ts";
import type { ServerGuard } from "../../src/model/guard-settings.ts";
import type { StageFor, ToolSubject } from "../../src/model/guard.ts";
import { systemClock } from "../../src/util/clock.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { callOf, pass, refusal, subject } from "./subjects.ts";

function limited(rateLimit: ServerGuard["rateLimit"], perMinute?: number | false) {
  const clock = new ManualClock();
  const servers = serverGuards([
    { name: "docs", origin: "agent", guard: { rateLimit } },
    { name: "free", origin: "agent" },
  ]);
  return { clock, stage: rateLimitStage({ servers, clock, perMinute }) };
}

/** How many of so many calls get through. */
async function through(stage: StageFor, of: ToolSubject, calls: number): Promise<number> {
  let passed = 0;
  for (let n = 0; n < calls; n += 1) {
    await pass(stage, callOf(of)).then(
      () => (passed += 1),
      () => {},
    );
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

  it.each<[string, ServerGuard["rateLimit"], number | false | undefined, ToolSubject]>([
    ["nothing is configured", undefined, undefined, READ],
    ["it is switched off", { default: false }, 100, READ],
    ["it is switched off for the tool", { default: 1, tools: { read: false } }, 100, READ],
    ["the face has none", undefined, false, READ],
    ["the tool is the host's own", undefined, 1, subject("native/read")],
  ])("costs nothing where %s", (_, rateLimit, perMinute, of) => {
    expect(limited(rateLimit, perMinute).stage(of)).toBeUndefined();
  });

  it("of the face holds for each server that has no word on it", async () => {
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

  it.each<[ServerGuard["rateLimit"], ToolSubject, string, string]>([
    [
      { default: 1 },
      READ,
      "too many calls to docs: the limit is 1 call a minute",
      "try again in 60 s",
    ],
    [
      { tools: { read: 40 } },
      READ,
      "too many calls to docs/read: the limit is 40 calls a minute",
      "try again in 1.5 s",
    ],
  ])("says which limit it is and when to try again: %j", async (rateLimit, of, message, hint) => {
    const { stage } = limited(rateLimit);
    await through(stage, of, 40);
    const call = callOf(of);
    const error = await refusal(pass(stage, call));
    expect(error).toMatchObject({ code: "RATE_LIMITED", server: "docs", message, hint });
    expect(call.decision.verdict).toBe("refused");
  });
});

describe("a bucket", () => {
  it("has a token when it said it would, and never more than its size", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.array(fc.integer({ min: 0, max: 90_000 }), { maxLength: 30 }),
        (perMinute, pauses) => {
          let now = 0;
          const bucket = new TokenBucket(perMinute, { ...systemClock, monotonic: () => now });
          for (const pause of pauses) {
            now += pause;
            let taken = 0;
            while (bucket.wait() === 0 && taken < 50) {
              bucket.take();
              taken += 1;
            }
            expect(taken).toBeLessThanOrEqual(perMinute);
            now += bucket.wait();
            expect(bucket.wait()).toBe(0);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
