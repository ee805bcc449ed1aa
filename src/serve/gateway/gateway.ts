// The gateway: an HTTP server that gives every MCP client the board of its agent. It has the routes, and stops
// without losing a call. access/ decides who may use it; endpoint/ speaks MCP.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import type { McpEntry } from "../endpoint/http/entry.ts";
import { oneAtATime } from "../endpoint/http/one-at-a-time.ts";
import { type Busy, type Refusal, sendRefusal } from "../endpoint/http/refusal.ts";
import { pathOf } from "../endpoint/http/request-source.ts";
import type { Sender, Sessions } from "../endpoint/http/sessions.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { Logger } from "../../core/types/logger.ts";
import { type Clock, type Timer, within } from "../../util/clock.ts";
import { deferred } from "../../util/deferred.ts";
import { hasErrorCode } from "../../util/error-code.ts";
import { errorMessage } from "../../util/error-message.ts";
import { type Listed, PassingList } from "../../util/passing-list.ts";
import { duration, oneLine, plural } from "../../util/text.ts";
import { Shares, type Shortage } from "../../util/shares.ts";
import type { AdmittedCaller } from "./access/admission.ts";
import type { GatewayAgents, ServedAgent } from "./agents.ts";
import { Connections, MOST_STRANGERS } from "./connections.ts";

/** How long calls may still take once the gateway is told to stop. */
export const DRAIN_MS = 30_000;
/**
 * How long connections stay open on which clients may just be sending their next request. Behind a load balancer, each request
 * that still comes says that it has more such connections, so they get as long again. Without a connection, nothing waits.
 */
export const LAST_REQUEST_MS = 1000;
const MOST_LAST_REQUESTS = 10;
/** How long a client may take to read its last answer. */
const LAST_ANSWER_MS = 500;
/** How long a request may take to arrive. */
const HEADERS_MS = 20_000;
const REQUEST_MS = 120_000;
/** Longer than the load balancers in front of us, so that it is they who close an idle connection. */
const KEEP_ALIVE_MS = 75_000;
/** How often the gateway looks whether those for whom something is open may still have it. */
const LOOK_MS = 1000;
/** How long a client may take to read an answer that is complete. */
const READ_MS = 300_000;
/** Bytes of answers that have waited for a second: of one caller, and of all of them. */
const MOST_UNREAD = { each: 64 * 1024 * 1024, all: 256 * 1024 * 1024 };

const NOTHING_HERE =
  "nothing is here; people use /ui/, MCP clients /mcp, or /agents/<id>/mcp for another agent";

/**
 * When their token is refused, many clients try to sign in at these paths. Their users see only the answer to that, so it
 * says what is wrong.
 */
const SIGN_IN_PATHS: ReadonlySet<string> = new Set(["/register", "/authorize", "/token"]);
const NO_SIGN_IN =
  "this gateway has no sign-in of its own: the client sends no token, or one that is not valid. " +
  "Make one with: plugboard tokens add <name>, and give it to the client as the header Authorization: Bearer <token>";

function ignore(): void {}

/** Answers one path. */
export type Route = (request: IncomingMessage, reply: ServerResponse) => void | Promise<void>;

/** Answers one path for those who were let in. */
export type AdmittedRoute = (
  ...args: [...Parameters<Route>, admitted: AdmittedCaller]
) => void | Promise<void>;

