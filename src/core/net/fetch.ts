// Guarded fetch, the only way to a URL: it checks every redirect against the policy, sends credentials only to
// the origin they are for, and limits size and time.

import { PlugboardError, quoting } from "../types/errors.ts";
import type { CallSignal } from "../../util/abort.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import type { Environment } from "../../util/environment.ts";
import { type BodyBound, openBody } from "./body.ts";
import {
  type Dispatchers,
  openDispatchers,
  type OutgoingRequest,
  type TlsMaterial,
} from "./dispatchers.ts";
import { Exchange } from "./exchange.ts";
import { networkFailure } from "./failure.ts";
import { incomingHeaders, outgoingHeaders } from "./headers.ts";
import { type Resolve, systemResolve } from "./lookup.ts";
import {
  addressRules,
  type AddressRules,
  isPublic,
  type NetworkPolicy,
  showUrl,
} from "./policy.ts";

interface GuardedRequest {
  method: "GET" | "POST" | "PUT" | "DELETE";
  headers?: Record<string, string>;
  /** Headers with credentials: sent only to the first origin. */
  privateHeaders?: Record<string, string>;
  body?: string;
  signal?: CallSignal;
  /** Milliseconds until the response's headers, redirects included. Default: no limit. */
  headersTimeout?: number;
  /** Milliseconds for the whole exchange, body included. Default: no limit, as streams need it. */
  deadline?: number;
  /** A redirect to another origin is refused before anything is asked there. Default: it is followed. */
  sameOrigin?: boolean;
  /** Decoded bytes of the whole response. Default: 64 MiB; a stream that runs for days needs Infinity. */
  maxBodyBytes?: number;
}

export interface GuardedResponse {
  status: number;
  /** Lower-case names, null prototype. */
  headers: Record<string, string>;
  /** The URL of the response, after redirects. */
  url: string;
  /** Decoded bytes, at most `maxBodyBytes`. Must be read or cancelled; can be read once, in pieces or as a text. */
  body: AsyncIterable<Buffer>;
  /** Without a byte order mark. Rejects with `bound.error()` once there are more than `bound.maxBytes`. */
  text(bound?: BodyBound): Promise<string>;
  cancel(): void;
}

/** Rejects with a PlugboardError, and so does the body if the exchange ends while it is read. */
export interface GuardedFetch {
  (url: string, request: GuardedRequest): Promise<GuardedResponse>;
  /** Ends every connection. Idempotent. */
  close(): Promise<void>;
}

export interface FetchOptions {
  policy: NetworkPolicy;
  /** PEM text. */
  tls?: TlsMaterial;
  /** The environment with the proxy variables. Default: the process's. */
  env?: Environment;
  clock?: Clock;
}

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const SAME_METHOD = new Set([307, 308]);
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Throws CONFIG_INVALID for a policy or TLS material that cannot be used. `resolve` is for tests. */
export function createFetch(
  { policy, tls = {}, env = process.env, clock = systemClock }: FetchOptions,
  resolve: Resolve = systemResolve,
): GuardedFetch {
  const rules = addressRules(policy);
  const dispatchers = openDispatchers(rules, tls, env, resolve);
  const running = new Set<Exchange>();
  /** Most requests go to the same address as the one before. */
  let last: { url: string; parsed: URL } | undefined;
  let closing: Promise<void> | undefined;

  function checked(url: string): URL {
    if (last?.url === url) return last.parsed;
    const parsed = parseUrl(url);
    checkConfigured(parsed, rules);
    last = { url, parsed };
    return parsed;
  }

  async function guardedFetch(url: string, request: GuardedRequest): Promise<GuardedResponse> {
    if (closing !== undefined) throw closed();
    const outgoing = outgoingHeaders(request.headers, request.privateHeaders);
    const first = checked(url);
    const exchange = new Exchange(first.host, request, clock, (ended) => running.delete(ended));
    if (exchange.failure !== undefined) throw exchange.failure;
    running.add(exchange);
    try {
      return await follow(first, request, outgoing, exchange, rules, dispatchers);
    } catch (error) {
      exchange.end();
      throw exchange.failure ?? networkFailure(error, first.host);
    }
  }

  function close(): Promise<void> {
    for (const exchange of running) exchange.fail(closed());
    closing ??= dispatchers.destroy();
    return closing;
  }

  return Object.assign(guardedFetch, { close });
}

