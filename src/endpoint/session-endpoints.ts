// The session endpoints: where a program on this machine reaches the board of one session as one MCP server, by a URL
// with a token, or through a small program on stdio. Each serves one board, and nothing of another session.

import { createSecretKey } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { type Caller, LOCAL_CALLER } from "../model/caller.ts";
import { PlugboardError } from "../model/errors.ts";
import type { Logger } from "../model/logger.ts";
import type { SessionNotes, SessionStore } from "../model/shared-state.ts";
import { privateSocketPath } from "../net/private-socket.ts";
import { type Clock, within } from "../util/clock.ts";
import { deferred } from "../util/deferred.ts";
import { errorMessage } from "../util/error-message.ts";
import { isSameSecret } from "../util/same-secret.ts";
import { duration } from "../util/text.ts";
import { AttachSocket, type AttachHello } from "./attach-socket.ts";
import type { EndpointBoard } from "./context.ts";
import { Endpoint } from "./endpoint.ts";
import { McpEntry } from "./http/entry.ts";
import { type Loopback, type LoopbackLimits, openLoopback } from "./http/loopback.ts";
import { refusal, sendRefusal } from "./http/refusal.ts";
import { Sessions } from "./http/sessions.ts";
import { Sealer } from "./sealed.ts";
import { serveOnStdio } from "./stdio.ts";
import { openSpans, type Spans } from "./trace.ts";

/** The variables with which the small program is started. */
const ATTACH_TOKEN = "PLUGBOARD_ATTACH_TOKEN";
const ATTACH_SOCKET = "PLUGBOARD_ATTACH_SOCKET";

/** The name under which an agent knows its board. Agents put it before the names of tools. */
export const ENDPOINT_NAME = "plugboard";

export interface SessionEndpoint {
  /** As an ACP `McpServer` entry for an agent that takes HTTP. */
  readonly http: {
    type: "http";
    name: "plugboard";
    url: string;
    headers: { name: string; value: string }[];
  };
  /** The same for one that does not: the small program. Throws SYSTEM_ERROR if its socket could not be opened. */
  readonly stdio: {
    name: "plugboard";
    command: string;
    args: string[];
    env: { name: string; value: string }[];
  };
  /** Resolves when an MCP client with the right token has made its first request. Never rejects. */
  readonly connected: Promise<void>;
  readonly isConnected: boolean;
  /** Requests wait until this was called: an agent may connect before its session is there. Call it once. */
  serve(board: EndpointBoard, options?: ServeSessionOptions): void;
  /** Tells the client of a call what the call waits for, if it wants to know. */
  sayWaiting(callId: string, message: string): void;
  /** Idempotent. Ends streams and calls; later requests get 404 with a sentence. */
  close(): Promise<void>;
}

interface ServeSessionOptions {
  /** What the client is told about the board as a whole, before what its servers say. */
  about?: () => string | undefined;
  /** For people and the audit: who makes the calls. */
  caller?: string;
}

/** An address that was agreed on before: a slot of OpenClaw. */
export interface FixedAddress {
  port: number;
  path: string;
  token: string;
}

export interface SessionEndpointsOptions {
  clock: Clock;
  logger: Logger;
  /** Makes ids that nobody can guess. */
  newId: () => string;
  random: (bytes: number) => Buffer;
  /** How this machine starts `plugboard`; the words for a session are added. */
  program: { command: string; args: readonly string[]; env: Readonly<Record<string, string>> };
  /** A private directory for the socket. */
  directory: string;
  /** Milliseconds that a request waits for its session to be there. Default 30 000. */
  serveWithin?: number;
  limits?: LoopbackLimits & { bodyBytes?: number };
}

/** Agents give up on a server that does not answer within half a minute or so. */
const SERVE_WITHIN_MS = 30_000;
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Requests of one session that are being answered. A call goes on without its connection. */
const MOST_IN_FLIGHT = 256;
/** MCP sessions of the agent: one, and one for each time that it has connected again. */
const MOST_SESSIONS = 64;
const IDLE_MS = 24 * 60 * 60 * 1000;
/** How long an agent may take to read its last answers. */
const LAST_ANSWER_MS = 250;
/** The header and a token of ours are far shorter. */
const LONGEST_AUTHORIZATION = 1024;
const BEARER = /^bearer +([\w.~+/-]+=*)$/i;

