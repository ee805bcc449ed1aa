// MCP over HTTP at one path: the POSTs of both eras, and the stream and the end of a legacy session. Who calls is
// already known here. This is an entry of our own because the SDK's costs three times the CPU of everything else, and
// cannot go on with a session that it did not begin.

import { isAscii } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isJsonObject, type JsonObject } from "../../../core/types/json.ts";
import { jsonOfAnyDepth } from "../../../util/canonical-json.ts";
import { HeldBytes } from "../../../util/held-bytes.ts";
import { REFUSED_DEPTH } from "../../../util/json-depth.ts";
import { type JsonMeasure, JsonMeter } from "../../../util/measure-json.ts";
import type { Shares, Shortage } from "../../../util/shares.ts";
import { byteSize, oneLine } from "../../../util/text.ts";
import { Turns } from "../../../util/turns.ts";
import type { Caller } from "../../../core/types/caller.ts";
import { Client, type ClientProfile } from "../client.ts";
import type { Endpoint } from "../endpoint.ts";
import {
  type Answer,
  invalidParams,
  type Incoming,
  readMessage,
  refuse,
  response,
  RPC,
  type RpcRequest,
} from "../message.ts";
import { clientInfoIn, readProfile } from "../methods/lifecycle.ts";
import {
  claimsModern,
  isLegacyVersion,
  isModernVersion,
  LEGACY_VERSIONS,
  META,
  metaOf,
  MODERN_VERSIONS,
} from "../protocol.ts";
import { traceInHeaders } from "../spans.ts";
import { bodyHash, type Elsewhere, type ReceivedRequest } from "./elsewhere.ts";
import { type Headers, Reply } from "./reply.ts";
import type { Sender, Session, SessionElsewhere, Sessions } from "./sessions.ts";
import { headerFault, paramHeaderFault } from "./standard-headers.ts";

const SESSION_HEADER = "Mcp-Session-Id";

export interface McpEntryOptions {
  sessions: Sessions;
  /** The other gateways that the same clients may reach. */
  elsewhere?: Elsewhere | undefined;
  maxBodyBytes: number;
  /** Values in one request: each takes far longer than a byte. Default 50 000. */
  maxBodyValues?: number;
  /** The bytes of larger requests that are being answered, by the caller. Default: as many as there are. */
  bodies?: Shares;
  /** Where the two limits are set, for those whose request is beyond one. Absent: nowhere. */
  limitsIn?: string;
  /** Called with every request, and with the name of the client if it gives one. */
  onRequest?: (sender: Sender, client: ClientProfile["info"], isInSession: boolean) => void;
}

/** For a client that has not said what it can do. */
const NO_PROFILE = { protocolVersion: "2025-03-26", capabilities: {} } as const;
const MOST_IN_BATCH = 100;
const MOST_VALUES = 50_000;
/** Around the arguments of a call are the request, in a batch perhaps, and its parameters. */
const MOST_DEPTH = REFUSED_DEPTH + 4;
/** A request of this size is neither measured nor counted: it costs little, whatever is in it. */
const SMALL = 4096;
/** One of so many bytes or values takes milliseconds, so it has turns of its own. */
const LARGE = { bytes: 256 * 1024, values: 5000 };
/** What a value costs, beside the bytes that it takes. */
const BYTES_PER_VALUE = 160;
/** Pieces of a body are counted so many at a time, so an ordinary body is not charged for its pieces. */
const FREE_PIECES = 1000;
/** What a piece costs, beside the bytes in it. */
const BYTES_PER_PIECE = 1024;

export class McpEntry {
  readonly #sessions: Sessions;
  readonly #elsewhere: Elsewhere | undefined;
  readonly #maxBodyBytes: number;
  readonly #most: { values: number; depth: number };
  readonly #bodies: Shares | undefined;
  readonly #turns = new Turns();
  readonly #limits: string | undefined;
  readonly #onRequest: McpEntryOptions["onRequest"];

