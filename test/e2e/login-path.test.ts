// The ACP agent and the MCP server as an editor or a client starts them from a desktop: their PATH knows the system's
// programs alone.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";
import { Client as McpClient } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, isAlive, processesWith } from "../support/processes.ts";
import { temporaryDirectory } from "../support/directory.ts";

const bin = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));
const echo = fileURLToPath(new URL("../fixtures/servers/echo.mjs", import.meta.url));

let home = "";
let agent: ChildProcess | undefined;

/** A program that is only where the start files say. */
beforeEach(() => {
  home = temporaryDirectory();
  mkdirSync(join(home, "tools"));
  const program = join(home, "tools", "my-echo");
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${echo}'\n`);
  chmodSync(program, 0o755);
});

afterEach(async () => {
  if (agent?.pid !== undefined && isAlive(agent.pid)) {
    agent.kill("SIGKILL");
    await once(agent, "exit");
  }
});

/** What a desktop passes on. */
const desktop = () => ({
  PATH: "/usr/bin:/bin",
  SHELL: "/bin/bash",
  HOME: home,
  PLUGBOARD_HOME: join(home, "state"),
});

async function connect(...startFile: string[]) {
  writeFileSync(join(home, ".bash_profile"), startFile.join("\n"));
  const started = spawn(process.execPath, [bin, "acp"], {
    cwd: home,
    env: desktop(),
    stdio: ["pipe", "pipe", "inherit"],
  });
  agent = started;
  const exited = once(started, "exit");
  const said: string[] = [];
  const connection = client({ name: "e2e" })
    .onNotification(methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") {
        said.push(update.content.text);
      }
    })
    .connect(
      ndJsonStream(
        Writable.toWeb(started.stdin),
        Readable.toWeb(started.stdout) as ReadableStream<Uint8Array>,
      ),
    );
  await connection.agent.request(methods.agent.initialize, { protocolVersion: 1 });
  const { sessionId } = await connection.agent.request(methods.agent.session.new, {
    cwd: home,
    mcpServers: [{ name: "mine", command: "my-echo", args: [], env: [] }],
  });
  /** How the servers fare; waits for none of them. */
  const status = async (): Promise<string> => {
    said.length = 0;
    const prompt = [{ type: "text" as const, text: "/mcp" }];
    await connection.agent.request(methods.agent.session.prompt, { sessionId, prompt });
    return said.join("");
  };
  return { status, started, exited };
}

describe("plugboard acp with a bare PATH", () => {
  it("starts a server that is on the login shell's", async () => {
    const profile = ["echo Hello", 'export PATH="$HOME/tools:$PATH"'];
    const { status, started, exited } = await connect(...profile);
    let said = await status();
    while (said.includes("starting")) said = await status();
    expect(said).toContain("- mine: ready, 11 tools");
    started.stdin.end();
    expect(await exited).toEqual([0, null]);
  });

  it("has a session while the shell hangs, and takes it along when it ends", async () => {
    const { status, started, exited } = await connect("while :; do sleep 600; done");
    expect(await status()).toContain("- mine: starting");
    started.stdin.end();
    expect(await exited).toEqual([0, null]);
    await eventually(() => processesWith(`HOME=${home}`).length === 0);
  });
});

it("plugboard serve with a bare PATH starts a server that is on the login shell's", async () => {
  writeFileSync(join(home, ".bash_profile"), 'export PATH="$HOME/tools:$PATH"');
  mkdirSync(join(home, "state"), { mode: 0o700 });
  const mcpServers = { mine: { command: "my-echo" } };
  writeFileSync(join(home, "state", "plugboard.json"), JSON.stringify({ mcpServers }));
  const mcp = new McpClient({ name: "e2e", version: "1.0.0" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, "serve"],
    stderr: "ignore",
    cwd: home,
    env: desktop(),
  });
  await mcp.connect(transport);
  const { tools } = await mcp.listTools();
  expect(tools).toHaveLength(11);
  await mcp.close();
});