const GONE =
  "no session is here: it has ended, or the address is another session's. Open a new session in the editor";
const NO_TOKEN =
  "the token of the session is missing; send it as Authorization: Bearer <token>, never in the URL";
const WRONG_TOKEN = "this token is not the session's";

export class SessionEndpoints {
  readonly #options: SessionEndpointsOptions;
  /** Those at the shared port, by path. */
  readonly #byPath = new Map<string, OpenEndpoint>();
  /** All of them, by the id that the small program is started with. */
  readonly #byId = new Map<string, OpenEndpoint>();
  readonly #socketPath: string;
  #loopback: Promise<Loopback> | undefined;
  #socket: Promise<AttachSocket | PlugboardError> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SessionEndpointsOptions) {
    this.#options = options;
    this.#socketPath = privateSocketPath({
      directory: options.directory,
      name: `attach-${options.random(9).toString("base64url")}`,
      platform: process.platform,
      tmpdir: tmpdir(),
      uid: process.getuid?.(),
    });
  }

  /**
   * An endpoint for a session that is about to open. Listens when the first one is reserved; at a fixed address, only for
   * this one. Rejects with SYSTEM_ERROR if it cannot; the `code` of its `cause` is EADDRINUSE for a port that is taken.
   */
  async reserve(fixed?: FixedAddress): Promise<SessionEndpoint> {
    if (this.#closing !== undefined) throw closed();
    const { random, newId, logger, limits } = this.#options;
    const id = newId();
    const path = fixed?.path ?? `/session/${random(18).toString("base64url")}/mcp`;
    const token = fixed?.token ?? random(32).toString("base64url");
    const spans = await openSpans();
    const socket = await this.#openSocket();
    let own: Loopback | undefined;
    if (fixed !== undefined) {
      own = await openLoopback(fixed.port, (asked, ...rest) => this.#answerOwn(id, asked, rest), {
        logger,
        ...(limits && { limits }),
      });
    }
    const loopback = own ?? (await this.#openLoopback());
    const endpoint = new OpenEndpoint({
      ...this.#options,
      ...(spans && { spans }),
      id,
      path,
      token,
      port: loopback.port,
      socket: socket instanceof PlugboardError ? socket : this.#socketPath,
      onClose: async () => {
        this.#byPath.delete(path);
        this.#byId.delete(id);
        await own?.close();
      },
    });
    if (own === undefined) this.#byPath.set(path, endpoint);
    this.#byId.set(id, endpoint);
    if (this.#closing !== undefined) {
      await endpoint.close();
      throw closed();
    }
    return endpoint;
  }

  /** Idempotent. Closes every endpoint, and listens no more. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#byId.values()].map((each) => each.close()));
    const loopback = await this.#loopback?.catch(() => undefined);
    const socket = await this.#socket;
    await Promise.all([
      loopback?.close(),
      socket instanceof AttachSocket ? socket.close() : undefined,
    ]);
  }

  #openLoopback(): Promise<Loopback> {
    const { logger, limits } = this.#options;
    this.#loopback ??= openLoopback(
      0,
      (path, request, reply) => answerAt(this.#byPath.get(path), request, reply),
      { logger, ...(limits && { limits }) },
    ).catch((error: unknown) => {
      // The next session tries again.
      this.#loopback = undefined;
      throw error;
    });
    return this.#loopback;
  }

  /** Most agents take HTTP, so that a socket that cannot be opened is a problem only of those that need it. */
  #openSocket(): Promise<AttachSocket | PlugboardError> {
    const { clock, logger } = this.#options;
    this.#socket ??= AttachSocket.open({
      path: this.#socketPath,
      clock,
      logger,
      admit: (hello) => this.#admit(hello),
    }).catch((error: unknown) => {
      const message = `the socket ${this.#socketPath} cannot be opened: ${errorMessage(error)}`;
      return new PlugboardError("SYSTEM_ERROR", message, {
        cause: error,
        hint: "the agent reaches its tools through it; check the directory, or set PLUGBOARD_HOME to another one",
      });
    });
    return this.#socket;
  }

  #answerOwn(
    id: string,
    path: string,
    [request, reply]: [IncomingMessage, ServerResponse],
  ): void | Promise<void> {
    const endpoint = this.#byId.get(id);
    return answerAt(endpoint?.path === path ? endpoint : undefined, request, reply);
  }

  async #admit({ attach, token }: AttachHello): ReturnType<typeof OpenEndpoint.prototype.attach> {
    const endpoint = this.#byId.get(attach);
    // Whoever has no token must not learn which sessions there are.
    if (endpoint === undefined || !endpoint.isToken(token)) {
      return "the session has ended, or this program was started for another one. Open a new session in the editor";
    }
    return endpoint.attach();
  }
}

