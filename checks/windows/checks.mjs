// What a user of Windows does first, and what differs there: paths, pipes with names, files that are open.

import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { freePort } from "../lib/run-gateway.mjs";
import { BIN, NODE, ROOT, SERVER } from "./rig.mjs";

export const CHECKS = [
  { name: "node scripts/build.mjs makes the same files as on Linux", run: build },
  { name: "plugboard --version, add, tools and call", run: commands },
  { name: "a server that is a .cmd file gets its arguments", run: script },
  { name: "secrets move, and secret://file/~\\…", run: secrets },
  { name: "connect and --undo", run: connect },
  { name: "keepAlive: a gateway in the background answers over a named pipe", run: background },
  { name: "up, status, call and down", run: gateway },
  { name: "serve for a client on stdio", run: serve },
  { name: "300 writes by three processes while three others read the file", run: contended },
];

async function build({ drive, run, bundler }) {
  const linux = join(ROOT, "dist");
  const windows = join(drive, "plugboard", "dist");
  rmSync(windows, { recursive: true });
  try {
    const { code, stderr } = await run(["scripts/build.mjs"], { cwd: "plugboard" });
    assert.equal(code, 0, stderr);
    assert.deepEqual(filesIn(windows), filesIn(linux));
    const differ = filesIn(linux).filter(
      (name) => !readFileSync(join(linux, name)).equals(readFileSync(join(windows, name))),
    );
    assert.deepEqual(differ, []);
  } finally {
    // What else there is to check does not depend on it.
    cpSync(linux, windows, { recursive: true });
  }
  return `the build ran with rolldown ${bundler}`;
}

async function commands({ plugboard }) {
  assert.match(await plugboard("--version"), /^\d+\.\d+\.\d+\n$/);
  await plugboard("add", "echo", "--yes", "--", NODE, SERVER);
  assert.match(await plugboard("tools"), /^echo\/echo /m);
  assert.equal(await plugboard("call", "echo/echo", "text=grüße"), "grüße\n");
}

async function script({ drive, plugboard }) {
  writeFileSync(join(drive, "server.cmd"), `@echo off\r\n${NODE} ${SERVER} %*\r\n`);
  await plugboard("add", "script", "--yes", "--", String.raw`C:\server.cmd`, "a b", "x&y");
  assert.equal(await plugboard("call", "script/echo", 'text=a "b" & c'), 'a "b" & c\n');
  await plugboard("remove", "script");
}

async function secrets({ home, plugboard }) {
  await plugboard("add", "safe", "--yes", "--env", "TOKEN=a-secret-value", "--", NODE, SERVER);
  await plugboard("secrets", "move", "safe", "TOKEN", "--yes");
  assert.match(await plugboard("secrets", "check"), /secrets\.json#safe-TOKEN +ok/);
  writeFileSync(join(home, "token.txt"), "another-secret-value");
  edit(home, ({ mcpServers }) => {
    mcpServers.safe.env.TOKEN = "secret://file/~\\token.txt";
  });
  assert.match(await plugboard("secrets", "check"), /~\\token\.txt +ok/);
  assert.match(await plugboard("call", "safe/env"), /"TOKEN":"\[REDACTED\]"/);
  await plugboard("remove", "safe");
}

async function connect({ home, plugboard }) {
  await plugboard("connect", "claude-code", "--yes");
  const { mcpServers } = JSON.parse(readFileSync(join(home, ".claude.json"), "utf8"));
  const { command, args } = mcpServers.plugboard;
  assert.deepEqual([command, ...args], [NODE, BIN, "serve"]);
  await plugboard("connect", "claude-code", "--undo", "--yes");
  assert.equal(existsSync(join(home, ".claude.json")), false);
}

async function background({ home, plugboard }) {
  const isKept = (isOn) => edit(home, ({ mcpServers: { echo } }) => (echo.keepAlive = isOn));
  isKept(true);
  try {
    const first = await plugboard("call", "echo/pid");
    const { channel } = gatewayNote(home);
    assert.match(channel.path, /^\\\\\.\\pipe\\plugboard-/);
    assert.equal(await plugboard("call", "echo/pid"), first);
    // The second call was a warm one, and has left what V8 made of it.
    const [code] = readdirSync(join(home, ".plugboard", "code"));
    assert.match(code, /^v20\./);
    const before = performance.now();
    assert.equal(await plugboard("call", "echo/pid"), first);
    const warm = Math.round(performance.now() - before);
    assert.match(await plugboard("status"), /runs in the background/);
    assert.match(await plugboard("down"), /has stopped/);
    assert.equal(gatewayNote(home), undefined);
    return `a warm call takes ${warm} ms, with the start of Wine`;
  } finally {
    isKept(false);
  }
}

async function gateway({ home, start, plugboard }) {
  const port = await freePort();
  edit(home, (config) => (config.gateway = { port }));
  const { ended } = start([BIN, "up"]);
  const deadline = performance.now() + 60_000;
  while (gatewayNote(home) === undefined && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.match(await plugboard("status"), new RegExp(`runs at http://127\\.0\\.0\\.1:${port}/mcp`));
  assert.equal(await plugboard("call", "echo/echo", "text=hi"), "hi\n");
  assert.match(await plugboard("down"), /has stopped/);
  const { code, stderr } = await ended;
  assert.equal(code, 0, stderr);
}

async function serve({ drive, run }) {
  cpSync(fileURLToPath(new URL("stdio-client.mjs", import.meta.url)), join(drive, "client.mjs"));
  const { code, stdout, stderr } = await run([String.raw`C:\client.mjs`, BIN]);
  assert.equal(code, 0, stderr);
  assert.deepEqual(JSON.parse(stdout), { server: "plugboard", said: "grüße", code: 0 });
}

async function contended({ drive, run }) {
  const input = fileURLToPath(new URL("contended.mjs", import.meta.url));
  const bundling = await rolldown({ input, cwd: ROOT, platform: "node" });
  await bundling.write({ file: join(drive, "contended.mjs"), format: "esm", codeSplitting: false });
  await bundling.close();
  const { code, stdout, stderr } = await run([String.raw`C:\contended.mjs`]);
  assert.equal(code, 0, stderr);
  const { bare, replaced, unread } = JSON.parse(stdout);
  assert.deepEqual({ replaced, unread }, { replaced: 0, unread: 0 });
  return `of 300 writes by a bare rename, ${bare} fail; of Plugboard's, none does`;
}

/** The paths of all files. */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

function edit(home, change) {
  const file = join(home, ".plugboard", "plugboard.json");
  const config = JSON.parse(readFileSync(file, "utf8"));
  change(config);
  writeFileSync(file, JSON.stringify(config));
}

/** What a running gateway has written for commands. */
function gatewayNote(home) {
  const folder = join(home, ".plugboard", "gateway");
  if (!existsSync(folder)) return undefined;
  const name = readdirSync(folder).find((each) => /^[0-9a-f]{16}\.json$/.test(each));
  return name && JSON.parse(readFileSync(join(folder, name), "utf8"));
}
