// The gateway: an HTTP server that gives every MCP client the board of its agent. It knows the routes, and how to stop
// without losing a call; who may come in is access/, what is said on the wire is endpoint/.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import type { McpEntry } from "../../endpoint/http/entry.ts";
import type { Owner, Sessions } from "../../endpoint/http/sessions.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { Logger } from "../../model/logger.ts";
import { type Clock, pause, within } from "../../util/clock.ts";
import { deferred } from "../../util/deferred.ts";
import { hasErrorCode } from "../../util/error-code.ts";
import { duration, oneLine, plural } from "../../util/text.ts";
import type { GatewayAgents, Visitor } from "./agents.ts";

/** How long calls may still take once the gateway is told to stop. */
const DRAIN_MS = 10_000;
/** How long a connection stays open on which a client may just be sending its next request. */
const LAST_REQUEST_MS = 1000;
/** How long a client may take to read its last answer. */
const LAST_ANSWER_MS = 500;
/** How long a request may take to arrive. */
const HEADERS_MS = 20_000;
const REQUEST_MS = 120_000;
/** Longer than the load balancers in front of us, so that it is they who close an idle connection. */
const KEEP_ALIVE_MS = 75_000;

const NOTHING_HERE = "nothing is here; MCP clients use /mcp, or /agents/<id>/mcp for another agent";

/**
 * Many clients take a token that is refused for a reason to sign in, and look for it here. Their users see only what
 * comes of that, so it says what is wrong.
 */
const SIGN_IN_PATHS: ReadonlySet<string> = new Set(["/register", "/authorize", "/token"]);
const NO_SIGN_IN =
  "this gateway has no sign-in of its own: the client sends no token, or one that is not valid. " +
  "Make one with: plugboard tokens add <name>, and give it to the client as the header Authorization: Bearer <token>";

const NEVER = new AbortController().signal;

/** Answers one path. */
export type Route = (request: IncomingMessage, reply: ServerResponse) => void | Promise<void>;

export interface GatewayOptions {
  host: string;
  port: number;
  tls?: { cert: string; key: string };
  maxHeaderBytes: number;
  maxConnections: number;
  entry: McpEntry;
  sessions: Sessions;
  agents: Pick<GatewayAgents, "find">;
  defaultAgent: string;
  /**
   * Decides whether a request may come in, before anything else is done with it. Undefined if it has answered the
   * request itself.
   */
  admit: (
    request: IncomingMessage,
    reply: ServerResponse,
    agent?: string,
  ) => Visitor | undefined | Promise<Visitor | undefined>;
  /** Checks that hold for every route, `/healthz` included. False if it has answered the request itself. */
  isWelcome: (request: IncomingMessage, reply: ServerResponse) => boolean;
  /** Further routes by path. They are admitted like calls. */
  routes?: ReadonlyMap<string, Route>;
  /** Routes that anybody may ask for, by path or by the start of one that ends in `/`. */
  openRoutes?: ReadonlyMap<string, Route>;
  /** Hears how requests were answered, and of those that came to nothing. */
  watcher?: GatewayWatcher;
  clock: Clock;
  logger: Logger;
}

interface GatewayWatcher {
  answered(route: RouteKind, status: number): void;
  turnedAway(kind: "malformed" | "connections"): void;
}

/** What a request asked for, roughly. */
type RouteKind = "mcp" | "health" | "seeing" | "open" | "none";

type GatewayState =
  | { kind: "serving" }
  /** No new connections. A request on an old one is answered, and is the last one there. */
  | { kind: "draining" };

export class Gateway {
  readonly #options: GatewayOptions;
  readonly #server: Server;
  readonly #idle = deferred();
  #state: GatewayState = { kind: "serving" };
  #inFlight = 0;
  readonly #sockets = new Set<Socket>();
  /** Of connections that are closed. */
  readonly #bytes = { in: 0, out: 0 };

