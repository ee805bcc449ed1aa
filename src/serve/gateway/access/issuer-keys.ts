// The public keys of one issuer, fetched over the guarded network and kept. Anybody can send a token that names an
// unknown key, so what such a token may cause is bounded.

import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { JwtIssuer } from "../../../core/types/gateway-settings.ts";
import { isJsonObject, objectIn, tryParseJson } from "../../../core/types/json.ts";
import type { GuardedFetch } from "../../../core/net/fetch.ts";
import type { AddressRules } from "../../../core/net/policy.ts";
import { type Clock, within } from "../../../util/clock.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { oneLine } from "../../../util/text.ts";

const MINUTE = 60_000;
/** How long keys are used without asking again. */
const FRESH = 10 * MINUTE;
/** How long they are used while the issuer cannot be reached. */
const USABLE = 24 * 60 * MINUTE;
/** The least time between two requests because of a key that is not known. */
const COOLDOWN = 30_000;
/** The least time between two requests while the issuer cannot be reached. */
const RETRY = 5000;
const DEADLINE = 5000;
/**
 * How long a request for keys may hold up those who come meanwhile, if there are keys. Whoever has not shown a good token after
 * ten seconds is cut off: an issuer that hangs would keep out everybody.
 */
const PATIENCE = 2000;
const MAX_BYTES = 512 * 1024;
const MOST_KEYS = 100;

type FindKey = JWTVerifyGetKey;

/** Waits for keys that are on their way. Rejects if too many wait already. */
export type WaitForKeys = (fetched: Promise<void>) => Promise<void>;

export interface IssuerKeysOptions {
  fetch: GuardedFetch;
  rules: AddressRules;
  clock: Clock;
  /** Says why the keys cannot be fetched, at each attempt. */
  onProblem: (message: string) => void;
}

export class IssuerKeys {
  readonly #issuer: JwtIssuer;
  readonly #options: IssuerKeysOptions;
  #keys: { find: FindKey; fetchedAt: number } | undefined;
  #failedAt = -Infinity;
  #fetching: { since: number; done: Promise<void> } | undefined;

  constructor(issuer: JwtIssuer, options: IssuerKeysOptions) {
    this.#issuer = issuer;
    this.#options = options;
  }

  /**
   * Finds a key. Rejects with NETWORK if there are no keys to look in, and with an error of jose if none matches. A key that
   * is known waits for nobody else's request for keys, and not again for an issuer that has not answered since it was fetched.
   */
  finder(wait: WaitForKeys = (fetched) => fetched): FindKey {
    return async (header, token) => {
      if (this.#age() >= FRESH) {
        const isKnownToFail = this.#failedAt > (this.#keys?.fetchedAt ?? Infinity);
        const goesOn = this.#age() < USABLE && (isKnownToFail || this.#fetching !== undefined);
        if (goesOn) this.#beginFetching();
        else await this.#refresh(wait);
      }
      try {
        return await this.#usable()(header, token);
      } catch (error) {
        const isUnknown = error instanceof errors.JWKSNoMatchingKey;
        if (!isUnknown || this.#age() < COOLDOWN) throw error;
        await this.#refresh(wait);
        if (this.#fetching !== undefined) throw this.#unreachable();
        return this.#usable()(header, token);
      }
    };
  }

  #age(): number {
    const now = this.#options.clock.monotonic();
    return this.#keys === undefined ? Infinity : now - this.#keys.fetchedAt;
  }

  #usable(): FindKey {
    if (this.#keys !== undefined && this.#age() < USABLE) return this.#keys.find;
    throw this.#unreachable();
  }

  #unreachable(): PlugboardError {
    return new PlugboardError("NETWORK", `the keys of ${this.#issuer.issuer} cannot be fetched`);
  }

  /** One at a time, for all who wait. */
  #beginFetching(): void {
    const { clock } = this.#options;
    if (clock.monotonic() - this.#failedAt < RETRY) return;
    this.#fetching ??= { since: clock.monotonic(), done: this.#keepFetched() };
  }

  async #refresh(wait: WaitForKeys): Promise<void> {
    const { clock } = this.#options;
    this.#beginFetching();
    if (this.#fetching === undefined) return;
    const { since, done } = this.#fetching;
    if (this.#age() >= USABLE) return wait(done);
    const patience = since + PATIENCE - clock.monotonic();
    if (patience > 0) await wait(within(clock, patience, done));
  }

  /** Never rejects. */
  async #keepFetched(): Promise<void> {
    const { clock, onProblem } = this.#options;
    try {
      this.#keys = { find: await this.#fetchKeys(), fetchedAt: clock.monotonic() };
    } catch (error) {
      this.#failedAt = clock.monotonic();
      const reason = oneLine(errorMessage(error), 300);
      onProblem(`the keys of ${this.#issuer.issuer} cannot be fetched: ${reason}`);
    } finally {
      this.#fetching = undefined;
    }
  }

  async #fetchKeys(): Promise<FindKey> {
    const { jwksUri } = this.#issuer;
    const document = await this.#fetchJson(jwksUri ?? (await this.#discover()));
    if (!isKeySet(document)) throw new PlugboardError("PROTOCOL", "it does not list keys");
    return createLocalJWKSet({ keys: document.keys.slice(0, MOST_KEYS) });
  }

  /** OpenID Connect first, since most issuers have that; then RFC 8414. */
  async #discover(): Promise<string> {
    const { issuer } = this.#issuer;
    const { origin, pathname } = new URL(issuer);
    const path = pathname.replace(/\/$/, "");
    const places = [
      `${origin}${path}/.well-known/openid-configuration`,
      `${origin}/.well-known/oauth-authorization-server${path}`,
    ];
    let failure: unknown;
    for (const place of places) {
      try {
        return this.#jwksUriIn(await this.#fetchJson(place));
      } catch (error) {
        failure ??= error;
      }
    }
    throw failure;
  }

  #jwksUriIn(metadata: unknown): string {
    const { issuer } = this.#issuer;
    const { issuer: named, jwks_uri: uri } = objectIn(metadata);
    if (named !== issuer) {
      throw new PlugboardError("PROTOCOL", `the metadata of ${issuer} is about another issuer`);
    }
    if (typeof uri !== "string" || !URL.canParse(uri)) {
      throw new PlugboardError("PROTOCOL", `the metadata of ${issuer} names no jwks_uri`);
    }
    // The issuer chose it, so it is checked like a redirect.
    this.#options.rules.checkUrl(new URL(uri), new URL(issuer));
    return uri;
  }

  async #fetchJson(url: string): Promise<unknown> {
    const response = await this.#options.fetch(url, {
      method: "GET",
      headers: { accept: "application/json" },
      deadline: DEADLINE,
      maxBodyBytes: MAX_BYTES,
    });
    const text = await response.text();
    if (response.status === 200) return tryParseJson(text);
    throw new PlugboardError("HTTP_STATUS", `it answered with HTTP ${response.status}`);
  }
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  return isJsonObject(value) && Array.isArray(value.keys) && value.keys.every(isJsonObject);
}
