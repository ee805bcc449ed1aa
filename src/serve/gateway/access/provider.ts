// The provider through which people sign in to the page: OpenID Connect, authorization code with PKCE. It says who
// somebody is; which role that is comes from the configuration.

import { errors, type JWTPayload, jwtVerify } from "jose";
import { createFetch, type GuardedFetch } from "../../../core/net/fetch.ts";
import { addressRules, type AddressRules, type NetworkPolicy } from "../../../core/net/policy.ts";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { JwtIssuer, PageSettings } from "../../../core/types/gateway-settings.ts";
import { isJsonObject, tryParseJson } from "../../../core/types/json.ts";
import type { Clock } from "../../../util/clock.ts";
import type { Environment } from "../../../util/environment.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { asText, oneLine } from "../../../util/text.ts";
import { IssuerKeys } from "./issuer-keys.ts";

export interface ProviderOptions {
  page: PageSettings;
  issuer: JwtIssuer;
  /** `network.allow`. The host of the issuer is allowed anyway. */
  networkAllow: readonly string[];
  env: Environment;
  clock: Clock;
  /** For the log. Whoever signs in is only told that it did not work. */
  onProblem: (message: string) => void;
}

/** What a sign-in begins with, as the provider is told it. */
export interface SignInStart {
  redirectUri: string;
  state: string;
  nonce: string;
  /** SHA-256 of the verifier, base64url. */
  challenge: string;
}

export interface SignInEnd {
  code: string;
  redirectUri: string;
  verifier: string;
  nonce: string;
  /** Who has sent the person back, if the provider says so (RFC 9207). */
  from?: string;
}

interface Metadata {
  authorization: URL;
  token: URL;
  /** Whether it always says who it is when it sends somebody back. */
  saysIssuer: boolean;
}

const DEADLINE = 10_000;
const MAX_BYTES = 512 * 1024;
const FRESH = 10 * 60_000;
const LEEWAY_SECONDS = 30;

export class Provider {
  readonly #options: ProviderOptions;
  readonly #fetch: GuardedFetch;
  readonly #rules: AddressRules;
  readonly #keys: IssuerKeys;
  #metadata: { found: Metadata; until: number } | undefined;
  #describing: Promise<Metadata> | undefined;

