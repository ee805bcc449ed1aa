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
/** Calls at the same time. Of more, the oldest are not ended for the agent. */
const MOST_RUNNING = 1000;

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
  readonly #prompts: () => Prompts | undefined;
  readonly #off: (() => void)[];
  /** Calls that we have asked about, and the ids under which the client shows them. */
  readonly #shownHere = new Map<string, string>();
  /** Ids of calls that the agent has shown in this prompt and not ended, the oldest first. */
  readonly #running = new Set<string>();
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
    const { client } = options;
    this.#board = board;
    this.#options = options;
    this.#servers = new ServerWatcher(board, (problem) => this.#tell(problem));
    this.#prompts = this.#makePrompts();
    this.#off = [
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

  /** The agent has answered a prompt, or failed to. It may be answering another. */
  promptEnds(hasFailed = false): void {
    if (this.#prompting === undefined) return;
    this.#prompting.count -= 1;
    if (this.#prompting.count > 0) return;
    if (hasFailed) this.#endCalls();
    this.promptsEnd();
  }

  /** The process of the agent has ended. */
  agentEnded(): void {
    this.#endCalls();
    this.promptsEnd();
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
  }

  /** The agent has sent the client an update. */
  sawUpdate({ sessionUpdate, toolCallId, status }: JsonObject): void {
    this.#hasSpoken ||= sessionUpdate === "agent_message_chunk";
    if (sessionUpdate !== "tool_call" && sessionUpdate !== "tool_call_update") return;
    if (typeof toolCallId !== "string" || this.#prompting === undefined) return;
    if (status === "completed" || status === "failed") this.#running.delete(toolCallId);
    else if (sessionUpdate === "tool_call" || status === "in_progress" || status === "pending") {
      this.#running.add(toolCallId);
      const [oldest] = this.#running;
      if (this.#running.size > MOST_RUNNING && oldest !== undefined) this.#running.delete(oldest);
    }
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
    this.#running.clear();
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
    const prompt = this.#prompting?.controller.signal;
    const prompts = this.#prompts();
    if (prompt === undefined || prompts === undefined) throw notNow(request);
    const { callId, tool } = request;
    this.#options.endpoint.sayWaiting(callId, `waits for approval of ${tool}`);
    const until = signal === undefined ? prompt : AbortSignal.any([signal, prompt]);
    // Under an id that the agent does not know, so that it cannot change what the client shows with the question.
    return prompts.approve({ ...request, callId: this.#ownIdOf(callId) }, until);
  }

  async #elicit(request: ElicitationRequest): Promise<ElicitationAnswer> {
    const { callId, ...rest } = request;
    const shown = callId === undefined ? undefined : this.#shownHere.get(callId);
    const asked: ElicitationRequest = shown === undefined ? rest : { ...rest, callId: shown };
    return (await this.#prompts()?.elicit(asked)) ?? { action: "decline" };
  }

  async #sample(request: SamplingRequest): Promise<SampledMessage | "declined"> {
    return (await this.#prompts()?.sample(request)) ?? "declined";
  }

  /** An id that cannot be one of the agent's. */
  #ownIdOf(callId: string): string {
    const id = this.#shownHere.get(callId) ?? `plugboard-${randomUUID()}`;
    this.#shownHere.set(callId, id);
    return id;
  }

  /** A call that we have shown must not seem to run for ever. */
  #callEnded({ callId, isError }: CallEvent): void {
    const toolCallId = this.#shownHere.get(callId);
    if (toolCallId === undefined) return;
    this.#shownHere.delete(callId);
    const status = isError ? "failed" : "completed";
    this.#show({ sessionUpdate: "tool_call_update", toolCallId, status });
  }

  /** The agent does not go on with the prompt, so nobody else would end these calls. */
  #endCalls(): void {
    for (const toolCallId of this.#running) {
      this.#show({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
    }
    this.#running.clear();
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
