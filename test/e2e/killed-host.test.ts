// A host that is killed cannot clean up: the next `plugboard` does.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ownerName } from "../../src/core/state/process-owner.ts";
import { eventually, expectAllGone, isAlive, processesWith } from "../support/processes.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { useAgents } from "./acp-agent.ts";

const run = promisify(execFile);
const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const bin = path("../../dist/bin.cjs");
const uid = process.geteuid?.() ?? 0;

const desk = useAgents();

let home: string;
let env: NodeJS.ProcessEnv;
let host: ChildProcess | undefined;

beforeEach(async () => {
  home = temporaryDirectory();
  env = { ...process.env, PLUGBOARD_HOME: home };
  const server = (name: string, ...args: string[]) => ({
    command: process.execPath,
    args: [path(`../fixtures/servers/${name}.mjs`), ...args],
  });
  const servers = {
    // Neither the end of its stdin nor a polite signal ends it or its grandchild outside the group.
    stubborn: server("ignores-sigterm", "--detached"),
    slow: server("echo"),
  };
  const config = { agents: { defaults: { mcp: { servers } } } };
  await writeFile(join(home, "plugboard.json"), JSON.stringify(config));
});

afterEach(async () => {
  host?.kill("SIGKILL");
});

it.runIf(process.platform !== "win32")(
  "what a SIGKILLed plugboard left behind is ended by the next start",
  async () => {
    host = spawn(process.execPath, [bin, "status", "--json"], { env, stdio: "ignore" });
    const marker = `PLUGBOARD_COOKIE=1.${uid}.${host.pid}.`;
    const leftBehind = new Set<number>();
    await eventually(() => {
      for (const pid of processesWith(marker)) leftBehind.add(pid);
      return leftBehind.size >= 3;
    });
    host.kill("SIGKILL");
    await once(host, "exit");
    const survivors = [...leftBehind].filter(isAlive);
    expect(survivors.length).toBeGreaterThan(0);

    const { stderr } = await run(process.execPath, [bin, "call", "slow/echo", "text=hi"], { env });
    expect(stderr).toContain("left behind");
    expectAllGone(survivors);
  },
);

it.runIf(process.platform === "linux")(
  "what a SIGKILLed plugboard was doing is in the audit, and what it saved is removed",
  async () => {
    host = spawn(process.execPath, [bin, "call", "slow/sleep", "ms=600000"], {
      env,
      stdio: "ignore",
    });
    const audit = join(home, "audit.jsonl");
    await eventually(() => existsSync(audit) && readFileSync(audit, "utf8").includes("\n"));
    host.kill("SIGKILL");
    await once(host, "exit");
    // As if it had saved a result, under the name that this machine gives to a process that has ended.
    const saved = join(
      home,
      "spill",
      `results-${ownerName().replace(/\d+-\d+$/, `${host.pid}-1`)}.a`,
    );
    await mkdir(saved, { recursive: true, mode: 0o700 });
    await run(process.execPath, [bin, "call", "slow/echo", "text=hi"], { env });
    expect(existsSync(saved)).toBe(false);

    const { stdout } = await run(process.execPath, [bin, "audit", "--json"], { env });
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject([
      { type: "start", server: "slow", tool: "sleep" },
      { type: "call", server: "slow", tool: "echo", outcome: "ok" },
    ]);
    const shown = await run(process.execPath, [bin, "audit"], { env });
    expect(shown.stdout).toMatch(/slow\/sleep +no end/);
    await appendFile(audit, '{"type":"ca');
    const damaged = run(process.execPath, [bin, "audit"], { env });
    await expect(damaged).rejects.toMatchObject({
      code: 1,
      stdout: shown.stdout,
      stderr: expect.stringContaining("plugboard: the audit is damaged: 1 line of ") as string,
    });
  },
);

it("kill -9 of the front: the next plugboard ends an agent that does not notice", async () => {
  const scripted = path("../fixtures/agents/scripted-agent.mjs");
  const words = ["--", process.execPath, scripted, "--ignores-eof", "--child", "--no-http"];
  const marked = { ACP_E2E: desk.directory };
  const front = await desk.start({ words, env: marked });
  const sessionId = await front.newSession(desk.directory, [desk.server("echo", "echo")]);
  expect(await front.ask(sessionId, "tools")).toContain("echo__echo");
  const pid = Number(await front.ask(sessionId, "pid"));
  const smallPrograms = (): number[] =>
    processesWith(`PLUGBOARD_SESSION_SOCKET=${join(desk.directory, "home")}`);
  expect(smallPrograms()).toHaveLength(1);
  front.process.kill("SIGKILL");
  await front.exited;
  // The session program through which the agent reached its board notices by itself.
  await eventually(() => smallPrograms().length === 0);
  expect(isAlive(pid)).toBe(true);
  const next = await desk.start();
  await eventually(() => processesWith(desk.marker).length === 0);
  expect(await next.leave()).toBe(0);
});
