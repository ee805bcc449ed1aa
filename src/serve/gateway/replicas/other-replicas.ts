// The way from this gateway to the others that share its state. A request whose session has its servers elsewhere, or that
// answers what another gateway has asked, is sent there: over one hop, signed, and once, since nobody knows whether a call
// that was sent has run. Its answer comes back as it is made, streams too, and whoever hangs up is heard at the other end.

import { hash } from "node:crypto";
import { createReadStream } from "node:fs";
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as requestPlain,
  type ServerResponse,
} from "node:http";
import { Agent as TlsAgent, request as requestTls } from "node:https";
import { pipeline } from "node:stream";
import { type Caller, type CallerJwt, tokenOf } from "../../../core/types/caller.ts";
import type { Logger } from "../../../core/types/logger.ts";
import type { Replicas, TokenStore } from "../../../core/types/shared-state.ts";
import type { Clock } from "../../../util/clock.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { Shares } from "../../../util/shares.ts";
import { shortHash } from "../../../util/short-hash.ts";
import { oneLine } from "../../../util/text.ts";
import {
  bodyHash,
  type Elsewhere,
  type ForwardResult,
  type ReceivedRequest,
  type Unanswered,
} from "../../endpoint/http/elsewhere.ts";
import { type Refusal, refusal, sendRefusal } from "../../endpoint/http/refusal.ts";
import type { RequestId } from "../../endpoint/message.ts";
import { holderIn } from "../../endpoint/questions/request-state.ts";
import type { Sealer } from "../../endpoint/sealed.ts";
import type { OtherGateways } from "../gateway.ts";
import type { ForwardedVisit, PageElsewhere, ReceivedPageRequest } from "../page/page.ts";
import { VISITOR } from "../page/visitors.ts";
import type { ListedGateway } from "../page/wire.ts";
import {
  FORWARD_HEADER,
  type ForwardedFor,
  JWT_HEADER,
  forwardedHeaders,
  type Signatures,
  type Verdict,
} from "./signature.ts";

/** How long another gateway may take to accept a connection. */
const CONNECT_MS = 3000;
/** Shorter than the others keep an idle connection, so that no request is sent on one that they are closing. */
const IDLE_MS = 30_000;
/** One caller or visitor has a quarter of them. */
const MOST_CONNECTIONS = 1024;
const JWT_PURPOSE = "forwarded JWT";
/** As `Client` makes the ids of questions. */
const QUESTION = /^plugboard-([0-9a-f]{64})-\d+$/;

/** What a client gets of another gateway's answer, beside its status and its body. */
const RETURNED = [
  "allow",
  "cache-control",
  "content-length",
  "content-type",
  "mcp-session-id",
  "retry-after",
  "x-accel-buffering",
];

export interface OtherReplicasOptions {
  replicas: Replicas;
  signatures: Signatures;
  sealer: Sealer;
  /** Names this gateway if it has no URL; the same after a restart. */
  ownName: string;
  clock: Clock;
  logger: Logger;
}

/** What is sent to another gateway, and what its sender gets in place of an answer. */
interface Outgoing {
  request: IncomingMessage;
  by: ForwardedFor;
  /** Whose share of the connections it counts for. */
  whose: string;
  /** The caller's, where it is exchanged. */
  jwt?: CallerJwt;
  body: ReceivedPageRequest["body"];
  /** Absent: nobody waits for the answer. */
  reply?: ServerResponse;
  unanswered: (why: Unanswered) => void;
}

/** A request that another gateway is answering. */
interface Hop {
  home: string;
  isStream: boolean;
  sent: ClientRequest;
}

