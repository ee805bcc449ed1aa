// The ACP agent as an editor starts it: a process of its own, with the SDK's client at the other end.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { client, type McpServer, methods, ndJsonStream } from "@agentclientprotocol/sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, isAlive, processesWith } from "../support/processes.ts";

const bin = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const echo = fileURLToPath(new URL("../fixtures/servers/echo.mjs", import.meta.url));

let directory = "";
let agent: ChildProcess | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plugboard-acp-e2e-"));
});

afterEach(async () => {
  if (agent?.pid !== undefined && isAlive(agent.pid)) {
    agent.kill("SIGKILL");
    await once(agent, "exit");
  }
  rmSync(directory, { recursive: true, force: true });
});

/** Starts the agent and opens a session with a server of its own in it. */
async function connect() {
  const started = spawn(process.execPath, [bin, "acp"], {
    cwd: directory,
    env: { PATH: process.env["PATH"], HOME: directory, PLUGBOARD_HOME: join(directory, "home") },
    stdio: ["pipe", "pipe", "inherit"],
  });
  agent = started;
  const exited = once(started, "exit");
  const stream = ndJsonStream(
    Writable.toWeb(started.stdin),
    Readable.toWeb(started.stdout) as ReadableStream<Uint8Array>,
  );
  const said: string[] = [];
  const calls: string[] = [];
  const connection = client({ name: "e2e" })
    .onNotification(methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") {
        said.push(update.content.text);
      }
      if (update.sessionUpdate === "tool_call") calls.push(update.title);
    })
    .onRequest(methods.client.session.requestPermission, () => ({
      outcome: { outcome: "selected", optionId: "allow" },
    }))
    .connect(stream);
  await connection.agent.request(methods.agent.initialize, { protocolVersion: 1 });
  const env = [{ name: "ACP_E2E", value: directory }];
  const server: McpServer = { name: "echo", command: process.execPath, args: [echo], env };
  const { sessionId } = await connection.agent.request(methods.agent.session.new, {
    cwd: directory,
    mcpServers: [server],
  });
  const prompt = (text: string) =>
    connection.agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: "text", text }],
    });
  return { started, exited, prompt, said, calls };
}

const servers = (): number[] => processesWith(`ACP_E2E=${directory}`);

describe("plugboard acp", () => {
  it("calls a tool of the session's server, and ends with its stdin", async () => {
    const { started, exited, prompt, said } = await connect();
    expect(await prompt("/call echo/pid")).toEqual({ stopReason: "end_turn" });
    expect(said).toEqual(["Done."]);
    expect(servers()).toHaveLength(1);
    started.stdin.end();
    expect(await exited).toEqual([0, null]);
    expect(servers()).toEqual([]);
  });

  it("leaves nothing behind when it is told to end in the middle of a call", async () => {
    const { started, exited, prompt, calls } = await connect();
    const turn = prompt('/call echo/sleep {"ms": 600000}').catch(() => "gone");
    await eventually(() => calls.length > 0);
    expect(servers()).toHaveLength(1);
    started.kill("SIGTERM");
    expect(await exited).toEqual([143, null]);
    expect(servers()).toEqual([]);
    await turn;
  });

  it("killed without a chance to clean up, its servers end with the pipe", async () => {
    const { started, exited, prompt } = await connect();
    await prompt("/call echo/pid");
    started.kill("SIGKILL");
    await exited;
    await eventually(() => servers().length === 0);
  });
});
