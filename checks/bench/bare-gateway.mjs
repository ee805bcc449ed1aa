// The limit for gateways: `node:http`, one stdio server behind a pipe, and nothing else. No sessions, no checks, no
// token, no timeouts, and the ids of its one client go to the server as they are.
// `node bare-gateway.mjs <port> <command> <args…>`

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { lineReader } from "./lib/lines.mjs";

const [port, command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();

server.stdout.on(
  "data",
  lineReader((line) => {
    const { id } = JSON.parse(line);
    const response = waiting.get(id);
    waiting.delete(id);
    response?.writeHead(200, {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(line),
    });
    response?.end(line);
  }),
);

createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    const { id } = JSON.parse(body);
    if (id === undefined) response.writeHead(202).end();
    else waiting.set(id, response);
    server.stdin.write(`${body}\n`);
  });
}).listen(Number(port), "127.0.0.1");

process.on("SIGTERM", () => process.exit());
