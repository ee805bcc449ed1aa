import { beforeEach, describe, expect, it } from "vitest";
import type { Connection, ToolList } from "../../../../src/core/types/connection.ts";
import { PlugboardError } from "../../../../src/core/types/errors.ts";
import type { ServerDefinition } from "../../../../src/core/types/server-definition.ts";
import type { ServerStateKind } from "../../../../src/core/types/server-state.ts";
import { Supervisor } from "../../../../src/core/upstream/supervisor/supervisor.ts";
import { definition } from "../../../support/definition.ts";
import { FakeConnection } from "../../../support/fake-connection.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { ManualClock, settle } from "../../../support/manual-clock.ts";

const MINUTE = 60_000;
const crash = new PlugboardError("CONNECTION_CLOSED", "the server exited with code 1");
const missing = new PlugboardError("SPAWN_FAILED", "no such command", { permanent: true });

let clock: ManualClock;
/** What each start gives: a connection, an error, or something that waits. */
let script: (FakeConnection | PlugboardError | Promise<FakeConnection>)[];
let opened: FakeConnection[];
let starts: number;
let states: ServerStateKind[];
let lists: ToolList[];
let logger: ReturnType<typeof recordingLogger>;

beforeEach(() => {
  logger = recordingLogger();
  clock = new ManualClock();
  script = [];
  opened = [];
  starts = 0;
  states = [];
  lists = [];
});

function supervise(overrides: Partial<ServerDefinition> = {}): Supervisor {
  return new Supervisor({
    definition: definition(overrides),
    connect: async (signal): Promise<Connection> => {
      starts += 1;
      const next = script.shift() ?? new FakeConnection();
      if (next instanceof PlugboardError) throw next;
      const connection = await Promise.race([next, aborted(signal)]);
      opened.push(connection);
      return connection;
    },
    clock,
    random: () => 0.5,
    logger,
    restartHint: "to start it again: restart it",
    onState: (state) => states.push(state.kind),
    onTools: (list) => lists.push(list),
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new PlugboardError("CANCELLED", "given up")));
  });
}

const never = (): Promise<FakeConnection> => new Promise(() => {});

async function failures(supervisor: Supervisor): Promise<string> {
  return supervisor.acquire().then(
    () => "connected",
    (error: Error) => error.message,
  );
}

describe("becoming ready", () => {
  it("goes from idle through starting to ready, with the tools listed before", async () => {
    const supervisor = supervise();
    expect(supervisor.state.kind).toBe("idle");
    await supervisor.start();
    expect(states).toEqual(["starting", "ready"]);
    expect(lists).toHaveLength(1);
    expect(supervisor.live).toBe(opened[0]);
    expect(supervisor.state).toMatchObject({ pid: 4242, protocolVersion: "2025-11-25" });
  });

  it("is not ready while the tools are being listed, and never without them", async () => {
    const connection = new FakeConnection();
    connection.answer = () => Promise.reject(new PlugboardError("PROTOCOL", "no list"));
    script = [connection];
    const supervisor = supervise();
    await supervisor.start();
    expect(states).toEqual(["starting", "backoff"]);
    expect(connection.closes).toBe(1);
  });

  it("runs a server that answers its list with an error, says so, and asks it again more and more rarely", async () => {
    const connection = new FakeConnection();
    const answer = connection.answer.bind(connection);
    let asked = 0;
    connection.answer = () => {
      asked += 1;
      return Promise.reject(new PlugboardError("SERVER_ERROR", "fetch failed"));
    };
    script = [connection];
    const supervisor = supervise();
    await supervisor.start();
    expect([states, starts, connection.closes]).toEqual([["starting", "ready"], 1, 0]);
    expect(supervisor.lastError?.message).toBe("listing tools: fetch failed");
    const message = "listing tools: fetch failed";
    expect(lists[0]).toMatchObject({
      hasFailed: true,
      diagnostics: [{ message, kind: "unlisted" }],
    });
    const counts: number[] = [];
    for (const ms of [4999, 1, 9999, 1]) {
      await clock.advance(ms);
      counts.push(asked);
    }
    expect(counts).toEqual([1, 2, 2, 3]);
    connection.answer = answer;
    await clock.advance(20_000);
    expect([supervisor.lastError, lists.at(-1)?.hasFailed]).toEqual([undefined, undefined]);
    const { length } = lists;
    await clock.advance(1_000_000);
    expect([starts, lists.length]).toEqual([1, length]);
  });

  it("asks a server again whose next list does not come at all", async () => {
    const connection = new FakeConnection();
    const refusals = ["SERVER_ERROR", "TIMEOUT", "SERVER_ERROR"] as const;
    let asked = 0;
    connection.answer = () => {
      asked += 1;
      return Promise.reject(new PlugboardError(refusals[asked - 1] ?? "SERVER_ERROR", "no list"));
    };
    script = [connection];
    const supervisor = supervise();
    await supervisor.start();
    await clock.advance(5000);
    await clock.advance(10_000);
    expect([asked, supervisor.state.kind, starts]).toEqual([3, "ready", 1]);
  });

  it("gives up a list that takes longer than the timeout", async () => {
    const connection = new FakeConnection();
    connection.answer = () => new Promise(() => {});
    script = [connection];
    const supervisor = supervise();
    void supervisor.start();
    await clock.advance(30_500);
    expect(supervisor.state).toMatchObject({ kind: "backoff", error: { code: "TIMEOUT" } });
  });

  it("joins a start that is under way", async () => {
    const supervisor = supervise();
    await Promise.all([supervisor.start(), supervisor.start(), supervisor.acquire()]);
    expect(starts).toBe(1);
  });

  it("never starts a disabled server", async () => {
    const supervisor = supervise({ enabled: false });
    await supervisor.start();
    await supervisor.restart();
    await supervisor.stop();
    expect(starts).toBe(0);
    expect(await failures(supervisor)).toBe("server 'github' is disabled");
    await supervisor.close();
    expect(supervisor.state.kind).toBe("disabled");
  });
});

