import { describe, expect, it } from "vitest";
import { Backoff, type BackoffDecision } from "../../../../src/core/upstream/supervisor/backoff.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

/** The middle of the jitter, so that delays come out as they are in the table. */
const MIDDLE = (): number => 0.5;

function setUp(random = MIDDLE, maxRestarts = 5) {
  const clock = new ManualClock();
  return { clock, backoff: new Backoff({ clock, random, maxRestarts: () => maxRestarts }) };
}

function delay(verdict: BackoffDecision): number | string {
  return verdict.kind === "retry" ? verdict.delayMs : verdict.reason;
}

/** A server that fails in one way, again and again. */
const FAILURES = {
  "starts that fail": (backoff: Backoff) => backoff.startFailed(),
  "crashes after it was ready": (backoff: Backoff) => {
    backoff.becameReady();
    return backoff.crashed();
  },
};

describe.each(Object.entries(FAILURES))("maxRestarts, for %s", (_, fail) => {
  it.each([
    [0, []],
    [1, [1000]],
    [5, [1000, 2000, 4000, 8000, 16_000]],
    [7, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]],
  ])("%i: the delays of its restarts are %j, then it is given up", (maxRestarts, delays) => {
    const { backoff } = setUp(MIDDLE, maxRestarts);
    const restarts = delays.map((delayMs, at) => ({ kind: "retry", delayMs, attempt: at + 2 }));
    expect(delays.map(() => fail(backoff))).toEqual(restarts);
    expect(fail(backoff).kind).toBe("give-up");
    expect(fail(backoff).kind).toBe("give-up");
  });
});

describe("starts that fail", () => {
  it.each([
    [0, "maxRestarts is 0"],
    [1, "1 restart did not help"],
    [2, "2 restarts did not help"],
  ])("say why they are given up after %i restarts", (maxRestarts, reason) => {
    const { backoff } = setUp(MIDDLE, maxRestarts);
    for (let restart = 0; restart < maxRestarts; restart += 1) backoff.startFailed();
    expect(delay(backoff.startFailed())).toBe(reason);
  });

  it("never wait longer than 30 seconds", () => {
    const { backoff } = setUp(MIDDLE, 100);
    const delays = Array.from({ length: 40 }, () => delay(backoff.startFailed()));
    expect(delays.slice(3, 7)).toEqual([8000, 16_000, 30_000, 30_000]);
    expect(delays.at(-1)).toBe(30_000);
  });

  it("count their attempts", () => {
    const { backoff } = setUp();
    expect(backoff.attempt).toBe(1);
    backoff.startFailed();
    expect(backoff.attempt).toBe(2);
    backoff.becameReady();
    expect(backoff.attempt).toBe(2);
  });
});

describe("jitter", () => {
  it.each([
    [0, [800, 1600, 3200, 6400, 12_800, 24_000]],
    [0.999999, [1200, 2400, 4800, 9600, 19_200, 30_000]],
  ])("of %d spreads the delays by a fifth, up to the longest", (random, delays) => {
    const { backoff } = setUp(() => random, 100);
    expect(delays.map(() => delay(backoff.startFailed()))).toEqual(delays);
  });
});

