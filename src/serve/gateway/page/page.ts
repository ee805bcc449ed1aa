// The page of a gateway: its files, who may see it, and the requests that it makes. Everything is under /ui/; nothing
// of it opens with a token of an MCP client, and nothing else opens with the page's cookie.

import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type ErrorCode, PlugboardError, toPlugboardError } from "../../../core/types/errors.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../../core/types/json.ts";
import { ownerName, ownerState } from "../../../core/state/process-owner.ts";
import { HeldBytes } from "../../../util/held-bytes.ts";
import { makeDirectory } from "../../../util/make-directory.ts";
import { excessIn } from "../../../util/measure-json.ts";
import { byteSize, oneLine, percentDecoded } from "../../../util/text.ts";
import { visible } from "../../../util/visible.ts";
import { bodyHash, type ForwardResult, type Unanswered } from "../../endpoint/http/elsewhere.ts";
import type { Sender } from "../../endpoint/http/sessions.ts";
import type { Live } from "./live.ts";
import type { AdmittedCaller } from "../access/admission.ts";
import type { PageCalls } from "./call.ts";
import { notForViewers, type PageMethods } from "./methods.ts";
import type { PageFiles } from "./page-files.ts";
import type { ProviderSignIn } from "./provider-sign-in.ts";
import { signedInFrom, VISITOR, type Visitor, type Visitors } from "./visitors.ts";
import {
  API_HEADER,
  type ApiFailure,
  FILE_NAME_HEADER,
  GATEWAY_GONE,
  HOME_HEADER,
  MOST_UPLOAD,
  type WayIn,
} from "./wire.ts";

/** Arguments of a call are the largest that the page sends. */
const MOST_BODY_BYTES = 4 * 1024 * 1024;
const KEY_BODY_BYTES = 1024;
/** What a provider sends a browser back with. */
const ANSWER_BODY_BYTES = 16 * 1024;
const MOST_JSON = { values: 50_000, depth: 200 };
const API = "/ui/api/";
const CALLBACK = "/ui/callback";
const LEAVE = `${API}leave`;

/** Where people come from links. Everybody gets the same there, whatever the rest of the address says. */
export const PAGE_DOCUMENTS: ReadonlySet<string> = new Set(["/", "/ui", "/ui/", CALLBACK]);

/** Nothing of another origin is loaded, nothing is run that is not a file of ours, and nobody shows the page in a frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
} as const;

/** The gateways on other machines that share this one's state, as the page needs them. */
export interface PageElsewhere {
  /** Names this gateway. */
  readonly tag: string;
  /** Has the request answered by the gateway with this tag: sent once, whatever happens. Never rejects. */
  forwardPage(tag: string, received: ReceivedPageRequest): Promise<ForwardResult>;
}

export interface ReceivedPageRequest {
  request: IncomingMessage;
  reply: ServerResponse;
  visitor: Visitor;
  body: readonly Buffer[] | BodyFile;
  unanswered: (why: Unanswered) => void;
}

/** A body that is too large for the memory. */
interface BodyFile {
  file: string;
  size: number;
  hash: string;
}

/** Another gateway has forwarded the request, and vouches for who asks, and for this hash of the body. */
export type ForwardedVisit = NonNullable<Sender["forwarded"]> & { visitor: Visitor };

type Forwarded = ForwardedVisit | undefined;

export interface PageOptions {
  visitors: Visitors;
  live: Pick<Live, "open">;
  methods: PageMethods;
  calls: PageCalls;
  files: Pick<PageFiles, "send">;
  /** The other gateways, one of which may be the home of a request. */
  elsewhere?: PageElsewhere | undefined;
  /** How people sign in without a link, if that is configured. Never rejects. */
  signIn?: Promise<ProviderSignIn | undefined>;
  /** Where people reach the gateway, besides the host that they ask for. */
  publicUrl?: string;
  isTls: boolean;
  /** Where files are until another gateway has them. Nobody else writes there. */
  forwardDir: string;
}

export class Page {
  readonly #options: PageOptions;
  readonly #publicOrigin: string | undefined;
  #isForwardingFile = false;

  constructor(options: PageOptions) {
    this.#options = options;
    this.#publicOrigin = options.publicUrl && new URL(options.publicUrl).origin;
  }