describe("failing to start", () => {
  it("tries again after 1, 2, 4, 8 and 16 s and gives up after five restarts", async () => {
    script = [crash, crash, crash, crash, crash, crash];
    const supervisor = supervise();
    await supervisor.start();
    for (const [failed, delay] of [1000, 2000, 4000, 8000, 16_000].entries()) {
      expect(supervisor.state).toMatchObject({ kind: "backoff", attempt: failed + 2, of: 6 });
      expect(clock.next()).toBe(delay);
      await clock.advance(delay);
    }
    expect(supervisor.state).toMatchObject({ kind: "failed", error: crash });
    expect(clock.next()).toBeUndefined();
    expect(starts).toBe(6);
    expect(supervisor.restarts).toBe(5);
  });

  it("does not retry what cannot get better", async () => {
    script = [missing];
    const supervisor = supervise();
    await supervisor.start();
    expect(supervisor.state.kind).toBe("failed");
    expect(clock.next()).toBeUndefined();
  });

  it("makes one attempt per call after a failure that you can repair", async () => {
    script = [missing, missing];
    const supervisor = supervise();
    await supervisor.start();
    expect(await failures(supervisor)).toBe("server 'github' has failed: no such command");
    expect(starts).toBe(2);
    expect(await failures(supervisor)).toBe("connected");
    expect(supervisor.state.kind).toBe("ready");
    expect(supervisor.lastError).toBeUndefined();
  });

  it.each([
    ["used up its restarts", { maxRestarts: 1 }, [crash, crash]],
    ["may not be restarted at all", { maxRestarts: 0 }, [crash]],
  ])("stays failed for calls once it has %s, until it is started", async (_, limits, attempts) => {
    script = [...attempts];
    const supervisor = supervise(limits);
    await supervisor.start();
    await clock.advance(1000);
    expect(supervisor.state).toMatchObject({ kind: "failed", error: crash });
    const refusal = await supervisor.acquire().catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      message: `server 'github' has failed: ${crash.message}; it is not restarted automatically`,
      hint: "to start it again: restart it",
      cause: crash,
    });
    expect(starts).toBe(attempts.length);
    await supervisor.start();
    expect(supervisor.state.kind).toBe("ready");
    expect(await failures(supervisor)).toBe("connected");
  });

  it("does not retry at all with restartOnCrash: false", async () => {
    script = [crash];
    const supervisor = supervise({ restartOnCrash: false });
    await supervisor.start();
    expect(supervisor.state.kind).toBe("failed");
  });
});

