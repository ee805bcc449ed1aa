// Commands and a gateway in a directory whose file lies over the user's own.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it, vi } from "vitest";
import { fixture } from "../../support/boards.ts";
import { startedProcesses } from "../../support/processes.ts";
import { type Running, useScratch } from "../harness.ts";

const scratch = useScratch();
let gateway: Running;

const write = (name: string, servers: object): void =>
  writeFileSync(join(scratch.directory, name), JSON.stringify({ mcpServers: servers }));

beforeEach(() => {
  mkdirSync(join(scratch.directory, "home"), { mode: 0o700 });
  write("home/plugboard.json", { mine: fixture("echo") });
  write("plugboard.json", { theirs: fixture("echo") });
});

async function up(): Promise<void> {
  gateway = await scratch.up(["--log-level", "info"]);
}

interface Status {
  servers: { name: string; from: { file: string }; state: { kind: string } }[];
}

async function states(): Promise<string[]> {
  const { stdout } = await scratch.run(["status", "--json"]);
  const { servers } = JSON.parse(stdout) as Status;
  const place = ({ file }: { file: string }): string => file.slice(scratch.directory.length + 1);
  return servers.map(({ name, from, state }) => `${name} of ${place(from)}: ${state.kind}`);
}

const reach = (expected: string[]): Promise<void> =>
  vi.waitFor(async () => expect(await states()).toEqual(expected), { timeout: 10_000 });

it("a gateway has the servers of both files, commands share them, and an edit of yours is applied", async () => {
  await scratch.run(["trust", "--yes"]);
  await up();
  await reach(["mine of home/plugboard.json: ready", "theirs of plugboard.json: ready"]);
  const before = startedProcesses().length;
  for (const server of ["mine", "theirs"]) {
    const called = await scratch.run(["call", `${server}/echo`, "text=hi"]);
    expect(called).toEqual({ code: 0, stdout: "hi\n", stderr: "" });
  }
  expect(gateway.stderr.text.split("command attached: call")).toHaveLength(3);
  const named = await scratch.run(["--config", "plugboard.json", "call", "theirs/echo", "text=hi"]);
  expect(named.stderr).toContain("it has the servers of");
  write("home/plugboard.json", { mine: fixture("echo"), more: fixture("echo") });
  const called = await scratch.run(["call", "more/echo", "text=hi"]);
  expect(called).toEqual({ code: 0, stdout: "hi\n", stderr: "" });
  // Nothing but the new server was started.
  expect(startedProcesses()).toHaveLength(before + 1);
});

it("a gateway in a project that is not trusted runs your own servers, and the project's once you trust it", async () => {
  await up();
  await reach(["mine of home/plugboard.json: ready", "theirs of plugboard.json: untrusted"]);
  expect(startedProcesses()).toHaveLength(1);
  await scratch.run(["trust", "--yes"]);
  await reach(["mine of home/plugboard.json: ready", "theirs of plugboard.json: ready"]);
});
