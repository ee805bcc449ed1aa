// Uses a fake docker: a program of that name on the server's PATH.

import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type ContainerEngine,
  containerEngine,
  reapContainers,
  stopContainers,
} from "../../../src/core/process/containers.ts";
import { makeCookie } from "../../../src/core/process/cookie.ts";
import { reapOrphans } from "../../../src/core/process/reap-orphans.ts";
import type { ServerProcess } from "../../../src/core/process/start-process.ts";
import { startProcess } from "../../../src/core/process/start-process.ts";
import type { ProcessTable } from "../../../src/core/process/process-table.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { eventually, expectAllGone, expectNoProcesses, isAlive } from "../../support/processes.ts";
import type { Compiled } from "../../support/compile.ts";
import { fixture, introduction, pidOf } from "./fixtures.ts";
import { compileHost, hostArgs, killHost, startHost, testHost } from "./hosts.ts";

let compiled: Compiled;
let bin: string;
let state: string;
const containers: number[] = [];

beforeAll(async () => {
  compiled = await compileHost();
  bin = await mkdtemp(join(tmpdir(), "plugboard-docker-"));
  const program = `#!/bin/sh\nexec '${process.execPath}' '${fixture("docker")}' "$@"\n`;
  await writeFile(join(bin, "docker"), program);
  await chmod(join(bin, "docker"), 0o755);
});

beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), "plugboard-containers-"));
});

afterEach(async () => {
  await rm(state, { recursive: true });
  expectAllGone(containers.splice(0));
  expectNoProcesses();
});

afterAll(async () => {
  await rm(bin, { recursive: true });
  await compiled.remove();
});

const environment = (faults = ""): Record<string, string> => ({
  PATH: `${bin}${delimiter}${process.env["PATH"]}`,
  DOCKER_STATE: state,
  DOCKER_FAULTS: faults,
});

function engine(faults = ""): ContainerEngine {
  const server = { command: "docker", args: ["run", "image"], env: environment(faults) };
  const found = containerEngine(server);
  if (!found) throw new Error("not recognised");
  return found;
}