export interface GatewayOptions {
  host: string;
  port: number;
  tls?: { cert: string; key: string };
  maxHeaderBytes: number;
  /** Connections of callers, and requests that are being answered. One caller has a quarter of them. */
  maxConnections: number;
  behindProxy?: boolean;
  entry: McpEntry;
  sessions: Sessions;
  agents: Pick<GatewayAgents, "find">;
  defaultAgent: string;
  /** Whether the gateway serves without a part that it should have, such as an engine. */
  isDegraded?: () => boolean;
  /** Why it should get no requests although it answers them, if so. */
  unreadyFor?: () => string | undefined;
  /** Hash of what it runs with, for whoever compares gateways. */
  configuration?: () => string | undefined;
  /**
   * Decides whether a request may come in, before anything else is done with it. Undefined if it has answered the
   * request itself.
   */
  admit: (
    request: IncomingMessage,
    reply: ServerResponse,
    agent?: string,
  ) => AdmittedCaller | undefined | Promise<AdmittedCaller | undefined>;
  /** The gateways on other machines that share its state. */
  replicas?: OtherGateways | undefined;
  /** Whether a caller is no longer let in like this: whatever is still open for it ends within a second. */
  isGone?: (caller: string, admitted: Pick<AdmittedCaller, "policy" | "signedIn">) => boolean;
  /** Checks that hold for every route, `/healthz` included. False if it has answered the request itself. */
  checkSource: (request: IncomingMessage, reply: ServerResponse) => boolean;
  /** Further routes by path. They are admitted like calls. */
  routes?: ReadonlyMap<string, AdmittedRoute>;
  /** Routes that anybody may ask for, by path or by the start of one that ends in `/`. */
  openRoutes?: ReadonlyMap<string, Route>;
  /** For people: `/`, and everything under `/ui/`. */
  page?: GatewayPage;
  /** Is told how requests were answered, and which connections were refused. */
  watcher?: GatewayWatcher;
  clock: Clock;
  logger: Logger;
}

export interface OtherGateways {
  /** Who a request is for that another gateway has forwarded. Undefined for what a client sent itself. */
  forwardedIn(
    request: IncomingMessage,
    agent: string | undefined,
  ): ForwardedCaller | Refusal | undefined;
  /** Ends the streams that come from there. */
  closeStreams(): void;
}

interface ForwardedCaller {
  isAdmitted: true;
  forwarded: NonNullable<Sender["forwarded"]>;
  admitted: AdmittedCaller;
}

export interface GatewayPage {
  /** Refused is what is not from the gateway that it says it is from. */
  admit(request: IncomingMessage): PageRequest | Refusal;
}

interface PageRequest {
  isAdmitted: true;
  /** Another gateway has checked where it comes from and who asks, and forwarded it. */
  isForwarded: boolean;
  /** Somebody who is signed in. Others are answered too: that is how they sign in. */
  visitor: AdmittedCaller | undefined;
  answer(path: string, reply: ServerResponse): Promise<void>;
}

interface GatewayWatcher {
  answered(route: RouteKind, status: number): void;
  refusedConnection(kind: "malformed" | "connections"): void;
}

/** The kinds of routes, as they are counted. */
type RouteKind = "mcp" | "health" | "monitoring" | "open" | "page" | "none";

type GatewayState =
  | { kind: "serving" }
  /** `/readyz` says no, and everything is served as before: whoever balances load has time to notice. */
  | { kind: "leaving" }
  /** No new connections. A request on an old one is answered, and is the last one there. */
  | { kind: "draining" };

/** A request of somebody who was let in, until its answer has been read. */
interface OpenRequest extends Listed {
  reply: ServerResponse;
  admitted: AdmittedCaller;
  /** It has no answer, but goes on until somebody ends it. */
  isStream: boolean;
  /** When the answer was complete, as far as that has been noticed. */
  completeAt: number | undefined;
  /** Bytes that waited to be read when that was last looked at. */
  unread: number;
}