  visitorIn(request: IncomingMessage, forwarded?: ForwardedVisit): AdmittedCaller | undefined {
    const visitor = this.#visitorOf(request, forwarded);
    // What is open for somebody who has left is cut off, and signing out is to be answered.
    if (visitor === undefined || request.url === LEAVE) return undefined;
    const { nonce, name, until, person } = visitor;
    const signedIn = signedInFrom(person, until);
    return {
      caller: { id: `${VISITOR}${nonce}`, label: name },
      expiresAt: until,
      ...(signedIn && { signedIn }),
    };
  }

  /** Answers `/`, `/ui` and everything below it. The gateway has checked the Host. */
  async answer(
    path: string,
    request: IncomingMessage,
    reply: ServerResponse,
    forwarded?: ForwardedVisit,
  ): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) reply.setHeader(name, value);
    if (path === "/" || path === "/ui") {
      return void reply.writeHead(302, { Location: "/ui/", "Cache-Control": "no-store" }).end();
    }
    if (path === "/ui/sign-in") return this.#beginSignIn(request, reply);
    if (!path.startsWith(API)) {
      // Where the provider sends people back to is the page itself: it takes what it needs from its address.
      const file = path === CALLBACK ? "" : path.slice("/ui/".length);
      return this.#options.files.send(file, request, reply);
    }
    reply.setHeader("Cache-Control", "no-store");
    if (forwarded === undefined && !this.#isFromPage(request)) return refuse(reply, FOREIGN);
    try {
      await this.#answerApi(path.slice(API.length), request, reply, forwarded);
    } catch (error) {
      fail(reply, error);
    }
  }

  async #answerApi(
    name: string,
    request: IncomingMessage,
    reply: ServerResponse,
    forwarded: Forwarded,
  ): Promise<void> {
    const { visitors, live, methods } = this.#options;
    const visitor = this.#visitorOf(request, forwarded);
    const isOpen = OPEN.has(name) && forwarded === undefined;
    if (visitor === undefined && !isOpen) return refuse(reply, NOT_SIGNED_IN);
    const home = ANYWHERE.has(name) || forwarded ? undefined : this.#otherHome(request);
    if (visitor !== undefined && name === "events" && request.method === "GET") {
      if (home !== undefined && (await this.#forwardTo(home, request, reply, visitor, []))) return;
      return live.open(request, reply, visitor);
    }
    if (request.method !== "POST") return refuse(reply, NOT_JSON);
    if (visitor !== undefined && name === "add/upload") {
      if (home !== undefined) return this.#forwardFile(home, request, reply, visitor);
      const { [FILE_NAME_HEADER]: file = "" } = request.headers;
      const chunks = sentIn(request, forwarded?.body);
      return send(reply, 200, await methods.upload(fileName(String(file)), chunks, visitor));
    }
    // Whoever is not signed in has nothing to send but a key.
    const ofStranger = name === "sign-in" ? ANSWER_BODY_BYTES : KEY_BODY_BYTES;
    const most = visitor === undefined ? ofStranger : MOST_BODY_BYTES;
    const bytes = await bodyOf(request, most);
    if (bytes === undefined) return refuse(reply, tooLarge(`is larger than ${byteSize(most)}`));
    const excess = excessIn(bytes, MOST_JSON);
    if (excess !== undefined) return refuse(reply, tooLarge(excess));
    if (forwarded !== undefined && forwarded.body !== bodyHash([bytes])) {
      return refuse(reply, FOREIGN);
    }
    const body = tryParseJson(bytes.toString("utf8"));
    if (!isJsonObject(body)) return refuse(reply, NOT_JSON);
    if (home !== undefined && visitor !== undefined) {
      if (await this.#forwardTo(home, request, reply, visitor, [bytes])) return;
      return refuse(reply, HOME_GONE);
    }
    if (name === "way-in") {
      const provider = (await this.#options.signIn)?.name;
      return send(reply, 200, { ...(provider !== undefined && { provider }) } satisfies WayIn);
    }
    if (name === "sign-in") return this.#endSignIn(body, request, reply);
    if (visitor === undefined || name === "enter") return this.#enter(body["key"], reply);
    if (name === "leave") {
      reply.setHeader("Set-Cookie", await visitors.leave(visitor));
      return send(reply, 200, {});
    }
    if (name === "tools/call" || name === "tools/answer") {
      if (visitor.role !== "owner") throw notForViewers();
      const { calls } = this.#options;
      if (name === "tools/call") return calls.run(body, visitor, reply);
      calls.answer(body, visitor);
      return send(reply, 200, {});
    }
    send(reply, 200, await methods.run(name, body, visitor));
  }

  /** What a request shows that was forwarded counts for nothing: it is for whom the other gateway has let in. */
  #visitorOf(request: IncomingMessage, forwarded: Forwarded): Visitor | undefined {
    const { visitors } = this.#options;
    return forwarded === undefined ? visitors.find(request) : visitors.current(forwarded.visitor);
  }

  /** The gateway that the page looks at, if that is another one. */
  #otherHome({ headers }: IncomingMessage): string | undefined {
    const { elsewhere } = this.#options;
    const { [HOME_HEADER]: home } = headers;
    return typeof home !== "string" || home === elsewhere?.tag ? undefined : elsewhere && home;
  }

  /** False if that gateway is gone; then nobody has got the request. */
  async #forwardTo(
    home: string,
    request: IncomingMessage,
    reply: ServerResponse,
    visitor: Visitor,
    body: ReceivedPageRequest["body"],
  ): Promise<boolean> {
    const unanswered = (why: Unanswered): void => refuse(reply, UNANSWERED[why]);
    const received = { request, reply, visitor, body, unanswered };
    return (await this.#options.elsewhere?.forwardPage(home, received))?.kind === "answered";
  }

  /** What is signed for the other gateway has its hash, so all of it has to be there first. */
  async #forwardFile(
    home: string,
    request: IncomingMessage,
    reply: ServerResponse,
    visitor: Visitor,
  ): Promise<void> {
    if (visitor.role !== "owner") throw notForViewers();
    // The gateway that forwards an upload holds a copy of it, as large as the file. So it takes one at a time too.
    if (this.#isForwardingFile) {
      throw new PlugboardError("RATE_LIMITED", "another file is on its way already", {
        hint: "try again when it is there",
      });
    }
    this.#isForwardingFile = true;
    try {
      await this.#forwardOneFile(home, request, reply, visitor);
    } finally {
      this.#isForwardingFile = false;
    }
  }

  async #forwardOneFile(
    home: string,
    request: IncomingMessage,
    reply: ServerResponse,
    visitor: Visitor,
  ): Promise<void> {
    const directory = await this.#newForwardDirectory();
    try {
      const file = join(directory, "file");
      const hash = createHash("sha256");
      let size = 0;
      await pipeline(
        sentIn(request),
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            hash.update(chunk);
            size += chunk.length;
            yield chunk;
          }
        },
        createWriteStream(file, { mode: 0o600 }),
      );
      const body = { file, size, hash: hash.digest("base64url") };
      if (!(await this.#forwardTo(home, request, reply, visitor, body))) refuse(reply, HOME_GONE);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  /** What a gateway that was killed has left there goes first: each may be half a gigabyte. */
  async #newForwardDirectory(): Promise<string> {
    const { forwardDir } = this.#options;
    await makeDirectory(forwardDir);
    for (const name of await readdir(forwardDir)) {
      if (ownerState(name.replace(/-\w{6}$/, "")) !== "gone") continue;
      await rm(join(forwardDir, name), { recursive: true, force: true });
    }
    return mkdtemp(join(forwardDir, `${ownerName()}-`));
  }

  /** Trades the key of a link for a cookie. */
  async #enter(key: unknown, reply: ServerResponse): Promise<void> {
    const entered = typeof key === "string" ? await this.#options.visitors.enter(key) : undefined;
    if (entered === undefined) return refuse(reply, WRONG_KEY);
    reply.setHeader("Set-Cookie", entered.setCookie);
    send(reply, 200, { role: entered.visitor.role, secret: entered.secret });
  }

  /** A page of another site cannot begin one in somebody else's browser. */
  async #beginSignIn(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    reply.setHeader("Cache-Control", "no-store");
    const signIn = await this.#options.signIn;
    const site = request.headers["sec-fetch-site"];
    const isOwn = site === undefined || site === "same-origin" || site === "none";
    if (signIn === undefined || request.method !== "GET" || !isOwn) {
      return refuse(reply, signIn === undefined ? NO_PROVIDER : FOREIGN);
    }
    try {
      const { location, setCookie } = await signIn.begin();
      reply.writeHead(302, { Location: location, "Set-Cookie": setCookie }).end();
    } catch (error) {
      fail(reply, error);
    }
  }

  async #endSignIn(
    body: JsonObject,
    request: IncomingMessage,
    reply: ServerResponse,
  ): Promise<void> {
    const signIn = await this.#options.signIn;
    if (signIn === undefined) return refuse(reply, NO_PROVIDER);
    const { visitor, secret, setCookie, forget } = await signIn.finish(body, request);
    reply.setHeader("Set-Cookie", [setCookie, forget]);
    send(reply, 200, { role: visitor.role, secret });
  }

  /** A page of another site can send neither the header nor our own origin. */
  #isFromPage({ headers, method }: IncomingMessage): boolean {
    if (headers[API_HEADER] === undefined) return false;
    const site = headers["sec-fetch-site"];
    if (site !== undefined && site !== "same-origin") return false;
    if (method === "GET" && headers.origin === undefined) return true;
    return this.#isOwn(headers.origin, headers.host);
  }

  #isOwn(origin: string | undefined, host: string | undefined): boolean {
    if (origin === undefined || host === undefined) return false;
    const own = `${this.#options.isTls ? "https" : "http"}://${host}`;
    return origin === own || origin === this.#publicOrigin;
  }
}