describe("a remote server", () => {
  const target = {
    kind: "http",
    url: "https://example.com/mcp",
    headers: {},
    allowInsecure: false,
    allowPrivate: false,
  } as const;
  const unreachable = new PlugboardError("NETWORK", "example.com cannot be reached");
  const locked = new PlugboardError("NEEDS_AUTH", "the server requires authentication", {
    permanent: true,
    status: 401,
    hint: "give it a token",
  });
  const remedy = "the server requires authentication; give it a token";

  it.each(["http", "sse", "remote"] as const)(
    "is tried again for ever, at most every minute (%s)",
    async (kind) => {
      script = Array.from({ length: 30 }, () => unreachable);
      const supervisor = supervise({ target: { ...target, kind }, maxRestarts: 2 });
      await supervisor.start();
      const delays: unknown[] = [];
      for (let failed = 1; failed <= 30; failed += 1) {
        expect(supervisor.state).toMatchObject({ kind: "backoff", attempt: failed + 1 });
        expect(supervisor.state).not.toHaveProperty("of");
        const delay = clock.next() ?? 0;
        delays.push(delay);
        await clock.advance(delay);
      }
      expect(delays.slice(0, 7)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, MINUTE]);
      expect(new Set(delays.slice(7))).toEqual(new Set([MINUTE]));
      expect(supervisor.state.kind).toBe("ready");
    },
  );

  it("is not tried again with maxRestarts: 0", async () => {
    script = [unreachable];
    const supervisor = supervise({ target, maxRestarts: 0 });
    await supervisor.start();
    expect(supervisor.state).toMatchObject({ kind: "failed", error: unreachable });
  });

  it("is restarted however often it is lost", async () => {
    const supervisor = supervise({ target });
    await supervisor.start();
    for (let count = 0; count < 40; count += 1) {
      opened.at(-1)?.crash(unreachable);
      await settle();
      expect(supervisor.state).toMatchObject({ kind: "backoff" });
      await clock.advance(clock.next() ?? 0);
      expect(supervisor.state.kind).toBe("ready");
    }
    expect(supervisor.restarts).toBe(40);
  });

  it("tells a call when the next try is, without a number of tries", async () => {
    script = [unreachable, unreachable, unreachable, unreachable];
    const supervisor = supervise({ target });
    await supervisor.start();
    for (const wait of [1000, 2000, 4000]) await clock.advance(wait);
    expect(await failures(supervisor)).toBe(
      "server 'github' is restarting, attempt 5, next try in 8 s (example.com cannot be reached)",
    );
  });

  it("is not tried again with restartOnCrash: false", async () => {
    script = [unreachable];
    const supervisor = supervise({ target, restartOnCrash: false });
    await supervisor.start();
    expect(supervisor.state).toMatchObject({ kind: "failed", error: unreachable });
    expect(clock.next()).toBeUndefined();
  });

  it("that requires authentication waits for it, with the remedy and no timer", async () => {
    script = [locked];
    const supervisor = supervise({ target });
    await supervisor.start();
    expect(supervisor.state).toEqual({ kind: "needs-auth", remedy });
    expect(supervisor.lastError).toBe(locked);
    expect(states).toEqual(["starting", "needs-auth"]);
    expect(clock.next()).toBeUndefined();
  });

  it("that requires authentication without a hint gets a default hint", async () => {
    script = [new PlugboardError("NEEDS_AUTH", "who is calling?")];
    const supervisor = supervise({ target });
    await supervisor.start();
    expect(supervisor.state).toEqual({ kind: "needs-auth", remedy: "who is calling?; sign in" });
  });

  it("that requires authentication is tried once per call, which fails with the remedy", async () => {
    script = [locked, locked];
    const supervisor = supervise({ target });
    await supervisor.start();
    expect(await failures(supervisor)).toBe(`server 'github' is not started: ${remedy}`);
    expect(starts).toBe(2);
  });

  it("serves a call after you signed in elsewhere", async () => {
    script = [locked];
    const supervisor = supervise({ target });
    await supervisor.start();
    expect(await supervisor.acquire()).toBe(supervisor.live);
  });

  it("that requires authentication in mid-session is not retried", async () => {
    const supervisor = supervise({ target });
    await supervisor.start();
    opened[0]?.crash(locked);
    await settle();
    expect(supervisor.state).toEqual({ kind: "needs-auth", remedy });
    expect(supervisor.live).toBeUndefined();
    expect(clock.next()).toBeUndefined();
  });

  it.each(["start", "refresh", "restart"] as const)(
    "that does so is asked again by %s",
    async (method) => {
      script = [locked, locked];
      const supervisor = supervise({ target });
      await supervisor.start();
      await supervisor[method]();
      expect(supervisor.state).toEqual({ kind: "needs-auth", remedy });
      await supervisor[method]();
      expect(supervisor.state.kind).toBe("ready");
      expect(starts).toBe(3);
      expect(supervisor.lastError).toBeUndefined();
    },
  );

  it("that requires authentication is closed like any other", async () => {
    script = [locked];
    const supervisor = supervise({ target });
    await supervisor.start();
    await supervisor.close();
    expect(supervisor.state.kind).toBe("stopped");
  });
});

