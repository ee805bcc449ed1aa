// An ACP client and the agent it talks to in one process, over real boards and real servers.

import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import {
  client,
  type ClientApp,
  type ClientCapabilities,
  type ClientConnection,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  type McpServer,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import { afterEach, beforeEach } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import { declineUnattributed } from "../../../src/core/board/decline-unattributed.ts";
import type { NewResponder } from "../../../src/agent/acp/responder/responder.ts";
import { serveAcp } from "../../../src/agent/acp/serve.ts";
import type { SignInOptions } from "../../../src/agent/acp/sign-in.ts";
import type { OnAuthorization } from "../../../src/core/types/authorization.ts";
import type { BoardConfig } from "../../../src/core/types/agent-config.ts";
import type { Board } from "../../../src/core/types/board.ts";
import type { BoardOptions } from "../../../src/core/types/board-options.ts";
import { silentLogger } from "../../../src/core/types/logger.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import type { Clock } from "../../../src/util/clock.ts";
import { AcpClient } from "../../support/acp-client.ts";
import { fixture } from "../../support/boards.ts";
import { expectNoProcesses } from "../../support/processes.ts";
import { temporaryDirectory } from "../../support/directory.ts";

type Decide = (
  request: RequestPermissionRequest,
) => RequestPermissionResponse | Promise<RequestPermissionResponse>;

type Elicit = (
  request: CreateElicitationRequest,
  cancelled: AbortSignal,
) => CreateElicitationResponse | Promise<CreateElicitationResponse>;

interface Options {
  /** The agent's own servers. */
  servers?: Record<string, ServerConfig>;
  /** What else the agent is configured with. */
  config?: Omit<BoardConfig, "servers">;
  board?: BoardOptions;
  /** Adds to what the client can do: it shows updates and asks the user anyway. */
  equip?: (app: ClientApp) => void;
  /** Milliseconds that a new session waits for its servers. The default suits a slow machine. */
  startupWait?: number;
  capabilities?: ClientCapabilities;
  decide?: Decide;
  elicit?: Elicit;
  newResponder?: NewResponder;
  /** Shows the pages of `authenticate`. */
  onAuthorization?: OnAuthorization;
  /** What `authenticate` and `logout` do about keys for models. */
  models?: SignInOptions["models"];
  /** Keeps sessions in the test's directory. */
  keeps?: boolean;
  clock?: Clock;
  /** The agent takes servers that run in the client. */
  mcpOverAcp?: boolean;
  /** Leaves `initialize` to the test. */
  raw?: boolean;
}

export function choose(optionId: string): RequestPermissionResponse {
  return { outcome: { outcome: "selected", optionId } };
}

/** One client and its agent. */
class Editor extends AcpClient {
  readonly connection: ClientConnection;
  readonly board: Board;
  readonly elicitations: CreateElicitationRequest[] = [];
  /** Ids of the pages that the agent reported as finished. */
  readonly completed: string[] = [];
  /** Resolves when the agent has closed everything. */
  readonly served: Promise<void>;
  readonly #toAgent = new PassThrough();

  private constructor(board: Board, options: Options, directory: string) {
    super();
    this.board = board;
    const toClient = new PassThrough();
    this.served = serveAcp({
      input: Readable.toWeb(this.#toAgent) as ReadableStream<Uint8Array>,
      output: Writable.toWeb(toClient),
      openSession: (request) =>
        board.openSession({
          ...request,
          owner: true,
          approval: "ask",
          startupWait: options.startupWait ?? 30_000,
        }),
      ...(options.newResponder !== undefined && { newResponder: options.newResponder }),
      ...(options.onAuthorization !== undefined && {
        signIn: {
          board,
          onAuthorization: options.onAuthorization,
          models: options.models ?? { canAnswer: async () => false, forgetKeys: async () => [] },
          terminalArgs: { servers: ["--sign-in"], model: ["--sign-in", "model"] },
          modelCommand: "plugboard acp --sign-in model",
        },
      }),
      ...(options.clock !== undefined && { clock: options.clock }),
      ...(options.mcpOverAcp === true && { mcpOverAcp: true }),
      ...(options.keeps === true && { historyDir: join(directory, "sessions") }),
    });
    const { decide = () => choose("allow"), elicit = () => ({ action: "decline" }) } = options;
    const app = client({ name: "test" })
      .onNotification(methods.client.session.update, ({ params }) => {
        this.updates.push(params);
        this.heard();
      })
      .onRequest(methods.client.session.requestPermission, ({ params }) => {
        this.questions.push(params);
        this.heard();
        return decide(params);
      })
      .onRequest(methods.client.elicitation.create, ({ params, signal }) => {
        this.elicitations.push(params);
        this.heard();
        return elicit(params, signal);
      })
      .onNotification(methods.client.elicitation.complete, ({ params }) => {
        this.completed.push(params.elicitationId);
        this.heard();
      });
    options.equip?.(app);
    const fromAgent = Readable.toWeb(toClient) as ReadableStream<Uint8Array>;
    this.connection = app.connect(ndJsonStream(Writable.toWeb(this.#toAgent), fromAgent));
  }

  static async open(options: Options, directory: string): Promise<Editor> {
    const { servers = {}, config, board: given } = options;
    const board = await openBoard(
      { ...config, servers },
      { ...declineUnattributed(silentLogger), ...given },
    );
    const editor = new Editor(board, options, directory);
    if (options.raw !== true) await editor.initialize(options.capabilities);
    return editor;
  }

  initialize(clientCapabilities: ClientCapabilities = {}) {
    return this.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities });
  }

  async newSession(mcpServers: McpServer[] = [], cwd: string = tmpdir()): Promise<string> {
    const { sessionId } = await this.agent.request(methods.agent.session.new, { cwd, mcpServers });
    return sessionId;
  }

  /** Calls a tool with `/call`, and returns the text of its result. */
  async call(sessionId: string, tool: string, args: object = {}): Promise<string> {
    await this.prompt(sessionId, `/call ${tool} ${JSON.stringify(args)}`);
    const content = this.of(sessionId, "tool_call_update").at(-1)?.content ?? [];
    return content
      .map((each) =>
        each.type === "content" && each.content.type === "text" ? each.content.text : each.type,
      )
      .join("\n");
  }

  /** Resolves when `/mcp` shows this line. */
  async untilStatus(sessionId: string, line: string): Promise<void> {
    while (!(await this.ask(sessionId, "/mcp")).split("\n").includes(line)) {
      // Everything happens in this process, so without a pause no timer would ever run.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Closes the client's end of the pipe, as an editor does. Resolves when the agent has ended. */
  async leave(): Promise<void> {
    this.#toAgent.end();
    await this.served;
    this.connection.close();
  }

  async close(): Promise<void> {
    await this.leave();
    await this.board.close();
  }
}

export interface Desk {
  readonly directory: string;
  open(options?: Options): Promise<Editor>;
}

/** Call it at the top of a suite: it makes a fresh directory per test, and checks that nothing is left running. */
export function useDesk(): Desk {
  let directory = "";
  const editors: Editor[] = [];
  beforeEach(() => {
    directory = temporaryDirectory();
  });
  afterEach(async () => {
    await Promise.all(editors.splice(0).map((editor) => editor.close()));
    expectNoProcesses();
  });
  return {
    get directory() {
      return directory;
    },
    async open(options = {}) {
      const editor = await Editor.open(options, directory);
      editors.push(editor);
      return editor;
    },
  };
}

/** A fixture server as a client sends it. */
export function mcpServer(name: string, file: string, ...args: string[]): McpServer {
  const { command = "", args: all = [] } = fixture(file, ...args);
  return { name, command, args: all, env: [] };
}