describe("crashes", () => {
  it("soon after a start wait longer each time", async () => {
    const { backoff, clock } = setUp(MIDDLE, 100);
    const delays: unknown[] = [];
    for (let crash = 0; crash < 6; crash += 1) {
      backoff.becameReady();
      await clock.advance(59_999);
      delays.push(delay(backoff.crashed()));
    }
    expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000]);
  });

  it("continue the delays of failed starts", () => {
    const { backoff } = setUp();
    backoff.startFailed();
    backoff.startFailed();
    backoff.becameReady();
    expect(backoff.crashed()).toEqual({ kind: "retry", delayMs: 4000, attempt: 4 });
  });

  it.each([
    ["crash", (backoff: Backoff) => backoff.crashed()],
    [
      "failed start after a deliberate stop",
      (backoff: Backoff) => {
        backoff.stopped();
        return backoff.startFailed();
      },
    ],
  ])("are forgiven after a healthy minute: the next %s", async (_, fail) => {
    const { backoff, clock } = setUp();
    for (let crash = 0; crash < 4; crash += 1) {
      backoff.becameReady();
      backoff.crashed();
    }
    backoff.becameReady();
    await clock.advance(60_000);
    expect(delay(fail(backoff))).toBe(1000);
  });

  it("end it when 20 come within 10 minutes, whatever maxRestarts is", async () => {
    const { backoff, clock } = setUp(MIDDLE, 1000);
    const verdicts: BackoffDecision[] = [];
    for (let crash = 0; crash < 20; crash += 1) {
      backoff.becameReady();
      await clock.advance(30_000);
      verdicts.push(backoff.crashed());
    }
    expect(verdicts.slice(0, 19).every(({ kind }) => kind === "retry")).toBe(true);
    expect(verdicts[19]).toEqual({ kind: "give-up", reason: "it crashed 20 times in 10 minutes" });
  });

  it("do not end it when they are spread over more", async () => {
    const { backoff, clock } = setUp(MIDDLE, 1000);
    for (let crash = 0; crash < 60; crash += 1) {
      backoff.becameReady();
      await clock.advance(32_000);
      expect(backoff.crashed().kind).toBe("retry");
    }
  });

  it("are not forgiven for a minute without health", async () => {
    const { backoff, clock } = setUp();
    backoff.becameReady();
    expect(delay(backoff.crashed())).toBe(1000);
    await clock.advance(120_000);
    expect(delay(backoff.crashed())).toBe(2000);
    backoff.becameReady();
    backoff.forgive();
    backoff.startFailed();
    await clock.advance(120_000);
    expect(delay(backoff.crashed())).toBe(2000);
  });
});

describe("a server that is never given up", () => {
  const endless = (random = MIDDLE) => setUp(random, Infinity);

  it("is tried again after 1, 2, 4 … 60 seconds, for ever", () => {
    const { backoff } = endless();
    const delays = Array.from({ length: 2000 }, () => delay(backoff.startFailed()));
    expect(delays.slice(0, 8)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    expect(new Set(delays.slice(6))).toEqual(new Set([60_000]));
    expect(backoff.attempt).toBe(2001);
  });

  it("is restarted however often it crashes", () => {
    const { backoff } = endless();
    for (let crash = 0; crash < 100; crash += 1) {
      backoff.becameReady();
      expect(backoff.crashed().kind).toBe("retry");
    }
    expect(backoff.crashed()).toEqual({ kind: "retry", delayMs: 60_000, attempt: 102 });
  });

  it.each([
    [0, 48_000],
    [0.999999, 60_000],
  ])("waits no longer than that with a jitter of %d", (random, longest) => {
    const { backoff } = endless(() => random);
    for (let failure = 0; failure < 10; failure += 1) backoff.startFailed();
    expect(delay(backoff.startFailed())).toBe(longest);
  });

  it("is forgiven after a healthy minute like any other", async () => {
    const { backoff, clock } = endless();
    for (let failure = 0; failure < 10; failure += 1) backoff.startFailed();
    backoff.becameReady();
    await clock.advance(60_000);
    expect(delay(backoff.crashed())).toBe(1000);
  });
});

describe("a restart that a person asked for", () => {
  it("forgives everything", () => {
    const { backoff } = setUp();
    for (let failure = 0; failure < 5; failure += 1) backoff.startFailed();
    for (let crash = 0; crash < 25; crash += 1) backoff.crashed();
    backoff.forgive();
    expect(backoff.attempt).toBe(1);
    expect(backoff.startFailed()).toEqual({ kind: "retry", delayMs: 1000, attempt: 2 });
    expect(backoff.crashed().kind).toBe("retry");
  });
});
