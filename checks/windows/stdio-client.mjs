// Runs in Windows' Node: a client of `plugboard serve`, whose path is the argument. Prints what it got.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const child = spawn(process.execPath, [process.argv[2], "serve"], {
  stdio: ["pipe", "pipe", "inherit"],
});
const waiting = new Map();
createInterface({ input: child.stdout }).on("line", (line) => {
  const { id, result } = JSON.parse(line);
  waiting.get(id)?.(result);
});
const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const ask = (method, params) =>
  new Promise((resolve) => {
    const id = waiting.size + 1;
    waiting.set(id, resolve);
    send({ id, method, params });
  });

const { serverInfo } = await ask("initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "check", version: "1" },
});
send({ method: "notifications/initialized" });
const { tools } = await ask("tools/list", {});
const { name } = tools.find((tool) => tool.name.endsWith("echo__echo"));
const { content } = await ask("tools/call", { name, arguments: { text: "grüße" } });
child.stdin.end();
const [code] = await once(child, "exit");
const got = { server: serverInfo.name, said: content[0].text, code };
process.stdout.write(JSON.stringify(got));
