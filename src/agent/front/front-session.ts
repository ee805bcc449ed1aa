// One session of an agent behind the front, apart from its messages: the session board, who answers what comes up in the
// agent's calls, and what the client is told about the servers.

import { randomUUID } from "node:crypto";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { SESSION_RATE_LIMIT } from "../../core/types/server-definition.ts";
import { TOOL_TIMEOUT } from "../../serve/endpoint/client-board.ts";
import type { SessionEndpoint } from "../../serve/endpoint/session-endpoint.ts";
import type { ApprovalAnswer, ApprovalRequest, AskApproval } from "../../core/types/approval.ts";
import type { SessionBoard } from "../../core/types/board.ts";
import type {
  ElicitationAnswer,
  ElicitationRequest,
  OnElicitation,
} from "../../core/types/elicitation.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { CallEvent } from "../../core/types/events.ts";
import type { JsonObject } from "../../core/types/json.ts";
import type { Logger } from "../../core/types/logger.ts";
import type { SendMcpMessage } from "../../core/types/mcp-message.ts";
import type {
  SampledMessage,
  SamplingOptions,
  SamplingRequest,
} from "../../core/types/sampling.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { deferred } from "../../util/deferred.ts";
import { oneLine, sayTool } from "../../util/text.ts";
import { elicitationPrompt } from "../acp/questions/elicitation.ts";
import { permissionPrompt } from "../acp/questions/permission.ts";
import { notifyOnce, type QuestionContext } from "../acp/questions/question-context.ts";
import { samplingPrompt } from "../acp/questions/sampling.ts";
import { readMcpServers } from "../acp/servers/mcp-servers.ts";
import { ServerWatcher } from "../acp/servers/server-watcher.ts";
import type { OpenSession } from "../acp/session/session.ts";
import type { SessionClient } from "../acp/wire/client.ts";
import { textBlock } from "../acp/wire/content.ts";
import type { McpServerParams } from "../acp/wire/params.ts";
import { GivenPermissions } from "./given-permissions.ts";
import type { LateConnection } from "./hand-over.ts";

export interface FrontSessionSetup {
  cwd: string;
  additionalDirectories: readonly string[];
  mcpServers: readonly McpServerParams[];
}

export interface FrontSessionOptions {
  client: SessionClient;
  clock: Clock;
  logger: Logger;
  openSession: OpenSession;
  /** The operator's model, if there is one. */
  sampling?: SamplingOptions;
  /** Where the agent will find the board. Closed with the session. */
  endpoint: SessionEndpoint;
  /** What people call the agent. */
  agentName: () => string;
  /** Absent: the agent connects when its session opens. */
  lateConnection?: LateConnection | undefined;
  /** Why the agent may not have connected, and what its user can do, for the end of a sentence. */
  whyMissing?: string;
  /** Reaches servers that run in the client itself. Absent: a session that brings one is refused. */
  sendMcpMessage?: SendMcpMessage;
}

/** How long the agent may take to connect before its user is told that it has none of the tools. */
const CONNECT_MS = 10_000;
const IGNORED =
  "because it ignores the MCP servers of a session or could not start them. See its log; if it reads its servers from a " +
  "file, start it with --agent-config (docs/front.md).";
const LONGEST_NAME = 80;

/** A message that the client has not got yet. */
interface Untold {
  text: string;
  /** Whether it is still so. */
  isTrue: () => boolean;
}

/** The handlers of the session, once its id is known. */
interface Prompts {
  approve: AskApproval;
  elicit: OnElicitation;
  sample: SamplingOptions["handler"];
}

export class FrontSession {
  readonly #options: FrontSessionOptions;
  readonly #board: SessionBoard;
  readonly #servers: ServerWatcher;
  readonly #permissions: GivenPermissions;
  readonly #prompts: () => Prompts | undefined;
  readonly #off: (() => void)[];
  /** Calls that the agent does not show, and the ids under which we do. */
  readonly #shownHere = new Map<string, string>();
  #sessionId: string | undefined;
  #untold: Untold[] = [];
  #prompting: { controller: AbortController; count: number } | undefined;
  /** The agent has said something in answer to the prompt. */
  #hasSpoken = false;
  #greeting: Timer | undefined;
  #connecting: Timer | undefined;
  #closing: Promise<void> | undefined;

