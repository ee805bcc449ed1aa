// The session program as an agent starts it: a process of its own, against endpoints of the test. Needs the
// build.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openBoard } from "../../src/core/board/board.ts";
import type { SessionEndpoint } from "../../src/serve/endpoint/session-endpoint.ts";
import { SessionEndpoints } from "../../src/serve/endpoint/session-endpoints.ts";
import { silentLogger } from "../../src/core/types/logger.ts";
import { systemClock } from "../../src/util/clock.ts";
import { expectNoProcesses, isAlive } from "../support/processes.ts";
import { temporaryDirectory } from "../support/directory.ts";

const BIN = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));
const MEGABYTE = 1024 * 1024;

let directory: string;
let endpoints: SessionEndpoints;
let endpoint: SessionEndpoint;
const closers: (() => unknown)[] = [];

beforeEach(async () => {
  directory = temporaryDirectory();
  endpoints = new SessionEndpoints({
    clock: systemClock,
    logger: silentLogger,
    newId: randomUUID,
    random: randomBytes,
    // A board may have started the agent that starts the program.
    program: { command: process.execPath, args: [BIN], env: { PLUGBOARD_COOKIE: "1.0.1.x" } },
    directory,
  });
  endpoint = await endpoints.reserve();
  const board = await openBoard(
    { servers: {} },
    {
      native: [
        {
          name: "repeat",
          description: "Gives back what it gets.",
          parameters: { type: "object", properties: { text: { type: "string" } } },
          execute: (_id, { text }) => ({ content: [{ type: "text", text: String(text) }] }),
        },
      ],
    },
  );
  closers.push(() => board.close());
  endpoint.serve(board);
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await endpoints.close();
  expectNoProcesses(`PLUGBOARD_SESSION_SOCKET=${directory}`);
});

const envOf = ({ stdio }: SessionEndpoint): Record<string, string> =>
  Object.fromEntries(stdio.env.map(({ name, value }) => [name, value]));

interface Started {
  process: ChildProcessWithoutNullStreams;
  /** Code, and what it wrote to stderr. */
  ended: Promise<{ code: number | null; stderr: string }>;
}

function start(env: Record<string, string> = envOf(endpoint), words?: string[]): Started {
  const { command, args } = endpoint.stdio;
  const started = spawn(command, words ?? args, { env: { PATH: process.env["PATH"], ...env } });
  let stderr = "";
  started.stderr.on("data", (chunk) => (stderr += String(chunk)));
  started.stdin.on("error", () => {});
  const ended = once(started, "close").then(([code]) => ({ code: code as number | null, stderr }));
  return { process: started, ended };
}

const PING = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`;

/** Sends a ping and waits for the answer. */
async function ping({ process: { stdin, stdout } }: Started): Promise<string> {
  stdin.write(PING);
  const [chunk] = (await once(stdout, "data")) as [Buffer];
  return String(chunk);
}

it("carries messages of any size both ways, for the official client", async () => {
  const { command, args } = endpoint.stdio;
  const transport = new StdioClientTransport({ command, args, env: envOf(endpoint) });
  const client = new Client({ name: "agent", version: "1" });
  await client.connect(transport);
  const text = "ä".repeat(4 * MEGABYTE);
  const { content } = await client.callTool({ name: "repeat", arguments: { text } });
  expect(content).toEqual([{ type: "text", text }]);
  const { pid } = transport;
  await client.close();
  expect(isAlive(pid ?? 0)).toBe(false);
});

it("ends well with its agent, and loads next to nothing", async () => {
  const coverage = join(directory, "coverage");
  const program = start({ ...envOf(endpoint), NODE_V8_COVERAGE: coverage });
  expect(JSON.parse(await ping(program))).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  program.process.stdin.end();
  expect(await program.ended).toEqual({ code: 0, stderr: "" });
  const [report] = readdirSync(coverage);
  const { result } = JSON.parse(readFileSync(join(coverage, report ?? ""), "utf8")) as {
    result: { url: string }[];
  };
  const files = result.flatMap(({ url }) => /\/(?:dist|node_modules)\/.*$/.exec(url)?.[0] ?? []);
  expect(files.toSorted()).toEqual([
    "/dist/bin.cjs",
    "/dist/entry.js",
    "/dist/shared/first.js",
    "/dist/shared/session-program.js",
  ]);
});

it("says that the front is gone, and ends, when its session does", async () => {
  const program = start();
  await ping(program);
  await endpoints.close();
  const gone = {
    code: 1,
    stderr: expect.stringMatching(/^plugboard: the front of this session is gone.*new session/),
  };
  expect(await program.ended).toEqual(gone);
  // The same if it comes too late.
  expect(await start().ended).toEqual(gone);
});

it.each<[string, () => Started, RegExp]>([
  [
    "a token that is not the session's",
    () => start({ ...envOf(endpoint), PLUGBOARD_SESSION_TOKEN: "x" }),
    /^plugboard: the session has ended, or this program was started for another one/,
  ],
  [
    "no token",
    () => start({}),
    /^plugboard: --session is for an agent behind `plugboard acp -- …`/,
  ],
  [
    "other words around it",
    () => start({}, [BIN, "--verbose", "serve", "--session", "x"]),
    /plugboard: --session is for an agent behind/,
  ],
])("with %s it says what is wrong", async (_, begin, message) => {
  const program = begin();
  expect(await program.ended).toEqual({ code: 1, stderr: expect.stringMatching(message) });
});
