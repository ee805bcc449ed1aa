// Verifies JWTs: the issuer's signature, with an algorithm that the operator allows, and the time. The claims
// of a token say which endpoint and agent it is for.

import { hash } from "node:crypto";
import { decodeJwt, errors, type JWTPayload, jwtVerify } from "jose";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { JwtIssuer } from "../../../core/types/gateway-settings.ts";
import { textsIn } from "../../../core/types/json.ts";
import { createFetch, type GuardedFetch } from "../../../core/net/fetch.ts";
import { addressRules, type NetworkPolicy } from "../../../core/net/policy.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { Clock } from "../../../util/clock.ts";
import type { Environment } from "../../../util/environment.ts";
import { IssuerKeys, type WaitForKeys } from "./issuer-keys.ts";

export interface JwtClaims {
  issuer: string;
  subject: string;
  audiences: readonly string[];
  scopes: readonly string[];
  /** Milliseconds since the epoch, leeway included. */
  expiresAt: number;
  /** The same without it. */
  endsAt: number;
  /** Hash of what the token allows, whoever its subject is and whenever it ends. */
  rights: string;
}

export type JwtVerdict =
  | { kind: "valid"; claims: JwtClaims }
  /** `reason` completes "this token is not valid: it …" and says nothing that the token's sender does not know. */
  | { kind: "invalid"; reason: string }
  /** The issuer's keys cannot be fetched, or too many wait for them. */
  | { kind: "unavailable" };

export interface JwtVerifierOptions {
  issuers: readonly JwtIssuer[];
  /** `network.allow`. The hosts of the issuers are allowed anyway. */
  networkAllow: readonly string[];
  env: Environment;
  clock: Clock;
  /** An issuer cannot be reached. Callers are only told that their token cannot be checked. */
  onProblem: (message: string) => void;
}

/** Clocks differ. */
const LEEWAY_SECONDS = 30;
/** OpenID Connect allows 255. */
const LONGEST_SUBJECT = 255;
/** What PostgreSQL can store: no zero, and no half of a character, of which two would be one there. */
const SUBJECT = /^[^\0\p{Cs}]+$/u;
const MOST_AUDIENCES = 100;

export class JwtVerifier {
  readonly #issuers: ReadonlyMap<string, { issuer: JwtIssuer; keys: IssuerKeys }>;
  readonly #fetch: GuardedFetch;
  readonly #clock: Clock;

  /** Throws CONFIG_INVALID if an entry of `networkAllow` is not a host. */
  constructor({ issuers, networkAllow, env, clock, onProblem }: JwtVerifierOptions) {
    const named = issuers.flatMap(({ issuer, jwksUri }) => [issuer, ...(jwksUri ? [jwksUri] : [])]);
    const hosts = named.map((url) => new URL(url).hostname);
    const policy: NetworkPolicy = {
      allowInsecure: false,
      allowPrivate: false,
      allow: [...networkAllow, ...hosts],
    };
    this.#fetch = createFetch({ policy, env, clock });
    this.#clock = clock;
    const common = { fetch: this.#fetch, rules: addressRules(policy), clock, onProblem };
    this.#issuers = new Map(
      issuers.map((issuer) => [issuer.issuer, { issuer, keys: new IssuerKeys(issuer, common) }]),
    );
  }

  /** Never rejects. */
  async verify(text: string, wait?: WaitForKeys): Promise<JwtVerdict> {
    try {
      const { iss = "" } = decodeJwt(text);
      const known = this.#issuers.get(iss);
      if (known === undefined) return invalid("is from an issuer that is not configured");
      const { payload } = await jwtVerify(text, known.keys.finder(wait), {
        issuer: iss,
        algorithms: [...known.issuer.algorithms],
        requiredClaims: ["exp", "sub", "aud"],
        clockTolerance: LEEWAY_SECONDS,
        currentDate: new Date(this.#clock.now()),
      });
      return verdictOn(payload, iss);
    } catch (error) {
      if (error instanceof PlugboardError) return { kind: "unavailable" };
      return invalid(reasonOf(error));
    }
  }

  async close(): Promise<void> {
    await this.#fetch.close();
  }
}

function verdictOn(payload: JWTPayload, issuer: string): JwtVerdict {
  const { sub, aud, exp } = payload;
  if (typeof sub !== "string" || sub.length > LONGEST_SUBJECT || !SUBJECT.test(sub)) {
    return invalid(`has no subject of 1 to ${LONGEST_SUBJECT} characters that can be stored`);
  }
  const audiences = texts(typeof aud === "string" ? [aud] : aud);
  const endsAt = (exp ?? 0) * 1000;
  const expiresAt = endsAt + LEEWAY_SECONDS * 1000;
  const scopes = scopesIn(payload);
  const rights = rightsOf(payload, audiences, scopes);
  return {
    kind: "valid",
    claims: { issuer, subject: sub, audiences, scopes, expiresAt, endsAt, rights },
  };
}

/** For which client, on whose behalf, where and for what: none of it changes when a token is renewed. */
function rightsOf(
  { azp, client_id: client, act, authorization_details: details }: JWTPayload,
  audiences: readonly string[],
  scopes: readonly string[],
): string {
  const rights = { audiences: audiences.toSorted(), scopes: scopes.toSorted(), azp, client };
  return hash("sha256", canonicalJson({ ...rights, act, details }), "base64url");
}

/** `scope` by the standard, `scp` by some issuers; each as a list or as words. */
function scopesIn({ scope, scp }: JWTPayload): string[] {
  return [scope, scp].flatMap((value) =>
    typeof value === "string" ? value.split(" ").filter((each) => each !== "") : texts(value),
  );
}

function texts(value: unknown): string[] {
  return textsIn(value).slice(0, MOST_AUDIENCES);
}

function invalid(reason: string): JwtVerdict {
  return { kind: "invalid", reason };
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "has expired";
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.claim === "nbf" ? "is not valid yet" : `has no valid claim ${error.claim}`;
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return "is signed with an algorithm that is not configured for its issuer";
  }
  if (error instanceof errors.JWKSNoMatchingKey)
    return "is signed with a key that its issuer does not list";
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return "does not say with which key it is signed (kid)";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "has a wrong signature";
  return "cannot be read";
}
