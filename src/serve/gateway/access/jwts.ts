// The JWTs that callers present. What has been verified is remembered for a minute, so that a caller who makes many
// requests pays for one signature. The code that verifies is loaded at the start, and only where an issuer is configured.

import { hash as hashOnce } from "node:crypto";
import type { Clock } from "../../../util/clock.ts";
import { errorMessage } from "../../../util/error-message.ts";
import type { WaitForKeys } from "./issuer-keys.ts";
import type { JwtClaims, JwtVerdict, JwtVerifier, JwtVerifierOptions } from "./jwt-verifier.ts";

const REMEMBER = 60_000;
const MOST_REMEMBERED = 1000;

export class Jwts {
  readonly #options: JwtVerifierOptions;
  readonly #clock: Clock;
  /** By hash: a memory dump of the gateway should not hold tokens for longer than it must. */
  readonly #known = new Map<string, { claims: JwtClaims; until: number }>();
  readonly #verifier: Promise<JwtVerifier | undefined>;

  constructor(options: JwtVerifierOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#verifier = this.#load();
  }

  /** The claims of a token that was verified less than a minute ago and has not expired. */
  known(text: string): JwtClaims | undefined {
    const hash = hashOf(text);
    const found = this.#known.get(hash);
    if (found === undefined || found.until > this.#clock.now()) return found?.claims;
    this.#known.delete(hash);
    return undefined;
  }

  /** Never rejects. */
  async verify(text: string, wait?: WaitForKeys): Promise<JwtVerdict> {
    const verifier = await this.#verifier;
    if (verifier === undefined) return { kind: "unavailable" };
    const verdict = await verifier.verify(text, wait);
    if (verdict.kind === "valid") this.#remember(text, verdict.claims);
    return verdict;
  }

  async close(): Promise<void> {
    await (await this.#verifier)?.close();
  }

  async #load(): Promise<JwtVerifier | undefined> {
    try {
      const module = await import("./jwt-verifier.ts");
      return new module.JwtVerifier(this.#options);
    } catch (error) {
      this.#options.onProblem(`no JWT can be checked: ${errorMessage(error)}`);
      return undefined;
    }
  }

  #remember(text: string, claims: JwtClaims): void {
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MOST_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
    const until = Math.min(claims.expiresAt, this.#clock.now() + REMEMBER);
    this.#known.set(hashOf(text), { claims, until });
  }
}

function hashOf(text: string): string {
  return hashOnce("sha256", text, "base64");
}