interface ApiRefusal {
  status: number;
  code: string;
  message: string;
  hint?: string;
}

/** What somebody can ask for who is not signed in. */
const OPEN: ReadonlySet<string> = new Set(["enter", "way-in", "sign-in"]);
/** What every gateway answers itself, whichever the page looks at. */
const ANYWHERE: ReadonlySet<string> = new Set([...OPEN, "leave"]);

const SIGN_IN = "run plugboard ui, which opens the page with a new link";

const FOREIGN: ApiRefusal = {
  status: 403,
  code: "FOREIGN_REQUEST",
  message: "only the gateway's own page can ask for this",
};
const NOT_SIGNED_IN: ApiRefusal = {
  status: 401,
  code: "NOT_SIGNED_IN",
  message: "you are not signed in",
  hint: SIGN_IN,
};
const WRONG_KEY: ApiRefusal = {
  status: 401,
  code: "NOT_SIGNED_IN",
  message: "this link has been used, or is older than a minute",
  hint: SIGN_IN,
};
const NO_PROVIDER: ApiRefusal = {
  status: 404,
  code: "UNSUPPORTED",
  message: "this gateway has no provider to sign in with",
  hint: SIGN_IN,
};
const HOME_GONE: ApiRefusal = {
  status: 410,
  code: GATEWAY_GONE,
  message: "the gateway that you looked at is gone, and nothing was done",
  hint: "you see another one now: look, and try again there",
};
const UNANSWERED: Readonly<Record<Unanswered, ApiRefusal>> = {
  "too many": {
    status: 429,
    code: "RATE_LIMITED",
    message: "too many requests to the gateway that you look at are under way; nothing was done",
    hint: "wait for some of them to end, and try again",
  },
  "not taken": {
    status: 502,
    code: "NETWORK",
    message: "the gateway that you look at does not take requests of this one",
    hint: "the log of this gateway says why",
  },
  "may have run": {
    status: 502,
    code: "NETWORK",
    message: "the gateway that you look at went away while it answered",
    hint: "what you asked for may have been done: check before you repeat it",
  },
};
const NOT_JSON: ApiRefusal = {
  status: 400,
  code: "INVALID_ARGUMENTS",
  message: "this takes a POST with a JSON object",
};

