// What is checked: each client is given the board the way docs/clients.md says, and then asked about it.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openAppServer } from "./lib/app-server.mjs";
import { claude, codex, gemini, run } from "./lib/programs.mjs";

/** One tool of each server that is plugged into the board. */
const TOOLS = ["everything__echo", "files__read_text_file"];
/** How long what was started may take to end. */
const END_MS = 10_000;

export const CHECKS = [
  {
    name: "Claude Code over stdio: connected",
    run: (rig) => checkClaude(rig, "board-stdio", ["--", ...rig.serve]),
  },
  {
    name: "Claude Code over HTTP: connected",
    run: (rig) => checkClaude(rig, "board-http", overHttp(rig, rig.token)),
  },
  {
    name: "Claude Code over HTTP with a wrong token: not connected",
    async run(rig) {
      await addToClaude(rig, "board-refused", overHttp(rig, "wrong"));
      assert.doesNotMatch(await lineOf(rig, claude, "board-refused"), /Connected/);
    },
  },
  {
    name: "Gemini CLI over stdio: connected",
    run: (rig) => checkGemini(rig, "board-stdio", rig.serve),
  },
  {
    name: "Gemini CLI over HTTP: connected",
    run: (rig) => {
      const header = `Authorization: Bearer ${rig.token}`;
      return checkGemini(rig, "board-http", [rig.url, "--transport", "http", "--header", header]);
    },
  },
  {
    name: "Codex over stdio: lists the tools and calls one",
    run: (rig) => checkCodex(rig, "board-stdio", ["--", ...rig.serve]),
  },
  {
    name: "Codex over HTTP: lists the tools and calls one",
    run: (rig) => {
      const how = ["--url", rig.url, "--bearer-token-env-var", "PLUGBOARD_TOKEN"];
      return checkCodex(rig, "board-http", how);
    },
  },
  {
    name: "plugboard connect claude-code: connected, and gone after --undo",
    run: (rig) =>
      checkConnect(rig, "claude-code", claude, async () => {
        assert.match(await lineOf(rig, claude, "plugboard"), /✔ Connected/);
      }),
  },
  {
    name: "plugboard connect gemini: connected, and gone after --undo",
    run: (rig) =>
      checkConnect(rig, "gemini", gemini, async () => {
        trustWork(rig);
        assert.match(await lineOf(rig, gemini, "plugboard"), /- Connected/);
      }),
  },
  {
    name: "plugboard connect codex: lists the tools, and gone after --undo",
    run: (rig) =>
      checkConnect(rig, "codex", codex, async () => {
        const app = await openAppServer(inWork(rig));
        try {
          await requireTools(app, "plugboard");
        } finally {
          await app.close();
        }
      }),
  },
  {
    name: "after all checks no process is left",
    async run(rig) {
      assert.deepEqual(await rig.left(END_MS), []);
    },
  },
];

async function checkClaude(rig, name, how) {
  await addToClaude(rig, name, how);
  assert.match(await lineOf(rig, claude, name), /✔ Connected/);
}

function addToClaude(rig, name, how) {
  return run(claude, ["mcp", "add", "--scope", "user", name, ...how], inWork(rig));
}

function overHttp({ url }, token) {
  return [url, "--transport", "http", "--header", `Authorization: Bearer ${token}`];
}

/** `ask` fails unless the client has the board. */
async function checkConnect(rig, application, client, ask) {
  const connect = ["connect", application, "--yes"];
  await run(rig.plugboard, connect, inWork(rig));
  await ask();
  const found = JSON.parse(await run(rig.plugboard, ["connect", "--json"], inWork(rig)));
  const { state } = found.find((each) => each.application === application);
  assert.equal(state, "connected");
  await run(rig.plugboard, [...connect, "--undo"], inWork(rig));
  assert.doesNotMatch(await run(client, ["mcp", "list"], inWork(rig)), /plugboard:|^plugboard /m);
}

async function checkGemini(rig, name, how) {
  trustWork(rig);
  await run(gemini, ["mcp", "add", "--scope", "user", name, ...how], inWork(rig));
  assert.match(await lineOf(rig, gemini, name), /- Connected/);
}

function trustWork(rig) {
  const directory = join(rig.home, ".gemini");
  mkdirSync(directory, { recursive: true });
  // Gemini starts no server in a folder that its user has not trusted.
  writeFileSync(
    join(directory, "trustedFolders.json"),
    JSON.stringify({ [rig.work]: "TRUST_FOLDER" }),
  );
}

async function checkCodex(rig, name, how) {
  await run(codex, ["mcp", "add", name, ...how], inWork(rig));
  const app = await openAppServer(inWork(rig));
  try {
    await requireTools(app, name);
    const { thread } = await app.request("thread/start", { cwd: rig.work, ephemeral: true });
    const answer = await app.request("mcpServer/tool/call", {
      threadId: thread.id,
      server: name,
      tool: TOOLS[0],
      arguments: { message: "hello" },
    });
    assert.match(JSON.stringify(answer.content), /hello/);
  } finally {
    await app.close();
    // Codex starts every server it knows: the next check is about another one.
    await run(codex, ["mcp", "remove", name], inWork(rig));
  }
}

async function requireTools(app, name) {
  const { data } = await app.request("mcpServerStatus/list");
  const { tools } = data.find((server) => server.name === name);
  for (const tool of TOOLS)
    assert.ok(tool in tools, `no ${tool} in ${Object.keys(tools).join(", ")}`);
}

/** What `mcp list` says about that server. */
async function lineOf(rig, client, name) {
  const said = await run(client, ["mcp", "list"], inWork(rig));
  const line = said.split("\n").find((one) => one.includes(`${name}:`));
  assert.ok(line !== undefined, `nothing about ${name}:\n${said}`);
  return line;
}

function inWork({ work, env }) {
  return { cwd: work, env };
}
