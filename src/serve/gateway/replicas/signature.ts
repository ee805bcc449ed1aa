// What makes a request of another gateway believable: a header with who the client or the visitor of the page is, signed with a
// key that is made of those that seal sessions. It is good for one request, at one gateway, once, and for half a minute.
// No token, cookie or secret goes along by which somebody else could be let in.

import { createHash, createHmac, hkdfSync } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isPolicy } from "../../../core/state/stored-token.ts";
import type { Caller, TokenPolicy } from "../../../core/types/caller.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../../core/types/json.ts";
import type { KeyRing, SealKey } from "../../../core/types/key-ring.ts";
import type { Clock } from "../../../util/clock.ts";
import { isSameSecret } from "../../../util/same-secret.ts";
import { readVisitor, type Visitor } from "../page/visitors.ts";
import { FILE_NAME_HEADER } from "../page/wire.ts";

export const FORWARD_HEADER = "plugboard-forward";
/** The caller's JWT, sealed, where the other gateway exchanges it. */
export const JWT_HEADER = "plugboard-jwt";

/** Longer than a request takes from one machine to another, and than their clocks may differ. */
const VALID_MS = 30_000;
/** Less than a header may be, and enough for the many patterns of a policy. */
const LONGEST = 16_384;
const NONCE_BYTES = 16;
const PURPOSE = "forwarded request";

/** The headers that mean something where the request is answered. No other is forwarded. */
const FORWARDED: ReadonlySet<string> = new Set([
  "accept",
  "baggage",
  "content-type",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
  JWT_HEADER,
  "traceparent",
  "tracestate",
  FILE_NAME_HEADER,
]);
const FORWARDED_START = "mcp-param-";

/** The request that a signature is for. */
export interface SignedRequest {
  method: string;
  /** With its query. */
  path: string;
  headers: IncomingHttpHeaders;
}

/** For whom the request is made, as the gateway that has let them in knows it. */
export interface ForwardedFor {
  caller?: Caller;
  /** In place of a caller: the request is one of the page. */
  visitor?: Visitor;
  /** When the caller's JWT ends, in milliseconds since the epoch. */
  expiresAt?: number;
  /** What the caller's JWT allows. What a token allows is looked up. */
  policy?: TokenPolicy;
  agent?: string;
}

export type Verdict =
  | { kind: "signed"; by: ForwardedFor; /** Hash of the body that must follow. */ body: string }
  | { kind: "refused"; why: string };

export interface SignaturesOptions {
  keys: KeyRing;
  /** How the others reach this gateway; a signature is for one of them. */
  url: string | undefined;
  clock: Clock;
  random: (bytes: number) => Buffer;
}

export class Signatures {
  readonly #options: SignaturesOptions;
  readonly #derived = new WeakMap<SealKey["key"], Buffer>();
  /** The nonces that were used, until their signatures end: of this minute, and of the one before. */
  #used = { since: 0, now: new Set<string>(), before: new Set<string>() };
  /** When this gateway began. It does not know which signatures were used before. */
  readonly #begun: number;

  constructor(options: SignaturesOptions) {
    this.#options = options;
    this.#begun = options.clock.now();
  }

  /** The header for a request to the gateway at `to`, with the hash of its body. */
  sign(request: SignedRequest, to: string, by: ForwardedFor, body: string): string {
    const { keys, clock, random } = this.#options;
    const { id, key } = keys.current;
    const payload = Buffer.from(
      JSON.stringify({
        to,
        until: clock.now() + VALID_MS,
        nonce: random(NONCE_BYTES).toString("base64url"),
        request: digestOf(request),
        body,
        by,
      }),
    ).toString("base64url");
    return `${id}.${payload}.${this.#mac(key, `${id}.${payload}`)}`;
  }

  /** A header is believed once: whoever repeats it is refused. */
  verify(header: string, request: SignedRequest): Verdict {
    const { keys, clock, url } = this.#options;
    const [id = "", payload = "", mac, ...more] = header.length > LONGEST ? [] : header.split(".");
    const sealKey = /^\d{1,3}$/.test(id) ? keys.find(Number(id)) : undefined;
    if (sealKey === undefined || more.length > 0) return refused("its key is not known here");
    if (!isSameSecret(mac, this.#mac(sealKey.key, `${id}.${payload}`))) {
      return refused("its signature is wrong");
    }
    const signed = tryParseJson(Buffer.from(payload, "base64url").toString("utf8"));
    if (!isJsonObject(signed)) return refused("another version has written it");
    const { to, until, nonce, request: digest, body, by } = signed;
    if (url === undefined || to !== url) return refused("it is for another gateway");
    const now = clock.now();
    if (typeof until !== "number" || until <= now || until > now + 2 * VALID_MS) {
      return refused("its time is over, or the clocks of the two machines differ");
    }
    if (until - VALID_MS < this.#begun) {
      return refused(
        "it is from before this gateway began, or the clocks of the two machines differ",
      );
    }
    if (digest !== digestOf(request)) return refused("it is for another request");
    const isWhole = isJsonObject(by) && (by["policy"] === undefined || isPolicy(by["policy"]));
    if (typeof nonce !== "string" || typeof body !== "string" || !isWhole) {
      return refused("another version has written it");
    }
    if (!this.#isFirst(nonce, now)) return refused("it was used already");
    return { kind: "signed", by: readFor(by), body };
  }

  #mac(key: SealKey["key"], text: string): string {
    let derived = this.#derived.get(key);
    if (derived === undefined) {
      derived = Buffer.from(hkdfSync("sha256", key.export(), "", PURPOSE, 32));
      this.#derived.set(key, derived);
    }
    return createHmac("sha256", derived).update(text).digest("base64url");
  }

  #isFirst(nonce: string, now: number): boolean {
    const { since, now: latest } = this.#used;
    // A signature of a machine whose clock is ahead is valid for up to twice as long.
    if (now - since > 2 * VALID_MS) {
      this.#used = { since: now, now: new Set(), before: latest };
    }
    if (this.#used.now.has(nonce) || this.#used.before.has(nonce)) return false;
    this.#used.now.add(nonce);
    return true;
  }
}

/** What of a client's request is sent on, beside its body. */
export function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const forwarded = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === "string" && (FORWARDED.has(name) || name.startsWith(FORWARDED_START))
      ? [[name, value] as const]
      : [],
  );
  return Object.fromEntries(forwarded);
}

function digestOf({ method, path, headers }: SignedRequest): string {
  const sorted = Object.entries(forwardedHeaders(headers)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([method, path, sorted]))
    .digest("base64url");
}

function readFor({ caller, visitor, expiresAt, policy, agent }: JsonObject): ForwardedFor {
  const isCaller =
    isJsonObject(caller) && typeof caller["id"] === "string" && typeof caller["label"] === "string";
  const visiting = readVisitor(visitor);
  return {
    ...(visiting && { visitor: visiting }),
    ...(isCaller && { caller: { id: String(caller["id"]), label: String(caller["label"]) } }),
    ...(typeof expiresAt === "number" && { expiresAt }),
    ...(isPolicy(policy) && { policy }),
    ...(typeof agent === "string" && { agent }),
  };
}

function refused(why: string): Verdict {
  return { kind: "refused", why };
}
