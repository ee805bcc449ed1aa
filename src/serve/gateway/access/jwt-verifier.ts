// Verifies JWTs: the issuer's signature, with an algorithm that the operator allows, the time, and that they are access
// tokens. What is in a token says which endpoint it is for, and which rights its holder has.

import { hash } from "node:crypto";
import { decodeJwt, errors, type JWTPayload, jwtVerify } from "jose";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { JwtIssuer, JwtRight, JwtSettings } from "../../../core/types/gateway-settings.ts";
import { textsIn } from "../../../core/types/json.ts";
import { createFetch, type GuardedFetch } from "../../../core/net/fetch.ts";
import { addressRules, type NetworkPolicy } from "../../../core/net/policy.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { Clock } from "../../../util/clock.ts";
import type { Environment } from "../../../util/environment.ts";
import { IssuerKeys, type WaitForKeys } from "./issuer-keys.ts";
import { type FittingRights, fittingRights } from "./rights.ts";
import { isSubject, LONGEST_SUBJECT } from "./subject.ts";

export interface JwtClaims {
  issuer: string;
  subject: string;
  audiences: readonly string[];
  /** Undefined: no rights are configured. */
  fitting: FittingRights | undefined;
  /** Milliseconds since the epoch; 0 if the token does not say. */
  issuedAt: number;
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

export interface JwtVerifierOptions extends JwtSettings {
  /** `network.allow`. The hosts of the issuers are allowed anyway. */
  networkAllow: readonly string[];
  env: Environment;
  clock: Clock;
  /** An issuer cannot be reached. Callers are only told that their token cannot be checked. */
  onProblem: (message: string) => void;
}

/** Clocks differ. */
const LEEWAY_SECONDS = 30;
const MOST_AUDIENCES = 100;

export class JwtVerifier {
  readonly #issuers: ReadonlyMap<string, { issuer: JwtIssuer; keys: IssuerKeys }>;
  readonly #rights: readonly JwtRight[] | undefined;
  readonly #fetch: GuardedFetch;
  readonly #clock: Clock;

  /** Throws CONFIG_INVALID if an entry of `networkAllow` is not a host. */
  constructor({ issuers, rights, networkAllow, env, clock, onProblem }: JwtVerifierOptions) {
    const named = issuers.flatMap(({ issuer, jwksUri }) => [issuer, ...(jwksUri ? [jwksUri] : [])]);
    const hosts = named.map((url) => new URL(url).hostname);
    const policy: NetworkPolicy = {
      allowInsecure: false,
      allowPrivate: false,
      allow: [...networkAllow, ...hosts],
    };
    this.#fetch = createFetch({ policy, env, clock });
    this.#clock = clock;
    this.#rights = rights;
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
      const { payload, protectedHeader } = await jwtVerify(text, known.keys.finder(wait), {
        issuer: iss,
        algorithms: [...known.issuer.algorithms],
        requiredClaims: ["exp", "sub", "aud"],
        clockTolerance: LEEWAY_SECONDS,
        currentDate: new Date(this.#clock.now()),
      });
      if (!isAccessToken(payload, protectedHeader.typ)) return invalid("is no access token");
      return verdictOn(payload, iss, this.#rights);
    } catch (error) {
      if (error instanceof PlugboardError) return { kind: "unavailable" };
      return invalid(reasonOf(error));
    }
  }

  async close(): Promise<void> {
    await this.#fetch.close();
  }
}

/**
 * An issuer signs other things with the same key. Where an audience is the id of a client, an ID token has it too; many issuers
 * give both kinds the type `JWT`, so that a hash of what came with it, the `nonce` of a sign-in (all that Entra's have), Keycloak's
 * own `typ` or Cognito's `token_use` tells.
 */
function isAccessToken(payload: JWTPayload, type: string | undefined): boolean {
  if (type !== undefined && !/^(?:application\/)?(?:at\+)?jwt$/i.test(type)) return false;
  if (["at_hash", "c_hash", "events"].some((claim) => Object.hasOwn(payload, claim))) return false;
  const { typ, token_use: use } = payload;
  // Keycloak had it in access tokens too, which say what they are.
  const isNamed = typ === "Bearer" || /at\+jwt$/i.test(type ?? "");
  if (Object.hasOwn(payload, "nonce") && !isNamed) return false;
  return use !== "id" && (typeof typ !== "string" || !/^(?:id|refresh|offline|logout)$/i.test(typ));
}

function verdictOn(
  payload: JWTPayload,
  issuer: string,
  allRights: readonly JwtRight[] | undefined,
): JwtVerdict {
  const { sub, aud, exp, iat = 0 } = payload;
  if (typeof sub !== "string" || !isSubject(sub)) {
    return invalid(`has no subject of 1 to ${LONGEST_SUBJECT} characters that can be stored`);
  }
  const audiences = texts(typeof aud === "string" ? [aud] : aud);
  const endsAt = (exp ?? 0) * 1000;
  const expiresAt = endsAt + LEEWAY_SECONDS * 1000;
  const scopes = scopesIn(payload);
  const rights = rightsOf(payload, audiences, scopes);
  const fitting = allRights && fittingRights(payload, issuer, allRights);
  const issuedAt = iat * 1000;
  const times = { issuedAt, expiresAt, endsAt };
  return {
    kind: "valid",
    claims: { issuer, subject: sub, audiences, fitting, ...times, rights },
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