export class Gateway {
  readonly #options: GatewayOptions;
  readonly #server: Server;
  readonly #tlsServer: TlsServer | undefined;
  readonly #idle = deferred();
  #state: GatewayState = { kind: "serving" };
  #inFlight = 0;
  /** How many have come in all. */
  #requests = 0;
  readonly #connections: Connections;
  /** The requests that are being answered, by the caller. */
  readonly #requestShares: Shares;
  readonly #open = new PassingList<OpenRequest>();
  #looker: Timer | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    const { tls, maxHeaderBytes, maxConnections, behindProxy = false, clock } = options;
    const connections = new Connections({ most: maxConnections, behindProxy });
    this.#connections = connections;
    this.#requestShares = new Shares(maxConnections);
    const settings = {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: true,
    };
    const listener = oneAtATime((request, reply) => void this.#answer(request, reply));
    this.#tlsServer = tls && createTlsServer({ ...settings, ...tls }, listener);
    this.#server = this.#tlsServer ?? createServer(settings, listener);
    this.#server.maxConnections = maxConnections + MOST_STRANGERS;
    this.#server.on("drop", () => options.watcher?.refusedConnection("connections"));
    this.#server.on("connection", (socket: Socket) =>
      connections.accepted(socket, clock.monotonic()),
    );
    this.#server.on("secureConnection", (socket: Socket) => connections.secured(socket));
    // Bytes that are not HTTP, or a client that hangs up in the middle of a request.
    this.#server.on("clientError", (error, socket) => {
      // Somebody who hangs up, as clients behind a proxy do when they end a stream, has sent nothing wrong.
      if (hasErrorCode(error, "ECONNRESET")) return socket.destroy();
      options.watcher?.refusedConnection("malformed");
      // Somebody who never hangs up would otherwise keep the connection, and with enough of them everybody else out.
      const hangUp = (): unknown => socket.destroy();
      if (!socket.writable) return hangUp();
      return socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", hangUp);
    });
  }

  /** Requests that are being answered. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Open connections, and the bytes of all connections until now. */
  get traffic(): Connections["traffic"] {
    return this.#connections.traffic;
  }

  /** Resolves to the address. Rejects with a PlugboardError if it cannot listen there. */
  async listen(): Promise<AddressInfo> {
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (error) => reject(listenError(error, host, port)));
      this.#server.listen(port, host, resolve);
    });
    this.#lookLater();
    return this.#server.address() as AddressInfo;
  }

  /** New connections are shown this one. */
  useCertificate(tls: { cert: string; key: string }): void {
    this.#tlsServer?.setSecureContext(tls);
  }

  get isReady(): boolean {
    return this.#state.kind === "serving";
  }

  /** Says that it is not ready any more. Requests are answered as before, each the last one on its connection. */
  leave(): void {
    if (this.#state.kind === "serving") this.#state = { kind: "leaving" };
  }

  /** Stops taking requests, lets calls in flight finish, and closes every connection. */
  async close(): Promise<void> {
    const { clock, sessions, logger } = this.#options;
    this.#state = { kind: "draining" };
    // Not the HTTP server's own `close`: it would cut connections on which a request is just arriving.
    const closed = new Promise((resolve) => NetServer.prototype.close.call(this.#server, resolve));
    sessions.closeStreams();
    this.#options.replicas?.closeStreams();
    const rest = DRAIN_MS - (await this.#lastRequests(closed));
    this.#server.closeIdleConnections();
    if (this.#inFlight > 0) {
      const most = duration(rest);
      logger.warn(`stopping: waits up to ${most} for ${plural(this.#inFlight, "call")} in flight`);
      await within(clock, rest, this.#idle.promise);
    }
    if (this.#inFlight > 0) {
      logger.warn(
        `${plural(this.#inFlight, "call")} did not end in time and may have taken effect`,
      );
    }
    sessions.close();
    // The last answers may still be on their way.
    await new Promise((resolve) => setImmediate(resolve));
    this.#server.closeIdleConnections();
    const gone = closed.then(() => true);
    if ((await within(clock, LAST_ANSWER_MS, gone)) === undefined)
      this.#server.closeAllConnections();
    await closed;
    this.#looker?.cancel();
  }

  /** Resolves when no request has come for a while, to how long that took. */
  async #lastRequests(closed: Promise<unknown>): Promise<number> {
    const isClosed = closed.then(() => true);
    const { replicas, behindProxy } = this.#options;
    const most = replicas !== undefined || behindProxy ? MOST_LAST_REQUESTS : 1;
    let seen = NaN;
    let waits = 0;
    for (; waits < most && seen !== this.#requests; waits += 1) {
      seen = this.#requests;
      if (await within(this.#options.clock, LAST_REQUEST_MS, isClosed)) break;
    }
    return waits * LAST_REQUEST_MS;
  }

  #lookLater(): void {
    this.#looker = this.#options.clock.later(LOOK_MS, () => {
      for (const request of this.#open) if (this.#isOver(request)) request.reply.destroy();
      this.#cutUnread();
      this.#connections.sweep(this.#options.clock.monotonic());
      this.#lookLater();
    });
  }

  /** Answers that nobody reads must not fill the memory: of a caller who has too many, the least read ones are cut off. */
  #cutUnread(): void {
    const byCaller = new Map<string, { reply: ServerResponse; waited: number }[]>();
    for (const request of this.#open) {
      const { reply, admitted, unread: before } = request;
      request.unread = reply.writableLength;
      const waited = Math.min(before, request.unread);
      if (waited === 0) continue;
      const own = byCaller.get(admitted.caller.id) ?? [];
      own.push({ reply, waited });
      byCaller.set(admitted.caller.id, own);
    }
    const most = Math.min(MOST_UNREAD.each, MOST_UNREAD.all / byCaller.size);
    for (const own of byCaller.values()) {
      let unread = own.reduce((sum, { waited }) => sum + waited, 0);
      // One alone may be as large as a server's answer may be.
      for (const { reply, waited } of own.toSorted((a, b) => b.waited - a.waited).slice(0, -1)) {
        if (unread <= most) break;
        unread -= waited;
        reply.destroy();
      }
    }
  }

  /** A token is checked when a request comes in, and a stream may stay open for days after that. */
  #isOver(request: OpenRequest): boolean {
    const { clock, isGone } = this.#options;
    const { reply } = request;
    const { caller, expiresAt = Infinity } = request.admitted;
    if (isGone?.(caller.id, request.admitted)) return true;
    // A call that was made in time may end.
    if (request.isStream && expiresAt <= clock.now()) return true;
    if (!reply.writableEnded) return false;
    request.completeAt ??= clock.monotonic();
    return clock.monotonic() - request.completeAt > READ_MS;
  }

  /** False if there are too many for the caller's connection; then the request has been answered. */
  #opened(
    request: IncomingMessage,
    reply: ServerResponse,
    admitted: AdmittedCaller,
    isForwarded = false,
  ): boolean {
    const { socket } = request;
    // It went away while its token was checked, and will not say so again.
    if (socket.destroyed || reply.destroyed) return false;
    if (!this.#connections.isKnown(socket)) {
      const shortage = this.#connections.admit(
        socket,
        isForwarded ? undefined : admitted.caller.id,
      );
      if (shortage !== undefined) {
        this.#tooMany(reply, shortage, "connections");
        return false;
      }
      reply.shouldKeepAlive = this.isReady && wantsMore(request);
    }
    const isStream =
      request.method === "GET" || request.headers["mcp-method"] === "subscriptions/listen";
    const open: OpenRequest = {
      reply,
      admitted,
      isStream,
      completeAt: undefined,
      unread: 0,
      at: 0,
    };
    this.#open.add(open);
    reply.once("close", () => this.#open.remove(open));
    return true;
  }

  async #answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    this.#inFlight += 1;
    this.#requests += 1;
    // The socket may break at any time; whoever waits on it hears "close".
    reply.on("error", ignore);
    const path = pathOf(request);
    const kind = this.#kindOf(path);
    if (!this.isReady) reply.setHeader("Connection", "close");
    // A client without a token gets one answer on a connection.
    else if (!this.#connections.isKnown(request.socket)) reply.shouldKeepAlive = false;
    try {
      const answering = this.#route(path, request, reply);
      if (answering !== undefined) await answering;
    } catch (error) {
      this.#options.logger.error("a request failed", { reason: String(error) });
      if (!reply.headersSent) reply.writeHead(500).end();
      else reply.destroy();
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0 && this.#state.kind === "draining") this.#idle.resolve();
      this.#options.watcher?.answered(kind, reply.statusCode);
    }
  }

  #kindOf(path: string): RouteKind {
    if (path === "/mcp" || agentIn(path) !== undefined) return "mcp";
    if (path === "/healthz" || path === "/readyz") return "health";
    if (isOfPage(path)) return "page";
    const { routes, openRoutes } = this.#options;
    if (openRoutes && findRoute(openRoutes, path)) return "open";
    return routes && findRoute(routes, path) ? "monitoring" : "none";
  }

  /** Not async, nor what it calls: a call passes here, and would wait for every promise in between. */
  #route(path: string, request: IncomingMessage, reply: ServerResponse): void | Promise<void> {
    const { checkSource, routes, openRoutes, defaultAgent, page } = this.#options;
    if (!checkSource(request, reply)) return;
    if (path === "/healthz") return plain(reply, 200, "ok");
    if (path === "/readyz") {
      if (!this.isReady) return plain(reply, 503, "stopping");
      const why = this.#options.unreadyFor?.();
      if (why !== undefined) return plain(reply, 503, why);
      // An engine that is away is most likely away for all gateways. If none of them were ready, nobody would be served.
      const isDegraded = this.#options.isDegraded?.() === true;
      const configuration = this.#options.configuration?.();
      const lines = [
        isDegraded ? "ready, degraded" : "ready",
        ...(configuration === undefined ? [] : [`configuration ${configuration}`]),
      ];
      return plain(reply, 200, lines.join("\n"));
    }
    const agent = path === "/mcp" ? defaultAgent : agentIn(path);
    if (agent !== undefined) return this.#serveAgent(agent, request, reply);
    if (page !== undefined && isOfPage(path)) return this.#servePage(page, path, request, reply);
    const open = openRoutes && findRoute(openRoutes, path);
    if (open !== undefined) return open(request, reply);
    const route = routes && findRoute(routes, path);
    if (route === undefined) {
      return SIGN_IN_PATHS.has(path) ? noSignIn(reply) : plain(reply, 404, NOTHING_HERE);
    }
    return this.#serveRoute(route, request, reply);
  }

  async #servePage(
    page: GatewayPage,
    path: string,
    request: IncomingMessage,
    reply: ServerResponse,
  ): Promise<void> {
    const asked = page.admit(request);
    if (!asked.isAdmitted) return sendRefusal(reply, asked);
    const { visitor, isForwarded } = asked;
    if (visitor !== undefined && !this.#opened(request, reply, visitor, isForwarded)) return;
    await asked.answer(path, reply);
  }

  async #serveRoute(
    route: AdmittedRoute,
    request: IncomingMessage,
    reply: ServerResponse,
  ): Promise<void> {
    const { admit, replicas } = this.#options;
    // A command on another machine signs what it asks as a gateway does. Nobody reads a body here.
    const signed = replicas?.forwardedIn(request, undefined);
    if (signed?.isAdmitted === false) return sendRefusal(reply, signed);
    const admitted = signed?.admitted ?? (await admit(request, reply));
    if (admitted === undefined) return;
    if (!this.#opened(request, reply, admitted, signed !== undefined)) return;
    await route(request, reply, admitted);
  }

  #tooMany(reply: ServerResponse, shortage: Shortage, of: "connections" | "requests"): void {
    const { status, message } = this.#busy(shortage, of);
    reply.setHeader("Retry-After", "5");
    plain(reply, status, message);
  }

  #busy(shortage: Shortage, of: "connections" | "requests"): Busy {
    const { each, most } = of === "requests" ? this.#requestShares : this.#connections;
    this.#options.watcher?.refusedConnection("connections");
    const taken = of === "requests" ? "requests that are being answered" : of;
    const isOwn = shortage === "own";
    const what = isOwn
      ? `this caller would have more than ${each} ${taken}, a quarter of gateway.limits.connections`
      : `the gateway would have more than ${most} ${taken} (gateway.limits.connections)`;
    return { status: isOwn ? 429 : 503, message: `${what}; wait for some of them to end` };
  }

  #serveAgent(id: string, request: IncomingMessage, reply: ServerResponse): void | Promise<void> {
    const { admit, agents, entry, replicas } = this.#options;
    const fromReplica = replicas?.forwardedIn(request, id);
    if (fromReplica?.isAdmitted === false) return sendRefusal(reply, fromReplica);
    const { forwarded } = fromReplica ?? {};
    const serve = async (
      admitted: AdmittedCaller,
      agent: ServedAgent | undefined,
    ): Promise<void> => {
      if (agent === undefined) return plain(reply, 404, noAgent(id));
      const { caller, policy, expiresAt, signedIn, countMore, countBytes } = admitted;
      // Not as many as there are connections: a call goes on without its connection.
      const shares = this.#requestShares;
      const shortage = shares.take(caller.id);
      if (shortage !== undefined) return this.#tooMany(reply, shortage, "requests");
      let held = 1;
      const holdMore: Sender["holdMore"] = (requests) => {
        const lack = shares.take(caller.id, requests);
        if (lack !== undefined) return this.#busy(lack, "requests");
        held += requests;
        return undefined;
      };
      const endpointFor: Sender["endpointFor"] = (session) => agent.endpointFor(admitted, session);
      const jwt = agent.present(admitted);
      try {
        const counting = { countMore, countBytes, holdMore };
        const terms = { policy, expiresAt, signedIn, jwt };
        const sender = { caller, agent: id, ...terms, endpointFor, ...counting };
        await entry.handle(request, reply, forwarded ? { ...sender, forwarded } : sender);
      } finally {
        const giveBack = (): void => shares.giveBack(caller.id, held);
        // A stream of changes goes on, and takes its place until it ends: behind a proxy, nothing else counts it.
        if (reply.writableEnded || reply.closed) giveBack();
        else reply.once("close", giveBack);
      }
    };
    const find = (admitted: AdmittedCaller | undefined): void | Promise<void> => {
      const isForwarded = forwarded !== undefined;
      if (admitted === undefined || !this.#opened(request, reply, admitted, isForwarded))
        return undefined;
      const found = agents.find(id);
      return found instanceof Promise
        ? found.then((agent) => serve(admitted, agent))
        : serve(admitted, found);
    };
    const admission = fromReplica?.admitted ?? admit(request, reply, id);
    return admission instanceof Promise ? admission.then(find) : find(admission);
  }
}

function isOfPage(path: string): boolean {
  return path === "/" || path === "/ui" || path.startsWith("/ui/");
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

function findRoute<Found>(routes: ReadonlyMap<string, Found>, path: string): Found | undefined {
  const exact = routes.get(path);
  if (exact !== undefined) return exact;
  for (const [start, route] of routes)
    if (start.endsWith("/") && path.startsWith(start)) return route;
  return undefined;
}

function plain(reply: ServerResponse, status: number, text: string): void {
  reply.writeHead(status, { "Content-Type": "text/plain" }).end(`${text}\n`);
}

/** Whether the client may send another request on the same connection. */
function wantsMore({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion !== "1.0" && headers.connection?.toLowerCase() !== "close";
}

/** In the form of an OAuth error, which is what such a client reads. */
function noSignIn(reply: ServerResponse): void {
  const body = { error: "access_denied", error_description: NO_SIGN_IN };
  reply.writeHead(404, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

export function listenError(error: unknown, host: string, port: number): PlugboardError {
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
  return new PlugboardError("SYSTEM_ERROR", `cannot listen on ${where}: ${errorMessage(error)}`, {
    cause: error,
    hint: "check gateway.host in the configuration, or --host",
  });
}
