// Passes messages on between the client and the agent, as the very same bytes, and looks at those that concern MCP. It
// changes an id only where the client would mix up two processes of the agent.

import { DEFAULT_MAX_MESSAGE_BYTES, methods, RequestError } from "@agentclientprotocol/sdk";
import type { SessionEndpoint } from "../../serve/endpoint/session-endpoint.ts";
import { isJsonObject, type JsonObject, valueIn } from "../../core/types/json.ts";
import type { Logger } from "../../core/types/logger.ts";
import type { Clock } from "../../util/clock.ts";
import { oneLine } from "../../util/text.ts";
import { MCP_MESSAGE, McpMessages } from "../acp/wire/mcp-messages.ts";
import { bounded, type RefusedLine } from "../acp/wire/stdio.ts";
import type { AgentEnd, AgentProcess } from "./agent-process.ts";
import { Backlog } from "./backlog.ts";
import { CHECK_COMMAND, endedAnswer, FrontAgent, stopped } from "./front-agent.ts";
import { FrontAgents, type FrontAgentsOptions } from "./front-agents.ts";
import type { HandOver } from "./hand-over.ts";
import { parseLine, withValue } from "./json-bytes.ts";
import type { Line } from "../../util/line-reader.ts";
import type { LineWriter } from "./lines.ts";
import {
  encode,
  idKey,
  type Message,
  type OwnIds,
  readMessage,
  type RpcId,
  toRpcError,
} from "./message.ts";
import { CANCEL_REQUEST, RelayedClient } from "./relayed-client.ts";
import type { RelayedSession } from "./relayed-session.ts";
import {
  type AnswerHooks,
  type OpeningKind,
  RelayedSessions,
  type RelayedSessionsOptions,
} from "./relayed-sessions.ts";

const { agent: AGENT, client: CLIENT } = methods;

const OPENING: ReadonlyMap<string, OpeningKind> = new Map([
  [AGENT.session.new, "new"],
  [AGENT.session.load, "load"],
  [AGENT.session.resume, "resume"],
  // Not in the stable protocol yet.
  ["session/fork", "fork"],
]);

/** At most this many lines that are not messages are shown. */
const SHOWN_JUNK = 20;
/** How long an agent may take to answer its first request before the log has a word about it. */
const SILENT_MS = 30_000;
const LONGEST_JUNK = 200;
/** As the protocol has it for a request that was cancelled. */
const CANCELLED = -32800;
/** For an agent that asks a server in the client past the board, where no rule holds and nobody approves. */
const ON_BOARD = {
  // As the client answers for a server that it does not have.
  code: -33001,
  message: "this server is on the session's board; call its tools there",
};

export interface RelayOptions
  extends Pick<RelayedSessionsOptions, "openSession">, Pick<FrontAgentsOptions, "isPerSession"> {
  /** Starts a process of the agent. The endpoint is that of a session which has the process for itself. */
  start: (endpoint: SessionEndpoint | undefined) => Promise<AgentProcess>;
  handOver: (agent: { takesHttp: () => boolean }) => HandOver;
  writer: LineWriter;
  ids: { client: OwnIds; agent: OwnIds };
  /** Servers that the client carries itself are taken, and advertised. */
  takesAcpServers: boolean;
  /** What the agent is called until it says its name. */
  command: string;
  clock: Clock;
  logger: Logger;
}

type Request = Extract<Message, { kind: "request" }>;
type Notification = Extract<Message, { kind: "notification" }>;
type AnswerMessage = Extract<Message, { kind: "answer" }>;

/** A request of the client that an agent is to answer. */
interface Pending extends AnswerHooks {
  id: RpcId;
  agent: FrontAgent;
}

/** A request of an agent that the client is to answer. */
interface Asked {
  agent: FrontAgent;
  process: AgentProcess;
  /** The agent's own id. The client may know another. */
  id: RpcId;
  /** With `mcp/message`: the notifications about it carry this id. */
  mcpRequestId?: unknown;
}