/** Whoever stops in the middle can still be answered. */
function chunksOf(request: IncomingMessage): AsyncIterable<Buffer> {
  return request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
}

/** Undefined if it is larger than that, or takes longer to read than it should. Empty if the page has gone. */
async function bodyOf(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const held = new HeldBytes();
  try {
    for await (const chunk of chunksOf(request)) {
      held.push(chunk);
      if (held.length > most) return undefined;
    }
  } catch {
    return Buffer.alloc(0);
  }
  return held.takeBytes();
}

/**
 * Throws INVALID_ARGUMENTS for a file that is too large, does not come to its end, or has another hash than `expected`. What
 * has come until then counts for nothing.
 */
async function* sentIn(request: IncomingMessage, expected?: string): AsyncGenerator<Buffer, void> {
  const hash = expected === undefined ? undefined : createHash("sha256");
  let size = 0;
  try {
    for await (const chunk of chunksOf(request)) {
      size += chunk.length;
      if (size > MOST_UPLOAD) break;
      hash?.update(chunk);
      yield chunk;
    }
  } catch (error) {
    throw new PlugboardError("INVALID_ARGUMENTS", "the file did not come to its end", {
      cause: error,
    });
  }
  if (size <= MOST_UPLOAD && hash?.digest("base64url") === expected) return;
  if (size <= MOST_UPLOAD) {
    throw new PlugboardError("INVALID_ARGUMENTS", "this is not the file that was sent");
  }
  throw new PlugboardError("INVALID_ARGUMENTS", `it is larger than ${byteSize(MOST_UPLOAD)}`);
}