export class OtherReplicas implements Elsewhere, PageElsewhere {
  readonly #options: OtherReplicasOptions;
  readonly #agents = {
    http: new HttpAgent({ keepAlive: true, timeout: IDLE_MS, maxTotalSockets: MOST_CONNECTIONS }),
    https: new TlsAgent({ keepAlive: true, timeout: IDLE_MS, maxTotalSockets: MOST_CONNECTIONS }),
  };
  readonly #hops = new Set<Hop>();
  readonly #connectionShares = new Shares(MOST_CONNECTIONS);
  /** Each is said once. */
  readonly #said = new Set<string>();
  readonly #off: () => void;
  readonly home: string;
  readonly tag: string;

  constructor(options: OtherReplicasOptions) {
    this.#options = options;
    const { replicas, ownName } = options;
    this.home = replicas.own?.url ?? `without a URL: ${shortHash(ownName)}`;
    this.tag = tagOf(this.home);
    this.#off = replicas.onChange(() => this.#endLost());
  }

  askerOf(question: RequestId): string | undefined {
    const [, tag] = QUESTION.exec(String(question)) ?? [];
    return tag === undefined || !this.#isListAuthentic ? undefined : this.#homeOf(tag);
  }

  holderOf(requestState: unknown): string | undefined {
    const holder = holderIn(requestState, this.#options.sealer);
    if (!this.#isListAuthentic) return undefined;
    return holder === this.home ? undefined : holder;
  }

  async forward(home: string, received: ReceivedRequest): Promise<ForwardResult> {
    const canMove = URL.canParse(home) && URL.canParse(this.home);
    const why = await this.#whyUnreachable(home);
    if (why !== undefined) return { kind: "gone", why, canMove };
    const { reply } = received;
    const unanswered = (of: Unanswered): void => sendRefusal(reply, UNANSWERED[of]);
    const result = await this.#send(home, { ...ofClient(received), reply, unanswered });
    return result.kind === "gone" ? { ...result, canMove } : result;
  }

  async forwardPage(tag: string, received: ReceivedPageRequest): Promise<ForwardResult> {
    if (!this.#isListAuthentic) return { kind: "gone", why: GONE };
    if (this.#homeOf(tag) === undefined) await this.#options.replicas.look();
    const home = this.#homeOf(tag);
    if (home === undefined) return { kind: "gone", why: GONE };
    const { visitor, ...rest } = received;
    return this.#send(home, { ...rest, whose: `${VISITOR}${visitor.nonce}`, by: { visitor } });
  }

  reachable(): ListedGateway[] {
    const reached = this.#options.replicas.list().flatMap(({ name, url }) => {
      return url === undefined ? [] : [[tagOf(url), name] as const];
    });
    return [...new Map(reached)].map(([home, name]) => ({ home, name }));
  }

  tellAll(received: Omit<ReceivedRequest, "reply">): void {
    if (!this.#isListAuthentic) return;
    for (const url of this.#urls()) this.tell(url, received);
  }

  tell(home: string, received: Omit<ReceivedRequest, "reply">): void {
    void this.#send(home, { ...ofClient(received), unanswered: () => {} });
  }

  /**
   * Who a request is for that another gateway has forwarded. What its caller may do is what this gateway knows of the
   * token. Undefined for what a client sent itself.
   */
  forwardedIn(
    request: IncomingMessage,
    agent: string | undefined,
    tokens: Pick<TokenStore, "current">,
  ): ReturnType<OtherGateways["forwardedIn"]> {
    const verdict = this.#verdictOn(request);
    if (verdict === undefined) return undefined;
    if (verdict.kind === "refused") return this.#notTaken(verdict.why);
    const { caller, expiresAt, agent: meant, policy: given } = verdict.by;
    if (caller === undefined || meant !== agent) return this.#notTaken("it is for another agent");
    const id = tokenOf(caller.id);
    const token = id === undefined ? undefined : tokens.current(id);
    if (id !== undefined && token === undefined) {
      return refusal(401, "this token is not valid: it has expired or was revoked");
    }
    const policy = id === undefined ? given : token?.policy;
    const jwt = this.#jwtIn(request.headers[JWT_HEADER], caller);
    return {
      isAdmitted: true,
      admitted: {
        caller,
        ...(jwt && { jwt }),
        ...(policy && { policy }),
        ...(expiresAt !== undefined && { expiresAt }),
      },
      forwarded: { body: verdict.body },
    };
  }

  /** A request of the page that another gateway has forwarded. Undefined for what a browser sent itself. */
  forwardedPageIn(
    request: IncomingMessage,
  ): { isAdmitted: true; forwarded: ForwardedVisit } | Refusal | undefined {
    const verdict = this.#verdictOn(request);
    if (verdict === undefined) return undefined;
    if (verdict.kind === "refused") return this.#notTaken(verdict.why);
    const { visitor } = verdict.by;
    if (visitor === undefined) return this.#notTaken("it is for no visitor of the page");
    if (!this.#isListAuthentic) return this.#notTaken("the gateways have no gateway.shared.keys");
    return { isAdmitted: true, forwarded: { body: verdict.body, visitor } };
  }

  #verdictOn(request: IncomingMessage): Verdict | undefined {
    const { headers, method = "GET", url: path = "/" } = request;
    const header = headers[FORWARD_HEADER];
    if (header === undefined) return undefined;
    return this.#options.signatures.verify(String(header), { method, path, headers });
  }

  /** Sealed, because the way between gateways may be plain http. */
  #sealJwt({ jwt, by: { caller } }: Outgoing): Record<string, string> {
    const { sealer } = this.#options;
    if (jwt === undefined || caller === undefined) return {};
    return { [JWT_HEADER]: sealer.seal(JWT_PURPOSE, { ...jwt, caller: caller.id }) };
  }

  #jwtIn(header: unknown, { id }: Caller): CallerJwt | undefined {
    const sealed = typeof header === "string" ? header : "";
    const { text, expiresAt, rights, caller } =
      this.#options.sealer.open(JWT_PURPOSE, sealed) ?? {};
    if (typeof text !== "string" || typeof expiresAt !== "number") return undefined;
    return typeof rights === "string" && caller === id ? { text, expiresAt, rights } : undefined;
  }

  /** Whoever forges a signature learns only that it was refused. The reason is for the other gateway. */
  #notTaken(why: string): Refusal {
    const message = `a request in another gateway's name is refused: ${why}`;
    // Once: anybody can send such a request.
    if (!this.#said.has(message)) this.#options.logger.warn(message);
    this.#said.add(message);
    return refusal(403, NOT_FORWARDED, { [FORWARD_HEADER]: why });
  }

  /** Ends the streams that come from other gateways; clients open them again. */
  closeStreams(): void {
    for (const { isStream, sent } of this.#hops) if (isStream) sent.destroy();
  }

  close(): void {
    this.#off();
    for (const { sent } of this.#hops) sent.destroy();
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  /**
   * Without keys, whoever can write to the database says where gateways are. Then nothing is sent to an address that a client
   * has only named, and nobody is taken for a visitor.
   */
  get #isListAuthentic(): boolean {
    return this.#options.replicas.areAuthentic;
  }

  /** The URLs of the other gateways that can be reached. */
  #urls(): string[] {
    const urls = this.#options.replicas.list().flatMap(({ url }) => url ?? []);
    return [...new Set(urls)].filter((url) => url !== this.home);
  }

  /** The URL of the other gateway with this tag, if it can be reached. */
  #homeOf(tag: string): string | undefined {
    return this.#urls().find((url) => tagOf(url) === tag);
  }

  async #whyUnreachable(home: string): Promise<string | undefined> {
    if (!URL.canParse(home)) {
      const why =
        "the gateway where this session began cannot be reached by others: it has no gateway.shared.replica.url";
      if (!this.#said.has(home)) this.#options.logger.warn(why);
      this.#said.add(home);
      return why;
    }
    if (!this.#urls().includes(home)) await this.#options.replicas.look();
    return this.#urls().includes(home) ? undefined : GONE;
  }

  /** A gateway that was killed sends nothing, and its connections may stay open. */
  #endLost(): void {
    const urls = this.#urls();
    for (const { home, sent } of this.#hops) {
      if (!urls.includes(home)) sent.destroy(new Error("it no longer says that it lives"));
    }
  }

  #send(home: string, outgoing: Outgoing): Promise<ForwardResult> {
    const { request: from, by, whose, body, reply } = outgoing;
    const { signatures } = this.#options;
    // Refused rather than kept waiting: most of what is sent here stays open for long.
    if (this.#connectionShares.take(whose) !== undefined) {
      outgoing.unanswered("too many");
      return Promise.resolve(ANSWERED);
    }
    const { method = "GET", url: path = "/" } = from;
    const { [JWT_HEADER]: _notTheirs, ...theirs } = forwardedHeaders(from.headers);
    const headers = { ...theirs, ...this.#sealJwt(outgoing) };
    const isFile = "file" in body;
    const bodySigned = isFile ? body.hash : bodyHash(body);
    const signed = signatures.sign({ method, path, headers }, home, by, bodySigned);
    const length = isFile ? body.size : body.reduce((sum, { length: each }) => sum + each, 0);
    const isTls = new URL(home).protocol === "https:";
    return new Promise((resolve) => {
      const sent = (isTls ? requestTls : requestPlain)(new URL(home), {
        method,
        // As it was signed. Nothing that a client writes there names another host.
        path,
        agent: isTls ? this.#agents.https : this.#agents.http,
        headers: {
          ...headers,
          [FORWARD_HEADER]: signed,
          ...(method !== "GET" && { "content-length": length }),
        },
      });
      const hop = { home, isStream: method === "GET", sent };
      this.#hops.add(hop);
      let isConnected = false;
      sent.once("socket", (socket) => {
        const connected = (): void => {
          isConnected = true;
          socket.setTimeout(0);
        };
        if (!socket.connecting) return connected();
        socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error("it takes too long")));
        socket.once(isTls ? "secureConnect" : "connect", connected);
      });
      const hangUp = (): void => {
        if (reply?.writableFinished !== true) sent.destroy();
      };
      reply?.once("close", hangUp);
      const over = (result: ForwardResult): void => {
        if (this.#hops.delete(hop)) this.#connectionShares.giveBack(whose);
        reply?.removeListener("close", hangUp);
        resolve(result);
      };
      sent.once("error", (error) => over(this.#failed(home, error, isConnected, outgoing)));
      sent.once("response", (answer) => {
        if (reply === undefined) answer.resume();
        else this.#answer(home, answer, outgoing, reply);
        answer.once("close", () => over(ANSWERED));
        // A stream is open as long as both sides want it; nobody waits for its end.
        if (hop.isStream) resolve(ANSWERED);
      });
      // Whatever goes wrong is told to the request, too.
      if (isFile) return void pipeline(createReadStream(body.file), sent, () => {});
      for (const chunk of body) sent.write(chunk);
      sent.end();
    });
  }

  #answer(
    home: string,
    answer: IncomingMessage,
    { unanswered }: Outgoing,
    reply: ServerResponse,
  ): void {
    const { [FORWARD_HEADER]: refused } = answer.headers;
    if (refused !== undefined) {
      const why = oneLine(String(refused), 200);
      this.#options.logger.warn(`the gateway at ${home} does not take a request of this one`, {
        reason: why,
      });
      answer.resume();
      return unanswered("not taken");
    }
    const headers = RETURNED.flatMap((name) => {
      const value = answer.headers[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    reply.writeHead(answer.statusCode ?? 502, Object.fromEntries(headers));
    // The first event of a stream may come much later.
    reply.flushHeaders();
    // If the other gateway breaks off, so does this one: an ordinary end would look like a whole answer.
    answer.once("aborted", () => reply.destroy());
    answer.pipe(reply);
  }

  #failed(
    home: string,
    error: Error,
    isConnected: boolean,
    { reply, unanswered }: Outgoing,
  ): ForwardResult {
    const reason = oneLine(errorMessage(error), 200);
    if (!isConnected) {
      this.#options.logger.info(`the gateway at ${home} cannot be reached`, { reason });
      return { kind: "gone", why: GONE };
    }
    if (reply === undefined || reply.destroyed) return ANSWERED;
    this.#options.logger.warn(`the gateway at ${home} went away while it answered`, { reason });
    if (reply.headersSent) reply.destroy();
    else unanswered("may have run");
    return ANSWERED;
  }
}

const ANSWERED: ForwardResult = { kind: "answered" };
const GONE = "the gateway where it began is gone, and its servers with it";
const NOT_FORWARDED = "this request is not one that another gateway of this fleet has forwarded";
const UNANSWERED: Readonly<Record<Unanswered, Refusal>> = {
  "too many": refusal(
    429,
    `you have ${MOST_CONNECTIONS / 4} requests under way to gateways on other machines already, or all callers have ${MOST_CONNECTIONS}; nothing was sent: wait for some of them to end`,
    { "Retry-After": "5" },
  ),
  "not taken": refusal(
    502,
    "the gateway where this session began does not take this request; the log of this gateway says why",
  ),
  "may have run": refusal(
    502,
    "the gateway where this session began went away while it answered. A call that was sent there may have run: check before you repeat it",
  ),
};

function ofClient({
  request,
  sender,
  body,
}: Omit<ReceivedRequest, "reply">): Omit<Outgoing, "unanswered"> {
  const { caller, agent, expiresAt, jwt, policy } = sender;
  const isOfJwt = tokenOf(caller.id) === undefined;
  return {
    request,
    whose: caller.id,
    ...(jwt && { jwt }),
    by: {
      caller,
      agent,
      ...(expiresAt !== undefined && { expiresAt }),
      ...(isOfJwt && policy && { policy }),
    },
    body,
  };
}

/** Whole: whoever lists a gateway could search for an address with the same beginning. */
function tagOf(home: string): string {
  return hash("sha256", home);
}
