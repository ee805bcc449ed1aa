// For the rigs around the gateway (bench, clients, conformance, fleet, soak): `plugboard up` from dist/ as a process of
// its own, with its own home, on a free port of loopback.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export const BIN = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));

const HOST = "127.0.0.1";
/** So many that none is ever refused, while they are still counted. */
const REQUESTS_PER_MINUTE = 100_000_000;
const READY_MS = 120_000;
/** The gateway gives calls in flight half a minute, and its programs time to end. */
const END_MS = 70_000;
/** The end of what it said, for an error message. */
const KEPT_OUTPUT = 4_000;

const running = new Set();

/**
 * Writes the configuration into `home` and resolves when the gateway is ready. `agent` is what the file says
 * for all agents; `configure(agent)` replaces it. `limits` are those of the gateway that are not as usual, `settings` its other ones, `rest` what else is in the file.
 * It listens at `port` of `host`, which are not in the file, and runs as the last words of `under`. The result has `url`, `token`,
 * `port`, `pid()`, `isRunning()`, `start()` after an end, `stop()` by SIGTERM, which rejects unless the gateway ends with 0, and
 * `kill()` by SIGKILL.
 */
export async function runGateway({
  home,
  agent,
  limits,
  settings = {},
  rest = {},
  host = HOST,
  port: wanted,
  under = [],
  node = process.execPath,
  env = {},
}) {
  const port = wanted ?? (await freePort());
  const config = join(home, "plugboard.json");
  mkdirSync(home, { recursive: true });
  const configure = (defaults) => {
    const gateway = {
      limits: { requestsPerMinute: REQUESTS_PER_MINUTE, ...limits },
      ...settings,
    };
    // As a whole: nobody reads a half of it.
    writeFileSync(`${config}.new`, JSON.stringify({ agents: { defaults }, gateway, ...rest }));
    renameSync(`${config}.new`, config);
  };
  configure(agent);
  const words = ["--config", config, "up", "--host", host, "--port", String(port)];
  const gateway = await startGateway({ home, host, port, words, under, node, env });
  return { ...gateway, url: `http://${host}:${port}/mcp`, config, configure };
}

/** Resolves when the gateway that these words start is ready, at `port` of `host`. The result is that of `runGateway` without what is about its file. */
export async function startGateway({
  home,
  host = HOST,
  port,
  words,
  under = [],
  node = process.execPath,
  env = {},
}) {
  let child;
  let ended;
  let output = "";

  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const start = async () => {
    output = "";
    const [command, ...args] = [...under, node, BIN, ...words];
    child = spawn(command, args, {
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, PLUGBOARD_HOME: home, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const started = child;
    running.add(started);
    ended = once(child, "exit").finally(() => running.delete(started));
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk) => {
        output = (output + chunk).slice(-KEPT_OUTPUT);
      });
    }
    const deadline = performance.now() + READY_MS;
    while (!(await isReady(host, port))) {
      if (!isRunning()) {
        throw new Error(`the gateway ended before it was ready:\n${output}`);
      }
      if (performance.now() > deadline) {
        child.kill("SIGKILL");
        throw new Error(`the gateway was not ready after ${READY_MS / 1000} s:\n${output}`);
      }
      await delay(20);
    }
  };
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  const stop = async () => {
    if (!isRunning()) return;
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
    const [code, signal] = await ended;
    clearTimeout(timer);
    if (code !== 0) throw new Error(`the gateway ended with ${code ?? signal}:\n${output}`);
  };

  await start();
  return {
    host,
    home,
    env,
    port,
    token: readFileSync(join(home, "gateway", "token"), "utf8").trim(),
    pid: () => child.pid,
    isRunning,
    output: () => output,
    start,
    stop,
    kill,
  };
}

/** Kills every gateway that still runs, for a rig that is ended itself. What they started ends with them. */
export function endGateways() {
  for (const child of running) child.kill("SIGKILL");
}

export async function freePort() {
  return listenOnce(0);
}

/** The first of so many free ports in a row, below those that the system gives to whoever asks for any. */
export async function freePorts(count) {
  for (;;) {
    const first = 10_000 + Math.floor(Math.random() * 20_000);
    const row = Array.from({ length: count }, (_, n) => listenOnce(first + n));
    const found = await Promise.allSettled(row);
    if (found.every(({ status }) => status === "fulfilled")) return first;
  }
}

async function listenOnce(wanted) {
  const server = createServer().listen(wanted, HOST);
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Resolves to whether `/readyz` says so. */
function isReady(host, port) {
  return new Promise((resolve) => {
    const asked = request({ host, port, path: "/readyz", agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.once("error", () => resolve(false));
    asked.end();
  });
}
