import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { makeCookie, parseCookie } from "../../../src/core/process/cookie.ts";
import { currentHost, hostIdentity } from "../../../src/core/process/host-identity.ts";
import { openProcessTable } from "../../../src/core/process/open-process-table.ts";
import type { ReapOptions } from "../../../src/core/process/reap-orphans.ts";
import { listOrphans, reapOrphans } from "../../../src/core/process/reap-orphans.ts";
import { startProcess } from "../../../src/core/process/start-process.ts";
import type { ProcessEntry, ProcessTable } from "../../../src/core/process/process-table.ts";
import { PsTable } from "../../../src/core/process/ps-table.ts";
import {
  eventually,
  expectAllGone,
  expectNoProcesses,
  isAlive,
  processesWith,
} from "../../support/processes.ts";
import { recordingLogger } from "../../support/logger.ts";
import type { Compiled } from "../../support/compile.ts";
import { fixture, introduction, pidOf } from "./fixtures.ts";
import {
  type Host,
  compileHost,
  hostArgs,
  killHost,
  type ServerList,
  startHost,
  testHost,
} from "./hosts.ts";

let compiled: Compiled;
const hosts: Host[] = [];

beforeAll(async () => {
  compiled = await compileHost();
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const host of hosts.splice(0)) {
    host.process.kill("SIGKILL");
    expectAllGone(pidsIn(host));
  }
  expectNoProcesses();
});

afterAll(() => compiled.remove());

async function startList(
  list: ServerList,
  then: "stay" | "exit" | "hurry" | "end" = "stay",
): Promise<Host> {
  const started = await startHost(hostArgs(compiled.modules, list, then));
  hosts.push(started);
  return started;
}

/** What the next host does; it shares only this test's space with the killed ones. */
const reap = (options: ReapOptions = {}): ReturnType<typeof reapOrphans> =>
  reapOrphans({ host: testHost, grace: 200, ...options });

const node = (...args: string[]): ServerList[number] => ({ command: process.execPath, args });

const pidsIn = (host: Host): number[] => host.servers.flatMap(({ said }) => Object.values(said));

const sorted = (pids: Iterable<number>): number[] => [...pids].toSorted((a, b) => a - b);

async function lookAlike(cookie: string): Promise<number> {
  const env = { PLUGBOARD_COOKIE: cookie };
  const child = spawn(process.execPath, [fixture("idle")], { env, detached: true });
  await introduction(child.stdout);
  return child.pid ?? 0;
}

/** The system's table, with something that happens to the list before it is used. */
function seen(change: (entries: ProcessEntry[]) => Promise<ProcessEntry[]>): ProcessTable {
  const real = openProcessTable(process.platform);
  if (!real) throw new Error("no table");
  return {
    list: async () => change(await real.list()),
    listNow: (since) => real.listNow(since),
    descendants: (pid) => real.descendants(pid),
    living: (refs) => real.living(refs),
  };
}

