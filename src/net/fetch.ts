// Guarded fetch, the only way to a URL: every hop is held against the policy, credentials stay with the
// origin they were meant for, and size and time have an end.

import { PlugboardError } from "../model/errors.ts";
import { systemClock } from "../util/clock.ts";
import type { Clock } from "../util/clock.ts";
import { readBody } from "./body.ts";
import { openDispatchers } from "./dispatchers.ts";
import type { Dispatchers, Sending, TlsMaterial } from "./dispatchers.ts";
import { Exchange } from "./exchange.ts";
import { networkFailure } from "./failure.ts";
import { incomingHeaders, outgoingHeaders } from "./headers.ts";
import { systemResolve } from "./lookup.ts";
import type { Resolve } from "./lookup.ts";
import { addressRules } from "./policy.ts";
import type { AddressRules, NetworkPolicy } from "./policy.ts";
import type { ProxyEnv } from "./proxy.ts";
import { redirectTarget } from "./redirect.ts";

interface GuardedRequest {
  method: "GET" | "POST" | "DELETE";
  headers?: Record<string, string>;
  /** Headers with credentials: sent to the first origin alone. */
  privateHeaders?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
  /** Milliseconds until the response's headers, redirects included; undefined for no limit of its own. */
  headersTimeout?: number;
  /** Milliseconds for the whole exchange, body included; undefined for streams. */
  deadline?: number;
  /** Of decoded bytes, over the whole response: a stream that goes on for days wants Infinity. Default 64 MiB. */
  maxBodyBytes?: number;
}

export interface GuardedResponse {
  status: number;
  /** Lower-case names, null prototype. */
  headers: Record<string, string>;
  /** Where the answer came from in the end. */
  url: string;
  /** Decoded bytes, capped; must be consumed or cancelled. It can be read once. */
  body: AsyncIterable<Buffer>;
  text(): Promise<string>;
  cancel(): void;
}

/** Rejects with a PlugboardError; so does the body, when the exchange ends while it is read. */
export interface GuardedFetch {
  (url: string, request: GuardedRequest): Promise<GuardedResponse>;
  /** Ends every connection, idempotent. */
  close(): Promise<void>;
}

export interface FetchOptions {
  policy: NetworkPolicy;
  /** PEM text. */
  tls?: TlsMaterial;
  /** Where the proxy variables come from. Default: the process's. */
  env?: ProxyEnv;
  clock?: Clock;
}

const MAX_REDIRECTS = 5;
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Throws CONFIG_INVALID for a policy or TLS material that cannot be used. `resolve` is for tests. */
export function createFetch(
  { policy, tls = {}, env = process.env, clock = systemClock }: FetchOptions,
  resolve: Resolve = systemResolve,
): GuardedFetch {
  const rules = addressRules(policy);
  const dispatchers = openDispatchers(rules, tls, env, resolve);
  const running = new Set<Exchange>();
  let closing: Promise<void> | undefined;

  async function guardedFetch(url: string, request: GuardedRequest): Promise<GuardedResponse> {
    if (closing !== undefined) throw closed();
    const first = parseUrl(url);
    const exchange = new Exchange(first.host, request, clock, (ended) => running.delete(ended));
    if (exchange.failure !== undefined) throw exchange.failure;
    running.add(exchange);
    try {
      return await follow(first, request, exchange, rules, dispatchers);
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

async function follow(
  first: URL,
  request: GuardedRequest,
  exchange: Exchange,
  rules: AddressRules,
  dispatchers: Dispatchers,
): Promise<GuardedResponse> {
  const { method, body } = request;
  const outgoing = outgoingHeaders(request.headers, request.privateHeaders);
  let url = first;
  // Once another origin has had a say in where to go, the way back is no longer the caller's choice.
  let atHome = true;
  rules.checkUrl(url);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const { statusCode, ...received } = await send(url, dispatchers, {
      method,
      headers: atHome ? outgoing.own : outgoing.foreign,
      body,
      signal: exchange.signal,
      identify: atHome,
    });
    const headers = incomingHeaders(received.headers as unknown as string[]);
    // Destroying a body that nobody reads is an error event.
    received.body.on("error", () => {});
    try {
      const target = redirectTarget(method, url, { status: statusCode, headers });
      if (target === undefined) {
        exchange.headersArrived();
        return response(statusCode, headers, url, received.body, request, exchange);
      }
      rules.checkUrl(target, url);
      atHome &&= target.origin === first.origin;
      url = target;
    } catch (error) {
      received.body.destroy();
      throw error;
    }
    received.body.destroy();
  }
  throw new PlugboardError("PROTOCOL", `${first.host} redirects more than ${MAX_REDIRECTS} times`);
}

async function send(url: URL, dispatchers: Dispatchers, sending: Sending) {
  try {
    return await dispatchers.send(url, sending);
  } catch (error) {
    throw networkFailure(error, url.host, dispatchers.proxyHost(url));
  }
}

function response(
  status: number,
  headers: Record<string, string>,
  url: URL,
  source: Parameters<typeof readBody>[0],
  { maxBodyBytes = MAX_BODY_BYTES }: GuardedRequest,
  exchange: Exchange,
): GuardedResponse {
  const body = readBody(source, {
    host: url.host,
    // Nothing at all is not valid gzip, but some servers label it so.
    encoding: isEmpty(status, headers) ? undefined : headers["content-encoding"],
    maxBytes: maxBodyBytes,
    exchange,
  });
  return {
    status,
    headers,
    url: url.href,
    body,
    async text() {
      const chunks: Buffer[] = [];
      for await (const chunk of body) chunks.push(chunk);
      return new TextDecoder().decode(Buffer.concat(chunks));
    },
    cancel: () => exchange.fail(new PlugboardError("CANCELLED", "the response was cancelled")),
  };
}

function isEmpty(status: number, headers: Record<string, string>): boolean {
  return status === 204 || status === 304 || headers["content-length"] === "0";
}

function parseUrl(url: string): URL {
  if (URL.canParse(url)) return new URL(url);
  throw new PlugboardError("REFUSED_ADDRESS", "the address is not a URL", {
    hint: 'Write it like "https://example.com/mcp".',
    permanent: true,
  });
}

function closed(): PlugboardError {
  return new PlugboardError("CONNECTION_CLOSED", "the connection was closed by Plugboard");
}