/** `first` has been checked. */
async function follow(
  first: URL,
  request: GuardedRequest,
  outgoing: ReturnType<typeof outgoingHeaders>,
  exchange: Exchange,
  rules: AddressRules,
  dispatchers: Dispatchers,
): Promise<GuardedResponse> {
  const { method, body } = request;
  let url = first;
  // Once another origin has redirected, even a redirect back to the first origin gets no credentials.
  let isFirstOrigin = true;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const isConfigured = url.host === first.host;
    const { statusCode, ...received } = await send(url, isConfigured, dispatchers, {
      method,
      headers: isFirstOrigin ? outgoing.own : outgoing.foreign,
      body,
      signal: exchange.signal,
      identify: isFirstOrigin,
    });
    const headers = incomingHeaders(received.headers as unknown as string[]);
    // Destroying an unread body emits an error event.
    received.body.on("error", () => {});
    try {
      const target = redirectTarget(method, url, { status: statusCode, headers });
      if (target === undefined) {
        exchange.headersArrived();
        return response(statusCode, headers, url, received.body, request, exchange);
      }
      checkRedirect(target, url, rules);
      if (request.sameOrigin && target.origin !== first.origin) {
        const message = `${first.host} redirects to another host, which is not asked in its place`;
        throw new PlugboardError("PROTOCOL", message, { quote: "" });
      }
      isFirstOrigin &&= target.origin === first.origin;
      url = target;
    } catch (error) {
      received.body.destroy();
      throw error;
    }
    received.body.destroy();
  }
  const message = `${first.host} redirects more than ${MAX_REDIRECTS} times`;
  throw new PlugboardError("PROTOCOL", message, { quote: "" });
}

/** The address is the host's own words, not a server's. */
function checkConfigured(url: URL, rules: AddressRules): void {
  try {
    rules.checkUrl(url);
  } catch (error) {
    throw error instanceof PlugboardError ? quoting(error, "") : error;
  }
}

function checkRedirect(to: URL, from: URL, rules: AddressRules): void {
  try {
    rules.checkUrl(to, from);
  } catch (error) {
    throw error instanceof PlugboardError ? chosenByServer(error) : error;
  }
}

/** An error about an address that is not configured. Nobody is told how to allow what a server has chosen. */
function chosenByServer(error: PlugboardError, quote?: string): PlugboardError {
  const { code, message, cause, permanent } = error;
  return new PlugboardError(code, message, { cause, permanent, quote });
}

/**
 * The URL to request next, or undefined if the response is not a redirect. Throws for a redirect that the
 * request must not follow. The address itself is not checked here.
 */
export function redirectTarget(
  method: string,
  from: URL,
  { status, headers }: Pick<GuardedResponse, "status" | "headers">,
): URL | undefined {
  const location = headers["location"];
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  if (!URL.canParse(location, from.href)) {
    throw new PlugboardError(
      "PROTOCOL",
      `${from.host} redirects (${status}) to something that is not a URL`,
    );
  }
  const to = new URL(location, from.href);
  if (method !== "GET" && !(SAME_METHOD.has(status) && to.origin === from.origin)) {
    const quote = showUrl(to);
    throw new PlugboardError(
      "REFUSED_ADDRESS",
      `the server has moved (${status}) to ${quote}, and a ${method} request does not follow`,
      { quote, hint: movedHint(from, to), isHintForServer: true, permanent: true },
    );
  }
  return to;
}

/** No advice to use an address that a server could only gain from: on this machine, in this network, not https. */
function movedHint(from: URL, to: URL): string | undefined {
  if (to.origin === from.origin) return 'set "url" to the new path';
  return isPublic(to) ? 'if you trust the new address, set "url" to it' : undefined;
}

/** Unless the host is the configured one, a server has chosen its name. */
async function send(
  url: URL,
  isConfigured: boolean,
  dispatchers: Dispatchers,
  request: OutgoingRequest,
) {
  try {
    return await dispatchers.send(url, request);
  } catch (error) {
    const failure = networkFailure(error, url.host, dispatchers.proxyHost(url));
    throw isConfigured ? quoting(failure, "") : chosenByServer(failure, url.host);
  }
}

function response(
  status: number,
  headers: Record<string, string>,
  url: URL,
  source: Parameters<typeof openBody>[0],
  { maxBodyBytes = MAX_BODY_BYTES }: GuardedRequest,
  exchange: Exchange,
): GuardedResponse {
  const { pieces, text } = openBody(source, {
    host: url.host,
    // Some servers label an empty body as gzip, which does not decode.
    encoding: isEmpty(status, headers) ? undefined : headers["content-encoding"],
    maxBytes: maxBodyBytes,
    exchange,
  });
  return {
    status,
    headers,
    url: url.href,
    body: pieces,
    text,
    cancel: () => exchange.fail(new PlugboardError("CANCELLED", "the response was cancelled")),
  };
}

function isEmpty(status: number, headers: Record<string, string>): boolean {
  return status === 204 || status === 304 || headers["content-length"] === "0";
}

function parseUrl(url: string): URL {
  if (URL.canParse(url)) return new URL(url);
  throw new PlugboardError("REFUSED_ADDRESS", "the address is not a URL", {
    quote: "",
    hint: 'write it like "https://example.com/mcp"',
    permanent: true,
  });
}

function closed(): PlugboardError {
  return new PlugboardError("CONNECTION_CLOSED", "the connection was closed by Plugboard");
}
