import { afterEach, describe, expect, it, vi } from "vitest";
import { ProcTable } from "../../../src/core/process/proc-table.ts";
import { PsTable } from "../../../src/core/process/ps-table.ts";
import type {
  ServerProcess,
  StartProcessOptions,
} from "../../../src/core/process/start-process.ts";
import { startProcess } from "../../../src/core/process/start-process.ts";
import type { ProcessTable } from "../../../src/core/process/process-table.ts";
import { shareScans } from "../../../src/core/process/open-process-table.ts";
import { eventually, expectAllGone, expectNoProcesses, isAlive } from "../../support/processes.ts";
import { fixture, introduction, pidOf } from "./fixtures.ts";

const known: number[] = [];

afterEach(() => {
  vi.restoreAllMocks();
  expectAllGone(known.splice(0));
  expectNoProcesses();
});

/** Short, because these tests wait for what never comes. */
const timing = { eof: 100, term: 300, sweep: 200 };
/** Long, so that tests which wait for it fail. */
const patient = { eof: 20_000, term: 20_000, sweep: 20_000 };

async function start(
  args: string[],
  options: Partial<StartProcessOptions> = {},
): Promise<{ server: ServerProcess; said: Record<string, number> }> {
  const server = await startProcess({ command: process.execPath, args, timing, ...options });
  known.push(server.pid);
  const said = await introduction(server.stdout);
  known.push(...Object.values(said));
  return { server, said };
}

const shell = (script: string): Partial<StartProcessOptions> => ({
  command: "/bin/sh",
  args: ["-c", script, process.execPath, fixture("idle")],
});

/** Exits when it is told to, and leaves a process in its group. */
const CRASH = `"$0" "$1" & read -r _; exit 1`;

async function crash(server: ServerProcess): Promise<void> {
  server.stdin.write("\n");
  await server.exited;
}

