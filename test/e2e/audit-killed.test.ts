// What the audit has of calls when its host is killed: everything but the end of those that were answered within the last flush.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import type { AuditLine } from "../../src/core/types/audit-entry.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { eventually } from "../support/processes.ts";

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

const hosts: ChildProcess[] = [];

afterEach(() => {
  for (const host of hosts.splice(0)) host.kill("SIGKILL");
});

/** Kills a host that makes calls of some milliseconds as soon as this many have to be in its audit. */
async function killedHost(due: number, duration: number) {
  const root = temporaryDirectory();
  const stateDir = join(root, "state");
  const account = join(root, "account");
  mkdirSync(stateDir);
  const out = openSync(account, "w");
  const args = [
    path("../fixtures/processes/audited-host.mjs"),
    path("../../dist/index.js"),
    stateDir,
    String(duration),
  ];
  // With one thread, what the host asks of it after the audit is done after it.
  const env = { ...process.env, UV_THREADPOOL_SIZE: "1" };
  const host = spawn(process.execPath, args, { env, stdio: ["ignore", out, "inherit"] });
  closeSync(out);
  hosts.push(host);
  const exited = once(host, "exit");
  const said = (word: string): number[] =>
    readFileSync(account, "utf8")
      .split("\n")
      .slice(0, -1)
      .flatMap((line) => (line.startsWith(`${word} `) ? Number(line.slice(word.length)) : []));
  await eventually(() => said("due").length >= due || host.exitCode !== null);
  host.kill("SIGKILL");
  expect(await exited).toEqual([null, "SIGKILL"]);
  // A fast machine fills more than one file.
  const files = readdirSync(stateDir).filter((name) => /^audit\b.*\.jsonl$/.test(name));
  const lines = files
    .map((name) => readFileSync(join(stateDir, name), "utf8"))
    .join("")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AuditLine);
  const recorded = (type: "start" | "call"): Set<unknown> =>
    new Set(lines.flatMap((line) => (line.type === type ? line.arguments?.["n"] : [])));
  return { said, started: recorded("start"), ended: recorded("call") };
}

it("kill -9 under load: no start of a call is missing, and no end but those of the last flush", async () => {
  // The audit writes at once where there are many lines, and gathers a few of them.
  const killed = await Promise.all([killedHost(100, 20), killedHost(300, 20), killedHost(3000, 0)]);
  for (const { said, started, ended } of killed) {
    expect(said("ran").length).toBeGreaterThan(0);
    expect(said("ran").filter((n) => !started.has(n))).toEqual([]);
    expect(said("due").filter((n) => !ended.has(n))).toEqual([]);
  }
});
