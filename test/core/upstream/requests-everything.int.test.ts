// The server people try first, from npm: its questions, its requests for the model, its roots and its log,
// over pipes and over HTTP.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import type { Board } from "../../../src/core/types/board.ts";
import type { ElicitationRequest } from "../../../src/core/types/elicitation.ts";
import type { SamplingRequest } from "../../../src/core/types/sampling.ts";
import { openBoard } from "../../../src/core/board/board.ts";
import { textOf } from "../../support/boards.ts";
import { recordingLogger } from "../../support/logger.ts";
import { eventually, expectAllGone, expectNoProcesses } from "../../support/processes.ts";

const HOST = "127.0.0.1";
const WORKSPACE = resolve("/srv/work space");
const manifest = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/package.json",
);
const entry = join(dirname(manifest), "dist", "index.js");
const started: ChildProcess[] = [];

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, HOST);
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, HOST);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function overHttp(): Promise<ServerConfig> {
  const port = await freePort();
  const env = { PATH: process.env.PATH, PORT: String(port) };
  const child = spawn(process.execPath, [entry, "streamableHttp"], { env, stdio: "ignore" });
  started.push(child);
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error(`the server exited with ${child.exitCode}`);
    await new Promise((settle) => setTimeout(settle, 20));
  }
  return { url: `http://${HOST}:${port}/mcp` };
}

afterAll(async () => {
  for (const child of started) {
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  }
  expectAllGone(started.flatMap(({ pid }) => pid ?? []));
  expectNoProcesses();
});

describe.each<[string, () => Promise<ServerConfig>]>([
  ["pipes", async () => ({ command: process.execPath, args: [entry, "stdio"] })],
  ["HTTP", overHttp],
])("over %s", (_, config) => {
  const questions: ElicitationRequest[] = [];
  const samples: SamplingRequest[] = [];
  const logger = recordingLogger();
  let board: Board;

  beforeAll(async () => {
    const server: ServerConfig = { ...(await config()), sampling: "allow" };
    board = await openBoard(
      { servers: { all: server } },
      {
        workspaceDir: process.cwd(),
        roots: [WORKSPACE],
        serverLogLevel: "debug",
        logger,
        onElicitation(request) {
          questions.push(request);
          return request.mode === "form"
            ? { action: "accept", content: { name: "Ada", check: true, email: "ada@example.com" } }
            : { action: "accept" };
        },
        onSampling(request) {
          samples.push(request);
          return { model: "test-model", content: { type: "text", text: "forty-two" } };
        },
      },
    );
  });

  afterAll(async () => {
    await board.close();
  });

  it("the tools that need a client's answers are listed", () => {
    const names = board.tools().map(({ source }) => (source.kind === "mcp" ? source.tool : ""));
    for (const tool of [
      "get-roots-list",
      "trigger-elicitation-request",
      "trigger-url-elicitation",
      "trigger-sampling-request",
    ]) {
      expect(names).toContain(tool);
    }
  });

  it("a form is filled in, with its defaults", async () => {
    const text = textOf(await board.call("all/trigger-elicitation-request"));
    expect(text).toContain("- Name: Ada");
    expect(text).toContain("- Favorite Integer: 42");
    expect(text).toContain('"fish-1"');
    expect(questions.at(-1)).toMatchObject({
      server: "all",
      tool: "trigger-elicitation-request",
      mode: "form",
    });
  });

  it("a page is opened, also if the call is refused until then", async () => {
    const url = "https://example.com/sign";
    const text = textOf(await board.call("all/trigger-url-elicitation", { url }));
    expect(text).toContain("User completed the URL elicitation flow");
    expect(questions.at(-1)).toMatchObject({ mode: "url", url, required: false });
    const args = { url, errorPath: true };
    expect(textOf(await board.call("all/trigger-url-elicitation", args))).toContain(
      "User completed",
    );
    expect(questions.at(-2)).toMatchObject({ mode: "url", required: true });
  });

  it("the model is asked", async () => {
    const args = { prompt: "What is six times seven?", maxTokens: 10_000 };
    const text = textOf(await board.call("all/trigger-sampling-request", args));
    expect(text).toContain("forty-two");
    expect(text).toContain("test-model");
    expect(samples).toMatchObject([
      {
        server: "all",
        tool: "trigger-sampling-request",
        approvalRequired: false,
        maxTokens: 4096,
        temperature: 0.7,
        systemPrompt: "You are a helpful test server.",
      },
    ]);
  });

  it("the roots and their changes are known", async () => {
    const roots = async (): Promise<string> => textOf(await board.call("all/get-roots-list"));
    expect(await roots()).toContain(pathToFileURL(WORKSPACE).href);
    board.setRoots(["/srv/elsewhere"]);
    while (!(await roots()).includes("file:///srv/elsewhere")) {
      await new Promise((settle) => setTimeout(settle, 10));
    }
  });

  it("its log messages are logged", async () => {
    await board.call("all/toggle-simulated-logging");
    await eventually(() =>
      logger.lines.some(({ message }) => /(?:level[ -]message|Roots updated)/.test(message)),
    );
    await board.call("all/toggle-simulated-logging");
  });
});