  /**
   * Opens the board and serves it at the endpoint. Throws −32602 for servers that are not valid, and rejects with
   * CONFIG_INVALID or INVALID_ARGUMENTS; then nothing has started, and the endpoint is still reserved.
   */
  static async open(setup: FrontSessionSetup, options: FrontSessionOptions): Promise<FrontSession> {
    const { cwd, additionalDirectories, mcpServers } = setup;
    const { sampling, endpoint, agentName, openSession, sendMcpMessage } = options;
    const overAcp = sendMcpMessage !== undefined;
    const { servers, skipped } = readMcpServers(mcpServers, { overAcp });
    const opened = deferred<FrontSession>();
    const board = await openSession({
      cwd,
      additionalDirectories,
      servers,
      approval: "ask",
      // Whatever the agent does with results, its model reads them.
      framing: "full",
      // The agent's first list of tools waits for the servers; its session does not.
      startupWait: 0,
      defaultToolTimeout: TOOL_TIMEOUT,
      rateLimit: SESSION_RATE_LIMIT,
      sendMcpMessage,
      onApproval: async (request, signal) => (await opened.promise).#approve(request, signal),
      onElicitation: async (request) => (await opened.promise).#elicit(request),
      onSampling: {
        ...sampling,
        handler: async (request) => (await opened.promise).#sample(request),
      },
    });
    const session = new FrontSession(board, options);
    opened.resolve(session);
    for (const text of [...skipped, ...board.notices]) session.#tell(text);
    endpoint.serve(board, { caller: oneLine(agentName(), LONGEST_NAME) });
    return session;
  }

