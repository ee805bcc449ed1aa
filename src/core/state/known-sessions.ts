// What is remembered of sessions, in memory, wherever it is stored. It is bounded: any client can begin one session after another,
// and each is remembered for weeks.

import { type JsonObject, textsIn } from "../types/json.ts";
import type { SessionNotes } from "../types/shared-state.ts";

export interface KnownSession {
  expiresAt: number;
  isRevoked: boolean;
  notes?: SessionNotes;
}

/** The most of either kind, ended or not. Beyond this, the sessions that were remembered first are forgotten. */
export const MOST_SESSIONS = 200_000;
/** What all of them have subscribed to, in characters. Beyond this, the notes of those that were remembered first are forgotten. */
export const MOST_SUBSCRIBED = 32 * 1024 * 1024;
/** The part of a limit that is kept then. Without room below it, each further session would look for some to forget. */
const KEPT_PART = 0.75;

export class KnownSessions {
  /** Apart from the others: an id whose end is forgotten could be used again, and notes only have to be made again. */
  readonly #ended = new Map<string, KnownSession>();
  readonly #others = new Map<string, KnownSession>();
  #subscribed = 0;

  get size(): number {
    return this.#ended.size + this.#others.size;
  }

  get(nonce: string): KnownSession | undefined {
    return this.#ended.get(nonce) ?? this.#others.get(nonce);
  }

  set(nonce: string, session: KnownSession): void {
    const sessions = session.isRevoked ? this.#ended : this.#others;
    // It is the last one then: making room must not take it away again.
    this.delete(nonce);
    this.#subscribed += subscribedBy(session);
    sessions.set(nonce, session);
    if (sessions.size > MOST_SESSIONS) this.#forgetFirst(sessions);
    if (this.#subscribed > MOST_SUBSCRIBED) this.#forgetNotes();
  }

  delete(nonce: string): void {
    this.#subscribed -= subscribedBy(this.get(nonce));
    this.#ended.delete(nonce);
    this.#others.delete(nonce);
  }

  *[Symbol.iterator](): IterableIterator<[string, KnownSession]> {
    yield* this.#ended;
    yield* this.#others;
  }

  forgetExpired(now: number): void {
    for (const [nonce, { expiresAt }] of this) if (expiresAt <= now) this.delete(nonce);
  }

  #forgetFirst(sessions: ReadonlyMap<string, KnownSession>): void {
    for (const nonce of sessions.keys()) {
      if (sessions.size <= MOST_SESSIONS * KEPT_PART) return;
      this.delete(nonce);
    }
  }

  #forgetNotes(): void {
    for (const [nonce, session] of this.#others) {
      if (this.#subscribed <= MOST_SUBSCRIBED * KEPT_PART) return;
      if (subscribedBy(session) > 0) this.delete(nonce);
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
