// Plugboard as built in dist/: a call is `board.call`.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBoard } from "../../../dist/index.js";

export async function open(command, args) {
  const { board, close } = await connect({ echo: { command, args } });
  return {
    tools: board.tools().length,
    call: (name, params) => board.call(`mcp__echo__${name}`, params),
    // A failure is an outcome too: its text is then not the one expected, which the worker checks.
    text: (outcome) => outcome.content[0].text,
    close,
  };
}

export async function openAll(servers) {
  const { board, close } = await connect(servers);
  return { tools: board.tools().length, close };
}

/** With the whole guard: rules, limits, a secret to look for, and the audit on disk. */
async function connect(servers) {
  const stateDir = await mkdtemp(join(tmpdir(), "plugboard-bench-"));
  const definitions = Object.entries(servers).map(([name, server]) => [
    name,
    {
      ...server,
      env: { ...server.env, BENCH_API_TOKEN: "a-secret-that-is-looked-for" },
      rateLimit: 1_000_000,
      concurrency: 10_000,
    },
  ]);
  const config = { servers: Object.fromEntries(definitions), tools: { deny: ["*/delete_*"] } };
  const board = await openBoard(config, { stateDir });
  const close = async () => {
    await board.close();
    await rm(stateDir, { recursive: true, force: true });
  };
  return { board, close };
}
