// Who looks at the page: one-time keys that a link carries, and what the page trades them for: a cookie, and a secret that
// it keeps for its own origin, since a browser sends cookies to every port of a host. Key and cookie are sealed, so that the
// gateway need not remember them, and others that share its keys understand them; one that was used or given back is
// revoked like a session.

import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { objectIn } from "../../../core/types/json.ts";
import type { SessionStore, TokenStore } from "../../../core/types/shared-state.ts";
import type { Clock } from "../../../util/clock.ts";
import { isSameSecret } from "../../../util/same-secret.ts";
import type { Sealer } from "../../endpoint/sealed.ts";
import type { SignedIn } from "../access/admission.ts";
import { API_HEADER, type Role } from "./wire.ts";

/** How long a link works. */
const KEY_MS = 60_000;
/** How long a visitor stays signed in. */
const VISIT_MS = 12 * 3_600_000;
const KEY_BYTES = 32;
const LONGEST_COOKIE = 4096;
const NONCE_BYTES = 12;
const PURPOSE = "page";
/** Begins the id of a visitor among all callers. */
export const VISITOR = "page:";

export interface Visitor {
  role: Role;
  /** For the audit and for other people: who this is. */
  name: string;
  /** Who this is among all callers, where a provider says so. Absent: the agent's own user, or whom they gave a link. */
  person?: string;
  /** Names this visit among all, for as long as it lasts. */
  nonce: string;
  /** Milliseconds since the epoch. */
  until: number;
}

export interface Entered {
  visitor: Visitor;
  setCookie: string;
  /** What the page sends with every request from then on. */
  secret: string;
}

export interface VisitorsOptions {
  sealer: Sealer;
  revoked: Pick<SessionStore, "isRevoked" | "revoke" | "claim">;
  /** Who was signed out. */
  tokens: Pick<TokenStore, "signedOutUntil">;
  clock: Clock;
  random: (bytes: number) => Buffer;
  /** Where the gateway is reached: cookies do not know ports, and only one under TLS may be a `__Host-` cookie. */
  url: URL;
  /** Names the gateway among those of this machine: a cookie opens the page of the one that made it, or of its fleet. */
  gateway: string;
}

export class Visitors {
  readonly #options: VisitorsOptions;
  readonly #cookie: string;
  readonly #attributes: string;
  /** A key opens the page of the gateway that made it, or of its fleet. */
  readonly #keyPurpose: string;

  constructor(options: VisitorsOptions) {
    this.#options = options;
    this.#keyPurpose = `page link of ${options.gateway}`;
    const { protocol, port } = options.url;
    const isTls = protocol === "https:";
    const name = `plugboard-ui-${port || (isTls ? "443" : "80")}`;
    this.#cookie = isTls ? `__Host-${name}` : name;
    this.#attributes = `${isTls ? "Path=/; Secure" : "Path=/ui"}; HttpOnly; SameSite=Strict`;
  }

  /** A key for one link. It works once, within a minute. */
  newKey(role: Role): string {
    const { clock, sealer } = this.#options;
    // As short as it can be: people copy it from a terminal.
    return sealer.seal(this.#keyPurpose, { role, until: clock.now() + KEY_MS });
  }

  /** What sets the cookie, or undefined for a key that is unknown, used or too old. Rejects if nobody knows whether it was used. */
  async enter(key: string): Promise<Entered | undefined> {
    const { clock, sealer, revoked } = this.#options;
    const { role, until } = sealer.open(this.#keyPurpose, key) ?? {};
    if (typeof until !== "number" || until <= clock.now()) return undefined;
    if (role !== "owner" && role !== "viewer") return undefined;
    // No two are sealed to the same text, and none has two spellings.
    if (!(await revoked.claim(hash("sha256", key), until))) return undefined;
    return this.enterAs(role, role === "owner" ? "the owner" : "a viewer");
  }

  /** For somebody whose role is known already. */
  enterAs(role: Role, name: string, person?: string): Entered {
    const { clock, random, sealer, gateway } = this.#options;
    const visitor = {
      role,
      name,
      ...(person !== undefined && { person }),
      nonce: random(NONCE_BYTES).toString("base64url"),
      until: clock.now() + VISIT_MS,
    };
    const secret = random(KEY_BYTES).toString("base64url");
    const value = sealer.seal(PURPOSE, { ...visitor, gateway, secret: hash("sha256", secret) });
    return { visitor, secret, setCookie: this.setCookie(value, VISIT_MS / 1000) };
  }

  find(request: IncomingMessage): Visitor | undefined {
    const { sealer, gateway } = this.#options;
    const sealed = this.cookieIn(request);
    const value = sealed === undefined ? undefined : sealer.open(PURPOSE, sealed);
    if (value === undefined || value["gateway"] !== gateway) return undefined;
    const shown = String(request.headers[API_HEADER] ?? "");
    if (!isSameSecret(value["secret"], hash("sha256", shown))) return undefined;
    return this.current(readVisitor(value));
  }

  /** Undefined once they have left or were signed out, or their time is over. */
  current(visitor: Visitor | undefined): Visitor | undefined {
    const { clock, revoked, tokens } = this.#options;
    if (visitor === undefined || visitor.until <= clock.now()) return undefined;
    if (revoked.isRevoked(visitor.nonce)) return undefined;
    const signedIn = signedInFrom(visitor.person, visitor.until);
    if (signedIn !== undefined && signedIn.at <= tokens.signedOutUntil(signedIn.as))
      return undefined;
    return visitor;
  }

  /** Resolves to what removes the cookie. */
  async leave({ nonce, until }: Visitor): Promise<string> {
    await this.#options.revoked.revoke(nonce, until);
    return this.setCookie("", 0);
  }

  /** `of` names another cookie of the page than that of a visit. */
  setCookie(value: string, maxAge: number, of?: string): string {
    return `${this.#nameOf(of)}=${value}; ${this.#attributes}; Max-Age=${maxAge}`;
  }

  cookieIn(request: IncomingMessage, of?: string): string | undefined {
    return cookieIn(request, this.#nameOf(of), LONGEST_COOKIE);
  }

  #nameOf(of: string | undefined): string {
    return of === undefined ? this.#cookie : `${this.#cookie}-${of}`;
  }
}

/** Who is in what was sealed or signed; undefined if it is not whole. */
export function readVisitor(value: unknown): Visitor | undefined {
  const { role, name, nonce, until, person } = objectIn(value);
  if (role !== "owner" && role !== "viewer") return undefined;
  if (typeof name !== "string" || typeof nonce !== "string") return undefined;
  if (typeof until !== "number") return undefined;
  return { role, name, nonce, until, ...(typeof person === "string" && { person }) };
}

/** Undefined for whoever came with a link of the owner. */
export function signedInFrom(person: unknown, until: number): SignedIn | undefined {
  return typeof person === "string" ? { as: person, at: until - VISIT_MS } : undefined;
}

/** Undefined if all cookies together are longer than `longest`. */
export function cookieIn(
  { headers: { cookie: header } }: IncomingMessage,
  name: string,
  longest: number,
): string | undefined {
  if (header === undefined || header.length > longest) return undefined;
  const start = `${name}=`;
  const found = header.split("; ").filter((each) => each.startsWith(start));
  // Another site's page cannot set one, but a program on another port of this host can. If there are two, none counts.
  return found.length === 1 ? found[0]?.slice(start.length) : undefined;
}
