// Checks the contract of a process table against real processes.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { ProcessEntry, ProcessTable } from "../../../src/core/process/process-table.ts";
import { ProcTable } from "../../../src/core/process/proc-table.ts";
import { PsTable } from "../../../src/core/process/ps-table.ts";
import { eventually, expectNoProcesses, isAlive, processesWith } from "../../support/processes.ts";
import { fixture } from "./fixtures.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const linux = process.platform === "linux";
const tables: [string, () => ProcessTable][] = [["ps", () => new PsTable()]];
if (linux) tables.push(["/proc", () => new ProcTable()]);

const marker = `PLUGBOARD_COOKIE=table-test-${process.pid}-`;
const cookie = (name: string): string => marker.slice("PLUGBOARD_COOKIE=".length) + name;

describe.each(tables)("the process table from %s", (_, openTable) => {
  const children: ChildProcess[] = [];

  afterEach(async () => {
    for (const child of children.splice(0)) {
      const gone = child.exitCode !== null || child.signalCode !== null;
      child.kill("SIGKILL");
      if (!gone) await once(child, "exit");
    }
    expectNoProcesses(marker);
  });

  async function start(
    command: string,
    args: string[],
    env: Record<string, string>,
    detached = false,
  ): Promise<number> {
    const child = spawn(command, args, { env, detached, stdio: "ignore" });
    children.push(child);
    await once(child, "spawn");
    return child.pid ?? 0;
  }

  const idle = (env: Record<string, string>, ...args: string[]): Promise<number> =>
    start(process.execPath, [fixture("idle"), ...args], env);

  async function entryOf(table: ProcessTable, pid: number): Promise<ProcessEntry | undefined> {
    return (await table.list()).find((entry) => entry.pid === pid);
  }

  it("knows this process", async () => {
    const entry = await entryOf(openTable(), process.pid);
    expect(entry).toMatchObject({
      ppid: process.ppid,
      uid: process.geteuid?.(),
      zombie: false,
    });
    expect(entry?.cookie).toBeUndefined();
    const age = Date.now() - performance.timeOrigin;
    expect(Math.abs((entry?.ageMs ?? 0) - age)).toBeLessThan(30_000);
  });

  it("knows a child: its parent, its group, its cookie", async () => {
    const env = { A: "x y", PLUGBOARD_COOKIE: cookie("1"), B: "PLUGBOARD_COOKIE_2=no" };
    const inGroup = await idle(env);
    const leader = await start(process.execPath, [fixture("idle")], env, true);
    const own = await entryOf(openTable(), process.pid);
    const table = openTable();
    expect(await entryOf(table, inGroup)).toMatchObject({
      ppid: process.pid,
      pgid: own?.pgid,
      cookie: cookie("1"),
    });
    expect(await entryOf(table, leader)).toMatchObject({ pgid: leader, cookie: cookie("1") });
    const { start: since = "0" } = own ?? {};
    const now = table.listNow(since).filter(({ pid }) => [inGroup, leader].includes(pid));
    expect(now).toMatchObject([
      { pid: inGroup, ppid: process.pid, pgid: own?.pgid, cookie: cookie("1"), zombie: false },
      { pid: leader, ppid: process.pid, pgid: leader, cookie: cookie("1"), zombie: false },
    ]);
  });

  it("does not take an argument for a cookie", async () => {
    const pid = await idle({}, `PLUGBOARD_COOKIE=${cookie("2")}`);
    const entry = await entryOf(openTable(), pid);
    expect(entry).toMatchObject({ pid });
    expect(entry?.cookie).toBeUndefined();
  });

  it("tells the cookie from an argument that looks like one", async () => {
    const env = { PLUGBOARD_COOKIE: cookie("real") };
    const pid = await idle(env, `PLUGBOARD_COOKIE=${cookie("forged")}`);
    expect((await entryOf(openTable(), pid))?.cookie).toBe(cookie("real"));
  });

  it("reads no cookies of other users", async () => {
    const pid = await idle({ PLUGBOARD_COOKIE: cookie("3") });
    const uid = (process.geteuid?.() ?? 0) + 1;
    for (const table of [new PsTable({ uid }), ...(linux ? [new ProcTable({ uid })] : [])]) {
      expect((await entryOf(table, pid))?.cookie).toBeUndefined();
    }
  });

  it("is not confused by a program's name", async () => {
    const directory = temporaryDirectory();
    const program = join(directory, "a) R 1 (b");
    await copyFile("/bin/sleep", program);
    const pid = await start(program, ["60"], { PLUGBOARD_COOKIE: cookie("4") });
    const entry = await entryOf(openTable(), pid);
    expect(entry).toMatchObject({ ppid: process.pid, cookie: cookie("4") });
  });

  it("finds descendants, but neither the process itself nor its siblings", async () => {
    const script = `"$0" "$1" & "$0" "$1" & wait`;
    const args = ["-c", script, process.execPath, fixture("idle")];
    const env = { PLUGBOARD_COOKIE: cookie("5") };
    const parent = await start("/bin/sh", args, env, true);
    const sibling = await idle({});
    const table = openTable();
    let found: number[] = [];
    while (found.length < 2) found = (await table.descendants(parent)).map(({ pid }) => pid);
    expect(found).toHaveLength(2);
    expect(found).not.toContain(sibling);
    process.kill(-parent, "SIGKILL");
    await eventually(() => !found.some(isAlive));
    expect(await table.descendants(parent)).toEqual([]);
  });

  it("tells which processes are still the same", async () => {
    const pid = await idle({ PLUGBOARD_COOKIE: cookie("6") });
    const table = openTable();
    const entry = await entryOf(table, pid);
    if (!entry) throw new Error("not listed");
    const earlier = { pid, start: String(Number(entry.start) - 1000) };
    const nobody = { pid: 2 ** 22 + 1, start: entry.start };
    expect(await table.living([entry, earlier, nobody])).toEqual([entry]);
    expect(await table.living([nobody])).toEqual([]);
    expect(await table.living([])).toEqual([]);
  });

  it("marks zombies", async () => {
    // The shell becomes a program that does not wait for the shell's child.
    const script = `sh -c 'exit 0' & exec "$0" "$1"`;
    const args = ["-c", script, process.execPath, fixture("idle")];
    const parent = await start("/bin/sh", args, { PLUGBOARD_COOKIE: cookie("7"), PATH: "/bin" });
    const table = openTable();
    let zombie: ProcessEntry | undefined;
    while (!zombie) {
      const entries = await table.list();
      zombie = entries.find((entry) => entry.ppid === parent && entry.zombie);
    }
    expect(zombie.cookie).toBeUndefined();
    expect(await table.living([zombie])).toEqual([]);
    expect(await table.descendants(parent)).toEqual([]);
  });

  it("survives processes that come and go while it looks", async () => {
    const script = "while :; do (exit 0) & wait; done";
    const busy = await start("/bin/sh", ["-c", script], { PLUGBOARD_COOKIE: cookie("8") }, true);
    const table = openTable();
    for (let i = 0; i < 10; i += 1) {
      expect((await table.list()).length).toBeGreaterThan(2);
    }
    process.kill(-busy, "SIGKILL");
    await eventually(() => processesWith(marker).length === 0);
  });
});