  constructor(options: ProviderOptions) {
    const { issuer, networkAllow, env, clock, onProblem } = options;
    const named = [issuer.issuer, ...(issuer.jwksUri ? [issuer.jwksUri] : [])];
    const policy: NetworkPolicy = {
      allowInsecure: false,
      allowPrivate: false,
      allow: [...networkAllow, ...named.map((url) => new URL(url).hostname)],
    };
    this.#options = options;
    this.#fetch = createFetch({ policy, env, clock });
    this.#rules = addressRules(policy);
    this.#keys = new IssuerKeys(issuer, {
      fetch: this.#fetch,
      rules: this.#rules,
      clock,
      onProblem,
    });
  }

  /** For people: where they sign in. */
  get name(): string {
    return new URL(this.#options.issuer.issuer).host;
  }

  /** Where somebody goes to sign in. Rejects with NETWORK or PROTOCOL if the provider cannot be used. */
  async begin({ redirectUri, state, nonce, challenge }: SignInStart): Promise<string> {
    const { clientId, scopes } = this.#options.page;
    const { authorization } = await this.#describe();
    const url = new URL(authorization);
    const params = {
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: ["openid", ...scopes.filter((each) => each !== "openid")].join(" "),
      state,
      nonce,
      code_challenge: challenge,
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
    return url.href;
  }

  /** The claims of whoever has signed in. Rejects with NOT_APPROVED for an answer that is not for this sign-in. */
  async finish({ code, redirectUri, verifier, nonce, from }: SignInEnd): Promise<JWTPayload> {
    const { page, issuer, onProblem } = this.#options;
    const { token, saysIssuer } = await this.#describe();
    if (from === undefined ? saysIssuer : from !== issuer.issuer) {
      throw refused("the answer is from another provider");
    }
    const body = new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      client_id: page.clientId,
      code_verifier: verifier,
    });
    const response = await this.#fetch(token.href, {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
      },
      body: body.toString(),
      sameOrigin: true,
      deadline: DEADLINE,
      maxBodyBytes: MAX_BYTES,
    });
    const answer = tryParseJson(await response.text());
    const idToken = isJsonObject(answer) ? answer["id_token"] : undefined;
    if (response.status !== 200 || typeof idToken !== "string") {
      const why = isJsonObject(answer) ? asText(answer["error"] ?? "") : "";
      onProblem(
        `${this.name} gave nobody's identity: HTTP ${response.status} ${oneLine(why, 100)}`.trim(),
      );
      throw refused("the provider did not say who you are");
    }
    return this.#verify(idToken, nonce);
  }

  async close(): Promise<void> {
    await this.#fetch.close();
  }

  async #verify(idToken: string, nonce: string): Promise<JWTPayload> {
    const { page, issuer, clock, onProblem } = this.#options;
    try {
      const { payload } = await jwtVerify(idToken, this.#keys.finder(), {
        issuer: issuer.issuer,
        audience: page.clientId,
        algorithms: [...issuer.algorithms],
        requiredClaims: ["exp", "iat", "sub", "aud", "nonce"],
        clockTolerance: LEEWAY_SECONDS,
        currentDate: new Date(clock.now()),
      });
      const isOurs = payload["azp"] === undefined || payload["azp"] === page.clientId;
      // A token for several is ours only if it was made for us.
      const isOnly = !Array.isArray(payload.aud) || payload.aud.length === 1;
      if (!isOurs || (!isOnly && payload["azp"] === undefined)) {
        throw refused("the identity is for another program");
      }
      if (payload["nonce"] !== nonce) throw refused("the identity is of another sign-in");
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) {
        onProblem(`an identity of ${this.name} is not valid: ${oneLine(errorMessage(error), 200)}`);
        throw refused("the provider's answer is not valid");
      }
      throw error;
    }
  }

  async #describe(): Promise<Metadata> {
    const { clock } = this.#options;
    if (this.#metadata !== undefined && this.#metadata.until > clock.monotonic()) {
      return this.#metadata.found;
    }
    // One request for all who begin meanwhile.
    this.#describing ??= this.#fetchMetadata().finally(() => {
      this.#describing = undefined;
    });
    const found = await this.#describing;
    this.#metadata = { found, until: clock.monotonic() + FRESH };
    return found;
  }

  async #fetchMetadata(): Promise<Metadata> {
    const { issuer } = this.#options.issuer;
    const place = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const response = await this.#fetch(place, {
      method: "GET",
      headers: { accept: "application/json" },
      deadline: DEADLINE,
      maxBodyBytes: MAX_BYTES,
    });
    const document = tryParseJson(await response.text());
    if (response.status !== 200 || !isJsonObject(document) || document["issuer"] !== issuer) {
      throw new PlugboardError("PROTOCOL", `${issuer} does not describe itself`);
    }
    return {
      authorization: this.#endpoint(document["authorization_endpoint"]),
      token: this.#endpoint(document["token_endpoint"]),
      saysIssuer: document["authorization_response_iss_parameter_supported"] === true,
    };
  }

  /** The issuer chose it, so it is checked like a redirect. */
  #endpoint(given: unknown): URL {
    const { issuer } = this.#options.issuer;
    if (typeof given !== "string" || !URL.canParse(given)) {
      throw new PlugboardError("PROTOCOL", `${issuer} does not say where people sign in`);
    }
    const url = new URL(given);
    this.#rules.checkUrl(url, new URL(issuer));
    return url;
  }
}

function refused(message: string): PlugboardError {
  return new PlugboardError("NOT_APPROVED", message, { hint: "sign in again" });
}
