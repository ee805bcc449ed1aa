// `node checks/bench/acp-front.mjs`: a prompt turn without tools, with an ACP agent alone and behind `plugboard acp --`, in one run.
// The turns alternate, so that both see the same machine. Needs a build.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const TURNS = 500;
const WARM_UP = 50;
/** Milliseconds that the front may add to the median of a turn. */
const ALLOWED = 5;
/** What a short answer of a model looks like: some chunks, then the end of the turn. */
const PROMPT = "updates 20";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const home = mkdtempSync(join(tmpdir(), "plugboard-bench-front-"));
const agent = [process.execPath, path("../../test/fixtures/agents/scripted-agent.mjs")];
const front = [process.execPath, path("../../dist/bin.cjs"), "acp", "--", ...agent];

const children = [];
process.once("exit", () => {
  for (const child of children) child.kill();
  rmSync(home, { recursive: true, force: true });
});

const bare = await open(agent);
const fronted = await open(front);
const times = { bare: [], fronted: [] };
for (let turn = -WARM_UP; turn < TURNS; turn += 1) {
  const [one, two] = [await bare.turn(), await fronted.turn()];
  if (turn < 0) continue;
  times.bare.push(one);
  times.fronted.push(two);
}
await Promise.all([bare.end(), fronted.end()]);

const rows = Object.entries(times).map(([name, taken]) => ({ name, ...summary(taken) }));
for (const { name, p50, p99 } of rows) {
  console.log(`${name.padEnd(8)} p50 ${p50.toFixed(2)} ms   p99 ${p99.toFixed(2)} ms`);
}
const [{ p50: alone }, { p50: behind }] = rows;
const added = behind - alone;
const holds = added < ALLOWED;
console.log(
  `the front adds ${added.toFixed(2)} ms to the median of a turn (allowed: ${ALLOWED} ms)`,
);
process.exitCode = holds ? 0 : 1;

/** A session with an agent: `turn` resolves to the milliseconds of one prompt. */
async function open([command, ...args]) {
  const env = { ...process.env, PLUGBOARD_HOME: home };
  const child = spawn(command, args, { env, cwd: home, stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const waiting = new Map();
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const { id, result, error } = JSON.parse(line);
      if (id === undefined) continue;
      const { resolve, reject } = waiting.get(id);
      if (error === undefined) resolve(result);
      else reject(new Error(error.message));
    }
  });
  let last = 0;
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: last, method, params })}\n`);
    });
  await request("initialize", { protocolVersion: 1 });
  const { sessionId } = await request("session/new", { cwd: home, mcpServers: [] });
  return {
    async turn() {
      const begin = performance.now();
      await request("session/prompt", { sessionId, prompt: [{ type: "text", text: PROMPT }] });
      return performance.now() - begin;
    },
    end: () =>
      new Promise((resolve) => {
        child.once("exit", resolve);
        child.stdin.end();
      }),
  };
}

function summary(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
  return { p50: at(0.5), p99: at(0.99) };
}