describe("a call's way to a connection", () => {
  it("starts an idle server and waits for it", async () => {
    const supervisor = supervise();
    expect(await supervisor.acquire()).toBe(opened[0]);
  });

  it("waits for a starting server up to its timeout, then says that it is still starting", async () => {
    script = [never()];
    const supervisor = supervise({ timeout: 5000 });
    const outcome = failures(supervisor);
    await clock.advance(5500);
    expect(await outcome).toBe(
      "server 'github' did not become ready within 5 s; it is still starting, try again shortly",
    );
    expect(supervisor.state.kind).toBe("starting");
  });

  it("is told at once, in backoff, when the next try is, if that is not soon", async () => {
    script = [crash, crash, crash, crash];
    const supervisor = supervise();
    await supervisor.start();
    for (const wait of [1000, 2000, 4000]) await clock.advance(wait);
    expect(supervisor.state).toMatchObject({ kind: "backoff" });
    expect(await failures(supervisor)).toBe(
      "server 'github' is restarting, attempt 5 of 6, next try in 8 s (the server exited with code 1)",
    );
    expect(starts).toBe(4);
  });

  it("waits in backoff for the next try, if that is soon, and begins no other", async () => {
    script = [crash];
    const supervisor = supervise();
    await supervisor.start();
    const calls = [supervisor.acquire(), supervisor.acquire()];
    await clock.advance(999);
    expect(starts).toBe(1);
    await clock.advance(1);
    expect(await Promise.all(calls)).toEqual([opened[0], opened[0]]);
    expect([starts, supervisor.restarts]).toEqual([2, 1]);
  });

  it.each([-400, 6])(
    "waits as long where the wall clock is set by %i hours meanwhile",
    async (hours) => {
      script = [crash, crash, crash, crash];
      const supervisor = supervise();
      await supervisor.start();
      for (const wait of [1000, 2000]) await clock.advance(wait);
      const wall = clock.now.bind(clock);
      clock.now = () => wall() + hours * 3_600_000;
      const soon = failures(supervisor);
      await clock.advance(3999);
      expect(starts).toBe(3);
      await clock.advance(1);
      expect(await soon).toContain("next try in 8 s");
      expect(starts).toBe(4);
    },
  );

  it("waits for one try only", async () => {
    script = [crash, crash];
    const supervisor = supervise();
    await supervisor.start();
    const outcome = failures(supervisor);
    await clock.advance(1000);
    expect(await outcome).toContain("next try in 2 s");
    expect(starts).toBe(2);
  });

  it.each([
    ["a cancelled call", "the call was cancelled"],
    ["a server that is stopped", "server 'github' is stopped"],
    ["a server that a person restarts", "connected"],
  ])("stops waiting in backoff: %s", async (what, expected) => {
    script = [crash];
    const supervisor = supervise();
    await supervisor.start();
    const abort = new AbortController();
    const outcome = supervisor.acquire(abort.signal).then(
      () => "connected",
      (error: Error) => error.message,
    );
    if (what === "a cancelled call") abort.abort();
    else if (what === "a server that is stopped") await supervisor.close();
    else await supervisor.restart();
    expect(await outcome).toBe(expected);
    await supervisor.close();
    expect(clock.next()).toBeUndefined();
  });

  it("ends with the caller's signal", async () => {
    script = [never()];
    const supervisor = supervise();
    const abort = new AbortController();
    const outcome = supervisor.acquire(abort.signal);
    abort.abort();
    await expect(outcome).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(supervisor.acquire(abort.signal)).rejects.toMatchObject({ code: "CANCELLED" });
  });

  it("is refused after close", async () => {
    const supervisor = supervise();
    await supervisor.close();
    expect(await failures(supervisor)).toBe("server 'github' is stopped");
    expect(starts).toBe(0);
  });
});

