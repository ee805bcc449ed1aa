// MCP over HTTP at one path: the POSTs of both eras, and the stream and the end of a legacy session. Who calls is
// already known here. This is an entry of our own because the SDK's costs three times the CPU of everything else, and
// cannot go on with a session that it did not begin.

import type { IncomingMessage, ServerResponse } from "node:http";
import { isJsonObject } from "../../../core/types/json.ts";
import { jsonOfAnyDepth } from "../../../util/canonical-json.ts";
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
import { traceInHeaders } from "../trace.ts";
import { type Headers, Reply } from "./reply.ts";
import type { Sender, Session, Sessions } from "./sessions.ts";
import { headerFault, paramHeaderFault } from "./standard-headers.ts";

const SESSION_HEADER = "Mcp-Session-Id";

export interface McpEntryOptions {
  sessions: Sessions;
  maxBodyBytes: number;
  /** Called with every request, and with the name of the client if it gives one. */
  onRequest?: (sender: Sender, client: ClientProfile["info"], isInSession: boolean) => void;
}

/** For a client that has not said what it can do. */
const NO_PROFILE = { protocolVersion: "2025-03-26", capabilities: {} } as const;
const MOST_IN_BATCH = 100;

export class McpEntry {
  readonly #sessions: Sessions;
  readonly #maxBodyBytes: number;
  readonly #onRequest: McpEntryOptions["onRequest"];

  constructor({ sessions, maxBodyBytes, onRequest }: McpEntryOptions) {
    this.#sessions = sessions;
    this.#maxBodyBytes = maxBodyBytes;
    this.#onRequest = onRequest;
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
    const body = await readBody(request, this.#maxBodyBytes);
    if (body.kind === "gone") return;
    if (body.kind === "too-large") {
      const message = `the request is larger than ${this.#maxBodyBytes} bytes`;
      // What is left of the body is not read.
      return end(reply, 413, refuse(RPC.invalidRequest, message), { Connection: "close" });
    }
    if (body.kind === "not-json") {
      return end(reply, 400, refuse(RPC.parseError, "Parse error: the body is not JSON"));
    }
    const { value } = body;
    if (Array.isArray(value)) return this.#batch(value, request, reply, sender);
    const message = readMessage(value);
    if (message.kind === "invalid") {
      return end(reply, 400, { error: message.error }, {}, message.id);
    }
    const version = request.headers["mcp-protocol-version"];
    const isModern = isModernMessage(message, version);
    const post = { request, reply, sender, canStream: accepted.stream };
    await (isModern ? this.#modern(message, post) : this.#legacy(message, post));
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
    this.#onRequest?.(sender, clientInfoIn(asked), false);
    const leased = sender.endpointFor();
    const { endpoint, release } = leased instanceof Promise ? await leased : leased;
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
    reply.once("close", () => {
      if (!reply.writableFinished) client.gone();
    });
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
    const session = found.kind === "session" ? found.session : undefined;
    this.#onRequest?.(sender, session?.client.profile.info, session !== undefined);
    const leased = session ?? sender.endpointFor();
    const { endpoint, release } = leased instanceof Promise ? await leased : leased;
    const client = session?.client ?? sessionless(sender.caller);
    if (message.kind !== "request") {
      if (message.kind === "response")
        client.answered(message.response.id, message.response.answer);
      else endpoint.notified(client, message.notification);
      if (session === undefined) release();
      return void reply.writeHead(202).end();
    }
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
  async #batch(
    values: readonly unknown[],
    request: IncomingMessage,
    reply: ServerResponse,
    sender: Sender,
  ): Promise<void> {
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
    const wait = (await sender.countMore?.(messages.length - 1)) ?? 0;
    if (wait > 0) {
      const seconds = Math.ceil(wait / 1000);
      const message = `too many requests: a batch counts as many as it holds; try again in ${seconds} s with fewer`;
      const headers = { "Retry-After": String(seconds) };
      return end(reply, 429, refuse(RPC.invalidRequest, message), headers);
    }
    const found = await this.#findSession(request, sender);
    if (found.kind === "unknown") return end(reply, 404, UNKNOWN_SESSION);
    const session = found.kind === "session" ? found.session : undefined;
    this.#onRequest?.(sender, session?.client.profile.info, session !== undefined);
    const { endpoint, release } = session ?? (await sender.endpointFor());
    const client = session?.client ?? sessionless(sender.caller);
    const trace = traceInHeaders(request.headers);
    const answers = await Promise.all(
      messages.flatMap((each) => {
        if (each.kind === "response") client.answered(each.response.id, each.response.answer);
        if (each.kind === "notification") endpoint.notified(client, each.notification);
        if (each.kind !== "request") return [];
        const { id } = each.request;
        return [
          endpoint
            .answer(client, each.request, () => {}, trace)
            .then((answer) => response(id, answer)),
        ];
      }),
    );
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
    if (found.kind === "none") {
      const message = "Method not allowed: a stream belongs to a session, which initialize begins";
      return end(reply, 405, refuse(RPC.invalidRequest, message), { Allow: "POST" });
    }
    const { session } = found;
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
    return end(reply, 400, refuse(RPC.invalidRequest, `Bad Request: ${SESSION_HEADER} is missing`));
  }

  #findSession(request: IncomingMessage, sender: Sender): FoundSession | Promise<FoundSession> {
    const id = request.headers["mcp-session-id"];
    if (typeof id !== "string") return NO_SESSION;
    const session = this.#sessions.find(id, sender);
    return session instanceof Promise ? session.then(toFound) : toFound(session);
  }
}

interface Post {
  request: IncomingMessage;
  reply: ServerResponse;
  sender: Sender;
  canStream: boolean;
}

type FoundSession =
  /** The client sent no id. */
  { kind: "none" } | { kind: "unknown" } | { kind: "session"; session: Session };

const NO_SESSION: FoundSession = { kind: "none" };

function toFound(session: Session | undefined): FoundSession {
  return session === undefined ? { kind: "unknown" } : { kind: "session", session };
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

function sessionless(caller: Caller): Client {
  const profile = NO_PROFILE;
  return new Client({ era: "legacy", caller, profile, send: toNobody, canBeAsked: false });
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
    const message = `Bad Request: the body names protocol version ${said}, and the header ${header}`;
    return refuse(RPC.headerMismatch, message);
  }
  if (isModernVersion(said)) return undefined;
  return refuse(RPC.unsupportedVersion, `Unsupported protocol version: ${said}`, {
    supported: [...MODERN_VERSIONS],
    requested: said,
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

type Body =
  | { kind: "json"; value: unknown }
  | { kind: "not-json" }
  | { kind: "too-large" }
  /** The client went away. */
  | { kind: "gone" };

/** The body of a request: bounded, and as JSON. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<Body> {
  const announced = Number(request.headers["content-length"]);
  if (announced > maxBytes) return Promise.resolve({ kind: "too-large" });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) return void chunks.push(chunk);
      chunks.length = 0;
      request.pause();
      resolve({ kind: "too-large" });
    });
    request.on("end", () => resolve(parseBody(chunks)));
    request.on("error", () => resolve({ kind: "gone" }));
    request.on("close", () => resolve({ kind: "gone" }));
  });
}

function parseBody(chunks: readonly Buffer[]): Body {
  const [only] = chunks;
  const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
  try {
    return { kind: "json", value: JSON.parse(bytes.toString("utf8")) };
  } catch {
    return { kind: "not-json" };
  }
}
