// The sessions behind the front: opens each with its board, restores it after a restart of the agent, and closes it.

import { isDeepStrictEqual } from "node:util";
import { methods, RequestError } from "@agentclientprotocol/sdk";
import type { SessionEndpoint } from "../../serve/endpoint/session-endpoint.ts";
import { PlugboardError, withHint } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, valueIn } from "../../core/types/json.ts";
import type { Logger } from "../../core/types/logger.ts";
import type { SendMcpMessage } from "../../core/types/mcp-message.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { errorMessage } from "../../util/error-message.ts";
import { readMcpServers } from "../acp/servers/mcp-servers.ts";
import { parseLoad, parseNew, parseResume } from "../acp/wire/params.ts";
import { type AgentEnd, type AgentProcess, howItEnded } from "./agent-process.ts";
import { AGENT_ENDED, type FrontAgent, stopped } from "./front-agent.ts";
import type { RelayedClient } from "./relayed-client.ts";
import type { FrontSession, FrontSessionOptions } from "./front-session.ts";
import type { HandOver, HandOverRequest } from "./hand-over.ts";
import { repeatsKey, withValue } from "./json-bytes.ts";
import {
  type Answer,
  errorText,
  type Message,
  needsAuthentication,
  toRpcError,
} from "./message.ts";
import {
  closeBoard,
  type OpenBoard,
  RelayedSession,
  type SessionSetup,
} from "./relayed-session.ts";

type Request = Extract<Message, { kind: "request" }>;
export type OpeningKind = HandOverRequest["kind"];

/** How long the boards of an agent that has ended wait for it. */
const KEPT_MS = 10 * 60_000;

export interface AnswerHooks {
  /** Gives what the client gets in place of the answer, or undefined for nothing. Called before the next line is read. */
  onAnswer?: (answer: Answer, bytes: Buffer) => Buffer | undefined;
  /** There will be no answer, and the client knows. */
  onFailure?: () => void;
}

export interface RelayedSessionsOptions {
  handOver: HandOver;
  openSession: (
    setup: Pick<SessionSetup, "cwd" | "additionalDirectories" | "mcpServers">,
    options: Pick<
      FrontSessionOptions,
      "client" | "endpoint" | "agentName" | "lateConnection" | "sendMcpMessage"
    >,
  ) => Promise<FrontSession>;
  client: RelayedClient;
  /** The way to servers in the client. Without it none are taken. */
  sendMcpMessage?: SendMcpMessage;
  agentName: () => string;
  /** What the agent said of itself. */
  capabilities: () => unknown;
  /** The agent of a session that is opened. `endpoint` is where its board is. */
  agentFor: (endpoint: SessionEndpoint) => FrontAgent;
  /** Nobody needs the agent of a session any more. */
  dismiss: (agent: FrontAgent) => Promise<void>;
  /** Sends a request of the client to an agent that runs. */
  ask: (agent: FrontAgent, request: Request, line: Buffer, hooks: AnswerHooks) => void;
  /** What the client asks for in this session waits for `work`, which does not reject. */
  hold: (sessionId: string, work: Promise<void>) => void;
  /** What the client has signed in with, if the agent accepted it. */
  authentication: () => JsonObject | undefined;
  clock: Clock;
  logger: Logger;
}

export class RelayedSessions {
  readonly #options: RelayedSessionsOptions;
  readonly #opened = new Map<string, RelayedSession>();
  /** Sessions that are loaded once more for the front alone: the client has seen their updates. */
  readonly #replayed = new Set<RelayedSession>();
  readonly #timers = new Map<FrontAgent, Timer>();
  /** The ids of servers in the client that are on a board. The client gives none of them a second time. */
  readonly #acpServers = new Set<unknown>();
  #isClosed = false;

  constructor(options: RelayedSessionsOptions) {
    this.#options = options;
  }

  get(id: unknown): RelayedSession | undefined {
    return typeof id === "string" ? this.#opened.get(id) : undefined;
  }

  /** By the agent's own id. */
  ofAgent(agent: FrontAgent, agentId: unknown): RelayedSession | undefined {
    const same = this.get(agentId);
    if (same?.agent === agent && same.agentId === agentId) return same;
    for (const session of this.#opened.values()) {
      if (session.agent === agent && session.agentId === agentId) return session;
    }
    return undefined;
  }

  /** Whether a server in the client was brought for a board, and is nobody else's to ask. */
  hasServer(serverId: unknown): boolean {
    return this.#acpServers.has(serverId);
  }

