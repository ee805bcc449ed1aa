// The server behind all gateways: its tool `count` writes the call's number and the gateway that sent it into a file, and only then
// answers. So the file says which calls ran, how often and for whom, whoever was killed when.
// `node upstream.mjs <port> <file>`; `?ms=50` in the address is how long a call takes.

import { openSync, writeSync } from "node:fs";
import { createServer } from "node:http";

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

const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  if (request.method !== "POST") return void response.writeHead(405).end();
  let body = "";
  request.setEncoding("utf8").on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => answer(request, response, JSON.parse(body)));
});
server.listen(Number(port), "127.0.0.1");

function answer(request, response, { id, method, params }) {
  if (id === undefined) return void response.writeHead(202).end();
  const known = answers[method];
  const outcome =
    known === undefined
      ? { error: { code: -32601, message: `Method not found: ${method}` } }
      : { result: known(params) };
  const text = JSON.stringify({ jsonrpc: "2.0", id, ...outcome });
  const send = () =>
    response
      .writeHead(200, {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(text),
      })
      .end(text);
  if (method !== "tools/call") return void send();
  writeSync(log, `${params.arguments.number} ${request.headers["x-replica"]}\n`);
  const ms = Number(/[?&]ms=(\d+)/.exec(request.url)?.[1] ?? 0);
  if (ms === 0) return void send();
  setTimeout(send, ms);
}
