// The server behind the gateway: its tool `count` writes the call's own number into a file, and only then answers.
// So the file says which calls ran, and how often, whoever was killed when.
// `node upstream.mjs <file of numbers> <file of pids>`

import { appendFileSync, openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";

/** Now and then a call takes a while, so that some are always under way when something is killed. */
const SLOW_EVERY = 50;
const SLOW_MS = 20;

const TOOL = {
  name: "count",
  description: "Writes the number down.",
  inputSchema: {
    type: "object",
    properties: { number: { type: "integer" } },
    required: ["number"],
  },
};

const [numbersFile, pidsFile] = process.argv.slice(2);
const numbers = openSync(numbersFile, "a");
appendFileSync(pidsFile, `${process.pid}\n`);

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: protocolVersion === "2026-07-28" ? "2025-11-25" : protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "soak", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [TOOL] }),
  async "tools/call"({ arguments: { number } }) {
    writeSync(numbers, `${number}\n`);
    if (number % SLOW_EVERY === 0) await delay(SLOW_MS);
    return { content: [{ type: "text", text: `counted ${number}` }] };
  },
};

// It ends when its input does and all that came is answered.
createInterface(process.stdin).on("line", (line) => void answer(JSON.parse(line)));

async function answer({ id, method, params }) {
  if (id === undefined) return;
  const known = answers[method];
  const outcome =
    known === undefined
      ? { error: { code: -32601, message: `Method not found: ${method}` } }
      : { result: await known(params) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n`);
}
