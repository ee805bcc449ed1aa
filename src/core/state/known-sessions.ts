// What is remembered of sessions, in memory, wherever it is stored. It is bounded: any client can begin one session after another,
// and each is remembered for weeks.

import { type JsonObject, textsIn } from "../types/json.ts";
import type { SessionNotes } from "../types/shared-state.ts";

export interface KnownSession {
  expiresAt: number;
  isRevoked: boolean;
  notes?: SessionNotes;
}

/** Beyond this, those that were remembered first are forgotten. */
export const MOST_SESSIONS = 200_000;
/** What all of them have subscribed to, in characters. Beyond this, the notes of those that were remembered first are forgotten. */
export const MOST_SUBSCRIBED = 32 * 1024 * 1024;
/** So much is left then, so that not every further one looks for some to forget. */
const KEPT_PART = 0.75;

export class KnownSessions {
  readonly #byNonce = new Map<string, KnownSession>();
  #subscribed = 0;

  get size(): number {
    return this.#byNonce.size;
  }

  get(nonce: string): KnownSession | undefined {
    return this.#byNonce.get(nonce);
  }

  set(nonce: string, session: KnownSession): void {
    this.#subscribed += subscribedBy(session) - subscribedBy(this.#byNonce.get(nonce));
    this.#byNonce.set(nonce, session);
    if (this.#byNonce.size > MOST_SESSIONS || this.#subscribed > MOST_SUBSCRIBED) this.#makeRoom();
  }

  delete(nonce: string): void {
    this.#subscribed -= subscribedBy(this.#byNonce.get(nonce));
    this.#byNonce.delete(nonce);
  }

  [Symbol.iterator](): IterableIterator<[string, KnownSession]> {
    return this.#byNonce.entries();
  }

  forgetExpired(now: number): void {
    for (const [nonce, { expiresAt }] of this.#byNonce) if (expiresAt <= now) this.delete(nonce);
  }

  #makeRoom(): void {
    const isCrowded = this.#byNonce.size > MOST_SESSIONS;
    const isFull = this.#subscribed > MOST_SUBSCRIBED;
    for (const [nonce, session] of this.#byNonce) {
      const hasTooMany = isCrowded && this.#byNonce.size > MOST_SESSIONS * KEPT_PART;
      const hasTooMuch = isFull && this.#subscribed > MOST_SUBSCRIBED * KEPT_PART;
      if (!hasTooMany && !hasTooMuch) return;
      if (hasTooMany || subscribedBy(session) > 0) this.delete(nonce);
    }
  }
}

/** How many characters a session has subscribed to. */
export function subscribedBy(session: Pick<KnownSession, "notes"> | undefined): number {
  return session?.notes?.subscriptions?.reduce((sum, { length }) => sum + length, 0) ?? 0;
}

/** Another version may have written them: what is not as it must be is left out. */
export function notesIn({ logLevel, subscriptions }: JsonObject): SessionNotes {
  return {
    ...(typeof logLevel === "string" && { logLevel }),
    ...(Array.isArray(subscriptions) && { subscriptions: textsIn(subscriptions) }),
  };
}
