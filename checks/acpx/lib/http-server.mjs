// A real MCP server behind a URL on loopback: server-everything from npm.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { freePort } from "../../lib/run-gateway.mjs";

const HOST = "127.0.0.1";
const manifest = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/package.json",
);

/** Resolves to `{ url, close }` when it listens. */
export async function startHttpServer(env) {
  const port = await freePort();
  const entry = join(dirname(manifest), "dist", "index.js");
  const child = spawn(process.execPath, [entry, "streamableHttp"], {
    env: { ...env, PORT: String(port) },
    stdio: "ignore",
  });
  const exited = once(child, "exit");
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error(`server-everything ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url: `http://${HOST}:${port}/mcp`,
    async close() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function listens(port) {
  return new Promise((resolve) => {
    const socket = connect(port, HOST);
    const tell = (does) => {
      socket.destroy();
      resolve(does);
    };
    socket.once("connect", () => tell(true)).once("error", () => tell(false));
  });
}
