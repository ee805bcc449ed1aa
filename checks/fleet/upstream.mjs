// The server behind all gateways: its tool `count` writes the call's number and the gateway that sent it into a file, and only then
// answers. So the file says which calls ran, how often and for whom, whoever was killed when. It speaks HTTP/1.1 over plain sockets,
// since it shares the machine with what is measured: a quarter of what `node:http` costs.
// `node upstream.mjs <port> <file>`; `?ms=50` in the address is how long a call takes.

import { openSync, writeSync } from "node:fs";
import { createServer } from "node:net";

const TOOL = {
  name: "count",
  description: "Writes the number down.",
  inputSchema: {
    type: "object",
    properties: { number: { type: "integer" } },
    required: ["number"],
  },
};

const [port, file] = process.argv.slice(2);
const log = openSync(file, "a");

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: protocolVersion === "2026-07-28" ? "2025-11-25" : protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "fleet", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [TOOL] }),
  "tools/call": ({ arguments: { number } }) => ({
    content: [{ type: "text", text: `counted ${number}` }],
  }),
};

/** Each byte is a character, so that lengths are right; what gateways send here is ASCII. */
const server = createServer((socket) => {
  let text = "";
  socket.setNoDelay(true);
  socket.setEncoding("latin1");
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    text = text === "" ? chunk : text + chunk;
    for (;;) {
      const end = text.indexOf("\r\n\r\n");
      if (end === -1) return;
      const head = text.slice(0, end);
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      const next = end + 4 + length;
      if (text.length < next) return;
      const body = text.slice(end + 4, next);
      text = text.slice(next);
      answer(socket, head, body);
    }
  });
});
server.listen(Number(port), "127.0.0.1");

function answer(socket, head, body) {
  if (!head.startsWith("POST ")) {
    return void socket.write("HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n");
  }
  const { id, method, params } = JSON.parse(body);
  if (id === undefined) {
    return void socket.write("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
  }
  const known = answers[method];
  const outcome =
    known === undefined
      ? { error: { code: -32601, message: `Method not found: ${method}` } }
      : { result: known(params) };
  const text = JSON.stringify({ jsonrpc: "2.0", id, ...outcome });
  const send = () =>
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  if (method !== "tools/call") return void send();
  const [, replica] = /\r\nx-replica: *([^\r]*)/i.exec(head) ?? [];
  writeSync(log, `${params.arguments.number} ${replica}\n`);
  const ms = Number(/^[^\r]*[?&]ms=(\d+)/.exec(head)?.[1] ?? 0);
  if (ms === 0) return void send();
  setTimeout(send, ms);
}