describe("a host that is killed", () => {
  it("is really the one its cookies name", async () => {
    const list = [node(fixture("polite"))];
    const victim = await startHost(hostArgs(compiled.modules, list, "stay").slice(0, -1));
    hosts.push(victim);
    const cookie = parseCookie(victim.servers[0]?.cookie ?? "");
    if (!cookie) throw new Error("no cookie");
    expect(cookie).toMatchObject({ pid: victim.process.pid, space: currentHost().space });
    const table = openProcessTable(process.platform);
    expect(await table?.living([cookie])).toEqual([cookie]);
    // Every plugboard on this machine looks for what this host leaves behind, so that must be nothing.
    for (const pid of pidsIn(victim)) process.kill(pid, "SIGKILL");
    await eventually(() => !pidsIn(victim).some(isAlive));
    await killHost(victim);
    expect(await table?.living([cookie])).toEqual([]);
  });

  it("leaves servers behind; the next host ends exactly those", async () => {
    const victim = await startList([
      node(fixture("idle")),
      node(fixture("stubborn")),
      node(fixture("daemon-parent"), "", fixture("idle")),
    ]);
    const other = await startList([node(fixture("idle"))]);
    const cookie = makeCookie(testHost);
    const mine = await startProcess({ command: process.execPath, args: [fixture("idle")], cookie });
    await introduction(mine.stdout);

    expect(await reap()).toEqual([]);
    expect(pidsIn(victim).every(isAlive)).toBe(true);

    expect(await listOrphans({ host: testHost })).toEqual([]);
    await killHost(victim);
    const listed = await listOrphans({ host: testHost });
    const logger = recordingLogger();
    const reaped = await reap({ logger });
    expect(logger.lines).toMatchObject([
      {
        level: "warn",
        message: expect.stringMatching(
          /^ended processes that an earlier run left behind: node \(\d\)$/,
        ),
      },
    ]);

    // The one with the daemon may have ended with stdin by itself.
    const polite = pidOf(victim.servers[2]?.said ?? {}, "pid");
    const left = pidsIn(victim).filter((pid) => pid !== polite);
    const found = reaped.map(({ pid }) => pid).filter((pid) => pid !== polite);
    expect(sorted(found)).toEqual(sorted(left));
    expect(listed.map(({ pid }) => pid)).toEqual(expect.arrayContaining(left));
    expect(reaped.every(({ ageMs }) => ageMs >= 0 && ageMs < 60_000)).toBe(true);
    expect(pidsIn(victim).filter(isAlive)).toEqual([]);
    expect(isAlive(mine.pid)).toBe(true);
    expect(pidsIn(other).every(isAlive)).toBe(true);

    await mine.stop();
    await killHost(other);
    await reap();
  });

  it("leaves servers behind that ps finds as well", async () => {
    // Cookies made on Linux hold start times that ps does not print.
    const start = hostIdentity({ platform: "darwin" }).start;
    const dead = { ...testHost, pid: 2 ** 22 + 1, start };
    const orphan = await lookAlike(makeCookie(dead));
    const other = await lookAlike(makeCookie({ ...testHost, start }));
    const reaped = await reap({ table: new PsTable() });
    expect(reaped.map(({ pid }) => pid)).toEqual([orphan]);
    expect(isAlive(other)).toBe(true);
    process.kill(other, "SIGKILL");
    await eventually(() => !isAlive(other));
  });

  it("may have been a server itself: its own servers are ended after it", async () => {
    const inner = hostArgs(compiled.modules, [node(fixture("stubborn"))], "stay");
    const outer = await startList([node(...inner)]);
    const [started] = outer.servers.map(({ said }) => said) as unknown as {
      said: { pid: number };
    }[][];
    const innermost = started?.[0]?.said.pid ?? 0;
    expect(isAlive(innermost)).toBe(true);
    outer.servers = [];
    await killHost(outer);
    const reaped = await reap();
    expect(reaped.map(({ pid }) => pid)).toContain(innermost);
    expect(isAlive(innermost)).toBe(false);
  });
});

describe("a host that ends before its servers are stopped", () => {
  // As a browser: it has left the group of its server, and its parent ends with stdin.
  const daemon = (mode: string, program: string): ServerList[number] =>
    node(fixture("daemon-parent"), mode, fixture(program));

  it.each(["exit", "hurry"] as const)(
    "takes them and all they started with it: %s",
    async (then) => {
      const list = [
        node(fixture("idle")),
        node(fixture("stubborn")),
        daemon("", "idle"),
        daemon("", "stubborn"),
        daemon("", "phoenix"),
        daemon("clean", "stubborn"),
      ];
      const ended = await startList(list, then);
      if (ended.process.exitCode === null) await once(ended.process, "exit");
      expect(ended.process.exitCode).toBe(0);
      expect(pidsIn(ended).filter(isAlive)).toEqual([]);
      expect(processesWith(testHost.space)).toEqual([]);
    },
  );
});

describe("a host that stops its servers and waits for nothing", () => {
  it("lives until they are gone, and no longer", async () => {
    const ended = await startList([node(fixture("idle")), node(fixture("polite"))], "end");
    if (ended.process.exitCode === null) await once(ended.process, "exit");
    expect(ended.process.exitCode).toBe(0);
    expect(pidsIn(ended).filter(isAlive)).toEqual([]);
  });
});

