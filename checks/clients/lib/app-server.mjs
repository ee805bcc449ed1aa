// Codex without a person: `codex app-server`, which speaks JSON-RPC in lines.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { codex } from "./programs.mjs";

const TIMEOUT_MS = 60_000;

/** Resolves to `{ request(method, params), close() }` when Codex is ready. */
export async function openAppServer({ cwd, env }) {
  const [command, ...first] = codex;
  const child = spawn(command, [...first, "app-server"], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    complaints += chunk;
  });
  const waiting = new Map();
  createInterface(child.stdout).on("line", (line) => {
    const { id, result, error } = JSON.parse(line);
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error === undefined) resolve?.(result);
    else reject?.(new Error(`Codex answered ${JSON.stringify(error)}`));
  });
  const failAll = (why) => {
    for (const { reject } of waiting.values()) reject(new Error(`${why}:\n${complaints}`));
  };
  void exited.then(([code, signal]) => failAll(`codex app-server ended with ${code ?? signal}`));
  const timer = setTimeout(() => {
    failAll(`codex app-server has not answered in ${TIMEOUT_MS / 1000} s`);
    child.kill("SIGKILL");
  }, TIMEOUT_MS);

  let lastId = 0;
  const send = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const request = (method, params = {}) =>
    new Promise((resolve, reject) => {
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      send({ id: lastId, method, params });
    });
  const clientInfo = { name: "plugboard-clients", title: "Plugboard", version: "1.0.0" };
  await request("initialize", { clientInfo });
  send({ method: "initialized" });
  return {
    request,
    async close() {
      clearTimeout(timer);
      child.stdin.end();
      child.kill("SIGTERM");
      await exited;
    },
  };
}