describe("stopping a server", () => {
  it("lets it end with stdin", async () => {
    const { server } = await start([fixture("polite")], { timing: patient });
    await server.stop();
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  it("sends SIGTERM to one that does not", async () => {
    const { server } = await start([fixture("idle")], { timing: { ...patient, eof: 50 } });
    await server.stop();
    expect(await server.exited).toEqual({ code: null, signal: "SIGTERM" });
  });

  it("sends SIGKILL to one that ignores that as well", async () => {
    const { server } = await start([fixture("stubborn")]);
    await server.stop();
    expect(await server.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("works on one that is stopped, and lets it go by SIGTERM", async () => {
    const { server } = await start([fixture("idle")], { timing: { ...patient, eof: 50 } });
    process.kill(server.pid, "SIGSTOP");
    await server.stop();
    expect(await server.exited).toEqual({ code: null, signal: "SIGTERM" });
  });

  it("works on one that is stopped and stubborn", async () => {
    const { server } = await start([fixture("stubborn")]);
    process.kill(server.pid, "SIGSTOP");
    await server.stop();
    expect(await server.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("can be asked for twice, and by many at once", async () => {
    const { server } = await start([fixture("idle")]);
    await Promise.all([server.stop(), server.stop(), server.stop()]);
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
  });

  it("can be asked for before the server has said a word", async () => {
    const server = await startProcess({
      command: process.execPath,
      args: [fixture("idle")],
      timing,
    });
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
  });

  it("takes back the listener that would end it with this process", async () => {
    const before = process.listenerCount("exit");
    const { server } = await start([fixture("polite")]);
    expect(process.listenerCount("exit")).toBe(before + 1);
    await server.stop();
    expect(process.listenerCount("exit")).toBe(before);
  });

  it("closes its pipes", async () => {
    const { server } = await start([fixture("polite")]);
    await server.stop();
    await eventually(() => server.stdin.destroyed && server.stdout.destroyed);
    await eventually(() => server.stderr.destroyed);
  });
});

describe("stopping a server leaves nothing of", () => {
  it("a wrapper's children", async () => {
    const server = await startProcess({
      ...shell(`"$0" "$1" & "$0" "$1" & wait`),
      command: "/bin/sh",
      timing,
    });
    const lines: string[] = [];
    server.stdout.on("data", (chunk: Buffer) => lines.push(...chunk.toString().split("\n")));
    await eventually(() => lines.filter((line) => line !== "").length === 2);
    for (const line of lines.filter((text) => text !== "")) known.push(JSON.parse(line).pid);
    await server.stop();
    expect(known.filter(isAlive)).toEqual([]);
  });

  it("children whose parent crashed, without being asked", async () => {
    const { server, said } = await start([], shell(`"$0" "$1" & read -r _; kill -9 $$`));
    await crash(server);
    expect(await server.exited).toEqual({ code: null, signal: "SIGKILL" });
    await server.stop();
    expect(isAlive(pidOf(said, "pid"))).toBe(false);
  });

  it("stubborn children whose parent ended with stdin", async () => {
    const script = `"$0" "$1" </dev/null & read line`;
    const args = ["-c", script, process.execPath, fixture("stubborn")];
    const { server, said } = await start([], { command: "/bin/sh", args });
    await server.stop();
    expect(isAlive(pidOf(said, "pid"))).toBe(false);
  });

  it.each([
    ["that left its group", "", "idle"],
    ["that left its group and is stubborn", "", "stubborn"],
    ["that left its group and has no cookie", "clean", "idle"],
    ["that left its group, has no cookie and is stubborn", "clean", "stubborn"],
    ["that left its group before its parent crashed", "crash", "idle"],
    ["that left its group before its parent crashed and is stubborn", "crash", "stubborn"],
    ["that starts itself again whenever it is told to end", "", "phoenix"],
  ])("a daemon %s", async (_, mode, program) => {
    const { server, said } = await start([fixture("daemon-parent"), mode, fixture(program)]);
    await server.stop();
    expect(isAlive(pidOf(said, "daemon"))).toBe(false);
    expectNoProcesses();
  });

  it("a daemon of a server that nobody stopped: a crash is enough", async () => {
    const { server, said } = await start([fixture("daemon-parent"), "crash", fixture("idle")]);
    expect(await server.exited).toEqual({ code: 1, signal: null });
    await eventually(() => !isAlive(pidOf(said, "daemon")));
    await server.stop();
  });
});

describe("stopping many servers at once", () => {
  it("takes hardly more scans than stopping one", async () => {
    const table = process.platform === "linux" ? new ProcTable() : new PsTable();
    const scan = table.list.bind(table);
    const count = 8;
    let asked = 0;
    // As slow as on a machine with very many processes: all callers ask before the first scan is done.
    const scans = vi.spyOn(table, "list").mockImplementation(async () => {
      await eventually(() => asked >= count);
      return scan();
    });
    const scanning = shareScans(table);
    const shared: ProcessTable = {
      list: (since) => {
        asked += 1;
        return scanning.list(since);
      },
      listNow: (since) => scanning.listNow(since),
      descendants: (pid) => scanning.descendants(pid),
      living: (refs) => scanning.living(refs),
    };
    const all = await Promise.all(
      Array.from({ length: count }, () => start([fixture("idle")], { table: shared })),
    );
    await Promise.all(all.map(({ server }) => server.stop()));
    expect(scans.mock.calls.length).toBeLessThanOrEqual(4);
  });
});

describe("stopping a server when", () => {
  function tableWith(overrides: Partial<ProcessTable>): ProcessTable {
    return {
      list: async () => [],
      listNow: () => [],
      descendants: async () => [],
      living: async () => [],
      ...overrides,
    };
  }

  function recorder() {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (m: string) => warnings.push(m) };
    return { warnings, logger };
  }

  it("the table cannot be read still ends the group", async () => {
    const { warnings, logger } = recorder();
    const fail = async (): Promise<never> => Promise.reject(new Error("no table"));
    const table = tableWith({ list: fail, descendants: fail, living: fail });
    const { server } = await start([fixture("stubborn")], { table, logger });
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
    expect(warnings).toEqual(["cannot look for processes that left their server's group"]);
  });

  it("the table cannot be read still ends what a crash left of the group", async () => {
    const fail = async (): Promise<never> => Promise.reject(new Error("no table"));
    const table = tableWith({ list: fail, descendants: fail, living: fail });
    const { server, said } = await start([], { ...shell(CRASH), table });
    await crash(server);
    await server.stop();
    expect(isAlive(pidOf(said, "pid"))).toBe(false);
  });

  it("only zombies are left of its group does not wait for them", async () => {
    // The group can still be signalled but shows no members: that happens where init is slow.
    const { warnings, logger } = recorder();
    const table = tableWith({});
    const options = { ...shell(CRASH), table, logger, timing: patient };
    const { server, said } = await start([], options);
    await crash(server);
    await server.stop();
    expect(warnings).toEqual([]);
    process.kill(pidOf(said, "pid"), "SIGKILL");
    await eventually(() => !isAlive(pidOf(said, "pid")));
  });

  it("a process of it may not be signalled says so and goes on", async () => {
    const { warnings, logger } = recorder();
    const mode = [fixture("daemon-parent"), "", fixture("idle")];
    const { server, said } = await start(mode, { logger });
    const daemon = pidOf(said, "daemon");
    const kill = process.kill.bind(process);
    vi.spyOn(process, "kill").mockImplementation((pid, signal) => {
      if (Math.abs(pid) !== daemon) return kill(pid, signal);
      throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
    });
    await server.stop();
    expect(warnings).toEqual(["processes of a server cannot be ended"]);
    vi.restoreAllMocks();
    process.kill(daemon, "SIGKILL");
    await eventually(() => !isAlive(daemon));
  });

  it("its group cannot be ended says so and goes on", async () => {
    const { warnings, logger } = recorder();
    const quick = { eof: 10, term: 10, sweep: 10, kill: 50 };
    const { server } = await start([fixture("idle")], { logger, timing: quick });
    const kill = vi.spyOn(process, "kill").mockReturnValue(true);
    await server.stop();
    expect(warnings).toEqual([
      "a server's process group cannot be ended",
      "processes of a server cannot be ended",
    ]);
    kill.mockRestore();
    process.kill(server.pid, "SIGKILL");
    await server.exited;
  });
});
