// The SDK's own client with a program: what the agent answers and tells, as it came.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";

/** For an agent that does not answer. */
const TIMEOUT_MS = 90_000;
/** For one that does not end by itself. */
const END_MS = 15_000;
const KEPT_OUTPUT = 4_000;

/**
 * Starts the program. `request(method, params)` rejects with the error as the agent sent it. `close()` ends it as an editor does
 * that is closed, and resolves to how it ended.
 */
export function connect([command, ...args], { cwd, env }) {
  const child = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  const exited = once(child, "exit");
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    complaints = (complaints + text).slice(-KEPT_OUTPUT);
  });
  child.stdin.on("error", () => {});
  const updates = [];
  const permissions = [];
  const connection = client({ name: "plugboard-agents" })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params.update);
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      permissions.push(params);
      const { optionId } = params.options.find(({ kind }) => kind === "allow_once");
      return { outcome: { outcome: "selected", optionId } };
    })
    .connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  return {
    updates,
    permissions,
    complaints: () => complaints,
    said: () => updates.map(({ content }) => content?.text ?? "").join(""),
    async request(method, params) {
      let timer;
      const late = new Promise((_, reject) => {
        timer = setTimeout(() => {
          const seconds = TIMEOUT_MS / 1000;
          reject(new Error(`${method} is not answered after ${seconds} s:\n${complaints}`));
        }, TIMEOUT_MS);
      });
      try {
        return await Promise.race([connection.agent.request(method, params), late]);
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
      const [code, signal] = await exited;
      clearTimeout(timer);
      connection.close();
      return code ?? signal;
    },
  };
}
