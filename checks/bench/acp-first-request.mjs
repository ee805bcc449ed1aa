// How long a prompt takes to reach the model: from the line that asks for it on the agent's stdin to the request
// at a scripted model on loopback. Needs `npm run build`. Both ends are in this process, so the way there and
// the reading of the request are counted.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startModel } from "../../test/support/model/start.mjs";

const PROMPTS = 30;
const SESSIONS = 20;
const SERVERS = 10;
/** From the session to its first prompt: nobody is faster than that. */
const TYPING_MS = 1000;

const bin = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));
const echo = fileURLToPath(new URL("../../test/fixtures/servers/echo.mjs", import.meta.url));

/** One agent, started as an editor does, and what its prompts took in milliseconds; `pause` is before the first. */
async function measure(servers, pause) {
  const directory = await mkdtemp(join(tmpdir(), "plugboard-bench-"));
  let arrived = 0;
  const turns = () => {
    arrived = performance.now();
    return { text: "ok" };
  };
  const model = await startModel({ turns });
  await useOnce(model);
  const config = join(directory, "plugboard.json");
  await writeFile(
    config,
    JSON.stringify({
      agents: { defaults: { model: "scripted/m", mcp: { servers } } },
      models: {
        providers: { scripted: { type: "anthropic", baseUrl: `${model.url}/v1`, apiKey: "k" } },
      },
    }),
  );
  const agent = startAgent(directory, config);
  const prompt = async (sessionId, text = "Hello?") => {
    const sent = performance.now();
    await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    return arrived - sent;
  };
  const open = async () =>
    (await agent.request("session/new", { cwd: directory, mcpServers: [] })).sessionId;
  try {
    await agent.request("initialize", { protocolVersion: 1 });
    const first = await open();
    // What servers need is not what is measured.
    await agent.said(first, (text) => Object.keys(servers).every((name) => isReady(text, name)));
    await setTimeout(pause);
    const firstOfAll = await prompt(first);
    const onOne = [];
    for (let count = 0; count < PROMPTS; count += 1) onOne.push(await prompt(first));
    const fresh = [];
    for (let count = 0; count < SESSIONS; count += 1) fresh.push(await prompt(await open()));
    return { firstOfAll, onOne, fresh, tools: model.requests.at(-1)?.tools.length ?? 0 };
  } finally {
    await agent.end();
    await model.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** The model's own first request is not what is measured either. */
async function useOnce(model) {
  const messages = [{ role: "user", content: "Hello?" }];
  const body = JSON.stringify({ model: "m", max_tokens: 1, stream: true, messages });
  const response = await fetch(`${model.url}/v1/messages`, { method: "POST", body });
  await response.text();
}

function startAgent(directory, config) {
  const child = spawn(process.execPath, [...process.execArgv, bin, "--config", config, "acp"], {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: directory, PLUGBOARD_HOME: join(directory, "home") },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = new Map();
  let text = "";
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, result, error, params } = JSON.parse(line);
    if (id === undefined) {
      text += params.update.content?.text ?? "";
      return;
    }
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(result);
    else reject(new Error(error.message));
  });
  let last = 0;
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: last, method, params })}\n`);
    });
  return {
    request,
    /** Asks for the state of the servers until all are ready. */
    async said(sessionId, condition) {
      do {
        text = "";
        const prompt = [{ type: "text", text: "/mcp" }];
        await request("session/prompt", { sessionId, prompt });
      } while (!condition(text));
    },
    async end() {
      const exited = once(child, "exit");
      child.stdin.end();
      await exited;
    },
  };
}

function isReady(text, name) {
  return text.includes(`- ${name}: ready`);
}

function report(name, times) {
  const sorted = times.toSorted((a, b) => a - b);
  const p50 = sorted[Math.floor(sorted.length / 2)];
  const worst = sorted.at(-1);
  console.log(
    `  ${name.padEnd(34)} p50 ${p50.toFixed(1).padStart(6)}   worst ${worst.toFixed(1).padStart(6)}`,
  );
}

const shared = Object.fromEntries(
  Array.from({ length: SERVERS }, (_, index) => [
    `echo${index}`,
    { command: process.execPath, args: [echo] },
  ]),
);
console.log(
  `Node ${process.versions.node}: milliseconds from session/prompt to the model's request`,
);
for (const { name, servers, pause } of [
  { name: "no servers, asked at once", servers: {}, pause: 0 },
  { name: "no servers", servers: {}, pause: TYPING_MS },
  { name: `${SERVERS} shared servers`, servers: shared, pause: TYPING_MS },
]) {
  const { firstOfAll, onOne, fresh, tools } = await measure(servers, pause);
  console.log(`${name}, ${tools} tools`);
  report("the first prompt of all", [firstOfAll]);
  report(`${PROMPTS} prompts of one session`, onOne);
  report(`first prompts of ${SESSIONS} sessions`, fresh);
}