export class Relay {
  readonly #options: RelayOptions;
  readonly #client: RelayedClient;
  /** Our own requests to servers in the client. */
  readonly #messages = new McpMessages((...request) => this.#client.ask(...request));
  readonly #handOver: HandOver;
  readonly #sessions: RelayedSessions;
  readonly #agents: FrontAgents;
  readonly #backlog: Backlog;
  readonly #pending = new Map<string, Pending>();
  /** By the id that the client knows. */
  readonly #asked = new Map<string, Asked>();
  #initialize: JsonObject | undefined;
  /** Requests that depend on the agent's capabilities wait for its answer. */
  #initializing: Promise<void> | undefined;
  /** What the agent said of itself. */
  #about: unknown;
  #authentication: JsonObject | undefined;
  #junk = 0;
  #isClosed = false;

  constructor(options: RelayOptions) {
    const { openSession, isPerSession, clock, logger } = options;
    this.#options = options;
    this.#client = new RelayedClient(options.writer, options.ids.client);
    this.#handOver = options.handOver({ takesHttp: () => this.#takesHttp() });
    this.#backlog = new Backlog((error) => logger.error("the front has a fault", { error }));
    this.#agents = new FrontAgents({
      isPerSession,
      name: () => valueIn(this.#about, ["agentInfo", "name"]),
      make: (endpoint) => this.#newAgent(endpoint),
    });
    this.#sessions = new RelayedSessions({
      openSession,
      handOver: this.#handOver,
      client: this.#client,
      ...(options.takesAcpServers && { sendMcpMessage: this.#messages.send }),
      agentName: () => this.#agentName(),
      capabilities: () => this.#about,
      agentFor: (endpoint) => this.#agents.forSession(endpoint),
      dismiss: (agent) => this.#dismiss(agent),
      ask: (agent, request, line, hooks) => this.#ask(agent, request, line, hooks),
      hold: (sessionId, work) => this.#backlog.change(sessionId, () => work),
      authentication: () => this.#authentication,
      clock,
      logger,
    });
  }

  /** Starts the agent. Rejects with SPAWN_FAILED. */
  async launch(): Promise<void> {
    await this.#agents.main.ready("initialize");
  }

  /** Resolves when nothing of any session or agent is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#client.close();
    const ended = this.#agents.stop();
    await this.#sessions.closeAll();
    await ended;
    for (const agent of this.#agents.all()) this.#giveUp(agent, toRpcError(stopped()));
    await this.#backlog.done();
    await this.#sessions.closeAll();
    await this.#handOver.close();
  }

  #takesHttp(): boolean {
    return valueIn(this.#about, ["agentCapabilities", "mcpCapabilities", "http"]) === true;
  }

  #agentName(): string {
    for (const key of ["title", "name"]) {
      const name = valueIn(this.#about, ["agentInfo", key]);
      if (typeof name === "string" && name.trim() !== "") return oneLine(name, 80);
    }
    return this.#options.command;
  }

  // From the client

  /** Resolves when the next line may come. */
  fromClient(line: Line): Promise<void> | undefined {
    this.#takeFromClient(line);
    return this.#options.writer.room() ?? this.#agents.room() ?? this.#backlog.room();
  }

  #takeFromClient(line: Line): void {
    const taken = bounded(line, DEFAULT_MAX_MESSAGE_BYTES);
    if (taken.kind === "refused") return this.#refuseClient(taken);
    const { bytes } = taken;
    const message = readMessage(parseLine(bytes));
    switch (message.kind) {
      case "answer":
        return this.#answerOfClient(message, bytes);
      case "notification":
        return this.#notificationOfClient(message, bytes);
      case "request":
        return this.#requestOfClient(message, bytes);
      case "other":
        // The agent answers such a message with its own error, as it would without us.
        return this.#agents.main.process?.send(bytes);
    }
  }

  #refuseClient({ id, isAnswer, error }: RefusedLine): void {
    this.#options.logger.warn(`dropped a message from the client: ${error.message}`);
    if (!isAnswer || id === undefined) return this.#client.answer(id ?? null, { error });
    this.#answerOfClient({ kind: "answer", id, answer: { error } }, encode({ id, error }));
  }

  #answerOfClient({ id, answer }: AnswerMessage, bytes: Buffer): void {
    if (this.#client.takeAnswer(id, answer) && !this.#asked.has(idKey(id))) return;
    const asked = this.#asked.get(idKey(id));
    this.#asked.delete(idKey(id));
    if (asked === undefined) {
      // The client may have answered another process twice, and this one waits for an answer to the same id.
      const isOpen = Array.from(this.#asked.values()).some(
        (each) => each.agent === this.#agents.main && each.id === id,
      );
      return isOpen ? undefined : this.#agents.main.process?.send(bytes);
    }
    // The process that asked has ended, and the next one may use the same ids.
    if (asked.agent.process !== asked.process) return;
    asked.process.send(asked.id === id ? bytes : withValue(bytes, ["id"], asked.id));
  }

  /** A notification starts no agent: nobody waits for what comes of it. */
  #notificationOfClient({ method, params }: Notification, bytes: Buffer): void {
    if (method === CANCEL_REQUEST) {
      const pending = this.#pending.get(idKey(params["requestId"]));
      return (pending?.agent ?? this.#agents.main).process?.send(bytes);
    }
    if (method === MCP_MESSAGE) return this.#mcpNotification(params, bytes);
    const session = this.#sessions.get(params["sessionId"]);
    if (session === undefined) return this.#agents.main.process?.send(bytes);
    if (method === AGENT.session.cancel) session.board.frontSession.cancel();
    this.#backlog.inOrder(session.id, bytes, () => {
      if (isRunning(session)) session.process.send(forAgent(session, bytes));
    });
  }

  /** Goes to whoever has made the request that it is about, which may be an agent. */
  #mcpNotification(params: JsonObject, bytes: Buffer): void {
    if (this.#messages.receive({ method: MCP_MESSAGE, params })) return;
    const { requestId } = params;
    const asked = Array.from(this.#asked.values()).find(
      (each) => requestId !== undefined && each.mcpRequestId === requestId,
    );
    (asked?.process ?? this.#agents.main.process)?.send(bytes);
  }

  #requestOfClient(request: Request, bytes: Buffer): void {
    const { method, params } = request;
    if (method === AGENT.initialize) return this.#initializeAgent(request, bytes);
    if (method === AGENT.authenticate || method === AGENT.logout) {
      return this.#signIn(request, bytes);
    }
    const kind = OPENING.get(method);
    const sessionId = typeof params["sessionId"] === "string" ? params["sessionId"] : undefined;
    if (kind === "load" || kind === "resume") {
      return this.#backlog.change(sessionId ?? "", () => this.#openSession(kind, request, bytes));
    }
    if (kind !== undefined) {
      const open = (): Promise<void> => this.#openSession(kind, request, bytes);
      return this.#backlog.inBackground(this.#backlog.settled(sessionId ?? "").then(open));
    }
    if (sessionId === undefined) return this.#askWhenReady(this.#agents.main, request, bytes);
    this.#backlog.inOrder(sessionId, bytes, () =>
      this.#requestInSession(sessionId, request, bytes),
    );
  }

  async #openSession(kind: OpeningKind, request: Request, bytes: Buffer): Promise<void> {
    await this.#initializing;
    await this.#sessions.open(kind, request, bytes);
  }

  #initializeAgent(request: Request, bytes: Buffer): void {
    this.#client.initialize(request.params["clientCapabilities"]);
    const { clock, logger } = this.#options;
    // `npx` may still be downloading the agent, so a warning is all that silence leads to.
    const silence = clock.later(SILENT_MS, () => {
      logger.warn(`the agent has not answered for ${SILENT_MS / 1000} s. ${CHECK_COMMAND}`);
    });
    let settle = (): void => {};
    this.#initializing = new Promise((resolve) => {
      settle = () => {
        silence.cancel();
        resolve();
      };
    });
    this.#askWhenReady(this.#agents.main, request, bytes, {
      onAnswer: ({ result, error }, given) => {
        if (error === undefined) {
          this.#initialize = request.params;
          this.#about = result;
        }
        settle();
        return error === undefined ? this.#withOurCapabilities(given) : given;
      },
      onFailure: () => settle(),
    });
  }

  /**
   * Whatever the agent can do, we take the servers, all of them or all but those in the client, and close sessions: a client
   * would never end their servers otherwise.
   */
  #withOurCapabilities(bytes: Buffer): Buffer {
    const closing = ["result", "agentCapabilities", "sessionCapabilities", "close"];
    const closable = this.#closesSessions() ? bytes : withValue(bytes, closing, {});
    const path = ["result", "agentCapabilities", "mcpCapabilities"];
    const { takesAcpServers } = this.#options;
    const isSaid = valueIn(this.#about, [...path.slice(1), "acp"]) !== undefined;
    const ours = {
      http: true,
      sse: true,
      ...((takesAcpServers || isSaid) && { acp: takesAcpServers }),
    };
    return Object.entries(ours).reduce(
      (changed, [name, value]) => withValue(changed, [...path, name], value),
      closable,
    );
  }

  #closesSessions(): boolean {
    const path = ["agentCapabilities", "sessionCapabilities", "close"];
    return isJsonObject(valueIn(this.#about, path));
  }

  /** Remembered, since an agent that is started again may want to hear it again. */
  #signIn(request: Request, bytes: Buffer): void {
    const isIn = request.method === AGENT.authenticate;
    this.#askWhenReady(this.#agents.main, request, bytes, {
      onAnswer: ({ error }, given) => {
        if (error === undefined) this.#authentication = isIn ? request.params : undefined;
        return given;
      },
    });
  }

  #requestInSession(sessionId: string, request: Request, bytes: Buffer): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return this.#askWhenReady(this.#agents.main, request, bytes);
    const { method, id } = request;
    // The client is told when nothing of the session is left: it may open another, which needs what this one had.
    const forget = async (tell: () => void): Promise<void> => {
      await this.#sessions.forget(session);
      tell();
    };
    const isClosedHere = !isRunning(session) || !this.#closesSessions();
    if (method === AGENT.session.close && isClosedHere) {
      // An agent that has lost it need not be started to hear that. One that cannot close it stops working on it.
      if (isRunning(session) && session.board.frontSession.isPrompting) {
        const cancel = { method: AGENT.session.cancel, params: { sessionId: session.agentId } };
        session.process.send(encode(cancel));
      }
      return this.#backlog.inBackground(forget(() => this.#client.answer(id, { result: {} })));
    }
    if (method === AGENT.session.close || method === AGENT.session.delete) {
      return this.#askWhenReady(session.agent, request, forAgent(session, bytes), {
        onAnswer: ({ error }, given) => {
          if (error !== undefined) return given;
          this.#backlog.inBackground(forget(() => this.#options.writer.send(given)));
          return undefined;
        },
      });
    }
    if (isRunning(session)) return this.#askInSession(session, request, bytes);
    this.#backlog.change(sessionId, async () => {
      try {
        await this.#sessions.restore(session);
      } catch (error) {
        return this.#client.answer(id, { error: toRpcError(error) });
      }
      this.#askInSession(session, request, bytes);
    });
  }

  #askInSession(session: RelayedSession, request: Request, bytes: Buffer): void {
    const line = forAgent(session, bytes);
    if (request.method !== AGENT.session.prompt) return this.#ask(session.agent, request, line);
    const { frontSession } = session.board;
    frontSession.promptBegins();
    this.#ask(session.agent, request, line, {
      onAnswer: ({ error }, given) => {
        frontSession.promptEnds(error !== undefined);
        return given;
      },
    });
  }

  /** Sends a request to an agent, at once if it runs, and otherwise when it does. What waits keeps its order. */
  #askWhenReady(agent: FrontAgent, request: Request, bytes: Buffer, hooks: AnswerHooks = {}): void {
    const send = (): void => this.#ask(agent, request, bytes, hooks);
    const fail = (error: unknown): void => this.#fail(request, hooks, error);
    const ready = agent.ready(request.method === AGENT.initialize ? "initialize" : undefined);
    if (ready === undefined) return send();
    this.#backlog.inBackground(this.#backlog.waiting(bytes, ready).then(send, fail));
  }

  #ask(agent: FrontAgent, request: Request, bytes: Buffer, hooks: AnswerHooks = {}): void {
    const { process } = agent;
    if (process === undefined) return this.#fail(request, hooks, stopped());
    this.#pending.set(idKey(request.id), { id: request.id, agent, ...hooks });
    process.send(bytes);
  }

  #fail({ id }: Request, hooks: AnswerHooks, error: unknown): void {
    this.#client.answer(id, { error: toRpcError(error) });
    hooks.onFailure?.();
  }

  // From the agent

  #newAgent(endpoint: SessionEndpoint | undefined): FrontAgent {
    const agent: FrontAgent = new FrontAgent({
      start: () => this.#options.start(endpoint),
      handshake: () => this.#initialize,
      onHandshake: (result) => (this.#about = result),
      onLine: (line, process) => this.#fromAgent(agent, process, line),
      onEnd: (end) => this.#agentEnded(agent, end),
      ids: this.#options.ids.agent,
    });
    return agent;
  }

  async #dismiss(agent: FrontAgent): Promise<void> {
    if (!(await this.#agents.dismiss(agent))) return;
    this.#giveUp(agent, { code: CANCELLED, message: "The session was closed." });
  }

  #fromAgent(agent: FrontAgent, process: AgentProcess, line: Line): Promise<void> | undefined {
    const taken = bounded(line, DEFAULT_MAX_MESSAGE_BYTES);
    if (taken.kind === "refused") this.#refuseAgent(agent, process, taken);
    else this.#takeFromAgent(agent, process, taken.bytes);
    return this.#options.writer.room();
  }

  #takeFromAgent(agent: FrontAgent, process: AgentProcess, bytes: Buffer): void {
    const parsed = parseLine(bytes);
    if (parsed === undefined) return this.#dropJunk(process, bytes);
    const message = readMessage(parsed);
    switch (message.kind) {
      case "answer":
        return this.#answerOfAgent(agent, process, message, bytes);
      case "request":
        return this.#requestOfAgent(agent, process, message, bytes);
      case "notification":
        return this.#notificationOfAgent(agent, process, message, bytes);
      case "other":
        return this.#options.writer.send(bytes);
    }
  }

  /** Some agents print their log to stdout, where clients would stumble over it. */
  #dropJunk(process: AgentProcess, bytes: Buffer): void {
    process.keepWords(bytes);
    const text = oneLine(bytes.toString("utf8", 0, 4 * LONGEST_JUNK), LONGEST_JUNK);
    if (text === "" || this.#junk > SHOWN_JUNK) return;
    this.#junk += 1;
    const { logger } = this.#options;
    if (this.#junk <= SHOWN_JUNK)
      logger.warn(`the agent wrote a line that is not a message: ${text}`);
    else
      logger.warn(
        "the agent goes on writing lines that are not messages; they are not shown any more",
      );
  }

  #refuseAgent(
    agent: FrontAgent,
    process: AgentProcess,
    { id, isAnswer, error }: RefusedLine,
  ): void {
    this.#options.logger.warn(`dropped a message from the agent: ${error.message}`);
    if (id === undefined) return;
    const short = encode({ id, error });
    const answer: AnswerMessage = { kind: "answer", id, answer: { error } };
    if (isAnswer) this.#answerOfAgent(agent, process, answer, short);
    else process.send(short);
  }

  #answerOfAgent(
    agent: FrontAgent,
    process: AgentProcess,
    { id, answer }: AnswerMessage,
    bytes: Buffer,
  ): void {
    // What a process that has ended was asked is answered already.
    if (agent.takeAnswer(id, answer) || agent.process !== process) return;
    const key = idKey(id);
    const pending = this.#pending.get(key);
    if (pending === undefined) {
      // Nobody waits for it. A client of the agent alone would get it too.
      if (agent === this.#agents.main && !this.#options.isPerSession)
        this.#options.writer.send(bytes);
      return;
    }
    if (pending.agent !== agent) return;
    this.#pending.delete(key);
    const passed = pending.onAnswer === undefined ? bytes : pending.onAnswer(answer, bytes);
    if (passed !== undefined) this.#options.writer.send(passed);
  }

  #requestOfAgent(
    agent: FrontAgent,
    process: AgentProcess,
    { id, method, params }: Request,
    bytes: Buffer,
  ): void {
    const session = this.#sessions.ofAgent(agent, params["sessionId"]);
    if (session === undefined && this.#isOfAnother(params)) {
      const error = toRpcError(RequestError.sessionNotFound(String(params["sessionId"])));
      return process.send(encode({ id, error }));
    }
    if (method === MCP_MESSAGE && this.#sessions.hasServer(params["serverId"])) {
      return process.send(encode({ id, error: ON_BOARD }));
    }
    const known = this.#asked.has(idKey(id)) || this.#options.ids.client.has(id);
    const shown = known ? this.#options.ids.client.next() : id;
    this.#asked.set(idKey(shown), {
      agent,
      process,
      id,
      ...(method === MCP_MESSAGE && { mcpRequestId: params["requestId"] }),
    });
    const line = forClient(session, bytes);
    this.#options.writer.send(known ? withValue(line, ["id"], shown) : line);
  }

  #notificationOfAgent(
    agent: FrontAgent,
    process: AgentProcess,
    { method, params }: Notification,
    bytes: Buffer,
  ): void {
    if (method === CANCEL_REQUEST) return this.#withdraw(process, params["requestId"], bytes);
    const session = this.#sessions.ofAgent(agent, params["sessionId"]);
    if (session === undefined && this.#isOfAnother(params)) return;
    if (method === MCP_MESSAGE && this.#sessions.hasServer(params["serverId"])) return;
    const isUpdate = method === CLIENT.session.update;
    if (isUpdate && session !== undefined && this.#sessions.isReplayed(session)) return;
    const { update } = params;
    if (isUpdate && isJsonObject(update)) session?.board.frontSession.sawUpdate(update);
    this.#options.writer.send(forClient(session, bytes));
  }

  /**
   * The client knows a session of another process by this id, and would take a message about this one for a message
   * about that one.
   */
  #isOfAnother(params: JsonObject): boolean {
    return this.#sessions.get(params["sessionId"]) !== undefined;
  }

  /** The agent does not want an answer any more. */
  #withdraw(process: AgentProcess, requestId: unknown, bytes: Buffer): void {
    for (const [key, asked] of this.#asked) {
      if (asked.process !== process || asked.id !== requestId) continue;
      const shown: unknown = JSON.parse(key);
      const isSame = shown === requestId;
      const line = isSame ? bytes : withValue(bytes, ["params", "requestId"], shown);
      return this.#options.writer.send(line);
    }
    // The question may have been answered since. If the client knows another question by this id, it must not get the
    // withdrawal.
    const isAnothers = this.#asked.has(idKey(requestId)) || this.#options.ids.client.has(requestId);
    if (!isAnothers) this.#options.writer.send(bytes);
  }

  /** The agent will not answer what the client has asked. */
  #giveUp(agent: FrontAgent, error: JsonObject): void {
    for (const [key, pending] of this.#pending) {
      if (pending.agent !== agent) continue;
      this.#pending.delete(key);
      this.#client.answer(pending.id, { error });
      pending.onFailure?.();
    }
  }

  /** Nobody answers any more what the client has asked, and nobody waits any more for what the agent has asked. */
  #agentEnded(agent: FrontAgent, end: AgentEnd): void {
    if (this.#isClosed) return;
    this.#sessions.agentEnded(agent, end);
    this.#giveUp(agent, endedAnswer(end, this.#initialize !== undefined));
    for (const [key, asked] of this.#asked) {
      if (asked.agent !== agent || asked.process === agent.process) continue;
      this.#client.notify(CANCEL_REQUEST, { requestId: JSON.parse(key) as unknown });
    }
  }
}

function isRunning({ agent, process, lost, isAsleep }: RelayedSession): boolean {
  return agent.process === process && lost === undefined && !isAsleep;
}

/** With the id that the agent knows the session by. */
function forAgent({ id, agentId }: RelayedSession, bytes: Buffer): Buffer {
  return id === agentId ? bytes : withValue(bytes, ["params", "sessionId"], agentId);
}

function forClient(session: RelayedSession | undefined, bytes: Buffer): Buffer {
  if (session === undefined || session.id === session.agentId) return bytes;
  return withValue(bytes, ["params", "sessionId"], session.id);
}
