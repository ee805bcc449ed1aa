// Where a request comes from, as far as its headers tell: refuses requests that a web page makes in the background,
// and requests under a name that is not this server's (DNS rebinding).

import type { IncomingMessage } from "node:http";
import type { GatewaySettings } from "../../../core/types/gateway-settings.ts";
import { parseAddress } from "../../../core/net/address.ts";
import { plainHost } from "../../../core/net/host-list.ts";
import { isLocal } from "../../../core/net/policy.ts";
import { type Refusal, refusal } from "./refusal.ts";

type SourceSettings = Pick<
  GatewaySettings,
  "host" | "publicUrl" | "allowedHosts" | "allowedOrigins"
>;

/** What those are told who are refused. */
export interface SourceRefusals {
  /** The request is for a name that is not this server's. */
  host: string;
  /** A web page of an origin that is not allowed made it. */
  origin: string;
  /** A web page made it, which did not say its origin. */
  site: string;
}

/** A request with two of them could mean one thing here and another in something between the client and here. */
const ONCE: ReadonlyMap<string, number> = new Map([
  ["host", 1],
  ["origin", 2],
  ["authorization", 4],
  ["sec-fetch-site", 8],
]);

const HOST = /^(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i;
const LONGEST_HOST = 300;

/** Sent to browsers, which otherwise hide them from the page. */
const EXPOSED = "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After";
const PREFLIGHT_SECONDS = "600";

/** The path of a request, without its query. */
export function pathOf({ url = "/" }: IncomingMessage): string {
  const end = url.indexOf("?");
  return end === -1 ? url : url.slice(0, end);
}

export class RequestSource {
  readonly #hosts = new Set<string>();
  readonly #suffixes: string[] = [];
  readonly #origins: ReadonlySet<string>;
  /** The last one that was allowed: nearly all requests have the same. */
  #lastHost: string | undefined;
  /** Requests are checked when they come in, and right after that when their token is. */
  #lastPassed: IncomingMessage | undefined;
  readonly #refusals: SourceRefusals;

  constructor(settings: SourceSettings, refusals: SourceRefusals) {
    const { host, publicUrl, allowedHosts, allowedOrigins } = settings;
    this.#refusals = refusals;
    const urls = publicUrl === undefined ? [] : [new URL(publicUrl)];
    for (const entry of [host, ...urls.map((url) => url.host), ...allowedHosts]) {
      const plain = entry.toLowerCase();
      if (plain.startsWith("*.")) this.#suffixes.push(plain.slice(1));
      else this.#hosts.add(plainHost(plain));
    }
    this.#origins = new Set([...allowedOrigins, ...urls.map(({ origin }) => origin)]);
  }

  /**
   * For every route, the open ones too. `isDocument`: a link on another site may lead here, since what is here is the same
   * for everybody and does nothing.
   */
  check(request: IncomingMessage, isDocument = false): Refusal | undefined {
    if (request === this.#lastPassed) return undefined;
    const refused = this.#refusalOf(request, isDocument);
    if (refused === undefined) this.#lastPassed = request;
    return refused;
  }

  #refusalOf(request: IncomingMessage, isDocument: boolean): Refusal | undefined {
    const twice = repeatedHeader(request.rawHeaders);
    if (twice !== undefined) return refusal(400, `the request has the header ${twice} twice`);
    // An absolute URL would name a host of its own.
    if (request.url?.startsWith("/") !== true && request.method !== "OPTIONS") {
      return refusal(400, "the request does not name a path");
    }
    const refused = this.#hostRefusal(request);
    return (
      refused ?? (isDocument && isNavigation(request) ? undefined : this.#pageRefusal(request))
    );
  }

  /** What lets a configured web page read the answer. Undefined for everything else. */
  cors({ headers, method }: IncomingMessage): Record<string, string> | undefined {
    const { origin } = headers;
    if (origin === undefined || !this.#origins.has(origin)) return undefined;
    const shared = { "Access-Control-Allow-Origin": origin, Vary: "Origin" };
    if (method !== "OPTIONS") return { ...shared, "Access-Control-Expose-Headers": EXPOSED };
    const asked = headers["access-control-request-headers"];
    return {
      ...shared,
      "Access-Control-Allow-Methods": "GET, POST, DELETE",
      ...(asked !== undefined && { "Access-Control-Allow-Headers": asked }),
      "Access-Control-Max-Age": PREFLIGHT_SECONDS,
    };
  }

  #hostRefusal({ headers, socket }: IncomingMessage): Refusal | undefined {
    const { host } = headers;
    if (host !== undefined && host === this.#lastHost) return undefined;
    if (host === undefined || host.length > LONGEST_HOST) {
      return refusal(400, "the request has no usable Host header");
    }
    const [, name, port] = HOST.exec(host) ?? [];
    if (name === undefined) return refusal(400, "the request has no usable Host header");
    const plain = plainHost(name);
    if (this.#isKnown(plain, port)) {
      this.#lastHost = host;
      return undefined;
    }
    // Rebinding needs a name: nobody can make a browser call another machine by this machine's own address.
    const address = parseAddress(plain);
    if (address !== undefined) {
      const own = parseAddress(socket.localAddress ?? "");
      if (own?.toString() === address.toString()) return undefined;
    }
    return refusal(403, this.#refusals.host);
  }

  #isKnown(host: string, port: string | undefined): boolean {
    return (
      isLocal(host) ||
      this.#hosts.has(host) ||
      (port !== undefined && this.#hosts.has(`${host}:${port}`)) ||
      this.#suffixes.some((suffix) => host.endsWith(suffix))
    );
  }

  #pageRefusal({ headers }: IncomingMessage): Refusal | undefined {
    const { origin } = headers;
    if (origin !== undefined) {
      if (this.#origins.has(origin)) return undefined;
      if (!isOwnOrigin(origin, headers.host)) return refusal(403, this.#refusals.origin);
    }
    const site = headers["sec-fetch-site"];
    if (site === undefined || site === "same-origin" || site === "none") return undefined;
    return refusal(403, this.#refusals.site);
  }
}

/** Somebody follows a link: the browser shows what it gets as a page of its own, and no other page can read it. */
function isNavigation({ method, headers }: IncomingMessage): boolean {
  const { origin, "sec-fetch-mode": mode, "sec-fetch-dest": place } = headers;
  return method === "GET" && origin === undefined && mode === "navigate" && place === "document";
}

/** This machine, or the very host that was asked. Browsers send `null` for pages without an origin. */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  if (origin.length > LONGEST_HOST || !/^https?:\/\//.test(origin)) return false;
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  return url.origin === origin && (isLocal(plainHost(url.hostname)) || url.host === host);
}

function repeatedHeader(rawHeaders: readonly string[]): string | undefined {
  /** The headers seen so far, one bit each. */
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const length = rawHeaders[at]?.length ?? 0;
    // Their lengths rule out most names.
    if (length !== 4 && length !== 6 && length !== 13 && length !== 14) continue;
    const name = rawHeaders[at]?.toLowerCase() ?? "";
    const number = ONCE.get(name);
    if (number === undefined) continue;
    if ((seen & number) !== 0) return name;
    seen |= number;
  }
  return undefined;
}