describe("the log", () => {
  const told = () => logger.lines.map(({ level, message }) => [level, message]);

  it("has a line for every failed start, every crash, every restart and every recovery", async () => {
    script = [new PlugboardError("TIMEOUT", "too slow"), new PlugboardError("TIMEOUT", "too slow")];
    const supervisor = supervise({ maxRestarts: 3 });
    await supervisor.start();
    await clock.advance(1000);
    await clock.advance(2000);
    opened[0]?.crash(crash);
    await settle();
    await clock.advance(4000);
    opened[1]?.crash(crash);
    await settle();
    expect(told()).toEqual([
      ["error", "start failed: too slow; next attempt in 1 s"],
      ["info", "restarting"],
      ["error", "start failed: too slow; next attempt in 2 s"],
      ["info", "restarting"],
      ["info", "ready again"],
      ["warn", `crashed: ${crash.message}; next attempt in 4 s`],
      ["info", "restarting"],
      ["info", "ready again"],
      ["error", `crashed: ${crash.message}; no further attempt: 3 restarts did not help`],
    ]);
  });

  it.each([
    [
      "error",
      new PlugboardError("SPAWN_FAILED", "no such command", {
        permanent: true,
        hint: "install it",
      }),
      "start failed: no such command (install it); no further attempt: trying again would not help",
      { server: "docs", state: "failed", code: "SPAWN_FAILED" },
    ],
    [
      "warn",
      new PlugboardError("NEEDS_AUTH", "who are you?", { permanent: true, hint: "log in" }),
      "start failed: who are you?; log in",
      { server: "docs", state: "needs-auth", code: "NEEDS_AUTH" },
    ],
  ])("says what happens next, at %s: %s", async (level, error, message, fields) => {
    script = [error];
    await supervise({ name: "docs" }).start();
    expect(logger.lines).toEqual([{ level, message, fields }]);
  });

  it("of a start that works says so only to those who want to know", async () => {
    await supervise().start();
    expect(told()).toEqual([["info", "ready"]]);
  });
});

describe("crashing", () => {
  it("restarts after a second, lists the tools again and counts the restart", async () => {
    const supervisor = supervise();
    await supervisor.start();
    opened[0]?.crash(crash);
    await settle();
    expect(supervisor.state).toMatchObject({ kind: "backoff", attempt: 2, of: 6 });
    expect(supervisor.live).toBeUndefined();
    expect(supervisor.stderrTail()).toEqual(["last words"]);
    await clock.advance(1000);
    expect(supervisor.live).toBe(opened[1]);
    expect(lists).toHaveLength(2);
    expect(supervisor.restarts).toBe(1);
  });

  it("waits, before the restart, until nothing of the crashed server is left", async () => {
    const supervisor = supervise();
    await supervisor.start();
    let gone = (): void => {};
    const first = opened[0];
    if (first === undefined) throw new Error("not started");
    first.closing = new Promise((resolve) => {
      gone = resolve;
    });
    first.crash(crash);
    await clock.advance(10_000);
    expect(starts).toBe(1);
    gone();
    await settle();
    expect(supervisor.state.kind).toBe("ready");
  });

  it("waits longer each time, and a healthy minute resets that", async () => {
    const supervisor = supervise({ maxRestarts: 100 });
    await supervisor.start();
    for (const delay of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      opened.at(-1)?.crash(crash);
      await settle();
      expect(clock.next()).toBe(delay);
      await clock.advance(delay);
    }
    await clock.advance(MINUTE);
    opened.at(-1)?.crash(crash);
    await settle();
    expect(clock.next()).toBe(1000);
  });

  it.each([0, 2])("ends in failed after maxRestarts restarts in a row: %i", async (maxRestarts) => {
    const supervisor = supervise({ maxRestarts });
    await supervisor.start();
    for (let restart = 0; restart < maxRestarts; restart += 1) {
      opened.at(-1)?.crash(crash);
      await settle();
      await clock.advance(2000);
      expect(supervisor.state.kind).toBe("ready");
    }
    opened.at(-1)?.crash(crash);
    await settle();
    expect(supervisor.state).toMatchObject({ kind: "failed", error: crash });
    expect(clock.next()).toBeUndefined();
  });

  it("ends in failed after 20 crashes in ten minutes, whatever maxRestarts is", async () => {
    const supervisor = supervise({ maxRestarts: 1000 });
    await supervisor.start();
    for (let count = 1; count < 20; count += 1) {
      opened.at(-1)?.crash(crash);
      await settle();
      expect(supervisor.state.kind).toBe("backoff");
      await clock.advance(30_000);
    }
    opened.at(-1)?.crash(crash);
    await settle();
    expect(supervisor.state.kind).toBe("failed");
    expect(clock.next()).toBeUndefined();
  });

  it("stays down with restartOnCrash: false", async () => {
    const supervisor = supervise({ restartOnCrash: false });
    await supervisor.start();
    opened[0]?.crash(crash);
    await settle();
    expect(supervisor.state).toMatchObject({ kind: "failed", error: crash });
  });

  it("for a reason that stays is the end, until somebody calls", async () => {
    const supervisor = supervise();
    await supervisor.start();
    const withdrawn = new PlugboardError("SERVER_UNAVAILABLE", "it is gone", { permanent: true });
    opened[0]?.crash(withdrawn);
    await settle();
    expect(supervisor.state).toMatchObject({ kind: "failed", error: withdrawn });
    expect(clock.next()).toBeUndefined();
    expect(await supervisor.acquire()).toBe(opened[1]);
  });

  it("of a server in the ACP client ends as that of a program does", async () => {
    const supervisor = supervise({ target: { kind: "acp", serverId: "1" }, maxRestarts: 1 });
    script = [crash, crash];
    await supervisor.start();
    await clock.advance(clock.next() ?? 0);
    expect(supervisor.state).toMatchObject({ kind: "failed", error: crash });
  });

  it("does not count a deliberate stop", async () => {
    const supervisor = supervise();
    await supervisor.start();
    await supervisor.restart();
    expect(states).toEqual(["starting", "ready", "stopping", "idle", "starting", "ready"]);
    expect(supervisor.restarts).toBe(0);
    expect(opened[0]?.closes).toBe(1);
  });
});

