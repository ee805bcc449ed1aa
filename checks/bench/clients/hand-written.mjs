// The limit: a JSON-RPC loop with nothing in it but what the protocol needs. No timeouts, no checks,
// no cancellation, no recovery.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { lineReader } from "../lib/lines.mjs";

export async function open(command, args) {
  const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  let lastId = 0;

  server.stdout.on(
    "data",
    lineReader((line) => {
      const message = JSON.parse(line);
      const { resolve, reject } = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error === undefined) resolve(message.result);
      else reject(new Error(message.error.message));
    }),
  );

  function send(message) {
    server.stdin.write(`${JSON.stringify(message)}\n`);
  }

  function request(method, params) {
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      send({ jsonrpc: "2.0", id, method, params });
    });
  }

  await request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "bench", version: "1.0.0" },
  });
  send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const { tools } = await request("tools/list", {});

  return {
    tools: tools.length,
    call: (name, params) => request("tools/call", { name, arguments: params }),
    text: (result) => result.content[0].text,
    async close() {
      const closed = once(server, "close");
      server.stdin.end();
      await closed;
    },
  };
}