const LONGEST_FILE_NAME = 200;

/** As a person knows it: without folders, and on one line. */
function fileName(written: string): string {
  const last = percentDecoded(written).split(/[/\\]/).at(-1) ?? "";
  return oneLine(visible(last), LONGEST_FILE_NAME) || "a bundle";
}

/** What the page sends is bounded more tightly than a call of the command line. */
function tooLarge(excess: string): ApiRefusal {
  return {
    status: 413,
    code: "MESSAGE_TOO_LARGE",
    message: `the request ${excess}`,
    hint: "use the command line for large arguments: plugboard call",
  };
}

function refuse(reply: ServerResponse, { status, ...error }: ApiRefusal): void {
  send(reply, status, { error } satisfies ApiFailure);
}

/** What a request needs besides the gateway, such as a server or a secret, has failed. A proxy would repeat a 502. */
const FAILED_DEPENDENCY = 424;

/** 500 is for what is wrong here alone. */
const STATUS: Readonly<Record<ErrorCode, number>> = {
  INVALID_ARGUMENTS: 400,
  CONFIG_INVALID: 400,
  UNRESOLVED_VALUE: 400,
  REFUSED_BY_POLICY: 403,
  NOT_APPROVED: 403,
  CHANGED_TOOL: 403,
  UNTRUSTED: 403,
  REFUSED_ADDRESS: 403,
  UNKNOWN_TOOL: 404,
  UNKNOWN_SERVER: 404,
  UNKNOWN_RESOURCE: 404,
  UNKNOWN_PROMPT: 404,
  UNSUPPORTED: 409,
  CANCELLED: 409,
  RATE_LIMITED: 429,
  SECRET_UNAVAILABLE: FAILED_DEPENDENCY,
  SPAWN_FAILED: FAILED_DEPENDENCY,
  HANDSHAKE_FAILED: FAILED_DEPENDENCY,
  UNSUPPORTED_VERSION: FAILED_DEPENDENCY,
  SERVER_UNAVAILABLE: FAILED_DEPENDENCY,
  CONNECTION_CLOSED: FAILED_DEPENDENCY,
  MESSAGE_TOO_LARGE: FAILED_DEPENDENCY,
  PROTOCOL: FAILED_DEPENDENCY,
  NETWORK: FAILED_DEPENDENCY,
  SERVER_ERROR: FAILED_DEPENDENCY,
  HTTP_STATUS: FAILED_DEPENDENCY,
  NEEDS_AUTH: FAILED_DEPENDENCY,
  TIMEOUT: FAILED_DEPENDENCY,
  INVALID_RESULT: FAILED_DEPENDENCY,
  NO_MODEL: FAILED_DEPENDENCY,
  TOOL_FAILED: 500,
  SYSTEM_ERROR: 500,
};

function fail(reply: ServerResponse, error: unknown): void {
  if (reply.headersSent) return void reply.destroy();
  const { code, message, hint } = toPlugboardError(error, "SYSTEM_ERROR");
  send(reply, STATUS[code], { error: { code, message, hint } } satisfies ApiFailure);
}

function send(reply: ServerResponse, status: number, value: object): void {
  // What is left of a body that was not read to its end: the next request on this connection, perhaps of another client of a proxy,
  // would wait for it. Node does so itself only where nobody has begun to read.
  reply.req.resume();
  reply.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}