  isReplayed(session: RelayedSession): boolean {
    return this.#replayed.has(session);
  }

  /** Opens the board of a session, and has the agent open the session with it. Answers the request; never rejects. */
  async open(kind: OpeningKind, request: Request, bytes: Buffer): Promise<void> {
    const { client, logger } = this.#options;
    let opening: Opening | undefined;
    try {
      if (repeatsKey(bytes)) throw hasKeyTwice(request.method);
      const overAcp = this.#options.sendMcpMessage !== undefined;
      const setup = readSetup(kind, request.params, overAcp);
      for (const server of setup.mcpServers) {
        if ("serverId" in server) this.#acpServers.add(server["serverId"]);
      }
      const known = kind === "new" ? undefined : this.get(request.params["sessionId"]);
      const isSame = kind !== "fork" && isSameSetup(known, setup);
      opening = isSame && known ? reopened(known) : await this.#openBoard(kind, setup, known);
      await this.#openAtAgent(kind, request, bytes, { ...opening, setup, known });
    } catch (error) {
      logger.debug(`${request.method} failed`, { error });
      client.answer(request.id, { error: toRpcError(error) });
      await this.#abandon(opening);
    }
  }

  /** The board is open and served; the agent has not heard of the session yet. */
  async #openBoard(
    kind: OpeningKind,
    setup: SessionSetup,
    known: RelayedSession | undefined,
  ): Promise<Opening> {
    const { handOver, agentFor, agentName, client, sendMcpMessage } = this.#options;
    const { params, ...about } = setup;
    const sessionId = known?.agentId ?? textIn(params["sessionId"]);
    const prepared = await handOver.prepare({ kind, params, ...(sessionId && { sessionId }) });
    const { endpoint } = prepared;
    try {
      const frontSession = await this.#options.openSession(about, {
        client,
        endpoint,
        agentName,
        lateConnection: handOver.lateConnection,
        sendMcpMessage,
      });
      return { board: { frontSession, prepared, params }, agent: agentFor(endpoint), isNew: true };
    } catch (error) {
      await prepared.release();
      throw error;
    }
  }

  /** Has the agent open the session, with its answer on the way to the client before the session begins. */
  async #openAtAgent(
    kind: OpeningKind,
    request: Request,
    bytes: Buffer,
    opening: Opening & { setup: SessionSetup; known: RelayedSession | undefined },
  ): Promise<void> {
    const { agent, board, setup, known, isNew } = opening;
    // A process that has the session open must be done with it before another opens it.
    if (isNew && known !== undefined && known.agent !== agent && kind !== "fork") {
      await this.forget(known);
    }
    await agent.ready();
    const { process } = agent;
    if (process === undefined || this.#isClosed) throw stopped();
    const asked = known === undefined ? {} : { sessionId: known.agentId };
    const line = withParams(bytes, setup.params, { ...(await changesFor(board, setup)), ...asked });
    let opened: RelayedSession | undefined;
    const take = (answer: Answer, given: Buffer): Buffer => {
      if (answer.error !== undefined) return given;
      const sessionId = textIn(valueIn(answer.result, ["sessionId"]));
      const agentId = sessionId ?? known?.agentId ?? textIn(setup.params["sessionId"]) ?? "";
      const hasNewId = kind === "new" || kind === "fork";
      const id = hasNewId ? this.#freeId(agentId, agent) : (known?.id ?? agentId);
      opened = new RelayedSession({ id, agentId }, { agent, process }, setup, board);
      this.#opened.set(id, opened);
      this.#tellHandOver(opened);
      return sessionId === undefined || id === agentId
        ? given
        : withValue(given, ["result", "sessionId"], id);
    };
    await this.#askAndSignIn(agent, request, line, take);
    if (opened === undefined) return this.#abandon(opening);
    if (known !== undefined && known.board !== board && this.get(known.id) !== known) {
      await known.close();
    }
    if (isNew) board.frontSession.begin(opened.id);
    if (this.#isClosed) await opened.close();
  }

  #tellHandOver(session: RelayedSession): void {
    this.#sleepWhenGone(session);
    const work = session.board.prepared.opened?.(session.agentId);
    if (work === undefined) return;
    const { hold, logger } = this.#options;
    const settled = work.catch((error: unknown) => {
      logger.warn("a session cannot have its servers", { session: session.id, error });
      const why = error instanceof PlugboardError ? withHint(error) : errorMessage(error);
      session.lost = `This session cannot have its servers: ${why}. Open a new session.`;
      void session.close();
    });
    hold(session.id, settled);
  }

  /** An agent that has forgotten who signed in, because it was started again, is told once more and asked again. */
  #askAndSignIn(
    agent: FrontAgent,
    request: Request,
    line: Buffer,
    take: (answer: Answer, bytes: Buffer) => Buffer,
  ): Promise<void> {
    const { ask, authentication } = this.#options;
    return new Promise((resolve) => {
      const onAnswer = (answer: Answer, bytes: Buffer): Buffer => {
        const passed = take(answer, bytes);
        resolve();
        return passed;
      };
      const onFailure = (): void => resolve();
      ask(agent, request, line, {
        onFailure,
        onAnswer: (answer, bytes) => {
          const params = needsAuthentication(answer) ? authentication() : undefined;
          if (params === undefined) return onAnswer(answer, bytes);
          agent.request(methods.agent.authenticate, params).then(
            () => ask(agent, request, line, { onAnswer, onFailure }),
            (error: unknown) => {
              this.#options.client.answer(request.id, { error: toRpcError(error) });
              resolve();
            },
          );
          return undefined;
        },
      });
    });
  }

  async #abandon(opening: Opening | undefined): Promise<void> {
    if (opening?.isNew !== true) return;
    await closeBoard(opening.board);
    await this.#options.dismiss(opening.agent);
  }

  /** Two processes that know nothing of each other may give the same id. */
  #freeId(agentId: string, agent: FrontAgent): string {
    for (let n = 1; ; n += 1) {
      const id = n === 1 ? agentId : `${agentId}-${n}`;
      const other = this.#opened.get(id);
      if (other === undefined) return id;
      if (other.agent !== agent && other.lost === undefined) continue;
      // The agent has begun another session of that id, so the one before is over.
      void other.close();
      return id;
    }
  }

  /** Has an agent that was started again open the session again. Rejects with a RequestError if it cannot. */
  async restore(session: RelayedSession): Promise<void> {
    if (session.lost !== undefined) throw cannotRestore(session.lost);
    const wasAsleep = session.isAsleep;
    if (wasAsleep) await this.#wake(session);
    const { agent } = session;
    await agent.ready();
    const { process } = agent;
    if (process === undefined) throw stopped();
    if (process !== session.process) await this.#reopen(session, process);
    else if (!wasAsleep) return;
    if (wasAsleep) session.board.frontSession.begin(session.id);
    await session.board.prepared.opened?.(session.agentId);
  }

  /** Has another process of the agent open the session. */
  async #reopen(session: RelayedSession, process: AgentProcess): Promise<void> {
    const { agent } = session;
    const { params } = session.setup;
    const method = this.#restoringMethod();
    if (method === undefined)
      throw cannotRestore(this.#lose(session, "it cannot open sessions again"));
    const asked = {
      ...params,
      ...(await changesFor(session.board, session.setup)),
      sessionId: session.agentId,
    };
    this.#replayed.add(session);
    try {
      let answer = await agent.request(method, asked);
      const signIn = needsAuthentication(answer) ? this.#options.authentication() : undefined;
      if (signIn !== undefined) {
        await agent.request(methods.agent.authenticate, signIn);
        answer = await agent.request(method, asked);
      }
      if (answer.error !== undefined) {
        throw cannotRestore(this.#lose(session, `it says: ${errorText(answer.error)}`));
      }
      session.process = process;
    } finally {
      this.#replayed.delete(session);
    }
  }

  async #wake(session: RelayedSession): Promise<void> {
    const { agent: before, setup, agentId } = session;
    const params = { ...setup.params, sessionId: agentId };
    const { agent, board } = await this.#openBoard("resume", { ...setup, params }, session);
    session.isAsleep = false;
    session.agent = agent;
    session.board = board;
    this.#sleepWhenGone(session);
    if (before !== agent) await this.#options.dismiss(before);
  }

  /** The method that opens a session again, if the agent has one. */
  #restoringMethod(): string | undefined {
    const about = valueIn(this.#options.capabilities(), ["agentCapabilities"]);
    if (isJsonObject(valueIn(about, ["sessionCapabilities", "resume"]))) {
      return methods.agent.session.resume;
    }
    return valueIn(about, ["loadSession"]) === true ? methods.agent.session.load : undefined;
  }

  #lose(session: RelayedSession, reason: string): string {
    session.lost = `The agent was started again and cannot go on with this session: ${reason}. Open a new session.`;
    void session.close();
    return session.lost;
  }

  /** The sessions of the agent wait for its next process, if the agent can go on with them. */
  agentEnded(agent: FrontAgent, end: AgentEnd): void {
    const sessions = [...this.#opened.values()].filter((each) => each.agent === agent);
    for (const { board } of sessions) board.frontSession.agentEnded();
    if (this.#restoringMethod() === undefined) {
      for (const session of sessions) {
        session.lost ??= `The agent ${howItEnded(end)}, and it cannot open its sessions again. Open a new session.`;
        void session.close();
      }
      return;
    }
    this.#timers.get(agent)?.cancel();
    const timer = this.#options.clock.later(KEPT_MS, () => {
      for (const session of sessions) {
        if (session.process !== agent.process) this.#sleep(session);
      }
    });
    this.#timers.set(agent, timer);
  }

  #sleepWhenGone(session: RelayedSession): void {
    const { board } = session;
    void board.prepared.gone?.then(() => {
      if (session.board !== board) return;
      this.#sleep(session);
      // It has lost what it needs for its work as well, and may take long to look for it again. Another process looks at once.
      if (this.#restoringMethod() !== undefined) session.agent.rest();
    });
  }

  #sleep(session: RelayedSession): void {
    if (this.get(session.id) !== session || session.lost !== undefined) return;
    session.isAsleep = true;
    void session.close();
  }

  /** Idempotent; never rejects; resolves when nothing of the session is left. */
  async forget(session: RelayedSession): Promise<void> {
    if (this.#opened.get(session.id) === session) this.#opened.delete(session.id);
    await Promise.all([session.close(), this.#options.dismiss(session.agent)]);
  }

  /** Resolves when no board is left. */
  async closeAll(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers.values()) timer.cancel();
    const sessions = [...this.#opened.values()];
    this.#opened.clear();
    await Promise.all(sessions.map((session) => session.close()));
  }
}

interface Opening {
  board: OpenBoard;
  agent: FrontAgent;
  /** False if the board and the agent are those of a session that is open. */
  isNew: boolean;
}

function reopened({ board, agent }: RelayedSession): Opening {
  return { board, agent, isNew: false };
}

/** Throws −32602 for what an agent could not open either. */
function readSetup(kind: OpeningKind, given: JsonObject, overAcp: boolean): SessionSetup {
  const parse = kind === "new" ? parseNew : kind === "load" ? parseLoad : parseResume;
  const { cwd, additionalDirectories, mcpServers } = parse(given);
  readMcpServers(mcpServers, { overAcp });
  const { mcpServers: _, ...params } = given;
  return { cwd, additionalDirectories, mcpServers, params };
}

/** Whether the session has a board that will do. */
function isSameSetup(session: RelayedSession | undefined, setup: SessionSetup): boolean {
  if (session === undefined || session.lost !== undefined || session.isAsleep) return false;
  return setupKey(session.setup) === setupKey(setup);
}

function setupKey({ cwd, additionalDirectories, mcpServers }: SessionSetup): string {
  return canonicalJson([cwd, additionalDirectories, mcpServers]);
}

/** What the agent gets otherwise than the client sent it, whichever request the board was prepared for. */
async function changesFor(board: OpenBoard, { params }: SessionSetup): Promise<JsonObject> {
  const wanted = await board.prepared.params();
  const changed = Object.entries(wanted).filter(
    ([key, value]) => !isDeepStrictEqual(value, board.params[key]),
  );
  const changes: JsonObject = Object.fromEntries(changed);
  const { _meta: own } = changes;
  const { _meta: sent } = params;
  if (isJsonObject(own) && isJsonObject(sent)) changes["_meta"] = { ...sent, ...own };
  return changes;
}

/** The line with some of its parameters set, and all others as they are. */
function withParams(bytes: Buffer, params: JsonObject, changes: JsonObject): Buffer {
  return Object.entries(changes).reduce(
    (line, [key, value]) =>
      params[key] === value ? line : withValue(line, ["params", key], value),
    bytes,
  );
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The agent could take the one of two `mcpServers` that we do not see. */
function hasKeyTwice(method: string): RequestError {
  return RequestError.invalidParams(
    undefined,
    `${method} has an object with the same key twice; send each key once`,
  );
}

function cannotRestore(reason: string): RequestError {
  return new RequestError(AGENT_ENDED, reason);
}
