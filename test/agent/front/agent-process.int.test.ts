import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  type AgentProcess,
  howItEnded,
  startAgentProcess,
} from "../../../src/agent/front/agent-process.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { recordingLogger } from "../../support/logger.ts";
import { expectNoProcesses } from "../../support/processes.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const scripted = fileURLToPath(
  new URL("../../fixtures/agents/scripted-agent.mjs", import.meta.url),
);

let directory = "";
const started: AgentProcess[] = [];
let stderr = "";

beforeEach(() => {
  directory = temporaryDirectory();
  stderr = "";
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((agent) => agent.stop()));
  expectNoProcesses();
});

async function start(
  command: string[],
  {
    path = process.env["PATH"],
    programPath,
  }: { path?: string | undefined; programPath?: string } = {},
): Promise<AgentProcess> {
  const agent = await startAgentProcess(
    { command, cwd: directory, env: { PATH: path, KEY: "kept", EMPTY: "" } },
    {
      clock: systemClock,
      logger: recordingLogger(),
      programPath: Promise.resolve(programPath),
      onStderr: (line) => (stderr += `${line}\n`),
      redact: (text) => text.replaceAll("hunter2", "[REDACTED]"),
    },
  );
  started.push(agent);
  return agent;
}

/** Everything that it writes until it ends. */
async function linesOf(agent: AgentProcess): Promise<string[]> {
  const lines: string[] = [];
  const read = agent.read((line) => {
    lines.push(line.kind === "line" ? line.bytes.toString() : "too long");
    return undefined;
  });
  await agent.ended;
  await read;
  return lines;
}

const node = (code: string): string[] => [process.execPath, "-e", code];

it("has the environment and the directory that were given, and the end of what it wrote to stderr", async () => {
  const agent = await start(
    node(`
      for (let n = 0; n < 500; n += 1) console.error("line " + n + " \\u001b[31m" + "x".repeat(400));
      console.log(process.env.KEY, JSON.stringify(process.env.EMPTY), process.env.HOME, process.cwd());
      process.exitCode = 5;
    `),
  );
  expect(await linesOf(agent)).toEqual([`kept "" undefined ${directory}`]);
  const end = await agent.ended;
  expect(howItEnded(end)).toBe("exited with code 5");
  expect(end.stderr).toHaveLength(10);
  expect(end.stderr.at(-1)).toMatch(/^line 499 x+/);
  expect(end.stderr.at(-1)?.length).toBeLessThanOrEqual(301);
  expect(stderr).toMatch(/^line 0 x+\n/);
  expect(stderr).not.toContain("\u001b");
  // As many as a server may have in ten seconds; how many were left out is told later.
  expect(stderr.split("\n")).toHaveLength(201);
});

it("its last words are also those on stdout that are no message", async () => {
  const agent = await start(node(`console.log("no such option"); process.exitCode = 1;`));
  void agent.read((line) => {
    if (line.kind === "line") agent.keepWords(line.bytes);
    return undefined;
  });
  expect((await agent.ended).stderr).toEqual(["no such option"]);
});

it("of what it wrote to stdout whole lines are kept: half of one could begin with the end of a secret", async () => {
  const script = 'console.log("the key is hunter2\\n" + "x".repeat(8180) + "\\nbye")';
  const agent = await start([process.execPath, "-e", script]);
  await agent.read((line) => {
    if (line.kind === "line") agent.keepWords(line.bytes);
    return undefined;
  });
  const end = await agent.ended;
  expect(end.stderr).toEqual([expect.stringMatching(/^x+…$/), "bye"]);
});

it("a command that is only on the PATH of the terminal is found there", async () => {
  const bin = join(directory, "bin");
  symlinkSync(directory, bin);
  const program = join(directory, "my-agent");
  writeFileSync(program, `#!/bin/sh\necho "found with $PATH"\n`);
  chmodSync(program, 0o755);
  await expect(start(["my-agent"], { path: "/usr/bin:/bin" })).rejects.toMatchObject({
    code: "SPAWN_FAILED",
    message: "command 'my-agent' was not found on PATH",
  });
  const path = `${bin}:/usr/bin:/bin`;
  const agent = await start(["my-agent"], { path: "/usr/bin:/bin", programPath: path });
  expect(await linesOf(agent)).toEqual([`found with ${path}`]);
});

it("one that does not read what it is sent has no room for more, and is ended all the same", async () => {
  const agent = await start(node("setInterval(() => {}, 1000)"));
  const megabyte = Buffer.alloc(1 << 20, 0x61);
  expect(agent.room()).toBeUndefined();
  for (let n = 0; n < 65; n += 1) agent.send(megabyte);
  const room = agent.room();
  expect(room).toBeInstanceOf(Promise);
  await agent.stop();
  await room;
  expect(howItEnded(await agent.ended)).toBe("was ended by SIGTERM");
});

it("one that closes its stdout and goes on running is stopped, since it can answer nothing any more", async () => {
  const mute = `
    process.stdout.write('{"jsonrpc":"2.0"}\\n', () => process.stdout.destroy());
    require("node:fs").closeSync(1);
    setInterval(() => {}, 1000);
  `;
  const agent = await start(node(mute));
  expect(await linesOf(agent)).toEqual(['{"jsonrpc":"2.0"}']);
  const end = await agent.ended;
  expect(howItEnded(end)).toBe("closed its stdout without ending, and was stopped");
});

it("what it says before it is told to end is read", async () => {
  const agent = await start([process.execPath, scripted]);
  const lines = linesOf(agent);
  agent.send(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"_scripted/echo","params":{"a":1}}'));
  await agent.stop();
  expect(await lines).toEqual(['{"jsonrpc":"2.0","id":1,"result":{"a":1}}']);
  expect(await agent.ended).toMatchObject({ code: 0, signal: null });
});

it("what it writes to stderr is told as plain text, without secrets and bounded", async () => {
  const says =
    'process.stderr.write("\\u001b]0;owned\\u0007\\u001b[31mred\\u001b[0m\\r\\nthe key is hunt"); ' +
    'setTimeout(() => process.stderr.write("er2\\n" + "x".repeat(1e6) + "\\n"), 20);';
  const agent = await start([process.execPath, "-e", says]);
  const read = agent.read(() => undefined);
  const { stderr: last } = await agent.ended;
  await read;
  expect(stderr).toMatch(/^red\nthe key is \[REDACTED\]\nx+…\n$/);
  expect(stderr.length).toBeLessThan(5000);
  expect(last.join("\n")).not.toContain("hunter2");
});
