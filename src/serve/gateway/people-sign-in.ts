// Where people sign in to servers for themselves: a page that asks who they are, and the redirects of their provider and of
// the server's. What has begun is sealed into a cookie of the browser that began it, so that any replica goes on with it; it
// works once, and ends after ten minutes. A link never says who signs in, so that nobody can sign in for somebody else: the
// browser shows who it is.

import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { JWTPayload } from "jose";
import { signInsOf } from "../../core/board/board.ts";
import { type Caller, tokenOf } from "../../core/types/caller.ts";
import { PlugboardError, toPlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../core/types/json.ts";
import type { JwtRight } from "../../core/types/gateway-settings.ts";
import type { Logger } from "../../core/types/logger.ts";
import { describeSignOut } from "../../core/types/authorization.ts";
import type { SharedState } from "../../core/types/shared-state.ts";
import type { Clock } from "../../util/clock.ts";
import { isSameSecret } from "../../util/same-secret.ts";
import { capitalised, oneLine } from "../../util/text.ts";
import { pathOf } from "../endpoint/http/request-source.ts";
import type { Sealer } from "../endpoint/sealed.ts";
import type { Access } from "./access/access.ts";
import { subjectCaller } from "./access/caller-label.ts";
import { clientAddress } from "./access/client-address.ts";
import type { Provider } from "./access/provider.ts";
import type { AdmittedCaller } from "./access/admission.ts";
import { RequestRate } from "./access/request-rate.ts";
import { fittingRights, policyIn, rightFor, withheldClaim } from "./access/rights.ts";
import type { GatewayAgents } from "./agents.ts";
import { cookieIn } from "./page/visitors.ts";
import type { Route } from "./gateway.ts";

/** How long somebody may take elsewhere. */
const SIGN_IN_MS = 10 * 60_000;
/** From one address in a minute: each asks a provider something. */
const MOST_A_MINUTE = 600;
const BYTES = 24;
const MOST_BODY_BYTES = 32 * 1024;
const LONGEST_COOKIE = 16 * 1024;
const PURPOSE = "server sign-in";
const PATH = "/sign-in";
const CALLBACK = `${PATH}/callback`;
const IDENTITY = `${PATH}/identity`;
/** Part of a cookie's name, so that two sign-ins of one browser do not meet. */
const ID_LENGTH = 12;

export interface PeopleSignInOptions {
  /** What people call the gateway. */
  url: () => string;
  agents: Pick<GatewayAgents, "find">;
  access: Pick<Access, "admit">;
  behindProxy: boolean;
  /** The provider of people, if there is one, and the issuer of their tokens. Never rejects. */
  provider: Promise<Provider | undefined> | undefined;
  issuer: string | undefined;
  /** What its people may do, by their claims. Undefined: whoever it knows is let in. */
  rights: readonly JwtRight[] | undefined;
  sealer: Sealer;
  state: Pick<SharedState, "sessions" | "tokens" | "changes">;
  clock: Clock;
  random: (bytes: number) => Buffer;
  logger: Logger;
}

/** What somebody wants to do, and where. */
interface Wish {
  agent: string;
  server: string;
  isOut: boolean;
}

export function isSignInPath(path: string): boolean {
  return path.startsWith(`${PATH}/`);
}

export function signInPath(agent: string, server: string): string {
  return `${PATH}/${encodeURIComponent(agent)}/${encodeURIComponent(server)}`;
}

export class PeopleSignIn {
  /** For the gateway's open routes. */
  readonly routes: ReadonlyMap<string, Route>;
  readonly #options: PeopleSignInOptions;
  readonly #rate: RequestRate;

  constructor(options: PeopleSignInOptions) {
    this.#options = options;
    this.#rate = new RequestRate(options.clock);
    this.routes = new Map([[`${PATH}/`, (request, reply) => this.#answer(request, reply)]]);
  }

  async #answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    try {
      await this.#route(request, reply);
    } catch (error) {
      const { message, hint } = toPlugboardError(error, "SYSTEM_ERROR");
      const words = [message, ...(hint === undefined ? [] : [inBrowser(hint)])];
      const sentences = words.map((each) => paragraph(`${capitalised(each)}.`));
      show(reply, 400, "You are not signed in", sentences.join("\n"));
    }
  }

  async #route(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const path = pathOf(request);
    const isGet = request.method === "GET";
    if (isGet && path === CALLBACK) return this.#finish(request, reply);
    if (isGet && path === IDENTITY) return this.#identified(request, reply);
    const server = serverIn(path);
    if (server === undefined) {
      return show(reply, 404, "There is nothing here", paragraph("Check the address."));
    }
    if (isGet) return this.#ask(server, reply);
    if (request.method !== "POST") return void reply.writeHead(405, { Allow: "GET, POST" }).end();
    this.#requireOwnForm(request);
    this.#count(request);
    const form = new URLSearchParams(await bodyOf(request));
    const wish = { ...server, isOut: form.get("do") === "out" };
    const token = form.get("token")?.trim() ?? "";
    if (token === "") return this.#identify(wish, reply);
    const admitted = await this.#admit(request, token, wish.agent);
    await this.#go(wish, admitted, reply);
  }

  /** Anybody may see this: it does not tell whether there is such a server. */
  async #ask({ agent, server }: Omit<Wish, "isOut">, reply: ServerResponse): Promise<void> {
    const provider = await this.#options.provider;
    const ways = [
      ...(provider === undefined
        ? []
        : [
            `<form method="post">
<p>Say who you are to the gateway first.</p>
<button>Continue with ${escaped(provider.name)}</button>
<button name="do" value="out">Sign out of ${escaped(server)}</button>
</form>`,
          ]),
      `<form method="post" autocomplete="off">
<p><label>Your token for this gateway<br><input type="password" name="token" required></label></p>
<button>Continue with the token</button>
<button name="do" value="out">Sign out of ${escaped(server)}</button>
</form>`,
    ];
    const explained = paragraph(
      `The programs that you use with this gateway (agent ${agent}) will act as you on ${server}. Nobody else's will.`,
    );
    show(reply, 200, `Sign in to ${server}`, [explained, ...ways].join("\n"));
  }

  async #admit(request: IncomingMessage, token: string, agent: string): Promise<AdmittedCaller> {
    const { access } = this.#options;
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    const asClient = Object.create(request, { headers: { value: headers } }) as IncomingMessage;
    const admission = await access.admit(asClient, agent);
    if (admission.isAdmitted) return admission;
    throw new PlugboardError("NOT_APPROVED", "the gateway does not take this token", {
      hint: "it is wrong, has expired, was revoked, or is for another agent",
    });
  }

  /** Sends the browser to the provider. */
  async #identify(wish: Wish, reply: ServerResponse): Promise<void> {
    const provider = await this.#options.provider;
    if (provider === undefined)
      throw new PlugboardError("INVALID_ARGUMENTS", "the token is missing");
    const [state, nonce, verifier] = [this.#text(), this.#text(), this.#text()];
    const url = await provider.begin({
      redirectUri: `${this.#options.url()}${IDENTITY}`,
      state,
      nonce,
      challenge: hash("sha256", verifier, "base64url"),
    });
    this.#remember(state, { ...wish, nonce, verifier }, reply);
    lead(reply, url);
  }

  /** The provider has sent the browser back. */
  async #identified(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { issuer } = this.#options;
    const provider = await this.#options.provider;
    const answer = answerIn(request);
    const { value: begun, forget } = await this.#recall(answer.get("state"), request);
    const { nonce, verifier } = begun;
    const code = answer.get("code");
    if (provider === undefined || issuer === undefined) throw notBegun();
    if (typeof nonce !== "string" || typeof verifier !== "string") throw notBegun();
    if (code === null) {
      throw new PlugboardError("NOT_APPROVED", `${provider.name} did not say who you are`, {
        hint: "sign in again",
      });
    }
    const from = answer.get("iss");
    const claims = await provider.finish({
      code,
      redirectUri: `${this.#options.url()}${IDENTITY}`,
      verifier,
      nonce,
      ...(from !== null && { from }),
    });
    reply.appendHeader("Set-Cookie", forget);
    const wish = wishIn(begun);
    await this.#go(wish, this.#admittedBy(claims, issuer, wish.agent), reply);
  }

  /** Throws REFUSED_BY_POLICY for whom the agent would refuse. */
  #admittedBy(claims: JWTPayload, issuer: string, agent: string): AdmittedCaller {
    const { rights, clock } = this.#options;
    const caller = subjectCaller(issuer, claims.sub ?? "");
    const admitted = { caller, signedIn: { as: caller.id, at: clock.now() } };
    if (rights === undefined) return admitted;
    const found = rightFor(agent, fittingRights(claims, issuer, rights));
    if (found.kind === "withheld") {
      throw new PlugboardError("REFUSED_BY_POLICY", withheldClaim(found.claim));
    }
    if (found.kind === "none") throw hasNoRight(agent);
    const policy = policyIn(found.right, agent);
    return { ...admitted, ...(policy && { policy }) };
  }

  /** Throws NOT_APPROVED once somebody was signed out of the gateway. */
  #requireSignedIn({ signedIn }: Pick<AdmittedCaller, "signedIn">): void {
    const { tokens } = this.#options.state;
    if (signedIn === undefined || signedIn.at > tokens.signedOutUntil(signedIn.as)) return;
    throw new PlugboardError("NOT_APPROVED", "you were signed out of this gateway", {
      hint: "begin again",
    });
  }

  async #go(
    { agent: id, server, isOut }: Wish,
    admitted: AdmittedCaller,
    reply: ServerResponse,
  ): Promise<void> {
    const { url, logger } = this.#options;
    this.#requireSignedIn(admitted);
    const { board, release } = await this.#boardOf(id, server, admitted);
    const { caller, signedIn } = admitted;
    try {
      if (isOut) {
        const outcome = await signInsOf(board).end(server);
        logger.info("signed out", { server, agent: id, caller: caller.label });
        return show(
          reply,
          200,
          "Done",
          paragraph(`${capitalised(describeSignOut(server, outcome))}.`),
        );
      }
      const state = this.#text();
      const back = { redirectUri: `${url()}${CALLBACK}`, state };
      const { url: page, begun } = await signInsOf(board).begin(server, back);
      this.#remember(
        state,
        {
          agent: id,
          server,
          isOut,
          caller: { ...caller },
          ...(signedIn && { at: signedIn.at }),
          begun: { ...begun },
        },
        reply,
      );
      lead(reply, page);
    } finally {
      release();
    }
  }

  /** The server's authorization server has sent the browser back. */
  async #finish(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { logger } = this.#options;
    const answer = answerIn(request);
    const { value, forget } = await this.#recall(answer.get("state"), request);
    const { agent: id, server } = wishIn(value);
    const caller = callerIn(value["caller"]);
    const begun = begunIn(value["begun"]);
    if (caller === undefined || begun === undefined) throw notBegun();
    const { at } = value;
    const admitted = this.#admittedNow(caller);
    this.#requireSignedIn(typeof at === "number" ? { signedIn: { as: caller.id, at } } : {});
    const { board, release } = await this.#boardOf(id, server, admitted);
    try {
      const { state: now } = await signInsOf(board).finish(server, begun, answer);
      reply.appendHeader("Set-Cookie", forget);
      logger.info("signed in", { server, agent: id, caller: caller.label });
      const next =
        now.kind === "ready"
          ? "Your programs have its tools now. You can close this page."
          : `But the server cannot be used now: it is ${now.kind}.`;
      const words = [`You, ${caller.label}, are signed in.`, next];
      show(reply, 200, `Signed in to ${server}`, words.map(paragraph).join("\n"));
    } finally {
      release();
    }
  }

  /** What a person who was let in a few minutes ago may do now. */
  #admittedNow(caller: Caller): AdmittedCaller {
    const id = tokenOf(caller.id);
    if (id === undefined) return { caller };
    const token = this.#options.state.tokens.current(id);
    if (token === undefined) throw new PlugboardError("NOT_APPROVED", "your token was revoked");
    const { policy } = token;
    return { caller, ...(policy !== undefined && { policy }) };
  }

  async #boardOf(
    id: string,
    server: string,
    admitted: AdmittedCaller,
  ): ReturnType<NonNullable<Awaited<ReturnType<GatewayAgents["find"]>>>["signInBoard"]> {
    const agent = await this.#options.agents.find(id);
    if (agent?.isSignedInTo(server) !== true) throw noSignIn(server);
    const used = await agent.signInBoard(admitted);
    // It does not tell whoever may use nothing of the server that there is one.
    if (used.board.status().some(({ name }) => name === server)) return used;
    used.release();
    throw noSignIn(server);
  }

  /** In a cookie of the browser. */
  #remember(state: string, value: JsonObject, reply: ServerResponse): void {
    const { sealer, clock, url } = this.#options;
    const until = clock.now() + SIGN_IN_MS;
    const sealed = sealer.seal(PURPOSE, { ...value, state, until, gateway: url() });
    reply.appendHeader("Set-Cookie", this.#cookie(state, sealed, SIGN_IN_MS / 1000));
  }

  /** Rejects for whoever did not begin it. It works once, whatever comes of it. */
  async #recall(
    state: string | null,
    request: IncomingMessage,
  ): Promise<{ value: JsonObject; forget: string }> {
    const { sealer, clock, url, state: shared } = this.#options;
    if (state === null || !/^[\w-]{20,100}$/.test(state)) throw notBegun();
    const sealed = cookieIn(request, this.#cookieName(state), LONGEST_COOKIE);
    const value = sealed === undefined ? undefined : sealer.open(PURPOSE, sealed);
    const { until, state: begun, gateway } = value ?? {};
    if (value === undefined || gateway !== url() || !isSameSecret(begun, state)) throw notBegun();
    if (typeof until !== "number" || until <= clock.now()) throw notBegun();
    this.#count(request);
    // Shared, so that of two requests at once, even at two gateways, one goes on.
    if (!(await shared.sessions.claim(state, until))) throw notBegun();
    return { value, forget: this.#cookie(state, "", 0) };
  }

  #cookieName(state: string): string {
    const { protocol, port } = new URL(this.#options.url());
    const id = state.slice(0, ID_LENGTH);
    // Cookies do not know ports.
    return protocol === "https:"
      ? `__Host-plugboard-sign-in-${id}`
      : `plugboard-sign-in-${port || "80"}-${id}`;
  }

  /** Lax: the browser comes back from another site. */
  #cookie(state: string, value: string, maxAge: number): string {
    const isTls = this.#options.url().startsWith("https:");
    const place = isTls ? "Path=/; Secure" : `Path=${PATH}`;
    return `${this.#cookieName(state)}=${value}; ${place}; HttpOnly; SameSite=Lax; Max-Age=${maxAge}`;
  }

  #text(): string {
    return this.#options.random(BYTES).toString("base64url");
  }

  /** A page of another site could send this form with a token of its own, and the visitor would sign in for that token's owner. */
  #requireOwnForm({ headers }: IncomingMessage): void {
    const { origin, "sec-fetch-site": site } = headers;
    const isOwn =
      site === undefined ? origin === new URL(this.#options.url()).origin : site === "same-origin";
    if (!isOwn) throw new PlugboardError("NOT_APPROVED", "another page has sent this form");
  }

  #count(request: IncomingMessage): void {
    const address = clientAddress(request, this.#options.behindProxy);
    if (this.#rate.take(address, MOST_A_MINUTE) === 0) return;
    throw new PlugboardError("RATE_LIMITED", "too many sign-ins; wait a moment");
  }
}

