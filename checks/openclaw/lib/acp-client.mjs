// An editor without a person: an ACP client that starts an agent, talks to it in lines of JSON-RPC, and permits
// whatever it is asked to permit.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const TIMEOUT_MS = 600_000;
const END_MS = 120_000;
/** The end of what the agent said on stderr, for an error message. */
const KEPT_OUTPUT = 4_000;

/**
 * Resolves when the agent has answered `initialize`. `prompt` resolves to `{ said, stopReason }`; `asked` are the permission
 * requests so far; `close` ends the agent's stdin and resolves when it has ended, `kill` is SIGKILL.
 */
export async function openAcpClient([command, ...args], { cwd, env }) {
  const child = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  const exited = once(child, "exit");
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    complaints = (complaints + chunk).slice(-KEPT_OUTPUT);
  });
  const waiting = new Map();
  const updates = [];
  const asked = [];
  const send = (message) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const answer = ({ id, method, params }) => {
    if (method !== "session/request_permission") {
      send({ id, error: { code: -32601, message: `no ${method} here` } });
      return;
    }
    asked.push(params);
    const { optionId } = params.options.find(({ kind }) => kind === "allow_once");
    send({ id, result: { outcome: { outcome: "selected", optionId } } });
  };
  createInterface(child.stdout).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.method === "session/update") updates.push(message.params);
    else if (message.method !== undefined) {
      if (message.id !== undefined) answer(message);
    } else {
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  // A request to an agent that has ended fails by its end, below.
  child.stdin.on("error", () => {});

  let lastId = 0;
  const request = async (method, params) => {
    lastId += 1;
    const id = lastId;
    const answered = new Promise((resolve) => {
      waiting.set(id, resolve);
    });
    send({ id, method, params });
    const timer = new AbortController();
    const late = new Promise((resolve) => {
      const handle = setTimeout(resolve, TIMEOUT_MS, "late");
      timer.signal.addEventListener("abort", () => clearTimeout(handle));
    });
    const message = await Promise.race([answered, exited.then(() => "ended"), late]);
    timer.abort();
    if (typeof message === "string") {
      const why = message === "late" ? `no answer after ${TIMEOUT_MS / 1000} s` : "the agent ended";
      throw new Error(`${method}: ${why}\n${complaints}`);
    }
    if (message.error)
      throw new Error(`${method}: ${JSON.stringify(message.error)}\n${complaints}`);
    return message.result;
  };
  const initialized = await request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const textFrom = (sessionId, first) =>
    updates
      .slice(first)
      .filter(({ update, ...rest }) => rest.sessionId === sessionId && isText(update))
      .map(({ update }) => update.content.text)
      .join("");
  return {
    initialized,
    asked,
    updates,
    pid: child.pid,
    request,
    stderr: () => complaints,
    async prompt(sessionId, text) {
      const first = updates.length;
      const prompt = [{ type: "text", text }];
      const { stopReason } = await request("session/prompt", { sessionId, prompt });
      return { stopReason, said: textFrom(sessionId, first) };
    },
    async close() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
      const [code, signal] = await exited;
      clearTimeout(timer);
      return code ?? signal;
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function isText({ sessionUpdate, content }) {
  return sessionUpdate === "agent_message_chunk" && content.type === "text";
}