async function calls(): Promise<string[][]> {
  const log = await readFile(join(state, "calls.log"), "utf8");
  return log
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

async function start(
  args: string[] = ["run", "-i", "--rm", fixture("idle")],
  faults = "",
  clock = systemClock,
): Promise<{ server: ServerProcess; container: number }> {
  const options = { command: "docker", args, env: environment(faults) };
  const server = await startProcess({ ...options, clock, timing: { eof: 50, term: 500 } });
  const container = pidOf(await introduction(server.stdout), "container");
  containers.push(container);
  return { server, container };
}

function recorder() {
  const warnings: string[] = [];
  const logger = { debug() {}, info() {}, error() {}, warn: (m: string) => warnings.push(m) };
  return { warnings, logger };
}

/** What takes longer than this in a test counts as hanging. */
const impatient = {
  ...systemClock,
  after: (ms: number, task: () => void) => systemClock.after(Math.min(ms, 300), task),
};

describe("a server in a container", () => {
  it("is labelled with its cookie", async () => {
    const { server } = await start();
    expect(await calls()).toEqual([
      ["run", "--label", `plugboard.cookie=${server.cookie}`, "-i", "--rm", fixture("idle")],
    ]);
    await server.stop();
  });

  it("is stopped with its client, which does not pass signals on", async () => {
    const { server, container } = await start();
    await server.stop();
    await eventually(() => !isAlive(container));
    expect((await calls()).map(([command]) => command)).toContain("stop");
  });

  it("is stopped when its client has crashed", async () => {
    const { server, container } = await start();
    process.kill(server.pid, "SIGKILL");
    await server.exited;
    await server.stop();
    await eventually(() => !isAlive(container));
  });

  it("is stopped through the daemon it was started with", async () => {
    const { server, container } = await start(["--context", "far", "run", fixture("idle")]);
    await server.stop();
    await eventually(() => !isAlive(container));
    for (const call of await calls()) expect(call.slice(0, 2)).toEqual(["--context", "far"]);
  });

  it("is stopped on Windows as well", async () => {
    const args = ["run", fixture("idle")];
    const timing = { eof: 50, kill: 20_000 };
    const options = { platform: "win32" as const, env: environment(), timing };
    const server = await startProcess({ command: "docker", args, ...options });
    const container = pidOf(await introduction(server.stdout), "container");
    containers.push(container);
    await server.stop();
    await eventually(() => !isAlive(container));
  });

  it("is killed where it cannot be stopped", async () => {
    const { server, container } = await start(undefined, "stop");
    await server.stop();
    await eventually(() => !isAlive(container));
    expect((await calls()).map(([command]) => command)).toContain("kill");
  });

  it("leaves the containers of other servers alone", async () => {
    const one = await start();
    const other = await start();
    await one.server.stop();
    await eventually(() => !isAlive(one.container));
    expect(isAlive(other.container)).toBe(true);
    await other.server.stop();
    await eventually(() => !isAlive(other.container));
  });
});

describe("an engine that", () => {
  it.each(["ps:hang", "stop:hang kill:hang"])(
    "never answers (%s) does not block a stop",
    async (faults) => {
      const { server, container } = await start();
      await stopContainers(engine(faults), server.cookie, { clock: impatient });
      expect(isAlive(container)).toBe(true);
      await server.stop();
      await eventually(() => !isAlive(container));
      expectNoProcesses(state);
    },
  );

  it("never answers does not prevent its server from being stopped", async () => {
    const { server, container } = await start(undefined, "ps:hang", impatient);
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
    expectNoProcesses(state);
    await stopContainers(engine(), server.cookie);
    await eventually(() => !isAlive(container));
  });

  it("can neither stop nor kill is logged", async () => {
    const { server, container } = await start();
    const { warnings, logger } = recorder();
    await stopContainers(engine("stop kill"), server.cookie, { logger, grace: 1 });
    expect(warnings).toEqual(["containers of a server cannot be stopped"]);
    await server.stop();
    await eventually(() => !isAlive(container));
  });

  it("does not exist, or cannot be run, causes no failure", async () => {
    await stopContainers({ ...engine(), command: "/none/docker" }, "c");
    await stopContainers({ ...engine(), command: "\0" }, "c");
    expect(await reapContainers({ ...engine(), command: "/none/docker" })).toEqual([]);
  });
});

describe("containers that a killed host left behind", () => {
  const host = testHost;
  const dead = { ...host, pid: 2 ** 22 + 1, start: "17" };

  it("are stopped by the next: exactly those", async () => {
    const options = { command: "docker", args: ["run", fixture("idle")], env: environment() };
    const victim = await startHost(hostArgs(compiled.modules, [options], "stay"));
    const said = victim.servers[0]?.said ?? {};
    const container = pidOf(said, "container");
    containers.push(container);
    const mine = await start();
    expect(await reapContainers(engine(), { host })).toEqual([]);

    await killHost(victim);
    expect(await reapContainers(engine(), { host })).toEqual([said["id"]]);
    await eventually(() => !isAlive(container));
    expect(isAlive(mine.container)).toBe(true);
    await mine.server.stop();
    await reapOrphans({ host });
  });

  it.each([
    ["another user's", { ...dead, uid: dead.uid + 1 }],
    ["another machine's", { ...dead, space: "elsewhere" }],
  ])("are left alone if they are %s", async (_, other) => {
    const { server, container } = await start();
    // The engine shows the label, whoever set it.
    const file = (await readdir(state)).find((name) => name.endsWith("json"));
    const path = join(state, file ?? "");
    const record = JSON.parse(await readFile(path, "utf8"));
    const label = `plugboard.cookie=${makeCookie(other)}`;
    await writeFile(path, JSON.stringify({ ...record, label }));
    expect(await reapContainers(engine(), { host })).toEqual([]);
    expect(isAlive(container)).toBe(true);
    await writeFile(path, JSON.stringify(record));
    await server.stop();
    await eventually(() => !isAlive(container));
  });

  it("are left alone if we cannot tell whose they are", async () => {
    const { server, container } = await start();
    const { warnings, logger } = recorder();
    const fail = async (): Promise<never> => Promise.reject(new Error("no table"));
    const table: ProcessTable = { list: fail, listNow: () => [], descendants: fail, living: fail };
    expect(await reapContainers(engine(), { host, table, logger })).toEqual([]);
    expect(await reapContainers(engine(), { platform: "win32" })).toEqual([]);
    expect(warnings).toEqual(["cannot tell which containers an earlier run left behind"]);
    await server.stop();
    await eventually(() => !isAlive(container));
  });

  it("exist only for servers that are containers", () => {
    expect(containerEngine({ command: "npx", args: ["run"], env: {} })).toBeUndefined();
  });
});