describe("reaping", () => {
  const me = testHost;
  const dead = { ...me, pid: 2 ** 22 + 1, start: "17" };

  it.each([
    ["whose host lives", makeCookie(me)],
    ["of another user's host", makeCookie({ ...dead, uid: me.uid + 1 })],
    ["of another pid namespace or boot", makeCookie({ ...dead, space: "elsewhere" })],
    ["of a host that could not tell its start time", makeCookie({ ...dead, start: "0" })],
    ["with a cookie of another version", makeCookie(dead).replace("1.", "9.")],
    ["with something else for a cookie", "chocolate"],
  ])("leaves alone a process %s", async (_, cookie) => {
    const pid = await lookAlike(cookie);
    expect(await reap()).toEqual([]);
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
    await eventually(() => !isAlive(pid));
  });

  it("is not fooled by a reused pid", async () => {
    const pid = await lookAlike(makeCookie({ ...me, start: "17" }));
    expect((await reap()).map((reaped) => reaped.pid)).toEqual([pid]);
    expect(isAlive(pid)).toBe(false);
  });

  it("spares the caller, its ancestors, and all that carry their cookie", async () => {
    const cookie = makeCookie(dead);
    const carrier = await lookAlike(cookie);
    const table = seen(async (entries) =>
      entries.map((entry) => (entry.pid === process.ppid ? { ...entry, cookie } : entry)),
    );
    expect(await reap({ table })).toEqual([]);
    expect(isAlive(carrier)).toBe(true);
    expect(await reap()).toMatchObject([{ pid: carrier }]);
  });

  it("ends an orphan's relatives, except those with another host", async () => {
    const script = `PLUGBOARD_COOKIE=$2 "$0" "$1" & env -i "$0" "$1" & wait`;
    const args = ["-c", script, process.execPath, fixture("idle"), makeCookie(me)];
    const env = { PLUGBOARD_COOKIE: makeCookie(dead), PATH: "/usr/bin:/bin" };
    const parent = spawn("/bin/sh", args, { env, detached: true });
    let said = "";
    parent.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await eventually(() => said.trim().split("\n").length === 2);
    const children = said
      .trim()
      .split("\n")
      .map((line): number => JSON.parse(line).pid);
    const reaped = await reap();
    expect(reaped).toHaveLength(2);
    const [spared = 0, ...others] = children.filter(isAlive);
    expect(others).toEqual([]);
    expect(processesWith(makeCookie(me).split(".").slice(0, 5).join("."))).toEqual([spared]);
    process.kill(spared, "SIGKILL");
    await eventually(() => !isAlive(spared));
  });

  it("says nothing of a host that ends with all its servers while it is looked at", async () => {
    const host = await startList([node(fixture("polite"))]);
    const table = seen(async (entries) => {
      for (const pid of pidsIn(host).filter(isAlive)) process.kill(pid, "SIGKILL");
      await eventually(() => !pidsIn(host).some(isAlive));
      if (isAlive(host.process.pid ?? 0)) await killHost(host);
      return entries;
    });
    const logger = recordingLogger();
    expect(await reap({ table, logger })).toEqual([]);
    expect(logger.lines).toEqual([]);
  });

  it("does nothing on Windows", async () => {
    expect(await reap({ platform: "win32" })).toEqual([]);
  });

  it("says so when it cannot look", async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (m: string) => warnings.push(m) };
    const fail = async (): Promise<never> => Promise.reject(new Error("no table"));
    const table: ProcessTable = { list: fail, listNow: () => [], descendants: fail, living: fail };
    expect(await reap({ table, logger })).toEqual([]);
    expect(warnings).toEqual(["cannot look for servers that an earlier run left behind"]);
  });

  it("says what it cannot end", async () => {
    const pid = await lookAlike(makeCookie(dead));
    const warnings: unknown[] = [];
    const logger = {
      debug() {},
      info() {},
      error() {},
      warn: (_: string, fields?: unknown) => warnings.push(fields),
    };
    const kill = vi.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
    });
    expect(await reap({ logger })).toEqual([]);
    expect(warnings).toEqual([{ pids: [pid] }]);
    kill.mockRestore();
    expect(await reap()).toHaveLength(1);
  });
});
