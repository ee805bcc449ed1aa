import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { type Clock, systemClock } from "../../../../src/util/clock.ts";
import { describeWithEngines, openReplica as open } from "../../../support/engines.ts";

const SOON = { timeout: 20_000, interval: 20 };
const LATER = Date.now() + 100 * 365 * 24 * 60 * 60 * 1000;

describeWithEngines("limits that replicas count together", (engines) => {
  it("both count places together, and those of a process that is gone are free after half a minute", async () => {
    const settings = await engines().newSettings();
    const [one, two] = [await open(settings), await open(settings)];
    const [first, second] = [await one.limits.enter("k", 2), await two.limits.enter("k", 2)];
    expect([typeof first, typeof second]).toEqual(["function", "function"]);
    expect(await one.limits.enter("k", 2)).toBeUndefined();
    first?.();
    await vi.waitFor(async () => expect(await two.limits.enter("k", 2)).toBeDefined(), SOON);
    // As if somebody had entered it long ago, and died.
    const { Redis } = await import("iovalkey");
    const client = new Redis(settings.valkey?.url ?? "");
    onTestFinished(() => client.disconnect());
    await client.zadd("{plugboard}:calls:left", 1, "somebody");
    await client.zadd("{plugboard}:calls:kept", Date.now() + 20_000, "somebody");
    expect(await one.limits.enter("left", 1)).toBeDefined();
    expect(await one.limits.enter("kept", 1)).toBeUndefined();
    // Without Valkey, each has its part: at least one.
    await vi.waitFor(() => expect(one.replicas?.list()).toHaveLength(2), SOON);
    engines().valkey.freeze();
    onTestFinished(() => engines().valkey.thaw());
    const alone = [await one.limits.enter("alone", 2), await one.limits.enter("alone", 2)];
    expect(alone.map((each) => typeof each)).toEqual(["function", "undefined"]);
  });

  it.each([
    ["zrem", "NOPERM .*'zrem'"],
    // Within a script, some versions do not say which.
    ["zadd", "user executing the script|'zadd'"],
    ["hincrbyfloat", "user executing the script|'hincrbyfloat'"],
  ])(
    "says so while the user may not run %s, from the start until it is allowed, whatever is called",
    async (refused, why) => {
      const settings = await engines().newSettings();
      const user = `without-${refused}`;
      const allow = (rule: string): string =>
        engines().valkeyCommand(settings, "acl", "setuser", user, rule);
      for (const rule of ["on", "nopass", "allkeys", "+@all", `-${refused}`]) allow(rule);
      const url = settings.valkey?.url.replace("//", `//${user}@`) ?? "";
      const one = await open({ ...settings, valkey: { url, password: "any" } });
      const away = () => one.health?.().away;
      const said = [
        {
          engine: "valkey",
          message: expect.stringMatching(
            `^each gateway has a part of every limit, .*docs/fleet\\.md names: .*(?:${why})`,
          ) as string,
        },
      ];
      expect(away()).toEqual(said);
      // Longer than it takes to try twice.
      const until = performance.now() + 2500;
      while (performance.now() < until) {
        const leave = await one.limits.enter("k", 2);
        expect(leave).toBeDefined();
        leave?.();
        expect(await one.limits.take([{ key: "a", perMinute: 60_000 }], 0)).toBeUndefined();
        one.limits.giveBack([{ key: "a", perMinute: 60_000 }]);
        await sleep(10);
        expect(away()).toEqual(said);
      }
      allow(`+${refused}`);
      await vi.waitFor(() => expect(away()).toEqual([]), SOON);
      (await one.limits.enter("k", 2))?.();
      one.limits.giveBack([{ key: "a", perMinute: 60_000 }]);
      await sleep(100);
      expect(away()).toEqual([]);
    },
  );

  it("calls that ask at once are counted one by one, and one that counts several times takes as many", async () => {
    const one = await open(await engines().newSettings());
    const bucket = { key: "crowd", perMinute: 10 };
    const asked = Array.from({ length: 12 }, async () => one.limits.take([bucket], 0));
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(10);
    const several = [1, 2, 3].map(() => ({ key: "several", perMinute: 3 }));
    expect(await one.limits.take(several, 0)).toBeUndefined();
    expect(await one.limits.take(several.slice(2), 0)).toMatchObject({ isRefused: true });
  });

  it("far from a limit, a call does not wait for Valkey; all together make no more than the limit", async () => {
    const settings = await engines().newSettings();
    const clock: Clock = { ...systemClock, monotonic: () => 0 };
    const both = [await open(settings, { clock }), await open(settings, { clock })];
    const bucket = [{ key: "ahead", perMinute: 1000 }];
    const before = performance.now();
    const [one, two] = both;
    expect(await one?.limits.take(bucket, 0)).toBeUndefined();
    expect(await two?.limits.take(bucket, 0)).toBeUndefined();
    let taken = 2;
    let atOnce = 0;
    for (let refused = 0; refused < both.length;) {
      refused = 0;
      for (const { limits } of both) {
        const delay = limits.take(bucket, 0);
        if (delay === undefined) atOnce += 1;
        if ((await delay) === undefined) taken += 1;
        else refused += 1;
      }
    }
    const refilled = Math.ceil(((performance.now() - before) * 1000) / 60_000);
    expect(atOnce).toBeGreaterThan(100);
    expect(taken).toBeGreaterThanOrEqual(1000);
    expect(taken).toBeLessThanOrEqual(1000 + refilled);
  });

  it("what was taken ahead and not used goes back, and is nobody's while Valkey is away", async () => {
    const settings = await engines().newSettings();
    let now = 0;
    const one = await open(settings, { clock: { ...systemClock, monotonic: () => now } });
    const left = (key: string): number =>
      Number(engines().valkeyCommand(settings, "hget", `{plugboard}:limit:${key}`, "left"));
    await one.limits.take([{ key: "unused", perMinute: 100_000 }], 0);
    expect(left("unused")).toBe(100_000 - 1 - 128);
    now += 500;
    await vi.waitFor(() => expect(left("unused")).toBe(100_000 - 1), SOON);
    // As a process that was stopped for a while: it does not use what is old.
    const bucket = [{ key: "old", perMinute: 100_000 }];
    await one.limits.take(bucket, 0);
    expect(one.limits.take(bucket, 0)).toBeUndefined();
    now += 500;
    expect(one.limits.take(bucket, 0)).toBeInstanceOf(Promise);
    // A limit that is changed is another one, and a small one is counted call by call.
    const small = [{ key: "old", perMinute: 3 }];
    const answers = [1, 2, 3, 4].map(async () => one.limits.take(small, 0));
    expect((await Promise.all(answers)).map((each) => each === undefined)).toEqual([
      true,
      true,
      true,
      false,
    ]);
    const large = [{ key: "away", perMinute: 400 }];
    await one.limits.take(large, 0);
    engines().valkey.freeze();
    onTestFinished(() => engines().valkey.thaw());
    await one.limits.take([{ key: "frozen too", perMinute: 1 }], 0);
    const alone: unknown[] = [];
    for (let at = 0; at < 401; at += 1) alone.push(await one.limits.take(large, 0));
    expect(alone.filter((each) => each === undefined)).toHaveLength(400);
  });

  it("a Valkey that hangs or ends is away, calls go on, and it is found again without a call", async () => {
    const one = await open(await engines().newSettings());
    engines().valkey.freeze();
    onTestFinished(() => engines().valkey.thaw());
    const bucket = [{ key: "frozen", perMinute: 1 }];
    expect(await one.limits.take(bucket, 0)).toBeUndefined();
    expect(await one.limits.take(bucket, 0)).toMatchObject({ isRefused: true });
    expect(one.health?.().away).toMatchObject([
      { engine: "valkey", message: expect.stringMatching(/^Valkey at /) },
    ]);
    engines().valkey.thaw();
    await vi.waitFor(() => expect(one.health?.().away).toEqual([]), SOON);
    await engines().valkey.kill();
    await vi.waitFor(() => expect(one.health?.().away).toHaveLength(1), SOON);
    await engines().valkey.start();
    await vi.waitFor(() => expect(one.health?.().away).toEqual([]), SOON);
  });

  it.each(["with Valkey", "without Valkey"])(
    "limits are those of all together, %s",
    async (how) => {
      const settings = await engines().newSettings();
      if (how === "without Valkey") delete settings.valkey;
      const both = [await open(settings), await open(settings)];
      await vi.waitFor(
        () => expect(both.map((each) => each.health?.().replicas)).toEqual([2, 2]),
        SOON,
      );
      const bucket = [{ key: "both", perMinute: 4 }];
      const taken: unknown[] = [];
      for (let at = 0; at < 6; at += 1) taken.push(await both[at % 2]?.limits.take(bucket, 0));
      expect(taken.map((each) => each === undefined)).toEqual([
        true,
        true,
        true,
        true,
        false,
        false,
      ]);
    },
  );

  const deep = `${"*1\r\n".repeat(3000)}:1\r\n`;
  it.each<[string, string, string?]>([
    ["3,000 lists in each other", deep],
    ["lists in each other without an end", "*1\r\n".repeat(1_000_000)],
    ["a list that is too long to be one", "*99999999999999999999\r\n"],
    ["a text without an end", `$99999999\r\n${"x".repeat(20_000_000)}`],
    ["a text of a length that is no number", "$x\r\n"],
    ["nothing, several times", "$-1\r\n".repeat(5)],
    ["errors without an end", "-no\r\n".repeat(10_000)],
    ["another protocol", "HTTP/1.1 400 Bad Request\r\n\r\n"],
    ["a number", ":0\r\n"],
    ["texts", "*3\r\n$3\r\nNaN\r\n$1\r\nx\r\n$1\r\ny\r\n"],
    ["too few numbers", "*1\r\n:0\r\n"],
    ["too many numbers", "*9\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n"],
    ["numbers of no size", "*3\r\n:0\r\n:0\r\n:-5\r\n"],
    ["more than was asked for", "*3\r\n:0\r\n:500\r\n:0\r\n"],
    ["a wait without a refusal", "*3\r\n:0\r\n:0\r\n:9007199254740991\r\n"],
    ["what is wrong from the first byte", deep, deep],
    ["that nothing is known of it", ":0\r\n", "$-1\r\n"],
  ])("a Valkey that answers %s is away, and calls go on", async (_, answer, info = READY) => {
    const settings = await engines().newSettings();
    const port = await startFalseValkey(info, answer);
    const one = await open({ ...settings, valkey: { url: `valkey://127.0.0.1:${port}` } });
    const bucket = [{ key: "k", perMinute: 2 }];
    for (const expected of [undefined, undefined, { isRefused: true }]) {
      const delay = await one.limits.take(bucket, 0);
      if (expected === undefined) expect(delay).toBeUndefined();
      else expect(delay).toMatchObject(expected);
      for (const wait of delay?.waits ?? []) expect(wait).toBeLessThanOrEqual(60_000);
    }
    const leave = await one.limits.enter("k", 2);
    expect(leave).toBeDefined();
    leave?.();
    one.limits.giveBack(bucket);
    const message = expect.stringMatching(
      /^Valkey at 127\.0\.0\.1:\d+ cannot be reached: ./,
    ) as string;
    expect(one.health?.().away).toEqual([{ engine: "valkey", message }]);
  });

  it.each([
    ["wrong", deep],
    ["nothing", "$-1\r\n"],
  ])("sentinels that answer %s keep no gateway from starting, and end none", async (_, answer) => {
    const settings = await engines().newSettings();
    const port = await startFalseValkey("", answer);
    const valkey = { url: "valkey://ignored", sentinels: [`127.0.0.1:${port}`], primary: "main" };
    const one = await open({ ...settings, valkey }, { clock: WITHOUT_PATIENCE });
    expect(one.health?.().away).toMatchObject([{ engine: "valkey" }]);
    // It has asked them more than once by then.
    const until = performance.now() + 300;
    while (performance.now() < until) {
      expect(await one.limits.take([{ key: "k", perMinute: 60_000 }], 0)).toBeUndefined();
      await sleep(10);
    }
  });

  it("a refusal for years is told as one for an hour", async () => {
    const settings = await engines().newSettings();
    const one = await open(settings);
    const bucket = [{ key: "years", perMinute: 2 }];
    expect(await one.limits.take(bucket, 0)).toBeUndefined();
    engines().valkeyCommand(settings, "hset", "{plugboard}:limit:years", "left", "-1000000000");
    expect(await one.limits.take(bucket, 0)).toEqual({ isRefused: true, waits: [3_600_000] });
    expect(one.health?.().away).toEqual([]);
  });

  it("a gateway starts while Valkey loads what it had stored", async () => {
    const settings = await engines().newSettings();
    const info = "loading:1\r\n";
    const port = await startFalseValkey(`$${info.length}\r\n${info}\r\n`, "-LOADING\r\n");
    const valkey = { url: `valkey://127.0.0.1:${port}` };
    const one = await open({ ...settings, valkey }, { clock: WITHOUT_PATIENCE });
    expect(one.health?.().away).toMatchObject([{ engine: "valkey" }]);
    expect(await one.limits.take([{ key: "k", perMinute: 2 }], 0)).toBeUndefined();
  });

  it("a clock of Valkey that goes back refuses nobody", async () => {
    const settings = await engines().newSettings();
    const one = await open(settings);
    const bucket = [{ key: "back", perMinute: 10 }];
    expect(await one.limits.take(bucket, 0)).toBeUndefined();
    engines().valkeyCommand(settings, "hset", "{plugboard}:limit:back", "at", String(LATER));
    expect(await one.limits.take(bucket, 0)).toBeUndefined();
    expect(one.health?.().away).toEqual([]);
  });
});

/** What the start of a gateway waits for Valkey is over at once. */
const WITHOUT_PATIENCE: Clock = {
  ...systemClock,
  after: (ms, task) => systemClock.after(ms === 5000 ? 0 : ms, task),
};
const READY = "$11\r\nloading:0\r\n\r\n";

/** Answers INFO with `info`, what else a connection begins with as Valkey does, and everything else with `answer`. */
async function startFalseValkey(info: string, answer: string): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (sent) => {
      const commands = sent.toString("latin1").matchAll(/\*\d+\r\n\$\d+\r\n([a-z]+)\r\n/gi);
      for (const [, name = ""] of commands) {
        if (name === "info") socket.write(info);
        else socket.write(/^(?:select|client|auth)$/.test(name) ? "+OK\r\n" : answer);
      }
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
