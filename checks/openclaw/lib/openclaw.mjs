// OpenClaw as a program, on the Node it needs: a command that ends, and the gateway that stays.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { runProgram } from "../../lib/run-program.mjs";

const MODULES = fileURLToPath(new URL("../node_modules/", import.meta.url));
/** OpenClaw needs a newer one than the project does. */
export const NODE = `${MODULES}node24/bin/node`;
const HOST = "127.0.0.1";

/** For a run that hangs. */
const KILL_MS = 600_000;
/** How often a start is tried. */
const STARTS = 3;
const READY_MS = 600_000;
const END_MS = 120_000;
/** The end of what the gateway said, for an error message. */
const KEPT_OUTPUT = 8_000;

/** Command and first arguments. */
export const openclaw = [NODE, `${MODULES}openclaw/openclaw.mjs`];

export function versions() {
  return `OpenClaw ${versionOf("openclaw")} and acpx ${versionOf("acpx")} on Node ${versionOf("node24")}`;
}

/** Resolves to `{ code, stdout, stderr }`; `code` is null where it had to be ended. */
export function run(command, args, { cwd, env }) {
  return runProgram(command, args, { cwd, env, killMs: KILL_MS });
}

/**
 * Resolves when the gateway answers. OpenClaw gives up its start on a busy machine, where its database takes long, so it is
 * started again some times.
 */
export async function startOpenclaw(options) {
  for (let left = STARTS - 1; ; left -= 1) {
    try {
      return await startOnce(options);
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

/**
 * `turn` runs one turn of an agent and resolves to what the agent said;
 * `stop` ends the gateway by SIGTERM and resolves when it has ended.
 */
async function startOnce({ port, token, cwd, env }) {
  const [command, ...first] = openclaw;
  const child = spawn(command, [...first, "gateway", "run"], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk) => {
      output = (output + chunk).slice(-KEPT_OUTPUT);
    });
  }
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const stop = async () => {
    if (hasEnded()) return;
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
    await ended;
    clearTimeout(timer);
  };
  const deadline = performance.now() + READY_MS;
  while (!(await isReady(port))) {
    if (hasEnded()) throw new Error(`OpenClaw's gateway ended before it was ready:\n${output}`);
    if (performance.now() > deadline) {
      await stop();
      throw new Error(`OpenClaw's gateway was not ready after ${READY_MS / 1000} s:\n${output}`);
    }
    await delay(50);
  }
  return {
    pid: child.pid,
    url: `ws://${HOST}:${port}`,
    token,
    output: () => output,
    turn: (options) => runTurn({ port, token, ...options }),
    stop,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** One turn through OpenClaw's own HTTP API. */
async function runTurn({ port, token, agent, session, prompt }) {
  const response = await fetch(`http://${HOST}:${port}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "x-openclaw-session-key": `agent:${agent}:${session}`,
    },
    body: JSON.stringify({
      model: `openclaw/${agent}`,
      messages: [{ role: "user", content: prompt }],
    }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`OpenClaw answered ${response.status}: ${text}`);
  return JSON.parse(text).choices[0].message.content;
}

async function isReady(port) {
  try {
    const response = await fetch(`http://${HOST}:${port}/readyz`);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

function versionOf(name) {
  return JSON.parse(readFileSync(`${MODULES}${name}/package.json`, "utf8")).version;
}
