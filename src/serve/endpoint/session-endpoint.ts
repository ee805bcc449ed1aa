// One session endpoint: where a program on this machine reaches the board of one session as one MCP server, by a URL with a
// token, or through a session program on stdio. Serves one board, and nothing of another session.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Caller, LOCAL_CALLER } from "../../core/types/caller.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { memorySessions } from "../../core/state/known-sessions.ts";
import type { Logger } from "../../core/types/logger.ts";
import { type Clock, within } from "../../util/clock.ts";
import { deferred } from "../../util/deferred.ts";
import { SESSION_SOCKET, SESSION_TOKEN } from "../../util/environment.ts";
import { isSameSecret } from "../../util/same-secret.ts";
import { duration } from "../../util/text.ts";
import type { EndpointBoard } from "./context.ts";
import { Endpoint } from "./endpoint.ts";
import { McpEntry } from "./http/entry.ts";
import { refusal, sendRefusal } from "./http/refusal.ts";
import { Sessions } from "./http/sessions.ts";
import { Sealer } from "./sealed.ts";
import { serveOnStdio } from "./stdio.ts";
import type { Spans } from "./spans.ts";

/** The name under which an agent knows its board. Agents put it before the names of tools. */
const ENDPOINT_NAME = "plugboard";

export interface SessionEndpoint {
  /** As an ACP `McpServer` entry for an agent that takes HTTP. */
  readonly http: {
    type: "http";
    name: "plugboard";
    url: string;
    headers: { name: string; value: string }[];
  };
  /** The same for one that does not: the session program. Throws SYSTEM_ERROR if its socket could not be opened. */
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
  /** Whether a client has begun an MCP session that it has not ended yet. */
  readonly isHeld: boolean;
  /** Resolves when a client has ended its MCP session. Never rejects. */
  readonly letGo: Promise<void>;
  /** Idempotent. Ends streams and calls; later requests get 404 with a sentence. */
  end(): Promise<void>;
  /** Idempotent. `end`, and nothing listens at a fixed address any more. */
  close(): Promise<void>;
}

interface ServeSessionOptions {
  /** What the client is told about the board as a whole, before what its servers say. */
  about?: () => string | undefined;
  /** For people and the audit: who makes the calls. */
  caller?: string;
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

/** For whoever asks at the address of a session that is not there. */
export const GONE =
  "no session is here: it has ended, or the address is another session's. Open a new session in the editor";

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

export interface OpenEndpointOptions {
  clock: Clock;
  logger: Logger;
  /** Makes ids that nobody can guess. */
  newId: () => string;
  random: (bytes: number) => Buffer;
  /** How this machine starts `plugboard`; the words for a session are added. */
  program: { command: string; args: readonly string[]; env: Readonly<Record<string, string>> };
  /** Milliseconds that a request waits for its session to be there. Default 30 000. */
  serveWithin?: number;
  limits?: { bodyBytes?: number };
  id: string;
  path: string;
  token: string;
  port: number;
  /** Where the session program connects, or why it cannot. */
  socket: string | PlugboardError;
  spans?: Spans;
  onClose: () => Promise<void>;
}

export class OpenEndpoint implements SessionEndpoint {
  readonly path: string;
  readonly #options: OpenEndpointOptions;
  readonly #connected = deferred();
  /** Resolves when it serves a board, or is closed. */
  readonly #settled = deferred();
  readonly #ending = new AbortController();
  readonly #replies = new Set<ServerResponse>();
  readonly #programs = new Set<Promise<void>>();
  readonly #letGo = deferred();
  #isConnected = false;
  #isHeld = false;
  #state: EndpointState = { kind: "reserved" };
  #ended: Promise<void> | undefined;
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

  get isHeld(): boolean {
    return this.#isHeld;
  }

  get letGo(): Promise<void> {
    return this.#letGo.promise;
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
    const env = { ...program.env, [SESSION_SOCKET]: socket, [SESSION_TOKEN]: token };
    return {
      name: ENDPOINT_NAME,
      command: program.command,
      args: [...program.args, "serve", "--session", id],
      env: Object.entries(env).map(([name, value]) => ({ name, value })),
    };
  }

  isToken(given: string): boolean {
    return isSameSecret(given, this.#options.token);
  }

  serve(board: EndpointBoard, { about, caller = ENDPOINT_NAME }: ServeSessionOptions = {}): void {
    if (this.#state.kind !== "reserved") return;
    const { clock, logger, newId, random, spans, limits } = this.#options;
    const sealer = Sealer.withOwnKey(random);
    const endpoint = new Endpoint({
      board,
      sealer,
      newId,
      clock,
      logger,
      questions: "board",
      onlyPresent: true,
      about,
      spans,
    });
    const sessions = new Sessions({
      sealer,
      store: memorySessions(),
      newId,
      clock,
      idleMs: IDLE_MS,
      most: MOST_SESSIONS,
      onChange: (change) => {
        if (change === "begun") this.#isHeld = true;
      },
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
      const message =
        "too many requests of this session are being answered already; try again in a moment";
      return sendRefusal(reply, refusal(429, message, { "Retry-After": "5" }));
    }
    this.#replies.add(reply);
    reply.once("close", () => {
      this.#replies.delete(reply);
      if (request.method !== "DELETE" || !reply.writableFinished) return;
      this.#isHeld = false;
      this.#letGo.resolve();
    });
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
    const used = { endpoint, release: () => {} };
    await entry.handle(request, reply, {
      caller,
      agent: this.#options.id,
      endpointFor: () => used,
    });
  }

  /** For a session program that has shown the token. */
  async admit(): Promise<((socket: Socket) => void) | string> {
    const served = await this.#board();
    if (typeof served === "string") return served;
    return (socket) => {
      const serving = this.#serveSocket(socket, served);
      this.#programs.add(serving);
      void serving.finally(() => this.#programs.delete(serving));
    };
  }

  end(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  close(): Promise<void> {
    this.#closing ??= this.end().then(() => this.#options.onClose());
    return this.#closing;
  }

  async #serveSocket(socket: Socket, served: ServedBoard): Promise<void> {
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

  async #end(): Promise<void> {
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
    const { clock } = this.#options;
    const answered = [...this.#replies].map(
      (reply) => new Promise<void>((resolve) => reply.once("close", () => resolve())),
    );
    await within(clock, LAST_ANSWER_MS, Promise.all([...answered, ...this.#programs]));
    for (const reply of this.#replies) reply.destroy();
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