  constructor(options: GatewayOptions) {
    this.#options = options;
    const { tls, maxHeaderBytes, maxConnections } = options;
    const settings = {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: true,
    };
    const listener = (request: IncomingMessage, reply: ServerResponse): void =>
      void this.#answer(request, reply);
    this.#server =
      tls === undefined
        ? createServer(settings, listener)
        : createTlsServer({ ...settings, ...tls }, listener);
    this.#server.maxConnections = maxConnections;
    this.#server.on("drop", () => options.watcher?.turnedAway("connections"));
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => {
        this.#sockets.delete(socket);
        this.#bytes.in += socket.bytesRead;
        this.#bytes.out += socket.bytesWritten;
      });
    });
    // Bytes that are not HTTP, or a client that hangs up in the middle of a request.
    this.#server.on("clientError", (_error, socket) => {
      options.watcher?.turnedAway("malformed");
      if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    });
  }

  /** Requests that are being answered. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Open connections, and the bytes of all connections until now. */
  get traffic(): { connections: number; bytesIn: number; bytesOut: number } {
    let { in: bytesIn, out: bytesOut } = this.#bytes;
    for (const { bytesRead, bytesWritten } of this.#sockets) {
      bytesIn += bytesRead;
      bytesOut += bytesWritten;
    }
    return { connections: this.#sockets.size, bytesIn, bytesOut };
  }

  /** Resolves to the address. Rejects with a PlugboardError if it cannot be had. */
  async listen(): Promise<AddressInfo> {
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (error) => reject(listenError(error, host, port)));
      this.#server.listen(port, host, resolve);
    });
    return this.#server.address() as AddressInfo;
  }

  get isReady(): boolean {
    return this.#state.kind === "serving";
  }

  /** Stops taking requests, lets calls in flight finish, and closes every connection. */
  async close(): Promise<void> {
    const { clock, sessions, logger } = this.#options;
    this.#state = { kind: "draining" };
    // Not the HTTP server's own `close`: it would cut connections on which a request is just arriving.
    const closed = new Promise((resolve) => NetServer.prototype.close.call(this.#server, resolve));
    sessions.closeStreams();
    await pause(clock, LAST_REQUEST_MS, NEVER);
    this.#server.closeIdleConnections();
    if (this.#inFlight > 0) {
      const most = duration(DRAIN_MS - LAST_REQUEST_MS);
      logger.warn(`stopping: waits up to ${most} for ${plural(this.#inFlight, "call")} in flight`);
      await within(clock, DRAIN_MS - LAST_REQUEST_MS, this.#idle.promise);
    }
    if (this.#inFlight > 0) {
      logger.warn(
        `${plural(this.#inFlight, "call")} did not end in time and may have taken effect`,
      );
    }
    sessions.close();
    // What was answered last may still be on its way.
    await new Promise((resolve) => setImmediate(resolve));
    this.#server.closeIdleConnections();
    const gone = closed.then(() => true);
    if ((await within(clock, LAST_ANSWER_MS, gone)) === undefined)
      this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    this.#inFlight += 1;
    // The socket may break at any time; whoever waits on it hears "close".
    reply.on("error", () => {});
    const path = pathOf(request);
    const kind = this.#kindOf(path);
    if (!this.isReady) reply.setHeader("Connection", "close");
    try {
      await this.#route(kind, path, request, reply);
    } catch (error) {
      this.#options.logger.error("a request failed", { reason: String(error) });
      if (!reply.headersSent) reply.writeHead(500).end();
      else reply.destroy();
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0 && !this.isReady) this.#idle.resolve();
      this.#options.watcher?.answered(kind, reply.statusCode);
    }
  }

  #kindOf(path: string): RouteKind {
    if (path === "/mcp" || agentIn(path) !== undefined) return "mcp";
    if (path === "/healthz" || path === "/readyz") return "health";
    const { routes, openRoutes } = this.#options;
    if (openRoutes && findRoute(openRoutes, path)) return "open";
    return routes && findRoute(routes, path) ? "seeing" : "none";
  }

  async #route(
    kind: RouteKind,
    path: string,
    request: IncomingMessage,
    reply: ServerResponse,
  ): Promise<void> {
    const { isWelcome, routes, openRoutes, defaultAgent } = this.#options;
    if (!isWelcome(request, reply)) return;
    if (path === "/healthz") return plain(reply, 200, "ok");
    if (path === "/readyz") {
      return this.isReady ? plain(reply, 200, "ready") : plain(reply, 503, "stopping");
    }
    const open = openRoutes && findRoute(openRoutes, path);
    if (open !== undefined) return open(request, reply);
    const agent = path === "/mcp" ? defaultAgent : agentIn(path);
    if (agent !== undefined) return this.#serveAgent(agent, request, reply);
    const route = routes && findRoute(routes, path);
    if (route === undefined) {
      return SIGN_IN_PATHS.has(path) ? noSignIn(reply) : plain(reply, 404, NOTHING_HERE);
    }
    if ((await this.#options.admit(request, reply)) !== undefined) await route(request, reply);
  }

  async #serveAgent(id: string, request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { admit, agents, entry } = this.#options;
    const admitted = admit(request, reply, id);
    // A known token is admitted at once, and the call does not wait for it.
    const visitor = admitted instanceof Promise ? await admitted : admitted;
    if (visitor === undefined) return;
    const found = agents.find(id);
    const agent = found instanceof Promise ? await found : found;
    if (agent === undefined) return plain(reply, 404, noAgent(id));
    const endpointFor: Owner["endpointFor"] = (session) => agent.endpointFor(visitor, session);
    await entry.handle(request, reply, { caller: visitor.caller, agent: id, endpointFor });
  }
}