describe.runIf(linux)("the process table from /proc", () => {
  it("finds descendants on a kernel that does not list children", async () => {
    const child = spawn(process.execPath, [fixture("idle")], { stdio: "ignore" });
    await once(child, "spawn");
    // A proc file system without `thread-self`.
    const proc = temporaryDirectory();
    for (const name of ["uptime", `${process.pid}/stat`, `${child.pid}/stat`]) {
      await mkdir(dirname(join(proc, name)), { recursive: true });
      await writeFile(join(proc, name), await readFile(`/proc/${name}`));
    }
    const found = await new ProcTable({ proc }).descendants(process.pid);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(found).toMatchObject([{ pid: child.pid }]);
  });

  it("reads no environment of what started before the time that the caller gives", async () => {
    const env = { PLUGBOARD_COOKIE: cookie("9") };
    const child = spawn(process.execPath, [fixture("idle")], { env, stdio: "ignore" });
    await once(child, "spawn");
    const table = new ProcTable();
    const find = async (since?: string): Promise<ProcessEntry | undefined> =>
      (await table.list(since)).find(({ pid }) => pid === child.pid);
    const start = Number((await find())?.start);
    const known = [String(start), String(start + 1)].map(
      async (since) => (await find(since))?.cookie,
    );
    expect(await Promise.all(known)).toEqual([cookie("9"), undefined]);
    child.kill("SIGKILL");
    await once(child, "exit");
  });

  it("rejects where there is no proc file system", async () => {
    await expect(new ProcTable({ proc: "/nonexistent" }).list()).rejects.toThrow("ENOENT");
  });
});
