// Signs people in to the page through the provider of the configuration. What begins a sign-in is sealed into a cookie of
// the browser that began it, works once, and ends after ten minutes; who somebody is decides which role they get, and
// nobody gets one that is not configured.

import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { JWTPayload } from "jose";
import { z } from "zod";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { JwtRight, PageSettings } from "../../../core/types/gateway-settings.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import type { SessionStore } from "../../../core/types/shared-state.ts";
import type { Clock } from "../../../util/clock.ts";
import { isSameSecret } from "../../../util/same-secret.ts";
import { oneLine } from "../../../util/text.ts";
import type { Sealer } from "../../endpoint/sealed.ts";
import { subjectCaller } from "../access/caller-label.ts";
import type { Provider } from "../access/provider.ts";
import { clientAddress } from "../access/client-address.ts";
import { RequestRate } from "../access/request-rate.ts";
import { fittingRights, roleIn, withheldClaim } from "../access/rights.ts";
import { checked } from "./method.ts";
import type { Entered, Visitors } from "./visitors.ts";

/** How long somebody may take at the provider. */
const SIGN_IN_MS = 10 * 60_000;
/** From one address in a minute: each asks the provider something. */
const MOST_A_MINUTE = 60;
const BYTES = 32;
const PURPOSE = "page sign-in";
const COOKIE = "sign-in";
const LONGEST_CODE = 4096;
const LONGEST_NAME = 60;
/** How long a verified address or a `sub` is at most. */
const LONGEST_ADDRESS = 255;

const ANSWER = z.strictObject({
  code: z.string().min(1).max(LONGEST_CODE),
  state: z.string().min(1).max(LONGEST_CODE),
  iss: z.string().max(LONGEST_CODE).optional(),
});

export interface ProviderSignInOptions {
  provider: Pick<Provider, "begin" | "finish" | "name">;
  page: PageSettings;
  /** Those that give a role open the page. */
  rights: readonly JwtRight[];
  visitors: Pick<Visitors, "enterAs" | "setCookie" | "cookieIn">;
  sealer: Sealer;
  revoked: Pick<SessionStore, "claim">;
  clock: Clock;
  random: (bytes: number) => Buffer;
  behindProxy: boolean;
  /** What people call the gateway: the provider sends them back there. */
  publicUrl: string;
  /** Names the gateway among those of this machine. */
  gateway: string;
}

export class ProviderSignIn {
  readonly #options: ProviderSignInOptions;
  readonly #rate: RequestRate;
  readonly #redirectUri: string;

  constructor(options: ProviderSignInOptions) {
    this.#options = options;
    this.#rate = new RequestRate(options.clock);
    this.#redirectUri = `${options.publicUrl}/ui/callback`;
  }

  get name(): string {
    return this.#options.provider.name;
  }

  /** Where the browser goes, and the cookie that it keeps meanwhile. */
  async begin(): Promise<{ location: string; setCookie: string }> {
    const { provider, visitors, sealer, clock, random, gateway } = this.#options;
    const text = (): string => random(BYTES).toString("base64url");
    const [state, nonce, verifier] = [text(), text(), text()];
    const location = await provider.begin({
      redirectUri: this.#redirectUri,
      state,
      nonce,
      challenge: hash("sha256", verifier, "base64url"),
    });
    const until = clock.now() + SIGN_IN_MS;
    const sealed = sealer.seal(PURPOSE, { state, nonce, verifier, until, gateway });
    return { location, setCookie: visitors.setCookie(sealed, SIGN_IN_MS / 1000, COOKIE) };
  }

  /** Rejects with a PlugboardError for whoever did not begin this sign-in, or has no role. */
  async finish(body: JsonObject, request: IncomingMessage): Promise<Entered & { forget: string }> {
    const { provider, visitors, page, rights, revoked } = this.#options;
    const { code, state, iss } = checked(ANSWER, body);
    const begun = this.#begunIn(request);
    if (begun === undefined || !isSameSecret(begun.state, state)) throw notBegun();
    const { verifier, nonce, until } = begun;
    this.#count(request);
    // Before anything else: it works once, even if two requests come at the same time at two gateways.
    if (!(await revoked.claim(nonce, until))) throw notBegun();
    const claims = await provider.finish({
      code,
      redirectUri: this.#redirectUri,
      verifier,
      nonce,
      ...(iss !== undefined && { from: iss }),
    });
    const found = roleIn(fittingRights(claims, page.issuer, rights));
    if (found.kind === "withheld") {
      throw new PlugboardError("REFUSED_BY_POLICY", withheldClaim(found.claim));
    }
    const role = found.kind === "found" ? found.right.role : undefined;
    if (role === undefined) throw hasNoRole(claims);
    const name = `${nameOf(claims)} (${provider.name})`;
    const { id: person } = subjectCaller(page.issuer, claims.sub ?? "");
    const entered = visitors.enterAs(role, name, person);
    return { ...entered, forget: visitors.setCookie("", 0, COOKIE) };
  }

  #begunIn(
    request: IncomingMessage,
  ): { state: string; nonce: string; verifier: string; until: number } | undefined {
    const { visitors, sealer, clock, gateway } = this.#options;
    const sealed = visitors.cookieIn(request, COOKIE);
    const value = sealed === undefined ? undefined : sealer.open(PURPOSE, sealed);
    if (value === undefined || value["gateway"] !== gateway) return undefined;
    const { state, nonce, verifier, until } = value;
    if (typeof state !== "string" || typeof nonce !== "string") return undefined;
    if (typeof verifier !== "string" || typeof until !== "number") return undefined;
    return until <= clock.now() ? undefined : { state, nonce, verifier, until };
  }

  #count(request: IncomingMessage): void {
    const address = clientAddress(request, this.#options.behindProxy);
    if (this.#rate.take(address, MOST_A_MINUTE) === 0) return;
    throw new PlugboardError("RATE_LIMITED", "too many sign-ins; wait a moment");
  }
}

/**
 * Nobody else has it: decisions are recorded and approvals kept under this name. People can choose the name
 * that their provider has for them, but not a verified address. So a chosen name is shown with the `sub` behind it.
 */
export function nameOf({ sub = "", ...claims }: JWTPayload): string {
  const { email, email_verified: isVerified, preferred_username: user } = claims;
  const isUsable = (each: unknown): each is string => typeof each === "string" && each !== "";
  if (isVerified === true && isUsable(email)) return oneLine(email, LONGEST_ADDRESS);
  const id = oneLine(sub, LONGEST_ADDRESS);
  const chosen = [user, email].find(isUsable);
  return chosen === undefined ? id : `${oneLine(chosen, LONGEST_NAME)} [${id}]`;
}

function notBegun(): PlugboardError {
  return new PlugboardError("NOT_APPROVED", "this browser did not begin this sign-in", {
    hint: "it was finished already, or took longer than ten minutes: sign in again",
  });
}

function hasNoRole(claims: JWTPayload): PlugboardError {
  return new PlugboardError("REFUSED_BY_POLICY", `${nameOf(claims)} may not see this page`, {
    hint: "ask whoever runs the gateway: no entry of gateway.jwt.rights with a role fits you",
  });
}
