// `plugboard acp` as an editor starts it: a process of its own, with the SDK's client at the other end.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  client,
  type ClientConnection,
  type McpServer,
  methods,
  ndJsonStream,
} from "@agentclientprotocol/sdk";
import { afterEach, beforeEach } from "vitest";
import { AcpClient } from "../support/acp-client.ts";
import { expectNoProcesses, isAlive } from "../support/processes.ts";
import { temporaryDirectory } from "../support/directory.ts";

const bin = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));
const MARKER = "ACP_E2E";

interface Options {
  /** Its configuration file. */
  config?: object;
  env?: Record<string, string>;
  /** Further options of the command. */
  flags?: readonly string[];
  /** Words after `acp`. */
  words?: readonly string[];
  /** Whether a call may be made. */
  permits?: boolean;
  /** What a person writes into every form. Without it, the client shows no forms. */
  fillsIn?: Record<string, string>;
  /** Leaves `initialize` to the test. */
  raw?: boolean;
}

/** A command in a directory of its own. */
export function plugboard(
  directory: string,
  args: readonly string[],
  env: Record<string, string> = {},
): ChildProcessByStdio<Writable, Readable, Readable> {
  return spawn(process.execPath, [bin, ...args], {
    cwd: directory,
    env: {
      PATH: process.env["PATH"],
      HOME: directory,
      PLUGBOARD_HOME: join(directory, "home"),
      // Nobody listens there: a test does not use the Ollama of whoever runs it.
      OLLAMA_BASE_URL: "http://127.0.0.1:9/v1",
      ...env,
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

class Agent extends AcpClient {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Code and signal. */
  readonly exited: Promise<[number | null, NodeJS.Signals | null]>;
  /** The same, when all that it has written is read. */
  readonly closed: Agent["exited"];
  readonly connection: ClientConnection;
  readonly forms: string[] = [];
  readonly #showsForms: boolean;
  /** Everything it has written, whole lines or not. */
  stdout = "";
  stderr = "";

  constructor(directory: string, options: Options) {
    const { config, env = {}, flags = [], words = [], permits = true, fillsIn } = options;
    super();
    this.#showsForms = fillsIn !== undefined;
    const file = join(directory, "agent.json");
    if (config !== undefined) writeFileSync(file, JSON.stringify(config));
    const args = [...flags, ...(config === undefined ? [] : ["--config", file]), "acp", ...words];
    this.process = plugboard(directory, args, env);
    const { stdin, stdout, stderr } = this.process;
    this.exited = once(this.process, "exit") as Agent["exited"];
    this.closed = once(this.process, "close") as Agent["closed"];
    // A process that is killed has its pipe broken, which is what the test wanted.
    stdin.on("error", () => {});
    const read = new PassThrough();
    stdout.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text;
      read.write(text);
      this.heard();
    });
    stdout.on("close", () => read.end());
    stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
      this.heard();
    });
    this.connection = client({ name: "e2e" })
      .onNotification(methods.client.session.update, ({ params }) => {
        this.updates.push(params);
        this.heard();
      })
      .onRequest(methods.client.session.requestPermission, ({ params }) => {
        this.questions.push(params);
        return { outcome: { outcome: "selected", optionId: permits ? "allow" : "reject" } };
      })
      .onRequest(methods.client.elicitation.create, ({ params }) => {
        this.forms.push(params.message);
        return { action: "accept", content: fillsIn ?? {} };
      })
      .connect(
        ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(read) as ReadableStream<Uint8Array>),
      );
  }

  initialize(protocolVersion = 1) {
    const clientCapabilities = this.#showsForms ? { elicitation: { form: {} } } : {};
    return this.agent.request(methods.agent.initialize, { protocolVersion, clientCapabilities });
  }

  async newSession(cwd: string, mcpServers: McpServer[] = []): Promise<string> {
    const { sessionId } = await this.agent.request(methods.agent.session.new, { cwd, mcpServers });
    return sessionId;
  }

  /** The text of the session's last call. */
  result(sessionId: string): string {
    const content = this.of(sessionId, "tool_call_update").at(-1)?.content?.[0];
    if (content?.type !== "content" || content.content.type !== "text") return "";
    return content.content.text;
  }

  /** As an editor that has been closed. Resolves to the exit code. */
  async leave(): Promise<number | null> {
    this.process.stdin.end();
    const [code] = await this.closed;
    return code;
  }

  async end(): Promise<void> {
    const { pid } = this.process;
    if (pid !== undefined && isAlive(pid)) {
      this.process.kill("SIGKILL");
      await this.exited;
    }
    this.connection.close();
  }
}

export interface AgentDesk {
  readonly directory: string;
  /** In the environment of every server made by `server`. */
  readonly marker: string;
  /** A fixture server as a client sends it. */
  server(name: string, file: string, args?: string[], env?: Record<string, string>): McpServer;
  /** A fixture server as a configuration has it. */
  configured(file: string, ...args: string[]): object;
  start(options?: Options): Promise<Agent>;
}

/** To be called at the top of a suite: a fresh directory per test, and nothing left running after it. */
export function useAgents(): AgentDesk {
  let directory = "";
  const agents: Agent[] = [];
  const fixture = (file: string): string =>
    fileURLToPath(new URL(`../fixtures/servers/${file}.mjs`, import.meta.url));
  beforeEach(() => {
    directory = temporaryDirectory();
  });
  afterEach(async () => {
    await Promise.all(agents.splice(0).map((agent) => agent.end()));
    expectNoProcesses(`${MARKER}=${directory}`);
  });
  return {
    get directory() {
      return directory;
    },
    get marker() {
      return `${MARKER}=${directory}`;
    },
    server(name, file, args = [], env = {}) {
      const pairs = Object.entries({ [MARKER]: directory, ...env });
      return {
        name,
        command: process.execPath,
        args: [fixture(file), ...args],
        env: pairs.map(([key, value]) => ({ name: key, value })),
      };
    },
    configured: (file, ...args) => ({
      command: process.execPath,
      args: [fixture(file), ...args],
      env: { [MARKER]: directory },
    }),
    async start(options = {}) {
      const agent = new Agent(directory, options);
      agents.push(agent);
      if (options.raw !== true) await agent.initialize();
      return agent;
    },
  };
}