function answerAt(
  endpoint: OpenEndpoint | undefined,
  request: IncomingMessage,
  reply: ServerResponse,
): void | Promise<void> {
  if (endpoint === undefined) return sendRefusal(reply, refusal(404, GONE));
  const token = bearerIn(request);
  if (token !== undefined && endpoint.isToken(token)) return endpoint.answer(request, reply);
  const message = token === undefined ? NO_TOKEN : WRONG_TOKEN;
  return sendRefusal(reply, refusal(401, message, { "WWW-Authenticate": "Bearer" }));
}

function bearerIn({ headers: { authorization = "" } }: IncomingMessage): string | undefined {
  if (authorization.length > LONGEST_AUTHORIZATION) return undefined;
  return BEARER.exec(authorization)?.[1];
}

type EndpointState =
  /** Nobody has said yet which board it is. */
  { kind: "reserved" } | { kind: "serving"; served: ServedBoard } | { kind: "closed" };

/** What it takes to answer the clients of one board. */
interface ServedBoard {
  endpoint: Endpoint;
  sessions: Sessions;
  entry: McpEntry;
  caller: Caller;
}

interface OpenEndpointOptions extends SessionEndpointsOptions {
  id: string;
  path: string;
  token: string;
  port: number;
  /** Where the small program connects, or why it cannot. */
  socket: string | PlugboardError;
  spans?: Spans;
  onClose: () => Promise<void>;
}

class OpenEndpoint implements SessionEndpoint {
  readonly path: string;
  readonly #options: OpenEndpointOptions;
  readonly #connected = deferred();
  /** Resolves when it serves a board, or is closed. */
  readonly #settled = deferred();
  readonly #ending = new AbortController();
  readonly #replies = new Set<ServerResponse>();
  readonly #attached = new Set<Promise<void>>();
  #isConnected = false;
  #state: EndpointState = { kind: "reserved" };
  #closing: Promise<void> | undefined;

  constructor(options: OpenEndpointOptions) {
    this.#options = options;
    this.path = options.path;
  }

  get connected(): Promise<void> {
    return this.#connected.promise;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  get http(): SessionEndpoint["http"] {
    const { port, path, token } = this.#options;
    return {
      type: "http",
      name: ENDPOINT_NAME,
      url: `http://127.0.0.1:${port}${path}`,
      headers: [{ name: "Authorization", value: `Bearer ${token}` }],
    };
  }

  get stdio(): SessionEndpoint["stdio"] {
    const { program, id, token, socket } = this.#options;
    if (socket instanceof PlugboardError) throw socket;
    const env = { ...program.env, [ATTACH_SOCKET]: socket, [ATTACH_TOKEN]: token };
    return {
      name: ENDPOINT_NAME,
      command: program.command,
      args: [...program.args, "serve", "--attach", id],
      env: Object.entries(env).map(([name, value]) => ({ name, value })),
    };
  }