/** `/sign-in/default/github` */
function serverIn(path: string): Omit<Wish, "isOut"> | undefined {
  const [, agent, server] = /^\/sign-in\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  try {
    const names = [decodeURIComponent(agent ?? ""), decodeURIComponent(server ?? "")];
    // The page shows these names, so they must not hold sentences of whoever made the link.
    if (names.some((name) => !/^[\w.-]{1,100}$/.test(name))) return undefined;
    return { agent: names[0] ?? "", server: names[1] ?? "" };
  } catch {
    return undefined;
  }
}

function answerIn({ url = "/" }: IncomingMessage): URLSearchParams {
  return new URL(url, "http://127.0.0.1").searchParams;
}

function wishIn({ agent, server, isOut }: JsonObject): Wish {
  if (typeof agent !== "string" || typeof server !== "string") throw notBegun();
  return { agent, server, isOut: isOut === true };
}

function callerIn(value: unknown): Caller | undefined {
  const { id, label } = objectIn(value);
  return typeof id === "string" && typeof label === "string" ? { id, label } : undefined;
}

type Begun = Parameters<ReturnType<typeof signInsOf>["finish"]>[1];

/** It was sealed by a gateway, which may be of another version. */
function begunIn(value: unknown): Begun | undefined {
  if (!isJsonObject(value)) return undefined;
  const { issuer, redirectUri, state, codeVerifier, scope } = value;
  const texts = [issuer, redirectUri, state, codeVerifier];
  return texts.every((each) => typeof each === "string") &&
    (scope === undefined || typeof scope === "string")
    ? (value as unknown as Begun)
    : undefined;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_BODY_BYTES) throw new PlugboardError("INVALID_ARGUMENTS", "that is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Whoever reads this has no shell on the gateway's machine. */
function inBrowser(hint: string): string {
  const rest = hint.replace(/(?:, )?(?:then )?run: plugboard login .*$/s, "");
  return rest === "" ? "begin again with the address that your program gave you" : rest;
}

function noSignIn(server: string): PlugboardError {
  return new PlugboardError("UNKNOWN_SERVER", `nobody signs in to '${server}' here`, {
    hint: "check the address",
  });
}

function hasNoRight(agent: string): PlugboardError {
  const message = `nothing that the provider says of you gives a right to the agent '${agent}'`;
  return new PlugboardError("REFUSED_BY_POLICY", message, {
    hint: "continue with the token of your program if that does; whoever runs this gateway says in gateway.jwt.rights what does",
  });
}

function notBegun(): PlugboardError {
  return new PlugboardError("NOT_APPROVED", "this browser did not begin this sign-in", {
    hint: "it was finished already, or took longer than ten minutes: begin again",
  });
}

const STYLE =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}button,input{font:inherit;padding:.4rem .8rem;margin:.2rem .4rem .2rem 0}";

const HEADERS = {
  "Content-Security-Policy": [
    "default-src 'none'",
    `style-src 'sha256-${hash("sha256", STYLE, "base64")}'`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; "),
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  // With no-referrer, a browser would not say that the form is ours.
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
} as const;

/** `body` is HTML. */
function show(reply: ServerResponse, status: number, title: string, body: string, head = ""): void {
  if (reply.headersSent) return void reply.destroy();
  const heading = escaped(oneLine(title, 200));
  reply.writeHead(status, HEADERS).end(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${heading}</title>
<meta name="viewport" content="width=device-width">${head}<style>${STYLE}</style></head>
<body><h1>${heading}</h1>
${body}
</body></html>
`);
}

/** Not a redirect: a browser would take it for a part of the form, which may lead nowhere else. */
function lead(reply: ServerResponse, url: string): void {
  const target = escaped(url);
  const { host } = new URL(url);
  const head = `<meta http-equiv="refresh" content="0;url=${target}">`;
  const link = `<p><a href="${target}" rel="noreferrer">Go on to ${escaped(host)}</a></p>`;
  show(reply, 200, `Sign in at ${host}`, link, head);
}

function paragraph(text: string): string {
  return `<p>${escaped(oneLine(text, 1000))}</p>`;
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
