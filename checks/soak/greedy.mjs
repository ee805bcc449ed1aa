// A client that wants the gateway for itself, until it is killed: requests of a million keys, uploads to a tool that
// is denied, calls that it abandons, connections on which it says nothing.
// `node greedy.mjs <port> <token>`

import { Agent, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

const [port, token] = process.argv.slice(2);
const KEYS = 900_000;
const UPLOAD = 15 * 1024 * 1024;
const ABANDONED = 100 * 1024;
const SILENT = 500;
/** Each lane does one thing after another, without a rest but this. */
const REST_MS = 5;

const call = (name, args) =>
  Buffer.from(
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`,
  );
const keys = Array.from({ length: KEYS }, (_, at) => `"k${at}":${at}`);
const bodies = {
  keys: call("count__count", `{${keys.join(",")}}`),
  deniedKeys: call("denied__count", `{${keys.slice(0, 40_000).join(",")}}`),
  upload: call("denied__count", `{"text":"${"x".repeat(UPLOAD)}"}`),
  abandoned: call("count__count", `{"number":0,"text":"${"x".repeat(ABANDONED)}"}`),
};

const agent = new Agent({ keepAlive: true });
const headers = {
  Authorization: `Bearer ${token}`,
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
};

/** Resolves when there is an answer or none will come. */
function send(body, { abandon = false } = {}) {
  return new Promise((resolve) => {
    const sent = request(
      { host: "127.0.0.1", port, path: "/mcp", method: "POST", agent, headers },
      (response) => response.resume().once("close", resolve),
    );
    sent.once("error", resolve);
    sent.end(body, () => {
      if (!abandon) return;
      sent.destroy();
      resolve();
    });
  });
}

async function forever(act) {
  for (;;) {
    await act();
    await delay(REST_MS);
  }
}

async function sayNothing() {
  const sockets = Array.from({ length: SILENT }, () => connect(Number(port), "127.0.0.1"));
  for (const socket of sockets) socket.on("error", () => {});
  await delay(2_000);
  for (const socket of sockets) socket.destroy();
}

void forever(() => send(bodies.keys));
void forever(() => send(bodies.deniedKeys));
void forever(() => send(bodies.upload));
void forever(() => send(bodies.abandoned, { abandon: true }));
void forever(sayNothing);