  private constructor(board: SessionBoard, options: FrontSessionOptions) {
    const { clock, client } = options;
    this.#board = board;
    this.#options = options;
    this.#servers = new ServerWatcher(board, (problem) => this.#tell(problem));
    this.#permissions = new GivenPermissions({ clock, tools: () => board.tools({ all: true }) });
    this.#prompts = this.#makePrompts();
    this.#off = [
      board.on("tools", () => this.#permissions.toolsChanged()),
      board.on("notice", ({ text }) => this.#tell(text)),
      board.on("call", (event) => this.#callEnded(event)),
      board.on("server", ({ state: { kind } }) => {
        // A client without notices is told with the next prompt, by when the server may be ready.
        if (kind !== "ready" && this.#sessionId !== undefined && client.showsNotices()) {
          this.#servers.report();
        }
      }),
    ];
  }

  /** The agent has given the session its id, and the client has been told. From now on it hears of problems. */
  begin(sessionId: string): void {
    if (this.#sessionId !== undefined || this.#closing !== undefined) return;
    const { clock, client, lateConnection } = this.#options;
    this.#sessionId = sessionId;
    // After the answer that gives the client the session's id: it would not know the session before that.
    this.#greeting = clock.after(0, () => {
      if (!client.showsNotices()) return;
      this.#servers.report();
      this.#sayUntold();
    });
    if (lateConnection === undefined) this.#expectConnection();
  }

  /** The client has sent a prompt. Questions go out from now on. */
  promptBegins(): void {
    this.#prompting ??= { controller: new AbortController(), count: 0 };
    this.#prompting.count += 1;
    // Servers that the user has signed in to since the last prompt are tried again.
    void this.#board.wake();
    this.#servers.report();
    this.#sayUntold();
    if (this.#options.lateConnection !== undefined) this.#expectConnection();
  }

  get isPrompting(): boolean {
    return this.#prompting !== undefined;
  }

  /** Idempotent. */
  #expectConnection(): void {
    const { clock, logger, endpoint, lateConnection } = this.#options;
    if (this.#connecting !== undefined || endpoint.isConnected) return;
    this.#connecting = clock.later(lateConnection?.withinMs ?? CONNECT_MS, () => {
      // A board without servers has nothing to miss.
      if (endpoint.isConnected || this.#board.status().length === 0) return;
      const text = this.#notConnected();
      logger.warn(text);
      this.#tell(text, () => !endpoint.isConnected);
    });
    void endpoint.connected.then(() => this.#connecting?.cancel());
  }

  /** The agent has answered a prompt. It may be answering another. */
  promptEnds(): void {
    if (this.#prompting === undefined) return;
    this.#prompting.count -= 1;
    if (this.#prompting.count === 0) this.promptsEnd();
  }

  /** The agent answers no prompt any more. Idempotent. */
  promptsEnd(): void {
    if (this.#prompting === undefined) return;
    // There may be no next prompt, and the answer was made without the tools of these servers.
    this.#servers.report();
    this.#endPrompt();
  }

  /** The client has cancelled its prompt: our open questions are withdrawn. */
  cancel(): void {
    if (this.#prompting === undefined) return;
    this.#prompting.controller.abort();
    this.#prompting = { ...this.#prompting, controller: new AbortController() };
    this.#permissions.forget();
  }

  /** The agent has sent the client an update; `isReadAlike` if every client reads it as we do. */
  sawUpdate(update: JsonObject, isReadAlike = true): void {
    const { sessionUpdate } = update;
    if (sessionUpdate === "tool_call" || sessionUpdate === "tool_call_update") {
      // Between prompts, a client may take no notice of what an agent says.
      this.#permissions.saw(update, isReadAlike && this.#prompting !== undefined);
    }
    this.#hasSpoken ||= sessionUpdate === "agent_message_chunk";
  }

  /** The agent has sent the client something about its calls that the client may read otherwise than we do. */
  lostTrack(): void {
    this.#permissions.lostTrack();
  }

  /** The client has the session with this board in place of another one, and still shows what it had before. */
  remember(before: FrontSession): void {
    this.#permissions.remember(before.#permissions);
  }

  /** The agent asks the client for a permission. `request` are its parameters. */
  permissionAsked(request: JsonObject): void {
    this.#permissions.asked(request);
  }

  /** The client has answered that. `request` is the very object that `permissionAsked` got. */
  permissionGiven(request: JsonObject, answer: JsonObject): void {
    // Outside of a prompt, nobody expects that a call follows.
    if (this.#prompting !== undefined) this.#permissions.answered(request, answer);
  }

  /** Idempotent; resolves when nothing of the session is left. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#greeting?.cancel();
    this.#connecting?.cancel();
    this.#endPrompt();
    for (const off of this.#off) off();
    await Promise.allSettled([this.#options.endpoint.close(), this.#board.close()]);
  }

  #endPrompt(): void {
    this.#prompting?.controller.abort();
    this.#prompting = undefined;
    this.#hasSpoken = false;
    this.#permissions.forget();
  }

  /** Made once, when the session has its id: the prompts remember the answers "always". */
  #makePrompts(): () => Prompts | undefined {
    let made: Prompts | undefined;
    const { client, sampling } = this.#options;
    return () => {
      const sessionId = this.#sessionId;
      if (sessionId === undefined) return undefined;
      if (made !== undefined) return made;
      const promptSignal = (): AbortSignal | undefined => this.#prompting?.controller.signal;
      const context: QuestionContext = {
        sessionId,
        client,
        isAutomatic: () => false,
        promptSignal,
        notify: notifyOnce({ promptSignal, notify: (text) => this.#tell(text) }),
        emit: (update) => this.#show(update),
      };
      const preview = async (): Promise<undefined> => undefined;
      made = {
        approve: permissionPrompt({ ...context, preview, cwd: this.#board.cwd }),
        elicit: elicitationPrompt(context),
        sample: samplingPrompt(context, sampling).handler,
      };
      return made;
    };
  }

  async #approve(
    request: ApprovalRequest,
    signal: AbortSignal | undefined,
  ): Promise<ApprovalAnswer> {
    const { callId, publicName, args } = request;
    if (this.#permissions.take(publicName, args)) return "once";
    const prompt = this.#prompting?.controller.signal;
    const prompts = this.#prompts();
    if (prompt === undefined || prompts === undefined) throw notNow(request);
    this.#options.endpoint.sayWaiting(callId, `waits for approval of ${request.tool}`);
    const until = signal === undefined ? prompt : AbortSignal.any([signal, prompt]);
    const shown = this.#permissions.shownFor(publicName, args);
    const before = shown === undefined ? undefined : this.#permissions.changesOf(shown);
    if (shown !== undefined && before !== undefined) {
      const answer = await prompts.approve({ ...request, callId: shown }, until);
      // The client shows the agent's call under our question. If the agent changed that call in the meantime, the
      // person answered another question than ours, so the answer does not count.
      if (answer === "refuse" || this.#permissions.changesOf(shown) === before) return answer;
    }
    return prompts.approve({ ...request, callId: this.#ownIdOf(callId) }, until);
  }

  async #elicit(request: ElicitationRequest): Promise<ElicitationAnswer> {
    const { callId, tool, server } = request;
    const own = callId === undefined ? undefined : this.#shownHere.get(callId);
    const shown = own ?? (tool === undefined ? undefined : this.#shownTool(server, tool));
    const { callId: _, ...rest } = request;
    const asked: ElicitationRequest = shown === undefined ? rest : { ...rest, callId: shown };
    return (await this.#prompts()?.elicit(asked)) ?? { action: "decline" };
  }

  async #sample(request: SamplingRequest): Promise<SampledMessage | "declined"> {
    return (await this.#prompts()?.sample(request)) ?? "declined";
  }

  /** A call that the agent does not show gets an id of ours, which cannot be one of the agent's. */
  #ownIdOf(callId: string): string {
    const id = this.#shownHere.get(callId) ?? `plugboard-${randomUUID()}`;
    this.#shownHere.set(callId, id);
    return id;
  }

  /** The call that the agent shows of a server's tool, if there is only one. */
  #shownTool(server: string, tool: string): string | undefined {
    const named = this.#board
      .tools({ all: true })
      .find(
        ({ source }) => source.kind === "mcp" && source.server === server && source.tool === tool,
      );
    return named && this.#permissions.shownFor(named.name);
  }

  /** A call that we have shown must not seem to run for ever. */
  #callEnded({ callId, isError }: CallEvent): void {
    const toolCallId = this.#shownHere.get(callId);
    if (toolCallId === undefined) return;
    this.#shownHere.delete(callId);
    const status = isError ? "failed" : "completed";
    this.#show({ sessionUpdate: "tool_call_update", toolCallId, status });
  }

  #notConnected(): string {
    const agent = oneLine(this.#options.agentName(), LONGEST_NAME);
    const { withinMs, hint } = this.#options.lateConnection ?? {
      withinMs: CONNECT_MS,
      hint: this.#options.whyMissing ?? IGNORED,
    };
    const seconds = withinMs / 1000;
    return `${agent} has not connected to its board after ${seconds} s, so it has none of its tools, ${hint}`;
  }

  /** Tells the client something once: at once if it shows notices, else with the next prompt. */
  #tell(text: string, isTrue: () => boolean = () => true): void {
    this.#untold.push({ text, isTrue });
    const isNow = this.#options.client.showsNotices() && this.#sessionId !== undefined;
    if (isNow || this.#prompting !== undefined) this.#sayUntold();
  }

  #sayUntold(): void {
    const told = this.#untold.splice(0).filter(({ isTrue }) => isTrue());
    for (const { text } of told) this.#show(this.#asUpdate(text));
  }

  #asUpdate(text: string): SessionUpdate {
    if (this.#options.client.showsNotices()) {
      return { sessionUpdate: "notice", severity: "warning", title: text };
    }
    // Most clients put it next to what the agent says.
    const content = textBlock(`${this.#hasSpoken ? "\n\n" : ""}${text}\n\n`);
    return { sessionUpdate: "agent_message_chunk", content, messageId: randomUUID() };
  }

  #show(update: SessionUpdate): void {
    if (this.#sessionId !== undefined) void this.#options.client.update(this.#sessionId, update);
  }
}

/** Between prompts nobody expects a question. */
function notNow({ tool, server }: ApprovalRequest): PlugboardError {
  return new PlugboardError(
    "NOT_APPROVED",
    `${sayTool(tool)} must be approved, and nobody can be asked between prompts`,
    { server, hint: "call it while a prompt is being answered" },
  );
}
