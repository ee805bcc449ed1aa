// The connections of one guarded fetch. Only this file uses the HTTP client.

// For whoever compiles this file without the others.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./undici-parts.d.ts" />

import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Dispatcher } from "undici";
// Only the parts that we need: the package as a whole loads four times as much, such as fetch, WebSockets and caches.
import api from "undici/lib/api/index.js";
import Agent from "undici/lib/dispatcher/agent.js";
import BaseDispatcher from "undici/lib/dispatcher/dispatcher.js";
import ProxyAgent from "undici/lib/dispatcher/proxy-agent.js";
import type { LightSignal } from "../../util/abort.ts";
import { PlugboardError } from "../types/errors.ts";
import { guardedLookup, type Resolve } from "./lookup.ts";
import type { AddressRules } from "./policy.ts";
import { proxyFor } from "./proxy.ts";
import type { Environment } from "../../util/environment.ts";

// As the package itself does: `request` for us, and `connect` for its ProxyAgent.
Object.assign(BaseDispatcher.prototype, api);

/** PEM text. */
export interface TlsMaterial {
  ca?: string;
  cert?: string;
  key?: string;
}

export interface OutgoingRequest {
  method: Dispatcher.HttpMethod;
  headers: Record<string, string>;
  body: string | undefined;
  signal: LightSignal;
  /** Whether to present the client certificate: only to the origin that the caller asked for. */
  identify: boolean;
}

export interface Dispatchers {
  /** Sends to exactly this URL. The headers of the response are name, value, name, value …. */
  send(url: URL, request: OutgoingRequest): Promise<Dispatcher.ResponseData>;
  /** The host of the proxy for this URL. */
  proxyHost(url: URL): string | undefined;
  destroy(): Promise<void>;
}

const CONNECT_TIMEOUT = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;

/** HTTP/1.1 without pipelining. No timeouts, because the exchange has its own. */
const SETTINGS = {
  pipelining: 1,
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: MAX_HEADER_BYTES,
  allowH2: false,
} as const;

// Set explicitly, because an environment variable can turn this check off for the whole process.
const CONNECT = { timeout: CONNECT_TIMEOUT, rejectUnauthorized: true } as const;

/** Throws CONFIG_INVALID for TLS material that cannot be used. */
export function openDispatchers(
  rules: AddressRules,
  tls: TlsMaterial,
  env: Environment,
  resolve: Resolve,
): Dispatchers {
  checkMaterial(tls);
  const lookup = guardedLookup(rules, resolve);
  const open = new Map<string, Dispatcher>();

  function dispatcherFor(url: URL, identify: boolean): Dispatcher {
    const proxy = proxyFor(url, env);
    const key = `${identify ? "own" : "foreign"} ${proxy?.href ?? "direct"}`;
    const known = open.get(key);
    if (known !== undefined) return known;
    const connect = { ...CONNECT, ...(identify ? tls : { ca: tls.ca }) };
    const created =
      proxy === undefined
        ? new Agent({ ...SETTINGS, connect: { ...connect, lookup } })
        : new ProxyAgent({
            ...SETTINGS,
            uri: proxy.href,
            requestTls: connect,
            proxyTls: CONNECT,
            proxyTunnel: false,
          });
    open.set(key, created);
    return created;
  }

  return {
    // Async, so that an error thrown by the client becomes a rejection.
    async send(url, { method, headers, body, signal, identify }) {
      return dispatcherFor(url, identify).request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        // A copy, because the client adds headers for a proxy.
        headers: { ...headers },
        body: body ?? null,
        // The client uses no more of a signal than this one has: `aborted`, `reason` and the listeners.
        signal,
        // Repeated here, because a ProxyAgent opens its client without the settings.
        headersTimeout: 0,
        bodyTimeout: 0,
        responseHeaders: "raw",
      });
    },
    proxyHost: (url) => proxyFor(url, env)?.host,
    async destroy() {
      await Promise.all([...open.values()].map((dispatcher) => dispatcher.destroy()));
      open.clear();
    },
  };
}

function checkMaterial(tls: TlsMaterial): void {
  try {
    createSecureContext(tls);
    // The secure context ignores a CA that it cannot read.
    if (tls.ca !== undefined) certificatesIn(tls.ca).forEach((pem) => new X509Certificate(pem));
  } catch (cause) {
    throw new PlugboardError("CONFIG_INVALID", "tls: the certificates or the key cannot be read", {
      cause,
      hint: "they must be PEM, and the key must belong to the certificate",
      permanent: true,
    });
  }
}

/** A text without certificates is returned as it is, so that parsing it fails. */
function certificatesIn(pem: string): string[] {
  return pem.match(/-----BEGIN [^-]+-----[^-]*-----END [^-]+-----/g) ?? [pem];
}
