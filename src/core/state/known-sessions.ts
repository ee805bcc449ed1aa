// What is remembered of sessions, in memory, wherever it is stored. It is bounded: any client can begin one session after another,
// and each is remembered for weeks.

import { shortHash } from "../../util/short-hash.ts";
import { type JsonObject, textsIn } from "../types/json.ts";
import type { SessionNotes, SessionStore } from "../types/shared-state.ts";

export interface KnownSession {
  expiresAt: number;
  isRevoked: boolean;
  /** Stands for whose it is, if it is somebody's: see `ownerOf`. */
  owner?: string;
  notes?: SessionNotes;
}

/** The most of either kind, ended or not. Beyond this, the sessions that were remembered first are forgotten. */
export const MOST_SESSIONS = 200_000;
/** What all of them have subscribed to, in characters. Beyond this, the notes of those that were remembered first are forgotten. */
export const MOST_SUBSCRIBED = 32 * 1024 * 1024;
/** The same of one caller, who forgets their own first. */
export const MOST_SESSIONS_OF_ONE = 10_000;
export const MOST_SUBSCRIBED_OF_ONE = 4 * 1024 * 1024;
/** The part of a limit that is kept then. Without room below it, each further session would look for some to forget. */
const KEPT_PART = 0.75;

/** Sessions in the order in which they were remembered. */
type Remembered = Map<string, KnownSession>;

/** What is remembered of one caller. */
interface Own {
  ended: Remembered;
  others: Remembered;
  subscribed: number;
}

export class KnownSessions {
  /** Apart from the others: an id whose end is forgotten could be used again, and notes only have to be made again. */
  readonly #ended: Remembered = new Map();
  readonly #others: Remembered = new Map();
  #subscribed = 0;
  readonly #owners = new Map<string, Own>();

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
    if (session.owner !== undefined) this.#setOwn(nonce, session, session.owner);
    if (sessions.size > MOST_SESSIONS) this.#forgetFirst(sessions, MOST_SESSIONS);
    if (this.#subscribed > MOST_SUBSCRIBED) {
      this.#forgetNotes(this.#others, () => this.#subscribed <= MOST_SUBSCRIBED * KEPT_PART);
    }
  }

  delete(nonce: string): void {
    const session = this.get(nonce);
    if (session === undefined) return;
    this.#subscribed -= subscribedBy(session);
    this.#ended.delete(nonce);
    this.#others.delete(nonce);
    const { owner } = session;
    const own = owner === undefined ? undefined : this.#owners.get(owner);
    if (owner === undefined || own === undefined) return;
    own.subscribed -= subscribedBy(session);
    own.ended.delete(nonce);
    own.others.delete(nonce);
    if (own.ended.size + own.others.size === 0) this.#owners.delete(owner);
  }

  *[Symbol.iterator](): IterableIterator<[string, KnownSession]> {
    yield* this.#ended;
    yield* this.#others;
  }

  forgetExpired(now: number): void {
    for (const [nonce, { expiresAt }] of this) if (expiresAt <= now) this.delete(nonce);
  }

  #setOwn(nonce: string, session: KnownSession, owner: string): void {
    const own = this.#owners.get(owner) ?? { ended: new Map(), others: new Map(), subscribed: 0 };
    this.#owners.set(owner, own);
    const sessions = session.isRevoked ? own.ended : own.others;
    sessions.set(nonce, session);
    own.subscribed += subscribedBy(session);
    if (sessions.size > MOST_SESSIONS_OF_ONE) this.#forgetFirst(sessions, MOST_SESSIONS_OF_ONE);
    if (own.subscribed > MOST_SUBSCRIBED_OF_ONE) {
      this.#forgetNotes(own.others, () => own.subscribed <= MOST_SUBSCRIBED_OF_ONE * KEPT_PART);
    }
  }

  #forgetFirst(sessions: Remembered, most: number): void {
    for (const nonce of sessions.keys()) {
      if (sessions.size <= most * KEPT_PART) return;
      this.delete(nonce);
    }
  }

  #forgetNotes(sessions: Remembered, isEnough: () => boolean): void {
    for (const [nonce, session] of sessions) {
      if (isEnough()) return;
      if (subscribedBy(session) > 0) this.delete(nonce);
    }
  }
}

/** What stands for a caller where sessions are remembered: their id may be long, and names people. */
export function ownerOf(caller: string | undefined): { owner?: string } {
  return caller === undefined ? {} : { owner: shortHash(caller) };
}

/** For sessions that end with the process. */
export function memorySessions(): Pick<SessionStore, "isRevoked" | "revoke" | "get" | "set"> {
  const sessions = new KnownSessions();
  const isRevoked = (nonce: string): boolean => sessions.get(nonce)?.isRevoked ?? false;
  return {
    isRevoked,
    async revoke(nonce, expiresAt, caller) {
      sessions.set(nonce, { expiresAt, isRevoked: true, ...ownerOf(caller) });
    },
    get: (nonce) => sessions.get(nonce)?.notes,
    async set(nonce, expiresAt, notes, caller) {
      if (isRevoked(nonce)) return;
      sessions.set(nonce, { expiresAt, isRevoked: false, notes, ...ownerOf(caller) });
    },
  };
}

/** How many characters a session has subscribed to. */
export function subscribedBy(session: Pick<KnownSession, "notes"> | undefined): number {
  return session?.notes?.subscriptions?.reduce((sum, { length }) => sum + length, 0) ?? 0;
}

/** Another version may have written them: what is not as it must be is left out. */
export function notesIn({ logLevel, subscriptions, home }: JsonObject): SessionNotes {
  return {
    ...(typeof home === "string" && { home }),
    ...(typeof logLevel === "string" && { logLevel }),
    ...(Array.isArray(subscriptions) && { subscriptions: textsIn(subscriptions) }),
  };
}
