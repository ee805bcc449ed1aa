// The processes the bench has started. Each leads a group of its own, so that ending it takes along
// what it started itself.

import { spawn } from "node:child_process";
import { once } from "node:events";

const running = new Set();

export function start(command, args, options = {}) {
  const env = { ...cleanEnvironment(process.env), ...options.env };
  const child = spawn(command, args, { ...options, env, detached: process.platform !== "win32" });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

/**
 * Without what someone has set for their own Node: options change what is measured, and more certificates slow down
 * every start of a Node that inherits them.
 */
function cleanEnvironment(environment) {
  const { NODE_OPTIONS: _, NODE_EXTRA_CA_CERTS: __, ...env } = environment;
  return env;
}

export function end(child) {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

export function endAll() {
  for (const child of running) end(child);
}

/** Runs a command to its end. Times are in milliseconds from the start; `printed` is its last output. */
export async function run(command, args, { timeLimit, ...options }) {
  const before = performance.now();
  const child = start(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const timer = setTimeout(() => end(child), timeLimit * 1_000);
  let stdout = "";
  let stderr = "";
  let printed = 0;
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
    printed = performance.now() - before;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  let exited = 0;
  child.once("exit", () => {
    exited = performance.now() - before;
  });
  try {
    const [code, signal] = await once(child, "close");
    return { code, signal, stdout, stderr, printed, exited };
  } finally {
    clearTimeout(timer);
  }
}