  constructor(options: McpEntryOptions) {
    this.#sessions = options.sessions;
    this.#elsewhere = options.elsewhere;
    this.#maxBodyBytes = options.maxBodyBytes;
    this.#most = { values: options.maxBodyValues ?? MOST_VALUES, depth: MOST_DEPTH };
    this.#bodies = options.bodies;
    this.#limits = options.limitsIn;
    this.#onRequest = options.onRequest;
  }

  /** Answers one request. Rejects only because of a bug. */
  handle(request: IncomingMessage, reply: ServerResponse, sender: Sender): Promise<void> {
    switch (request.method) {
      case "POST":
        return this.#post(request, reply, sender);
      case "GET":
        return this.#openStream(request, reply, sender);
      case "DELETE":
        return this.#endSession(request, reply, sender);
      default:
        end(reply, 405, refuse(RPC.invalidRequest, "Method not allowed"), {
          Allow: "GET, POST, DELETE",
        });
        return Promise.resolve();
    }
  }

  async #post(request: IncomingMessage, reply: ServerResponse, sender: Sender): Promise<void> {
    if (!isJson(request.headers["content-type"])) {
      return end(reply, 415, refuse(RPC.invalidRequest, "Content-Type must be application/json"));
    }
    const accepted = accepts(request.headers.accept);
    if (!accepted.json && !accepted.stream) {
      const message = "Not Acceptable: accept application/json and text/event-stream";
      return end(reply, 406, refuse(RPC.invalidRequest, message));
    }
    const { caller } = sender;
    const held = { bytes: 0 };
    const hold = (bytes: number): BodyFault | undefined => {
      const shortage = this.#bodies?.take(caller.id, bytes);
      if (shortage === undefined) held.bytes += bytes;
      return shortage && crowded(shortage, this.#bodies?.each ?? 0);
    };
    try {
      // Before it is read: what is refused must cost next to nothing, or it would be worth sending.
      const announced = Number(request.headers["content-length"]);
      const isCounted = announced > SMALL && announced <= this.#maxBodyBytes;
      const count = (bytes: number): BodyFault | undefined => {
        const wait = sender.countBytes?.(bytes) ?? 0;
        return wait > 0 ? tooManyBytes(wait) : undefined;
      };
      const beforehand = isCounted ? count(announced) : undefined;
      if (beforehand !== undefined) return refuseBody(request, reply, beforehand);
      const tooLarge = (): BodyFault => tooLargeFor(this.#maxBodyBytes, this.#limits);
      const meter = new JsonMeter(this.#most);
      const countPieces = (pieces: number): BodyFault | undefined =>
        count(pieces * BYTES_PER_PIECE);
      const options = { hold, tooLarge, meter, countPieces };
      const read = await readBody(request, this.#maxBodyBytes, options);
      if (read === undefined) return;
      if (read.kind === "fault") return refuseBody(request, reply, read);
      const fault = this.#faultOf(read.bytes, meter, isCounted, count);
      if (fault !== undefined) return refuseBody(request, reply, fault);
      const { forwarded } = sender;
      if (forwarded !== undefined && forwarded.body !== bodyHash(read.chunks)) {
        return refuseBody(request, reply, OTHER_BODY);
      }
      const body = forwarded === undefined ? read.chunks : [];
      const post: Post = { request, reply, sender, canStream: accepted.stream, body };
      if (read.bytes <= LARGE.bytes && meter.values <= LARGE.values) {
        const parsed = parse(textOf(read));
        if (parsed.kind === "fault") return refuseBody(request, reply, parsed);
        return await this.#posted(parsed.value, post);
      }
      const text = await this.#turns.run(caller.id, () => textOf(read));
      const parsed = await this.#turns.run(caller.id, () => parse(text));
      if (parsed.kind === "fault") return refuseBody(request, reply, parsed);
      await this.#turns.run(caller.id, () => this.#posted(parsed.value, post));
    } finally {
      if (held.bytes > 0) this.#bodies?.giveBack(caller.id, held.bytes);
    }
  }

  /** A text that would take long to parse is refused or counted before it is. */
  #faultOf(
    bytes: number,
    { values, depth }: JsonMeasure,
    isCounted: boolean,
    count: (bytes: number) => BodyFault | undefined,
  ): BodyFault | undefined {
    if (bytes <= SMALL) return undefined;
    if (depth > this.#most.depth) return TOO_DEEP;
    if (values > this.#most.values) return tooManyValues(this.#most.values, this.#limits);
    return count((isCounted ? 0 : bytes) + values * BYTES_PER_VALUE);
  }

  /** Not async: a call passes here, and would wait for one more promise. */
  #posted(value: unknown, post: Post): void | Promise<void> {
    const { request, reply } = post;
    if (Array.isArray(value)) return this.#batch(value, post);
    const message = readMessage(value);
    if (message.kind === "invalid") {
      return end(reply, 400, { error: message.error }, {}, message.id);
    }
    const version = request.headers["mcp-protocol-version"];
    const isModern = isModernMessage(message, version);
    return isModern ? this.#modern(message, post) : this.#legacy(message, post);
  }

  // ---- 2026-07-28: every request stands for itself.

  async #modern(message: Exclude<Incoming, { kind: "invalid" }>, post: Post): Promise<void> {
    const { request, reply, sender } = post;
    if (message.kind === "response") {
      return end(
        reply,
        400,
        refuse(RPC.invalidRequest, "Invalid Request: nobody asked for this response"),
      );
    }
    if (message.kind === "notification") {
      // Cancelling is closing the connection, and there is no other notification.
      return void reply.writeHead(202).end();
    }
    const { request: asked } = message;
    const fault = modernFault(asked, request) ?? headerFault(asked, request.headers);
    if (fault !== undefined) return end(reply, 400, fault, {}, asked.id);
    const { requestState } = asked.params;
    if (requestState !== undefined && sender.forwarded === undefined) {
      const holder = this.#elsewhere?.holderOf(requestState);
      // If it is gone, the call is lost, and the client is told so here.
      if (holder !== undefined && (await this.#isAnsweredAt(holder, post))) return;
    }
    post.body = [];
    this.#onRequest?.(sender, clientInfoIn(asked), false);
    const used = sender.endpointFor();
    const { endpoint, release } = used instanceof Promise ? await used : used;
    // Its client has gone meanwhile, which cancels it: nothing is called.
    if (reply.closed) return release();
    const paramFault = paramFaultOf(asked, endpoint, request);
    if (paramFault !== undefined) {
      release();
      return end(reply, 400, paramFault, {}, asked.id);
    }
    // A client object for each request: ids of different requests may be the same.
    const client = new Client({
      era: "modern",
      caller: sender.caller,
      profile: NO_PROFILE,
      send: toNobody,
      canBeAsked: false,
    });
    const stream = new Reply(reply, { canStream: post.canStream });
    goneWith(reply, client);
    const trace = traceInHeaders(request.headers);
    const answer = await endpoint.answer(client, asked, (each) => stream.send(each), trace);
    stream.end(modernStatus(answer), response(asked.id, answer));
    release();
  }

  // ---- Up to 2025-11-25: a session, or none.

  async #legacy(message: Exclude<Incoming, { kind: "invalid" }>, post: Post): Promise<void> {
    const { request, reply, sender } = post;
    if (message.kind === "request" && message.request.method === "initialize") {
      return this.#initialize(message.request, post);
    }
    const fault = versionFault(request);
    if (fault !== undefined) return end(reply, 400, fault, {}, idOf(message));
    // A request without a session waits for nothing here.
    const finding = this.#findSession(request, sender);
    const found = finding instanceof Promise ? await finding : finding;
    if (found.kind === "unknown") return end(reply, 404, UNKNOWN_SESSION, {}, idOf(message));
    const here = this.#sessionHere(found, post, idOf(message));
    const session = here instanceof Promise ? await here : here;
    if (session === "answered") return undefined;
    if (message.kind === "response" && session !== undefined) {
      const asker = sender.forwarded ? undefined : this.#elsewhere?.askerOf(message.response.id);
      if (asker !== undefined && (await this.#isAnsweredAt(asker, post))) return;
    }
    this.#onRequest?.(sender, session?.client.profile.info, session !== undefined);
    const used = session ?? sender.endpointFor();
    const { endpoint, release } = used instanceof Promise ? await used : used;
    if (session === undefined && reply.closed) return release();
    const client = session?.client ?? sessionless(sender.caller, reply);
    if (message.kind !== "request") {
      if (message.kind === "response")
        client.answered(message.response.id, message.response.answer);
      else if (!endpoint.notified(client, message.notification) && session !== undefined) {
        // The request that it is about may be under way at any of them.
        if (sender.forwarded === undefined) this.#elsewhere?.tellAll(post);
      }
      if (session === undefined) release();
      return void reply.writeHead(202).end();
    }
    post.body = [];
    const { request: asked } = message;
    const stream = new Reply(reply, { canStream: post.canStream });
    const trace = traceInHeaders(request.headers);
    const answer = await endpoint.answer(client, asked, (each) => stream.send(each), trace);
    if (session !== undefined && NOTED.has(asked.method)) await this.#sessions.note(session);
    stream.end(200, response(asked.id, answer));
    if (session === undefined) release();
  }

  async #initialize(asked: RpcRequest, { reply, sender, canStream }: Post): Promise<void> {
    const profile = readProfile(asked.params);
    if (profile === undefined) {
      return end(reply, 200, invalidParams("protocolVersion is not a text"), {}, asked.id);
    }
    this.#onRequest?.(sender, profile.info, true);
    const { id, session } = await this.#sessions.begin(sender, profile);
    const stream = new Reply(reply, { canStream, headers: { [SESSION_HEADER]: id } });
    const { endpoint, client } = session;
    const answer = await endpoint.answer(client, asked, (each) => stream.send(each));
    stream.end(200, response(asked.id, answer));
  }

  /** Batches were a part of the protocol until 2025-03-26. */
  async #batch(values: readonly unknown[], post: Post): Promise<void> {
    const { request, reply, sender } = post;
    const messages = values.slice(0, MOST_IN_BATCH).map(readMessage);
    const isWrong =
      values.length === 0 ||
      values.length > MOST_IN_BATCH ||
      messages.some(
        (each) =>
          each.kind === "invalid" ||
          isModernMessage(each, undefined) ||
          (each.kind === "request" && each.request.method === "initialize"),
      );
    if (isWrong) {
      return end(reply, 400, refuse(RPC.invalidRequest, "Invalid Request: the batch is not valid"));
    }
    // Otherwise one request would have as many calls under way as a hundred have.
    const busy = sender.holdMore?.(messages.length - 1);
    if (busy !== undefined) {
      const message = `${busy.message}; a batch counts as many as it holds`;
      return end(reply, busy.status, refuse(RPC.invalidRequest, message), { "Retry-After": "5" });
    }
    const wait = (await sender.countMore?.(messages.length - 1)) ?? 0;
    if (wait > 0) {
      const seconds = Math.ceil(wait / 1000);
      const message = `too many requests: a batch counts as many as it holds; try again in ${seconds} s with fewer`;
      const headers = { "Retry-After": String(seconds) };
      return end(reply, 429, refuse(RPC.invalidRequest, message), headers);
    }
    const found = await this.#findSession(request, sender);
    if (found.kind === "unknown") return end(reply, 404, UNKNOWN_SESSION);
    const session = await this.#sessionHere(found, post);
    if (session === "answered") return undefined;
    this.#onRequest?.(sender, session?.client.profile.info, session !== undefined);
    const { endpoint, release } = session ?? (await sender.endpointFor());
    const client = session?.client ?? sessionless(sender.caller, reply);
    const trace = traceInHeaders(request.headers);
    const elsewhere = sender.forwarded === undefined ? this.#elsewhere : undefined;
    const take = (each: Incoming, at: number): Promise<JsonObject> | undefined => {
      const alone = { request, sender, body: [Buffer.from(JSON.stringify(values[at]))] };
      if (each.kind === "response") {
        const asker = elsewhere?.askerOf(each.response.id);
        if (asker === undefined) client.answered(each.response.id, each.response.answer);
        else if (session !== undefined) elsewhere?.tell(asker, alone);
      }
      if (each.kind === "notification" && !endpoint.notified(client, each.notification)) {
        if (session !== undefined) elsewhere?.tellAll(alone);
      }
      if (each.kind !== "request") return undefined;
      const { id } = each.request;
      return endpoint
        .answer(client, each.request, () => {}, trace)
        .then((answer) => response(id, answer));
    };
    // One after another, and each in a turn of its own: a hundred at once would hold up everybody else.
    const taken = await Promise.all(
      messages.map((each, at) => this.#turns.run(sender.caller.id, () => take(each, at))),
    );
    const answers = taken.filter((each) => each !== undefined);
    if (session === undefined) release();
    if (answers.length === 0) return void reply.writeHead(202).end();
    const text = jsonOfAnyDepth(answers);
    reply.writeHead(200, { "Content-Type": "application/json" }).end(text);
  }

  async #openStream(
    request: IncomingMessage,
    reply: ServerResponse,
    sender: Sender,
  ): Promise<void> {
    if (!accepts(request.headers.accept).stream) {
      return end(
        reply,
        406,
        refuse(RPC.invalidRequest, "Not Acceptable: accept text/event-stream"),
      );
    }
    const found = await this.#findSession(request, sender);
    if (found.kind === "unknown") return end(reply, 404, UNKNOWN_SESSION);
    const session = await this.#sessionHere(found, { request, reply, sender, body: [] });
    if (session === "answered") return undefined;
    if (session === undefined) {
      const message = "Method not allowed: a stream belongs to a session, which initialize begins";
      return end(reply, 405, refuse(RPC.invalidRequest, message), { Allow: "POST" });
    }
    const stream = new Reply(reply, { canStream: true });
    // A client that comes back has lost its old stream, whether we have noticed or not.
    session.stream?.close();
    session.stream = stream;
    stream.openStream();
    session.endpoint.reachable(session.client);
    reply.once("close", () => {
      if (session.stream === stream) session.stream = undefined;
    });
  }

  async #endSession(
    request: IncomingMessage,
    reply: ServerResponse,
    sender: Sender,
  ): Promise<void> {
    const found = await this.#findSession(request, sender);
    if (found.kind === "session") {
      await this.#sessions.end(headerOf(request, SESSION_HEADER) ?? "", found.session);
      return void reply.writeHead(204).end();
    }
    if (found.kind === "unknown") return end(reply, 404, UNKNOWN_SESSION);
    if (found.kind === "elsewhere") {
      const { home } = found.session;
      if (await this.#isAnsweredAt(home, { request, reply, sender, body: [] })) return;
      await this.#sessions.endElsewhere(found.session);
      return void reply.writeHead(204).end();
    }
    return end(reply, 400, refuse(RPC.invalidRequest, `Bad Request: ${SESSION_HEADER} is missing`));
  }

  /**
   * The session that the request is answered in here. `answered`: it was answered by the gateway that has the session's own
   * servers, or refused. A home that is gone has taken them with it: they start anew, here or in the gateway that was first.
   */
  #sessionHere(
    found: Exclude<FoundSession, { kind: "unknown" }>,
    received: ReceivedRequest,
    id: string | number | null = null,
  ): Session | undefined | Promise<Session | "answered"> {
    if (found.kind !== "elsewhere") return found.kind === "session" ? found.session : undefined;
    return this.#atHome(found.session, received, id);
  }

  async #atHome(
    session: SessionElsewhere,
    received: ReceivedRequest,
    id: string | number | null,
  ): Promise<Session | "answered"> {
    const { sender, request, reply } = received;
    let why = "it is not here";
    if (sender.forwarded === undefined) {
      const result = await this.#elsewhere?.forward(session.home, received);
      if (result?.kind === "answered") return result.kind;
      if (result !== undefined) ({ why } = result);
      const moved = result?.canMove
        ? await this.#sessions.moveHere(headerOf(request, SESSION_HEADER) ?? "", session, sender)
        : undefined;
      if (moved !== undefined && !("home" in moved)) return moved;
      if (moved !== undefined && (await this.#isAnsweredAt(moved.home, received)))
        return "answered";
    }
    const message = `Session not found: ${why}. Send initialize again.`;
    end(reply, 404, refuse(UNKNOWN_SESSION.error.code, message), {}, id);
    return "answered";
  }

  /** False if nobody is there, and nothing was sent. */
  async #isAnsweredAt(home: string, received: ReceivedRequest): Promise<boolean> {
    if (received.sender.forwarded !== undefined) return false;
    return (await this.#elsewhere?.forward(home, received))?.kind === "answered";
  }

  #findSession(request: IncomingMessage, sender: Sender): FoundSession | Promise<FoundSession> {
    const id = request.headers["mcp-session-id"];
    if (typeof id !== "string") return NO_SESSION;
    const session = this.#sessions.find(id, sender);
    return session instanceof Promise ? session.then(toFound) : toFound(session);
  }
}

interface Post extends ReceivedRequest {
  canStream: boolean;
}

type FoundSession =
  /** The client sent no id. */
  | { kind: "none" }
  | { kind: "unknown" }
  | { kind: "session"; session: Session }
  | { kind: "elsewhere"; session: SessionElsewhere };

const NO_SESSION: FoundSession = { kind: "none" };

function toFound(session: Session | SessionElsewhere | undefined): FoundSession {
  if (session === undefined) return { kind: "unknown" };
  return "home" in session ? { kind: "elsewhere", session } : { kind: "session", session };
}

/** Methods that change what a session has to remember. */
const NOTED: ReadonlySet<string> = new Set([
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
]);

const UNKNOWN_SESSION = refuse(
  -32001,
  "Session not found: it has expired or was ended. Send initialize again.",
);

/** A client without a session: nobody can come back for its answer or cancel it, so it is gone with its connection. */
function sessionless(caller: Caller, reply: ServerResponse): Client {
  const profile = NO_PROFILE;
  const client = new Client({ era: "legacy", caller, profile, send: toNobody, canBeAsked: false });
  goneWith(reply, client);
  return client;
}

function goneWith(reply: ServerResponse, client: Client): void {
  reply.once("close", () => {
    if (!reply.writableFinished) void client.gone();
  });
}

function toNobody(): void {}

function paramFaultOf(
  { method, params }: RpcRequest,
  endpoint: Endpoint,
  { headers }: IncomingMessage,
): Answer | undefined {
  if (method !== "tools/call" || typeof params["name"] !== "string") return undefined;
  const schema = endpoint.inputSchema(params["name"]);
  return schema && paramHeaderFault(schema, params["arguments"], headers);
}

/** A request is modern if its body says so, or its header; then the other must agree. */
function isModernMessage(message: Incoming, header: string | string[] | undefined): boolean {
  if (message.kind === "invalid" || message.kind === "response") return false;
  const { method, params } = message.kind === "request" ? message.request : message.notification;
  const claims = claimsModern(params);
  if (method === "initialize" && !claims) return false;
  return claims || (typeof header === "string" && isModernVersion(header.trim()));
}

/** What is wrong with the version and the capabilities that every request of 2026-07-28 carries. */
function modernFault({ params }: RpcRequest, request: IncomingMessage): Answer | undefined {
  const meta = metaOf(params);
  const said = meta[META.protocolVersion];
  const header = headerOf(request, "MCP-Protocol-Version")?.trim();
  if (typeof said !== "string") return invalidParams(`_meta lacks ${META.protocolVersion}`);
  if (!isJsonObject(meta[META.clientCapabilities])) {
    return invalidParams(`_meta lacks ${META.clientCapabilities}`);
  }
  if (header !== undefined && header !== said) {
    const named = oneLine(said, 100);
    const message = `Bad Request: the body names protocol version ${named}, and the header ${oneLine(header, 100)}`;
    return refuse(RPC.headerMismatch, message);
  }
  if (isModernVersion(said)) return undefined;
  const requested = oneLine(said, 100);
  return refuse(RPC.unsupportedVersion, `Unsupported protocol version: ${requested}`, {
    supported: [...MODERN_VERSIONS],
    requested,
  });
}

function versionFault(request: IncomingMessage): Answer | undefined {
  const version = headerOf(request, "MCP-Protocol-Version")?.trim();
  if (version === undefined || isLegacyVersion(version)) return undefined;
  const all = [...LEGACY_VERSIONS, ...MODERN_VERSIONS];
  const message = `Bad Request: Unsupported protocol version (supported versions: ${all.join(", ")})`;
  return refuse(RPC.invalidRequest, message);
}

/** Only errors about the request itself are errors of HTTP; the others are answers. */
function modernStatus(answer: Answer): number {
  if (!("error" in answer)) return 200;
  const { code } = answer.error;
  if (code === RPC.methodNotFound) return 404;
  return code === RPC.missingCapability || code === RPC.invalidRequest ? 400 : 200;
}

function idOf(message: Incoming): string | number | null {
  return message.kind === "request" ? message.request.id : null;
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name.toLowerCase()];
  return typeof value === "string" ? value : undefined;
}

function isJson(contentType: string | undefined): boolean {
  return /^\s*application\/json\s*(;|$)/i.test(contentType ?? "");
}

function accepts(accept: string | undefined): { json: boolean; stream: boolean } {
  if (accept === undefined || accept.includes("*/*")) return { json: true, stream: true };
  const lower = accept.toLowerCase();
  return {
    json: lower.includes("application/json") || lower.includes("application/*"),
    stream: lower.includes("text/event-stream") || lower.includes("text/*"),
  };
}

function end(
  reply: ServerResponse,
  status: number,
  answer: Answer,
  headers: Headers = {},
  id: string | number | null = null,
): void {
  const text = JSON.stringify(response(id, answer));
  reply
    .writeHead(status, {
      ...headers,
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(text),
    })
    .end(text);
}

interface Body {
  kind: "json";
  value: unknown;
}

/** Why a body is not taken. */
interface BodyFault {
  kind: "fault";
  status: number;
  code: number;
  message: string;
  headers: Headers;
}

function bodyFault(
  status: number,
  message: string,
  headers: Headers = {},
  code: number = RPC.invalidRequest,
): BodyFault {
  return { kind: "fault", status, code, message, headers };
}

function refuseBody(request: IncomingMessage, reply: ServerResponse, why: BodyFault): void {
  // What is left of the body is not read.
  const headers = { ...why.headers, ...(!request.complete && { Connection: "close" }) };
  end(reply, why.status, refuse(why.code, why.message), headers);
}

const OTHER_BODY = bodyFault(403, "the body is not the one that the other gateway has signed");

const TOO_DEEP = bodyFault(
  400,
  `the request is nested more than ${REFUSED_DEPTH} levels deep; nothing was called`,
);

function tooLargeFor(maxBytes: number, limits: string | undefined): BodyFault {
  const setting = limits === undefined ? "" : ` (${limits}.bodyBytes)`;
  return bodyFault(
    413,
    `the request is larger than ${maxBytes} bytes${setting}; send less at once`,
  );
}

function tooManyValues(maxValues: number, limits: string | undefined): BodyFault {
  const setting = limits === undefined ? "" : ` (${limits}.bodyValues)`;
  const message = `the request has more than ${maxValues} values${setting}; send fewer at once, or all of them as one text`;
  return bodyFault(413, message);
}

function tooManyBytes(wait: number): BodyFault {
  const seconds = Math.ceil(wait / 1000);
  const message =
    "this caller has sent more in a minute than gateway.limits.bytesPerMinute allows " +
    `(a value counts as ${BYTES_PER_VALUE} bytes more, and a piece as ${BYTES_PER_PIECE} if a body comes in ${FREE_PIECES} or more); try again in ${seconds} s`;
  return bodyFault(429, message, { "Retry-After": String(seconds) });
}

function crowded(shortage: Shortage, each: number): BodyFault {
  const whose = shortage === "own" ? "of this caller" : "of all callers";
  const most = shortage === "own" ? ` (${byteSize(each)})` : "";
  const message = `the requests ${whose} that are being answered fill the memory that there is for requests${most}; wait for some of them to end`;
  return bodyFault(shortage === "own" ? 429 : 503, message, { "Retry-After": "5" });
}

interface ReadBody {
  kind: "read";
  /** Empty if there is more in it than is allowed: then it is read to its end, so that the client reads the answer, and not kept. */
  chunks: readonly Buffer[];
  bytes: number;
}

interface ReadBodyOptions {
  /** Is told of what the memory has to hold. */
  hold: (bytes: number) => BodyFault | undefined;
  tooLarge: () => BodyFault;
  /** Measures what is not small, while it comes in. */
  meter: JsonMeter;
  /** Is told of every thousand pieces that a body comes in. */
  countPieces: (pieces: number) => BodyFault | undefined;
}

/** The body of a request, bounded. Undefined if the client went away. */
function readBody(
  request: IncomingMessage,
  maxBytes: number,
  { hold, tooLarge, meter, countPieces }: ReadBodyOptions,
): Promise<ReadBody | BodyFault | undefined> {
  const announced = Number(request.headers["content-length"]);
  if (announced > maxBytes) return Promise.resolve(tooLarge());
  return new Promise((resolve) => {
    const held = new HeldBytes();
    /** Not measured yet, as long as the body is small. */
    let small: Buffer[] = [];
    let bytes = 0;
    let pieces = 0;
    const take = (chunk: Buffer): BodyFault | undefined => {
      bytes += chunk.length;
      pieces += 1;
      if (bytes > maxBytes) return tooLarge();
      const wait = pieces % FREE_PIECES === 0 ? countPieces(FREE_PIECES) : undefined;
      if (wait !== undefined) return wait;
      if (!meter.isBeyond) held.push(chunk);
      if (bytes <= SMALL) return void small.push(chunk);
      for (const each of [...small, chunk]) if (!meter.isBeyond) meter.push(each);
      small = [];
      if (!meter.isBeyond) return hold(chunk.length);
      held.drop();
      return undefined;
    };
    request.on("data", (chunk: Buffer) => {
      const refused = take(chunk);
      if (refused === undefined) return;
      held.drop();
      request.pause();
      request.removeAllListeners("data");
      resolve(refused);
    });
    request.on("end", () => resolve({ kind: "read", chunks: held.takePieces(), bytes }));
    request.on("error", () => resolve(undefined));
    request.on("close", () => resolve(undefined));
  });
}

function textOf({ chunks }: ReadBody): string {
  const [only] = chunks;
  const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
  // Most uploads are base64, for which this takes less time.
  return bytes.length > LARGE.bytes && isAscii(bytes)
    ? bytes.toString("latin1")
    : bytes.toString("utf8");
}

function parse(text: string): Body | BodyFault {
  try {
    return { kind: "json", value: JSON.parse(text) };
  } catch {
    return bodyFault(400, "Parse error: the body is not JSON", {}, RPC.parseError);
  }
}