  isToken(given: string): boolean {
    return isSameSecret(given, this.#options.token);
  }

  serve(board: EndpointBoard, { about, caller = ENDPOINT_NAME }: ServeSessionOptions = {}): void {
    if (this.#state.kind !== "reserved") return;
    const { clock, logger, newId, random, spans, limits } = this.#options;
    // Nobody comes back to an endpoint that is gone, so neither does the key.
    const key = { id: 0, key: createSecretKey(random(32)) };
    const sealer = new Sealer(
      { current: key, find: (id) => (id === key.id ? key : undefined) },
      random,
    );
    const endpoint = new Endpoint({
      board,
      sealer,
      newId,
      clock,
      logger,
      questions: "board",
      onlyPresent: true,
      ...(about && { about }),
      ...(spans && { spans }),
    });
    const sessions = new Sessions({
      sealer,
      store: memoryStore(),
      newId,
      clock,
      idleMs: IDLE_MS,
      most: MOST_SESSIONS,
    });
    const entry = new McpEntry({ sessions, maxBodyBytes: limits?.bodyBytes ?? MAX_BODY_BYTES });
    const served = { endpoint, sessions, entry, caller: { id: LOCAL_CALLER, label: caller } };
    this.#state = { kind: "serving", served };
    this.#settled.resolve();
  }

  sayWaiting(callId: string, message: string): void {
    if (this.#state.kind === "serving") this.#state.served.endpoint.sayWaiting(callId, message);
  }

  /** Answers a request that has shown the token. */
  async answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    this.#hasConnected();
    if (this.#replies.size >= MOST_IN_FLIGHT) {
      const message = "too many requests of this session are being answered already";
      return sendRefusal(reply, refusal(429, message, { "Retry-After": "5" }));
    }
    this.#replies.add(reply);
    reply.once("close", () => this.#replies.delete(reply));
    const served = await this.#board();
    if (typeof served === "string") {
      const headers = { Connection: "close" };
      return sendRefusal(
        reply,
        served === GONE
          ? refusal(404, served, headers)
          : refusal(503, served, { ...headers, "Retry-After": "5" }),
      );
    }
    const { entry, endpoint, caller } = served;
    const lease = { endpoint, release: () => {} };
    await entry.handle(request, reply, {
      caller,
      agent: this.#options.id,
      endpointFor: () => lease,
    });
  }

  /** For a small program that has shown the token. */
  async attach(): Promise<((socket: Socket, rest: Buffer) => void) | string> {
    const served = await this.#board();
    if (typeof served === "string") return served;
    return (socket, rest) => {
      const serving = this.#serveSocket(socket, rest, served);
      this.#attached.add(serving);
      void serving.finally(() => this.#attached.delete(serving));
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #serveSocket(socket: Socket, rest: Buffer, served: ServedBoard): Promise<void> {
    if (rest.length > 0) socket.unshift(rest);
    socket.once("data", () => this.#hasConnected());
    const { endpoint, caller } = served;
    const serving = serveOnStdio({
      endpoint,
      input: socket,
      output: { write: (text, done) => socket.write(text, () => done()) },
      caller,
      signal: this.#ending.signal,
    });
    // It was paused after its greeting.
    socket.resume();
    await serving;
    socket.destroySoon();
  }

  #hasConnected(): void {
    this.#isConnected = true;
    this.#connected.resolve();
  }

  async #close(): Promise<void> {
    const before = this.#state;
    this.#state = { kind: "closed" };
    this.#settled.resolve();
    this.#ending.abort();
    if (before.kind === "serving") {
      const { sessions, endpoint } = before.served;
      sessions.closeStreams();
      endpoint.close();
      sessions.close();
    }
    // Calls that were cancelled just now still have to be answered.
    const { clock, onClose } = this.#options;
    const answered = [...this.#replies].map(
      (reply) => new Promise<void>((resolve) => reply.once("close", () => resolve())),
    );
    await within(clock, LAST_ANSWER_MS, Promise.all([...answered, ...this.#attached]));
    for (const reply of this.#replies) reply.destroy();
    await onClose();
  }

  /** Waits for the board. A sentence if there is none. */
  async #board(): Promise<ServedBoard | string> {
    const { clock, serveWithin = SERVE_WITHIN_MS } = this.#options;
    if (this.#state.kind === "reserved") await within(clock, serveWithin, this.#settled.promise);
    switch (this.#state.kind) {
      case "serving":
        return this.#state.served;
      case "closed":
        return GONE;
      case "reserved":
        return `the session did not open within ${duration(serveWithin)}; try again`;
    }
  }
}

/** Ends with the endpoint, like all that it holds. */
function memoryStore(): SessionStore {
  const notes = new Map<string, SessionNotes>();
  const revoked = new Set<string>();
  return {
    isRevoked: (nonce) => revoked.has(nonce),
    async revoke(nonce) {
      revoked.add(nonce);
      notes.delete(nonce);
    },
    get: (nonce) => notes.get(nonce),
    async set(nonce, _expiresAt, value) {
      notes.set(nonce, value);
    },
    close: async () => {},
  };
}

function closed(): PlugboardError {
  return new PlugboardError("SYSTEM_ERROR", "the session endpoints are closed");
}