describe("stopping", () => {
  it("is idempotent and leaves no timer", async () => {
    script = [crash];
    const supervisor = supervise();
    await supervisor.start();
    await Promise.all([supervisor.close(), supervisor.close()]);
    await supervisor.close();
    expect(supervisor.state.kind).toBe("stopped");
    expect(clock.next()).toBeUndefined();
  });

  it("gives up a start that is under way", async () => {
    script = [never()];
    const supervisor = supervise();
    const attempt = supervisor.start();
    await settle();
    await supervisor.close();
    await attempt;
    expect(supervisor.state.kind).toBe("stopped");
    expect(states).toEqual(["starting", "stopping", "stopped"]);
  });

  it("by a person lasts until a person starts it again", async () => {
    const supervisor = supervise({ idleTimeout: 5000 });
    await supervisor.start();
    await supervisor.stop();
    expect(supervisor.state).toEqual({ kind: "stopped", remedy: expect.any(String) as string });
    expect(opened[0]?.closes).toBe(1);
    await Promise.all([supervisor.start(), supervisor.refresh(), supervisor.attempt(true)]);
    expect(await failures(supervisor)).toBe("server 'github' is stopped");
    expect(clock.next()).toBeUndefined();
    expect(starts).toBe(1);
    await supervisor.restart();
    expect(supervisor.state.kind).toBe("ready");
  });

  it("by a person gives up a start that is under way, and the tries of one that fails", async () => {
    script = [never(), crash];
    const supervisor = supervise();
    const attempt = supervisor.start();
    await settle();
    await supervisor.stop();
    await attempt;
    expect(supervisor.state.kind).toBe("stopped");
    await supervisor.restart();
    expect(supervisor.state.kind).toBe("backoff");
    await supervisor.stop();
    expect(supervisor.state.kind).toBe("stopped");
    expect(clock.next()).toBeUndefined();
  });

  it("does not start again when it is closed in the middle of a restart", async () => {
    const supervisor = supervise();
    await supervisor.start();
    const restarting = supervisor.restart();
    const closing = supervisor.close();
    await Promise.all([restarting, closing]);
    await settle();
    expect(starts).toBe(1);
    expect(supervisor.state.kind).toBe("stopped");
    expect(states.at(-1)).toBe("stopped");
  });

  it("closes a connection that opens just as it is stopped", async () => {
    const connection = new FakeConnection();
    let arrive: (list: ToolList) => void = () => {};
    connection.answer = () =>
      new Promise((resolve) => {
        arrive = resolve;
      });
    script = [connection];
    const supervisor = supervise();
    void supervisor.start();
    await settle();
    const closing = supervisor.close();
    arrive({ tools: [], diagnostics: [], capabilities: {} });
    await closing;
    expect(connection.closes).toBe(1);
    expect(supervisor.live).toBeUndefined();
  });

  it("restarts a failed server and forgives its failures", async () => {
    script = [crash, crash];
    const supervisor = supervise({ maxRestarts: 1 });
    await supervisor.start();
    await clock.advance(1000);
    expect(supervisor.state.kind).toBe("failed");
    script = [crash];
    await supervisor.restart();
    expect(supervisor.state).toMatchObject({ kind: "backoff", attempt: 2 });
    expect(clock.next()).toBe(1000);
  });
});