export function pathOf({ url = "/" }: IncomingMessage): string {
  const end = url.indexOf("?");
  return end === -1 ? url : url.slice(0, end);
}

/** `/agents/research/mcp` */
function agentIn(path: string): string | undefined {
  const [, id] = /^\/agents\/([^/]+)\/mcp$/.exec(path) ?? [];
  try {
    return id === undefined ? undefined : decodeURIComponent(id);
  } catch {
    return undefined;
  }
}

function noAgent(id: string): string {
  return `there is no agent '${oneLine(id, 100)}' here; check the id in the address, or use /mcp`;
}

function findRoute(routes: ReadonlyMap<string, Route>, path: string): Route | undefined {
  const exact = routes.get(path);
  if (exact !== undefined) return exact;
  for (const [start, route] of routes)
    if (start.endsWith("/") && path.startsWith(start)) return route;
  return undefined;
}

function plain(reply: ServerResponse, status: number, text: string): void {
  reply.writeHead(status, { "Content-Type": "text/plain" }).end(`${text}\n`);
}

/** In the form of an OAuth error, which is what such a client reads. */
function noSignIn(reply: ServerResponse): void {
  const body = { error: "access_denied", error_description: NO_SIGN_IN };
  reply.writeHead(404, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

function listenError(error: unknown, host: string, port: number): PlugboardError {
  const where = `${host}:${port}`;
  if (hasErrorCode(error, "EADDRINUSE")) {
    return new PlugboardError("SYSTEM_ERROR", `the address ${where} is in use`, {
      cause: error,
      hint: "another program has the port; stop it, or choose another port: plugboard up --port <port>",
    });
  }
  if (hasErrorCode(error, "EACCES")) {
    return new PlugboardError("SYSTEM_ERROR", `you may not listen on ${where}`, {
      cause: error,
      hint: "ports below 1024 need special rights: plugboard up --port <port>",
    });
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new PlugboardError("SYSTEM_ERROR", `cannot listen on ${where}: ${reason}`, {
    cause: error,
    hint: "check gateway.host in the configuration, or --host",
  });
}
