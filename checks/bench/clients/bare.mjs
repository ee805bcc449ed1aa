// The limit for big results: the bytes through a pipe and one JSON.parse. One call at a time.

import { spawn } from "node:child_process";
import { once } from "node:events";

const NEWLINE = 10;

export async function open(command, args) {
  const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  await once(server, "spawn");

  return {
    call(name, params) {
      return new Promise((resolve) => {
        const chunks = [];
        const collect = (chunk) => {
          chunks.push(chunk);
          if (chunk.at(-1) !== NEWLINE) return;
          server.stdout.off("data", collect);
          resolve(JSON.parse(Buffer.concat(chunks).toString()).result);
        };
        server.stdout.on("data", collect);
        const request = { id: 1, method: "tools/call", params: { name, arguments: params } };
        server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...request })}\n`);
      });
    },
    text: (result) => result.content[0].text,
    async close() {
      const closed = once(server, "close");
      server.stdin.end();
      await closed;
    },
  };
}