describe("idling", () => {
  it("stops after idleTimeout without a call and comes back with the next", async () => {
    const supervisor = supervise({ idleTimeout: 5000 });
    await supervisor.start();
    await clock.advance(5000);
    expect(supervisor.state.kind).toBe("idle");
    expect(opened[0]?.closes).toBe(1);
    expect(await supervisor.acquire()).toBe(opened[1]);
  });

  it("counts from the end of the last call", async () => {
    const supervisor = supervise({ idleTimeout: 5000 });
    await supervisor.start();
    supervisor.enter();
    await clock.advance(20_000);
    expect(supervisor.state.kind).toBe("ready");
    supervisor.leave();
    await clock.advance(4999);
    expect(supervisor.state.kind).toBe("ready");
    await clock.advance(1);
    expect(supervisor.state.kind).toBe("idle");
  });

  it("goes by another idleTimeout as soon as there is one, and the definition before stays as it was", async () => {
    const supervisor = supervise({ idleTimeout: 5000 });
    await supervisor.start();
    const before = supervisor.definition;
    supervisor.reconfigure({ ...before, idleTimeout: 1000 });
    expect([before.idleTimeout, supervisor.definition.idleTimeout]).toEqual([5000, 1000]);
    await clock.advance(1000);
    expect(supervisor.state.kind).toBe("idle");
  });

  it("makes a call that arrives while it stops wait and start it again", async () => {
    const supervisor = supervise({ idleTimeout: 5000 });
    await supervisor.start();
    let gone = (): void => {};
    const first = opened[0];
    if (first === undefined) throw new Error("not started");
    first.closing = new Promise((resolve) => {
      gone = resolve;
    });
    await clock.advance(5000);
    expect(supervisor.state.kind).toBe("stopping");
    const connection = supervisor.acquire();
    gone();
    expect(await connection).toBe(opened[1]);
  });

  it("stops a server that was started only to list its tools, unless a call follows", async () => {
    const supervisor = supervise({ lazy: true });
    await supervisor.start(true);
    await clock.advance(30_000);
    expect(supervisor.state.kind).toBe("idle");
    await supervisor.acquire();
    supervisor.enter();
    supervisor.leave();
    await clock.advance(10 * MINUTE);
    expect(supervisor.state.kind).toBe("ready");
  });
});

describe("changing tools", () => {
  it("answers a burst of notifications with one list", async () => {
    const supervisor = supervise();
    await supervisor.start();
    for (let count = 0; count < 50; count += 1) opened[0]?.changeTools();
    await clock.advance(1000);
    expect(lists).toHaveLength(2);
  });

  it("keeps the old tools when listing fails", async () => {
    const supervisor = supervise();
    await supervisor.start();
    const connection = opened[0];
    if (connection === undefined) throw new Error("not started");
    connection.answer = () => Promise.reject(new PlugboardError("TIMEOUT", "late"));
    connection.changeTools();
    await clock.advance(1000);
    expect(supervisor.state.kind).toBe("ready");
    expect(lists).toHaveLength(1);
  });

  it("lists again on refresh, and starts where the server is down", async () => {
    const supervisor = supervise();
    await supervisor.refresh();
    expect(lists).toHaveLength(1);
    await supervisor.refresh();
    expect(lists).toHaveLength(2);
    expect(starts).toBe(1);
  });

  it("makes one attempt at once on refresh in backoff", async () => {
    script = [crash];
    const supervisor = supervise();
    await supervisor.start();
    expect(supervisor.state.kind).toBe("backoff");
    await supervisor.refresh();
    expect(supervisor.state.kind).toBe("ready");
    expect(clock.next()).toBeUndefined();
  });
});
