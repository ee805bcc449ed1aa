// Clients that mean harm, or are broken in a way that does harm. Each makes one attempt and resolves to what came of it: a status, or in
// a word how the connection ended. None of them may get a result.

import { request } from "node:http";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** What a client may get for each kind of attempt. Node's own limits answer with 400, 408 and 431. */
export const HOSTILE = {
  "wrong token": {
    attempt: ({ port, random }) => post({ port, token: `x${random()}`, body: LIST }),
    allowed: ["401", "429", "closed"],
  },
  "no token": {
    attempt: ({ port }) => post({ port, body: LIST }),
    allowed: ["401", "429", "closed"],
  },
  "huge body": {
    attempt: ({ port, token }) => post({ port, token, body: Buffer.alloc(20 * 2 ** 20, 0x20) }),
    allowed: ["413", "429", "closed"],
  },
  "deep body": {
    attempt: ({ port, token }) =>
      post({ port, token, body: call(`${"[".repeat(50_000)}${"]".repeat(50_000)}`) }),
    allowed: ["400", "413", "429", "200 error"],
  },
  "wide body": {
    attempt: ({ port, token }) =>
      post({
        port,
        token,
        body: call(`{${Array.from({ length: 50_000 }, (_, at) => `"k${at}":1`).join(",")}}`),
      }),
    allowed: ["400", "413", "429", "200 error"],
  },
  "slow writer": { attempt: slowWriter, allowed: ["408", "closed", "given up"] },
  "slow reader": { attempt: slowReader, allowed: ["closed", "given up"] },
  "abandoned call": { attempt: abandonedCall, allowed: ["given up", "closed"] },
  "no HTTP": {
    attempt: ({ port, random }) =>
      raw({ port, text: `${random().repeat(50)}\r\n\r\n`, holdMs: 2_000 }),
    allowed: ["400", "408", "431", "closed"],
  },
};

const LIST = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });

/** A call of the tool that counts, whose arguments do not fit. */
function call(args) {
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{"number":${args}}}}`;
}

function post({ port, token, body }) {
  return new Promise((resolve) => {
    const headers = {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      Accept: "application/json, text/event-stream",
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    };
    const sent = request({
      host: "127.0.0.1",
      port,
      path: "/mcp",
      method: "POST",
      agent: false,
      headers,
    });
    sent.on("error", () => resolve("closed"));
    sent.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => (text += chunk));
      response.on("error", () => resolve("closed"));
      response.on("end", () => resolve(kindOf(response.statusCode, text)));
    });
    sent.end(body);
  });
}

/** Within a 200, an error of JSON-RPC or of a tool is a refusal too. */
function kindOf(status, text) {
  if (status !== 200) return String(status);
  return /"error":|"isError":true/.test(text) ? "200 error" : "200";
}

/** A byte at a time, and never all of them. */
async function slowWriter({ port, token, patience }) {
  const { socket, ended } = open(port);
  socket.write(head({ token, length: 10_000 }));
  const until = performance.now() + patience;
  while (performance.now() < until && !socket.destroyed) {
    socket.write(" ");
    await delay(250);
  }
  return leave(socket, ended);
}

/** Asks for many lists, and reads none. */
async function slowReader({ port, token, patience }) {
  const { socket, ended } = open(port);
  socket.pause();
  for (let at = 0; at < 200 && !socket.destroyed; at += 1) {
    socket.write(head({ token, length: LIST.length }) + LIST);
  }
  await delay(patience);
  return leave(socket, ended);
}

/** Sends a call, and is gone before the answer. */
async function abandonedCall({ port, token, number }) {
  const { socket, ended } = open(port);
  const body = call(number());
  socket.write(head({ token, length: body.length }) + body);
  await delay(5);
  return leave(socket, ended);
}

async function raw({ port, text, holdMs }) {
  const { socket, ended } = open(port);
  let answer = "";
  socket.setEncoding("latin1").on("data", (chunk) => (answer += chunk));
  socket.write(text);
  await Promise.race([ended, delay(holdMs)]);
  socket.destroy();
  return /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? "closed";
}

function open(port) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  const ended = new Promise((resolve) => socket.once("close", resolve));
  return { socket, ended };
}

async function leave(socket, ended) {
  const kind = socket.destroyed ? "closed" : "given up";
  socket.destroy();
  await ended;
  return kind;
}

function head({ token, length }) {
  return [
    "POST /mcp HTTP/1.1",
    "Host: 127.0.0.1",
    `Authorization: Bearer ${token}`,
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    `Content-Length: ${length}`,
    "\r\n",
  ].join("\r\n");
}
