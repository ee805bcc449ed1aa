// What is remembered of sessions, in PostgreSQL and in memory: which were ended, their log level and subscriptions. What others
// have written since the last time is read when the topic's revision has grown: each row has the revision it was written with.

import { isDeepStrictEqual } from "node:util";
import { objectIn, tryParseJson } from "../../types/json.ts";
import type { Logger } from "../../types/logger.ts";
import type { SessionMove, SessionNotes, SessionStore } from "../../types/shared-state.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { reasonOf } from "../../../util/system-problem.ts";
import {
  type KnownSession,
  KnownSessions,
  MOST_SESSIONS,
  MOST_SESSIONS_OF_ONE,
  MOST_SUBSCRIBED,
  MOST_SUBSCRIBED_OF_ONE,
  notesIn,
  ownerOf,
  subscribedBy,
} from "../known-sessions.ts";
import type { Postgres, Row } from "./postgres.ts";
import type { Revisions } from "./revisions.ts";

/** What was said of a session. Of its notes, only what is new: another gateway may be noting something else. */
type Change =
  | { kind: "ended" }
  | { kind: "noted"; logLevel: string | undefined; added: Set<string>; removed: Set<string> };

/** How often what could not be written is tried again. */
const RETRY_MS = 1000;
/** How often expired sessions are forgotten, and those that are too many. */
const TIDY_MS = 10 * 60_000;
/** It is done sooner once so many characters of subscriptions were written. */
const TIDY_SUBSCRIBED = MOST_SUBSCRIBED / 4;
/** What is stored is in UTF-8, between quotation marks. */
const MOST_STORED_BYTES = 2 * MOST_SUBSCRIBED;
const MOST_STORED_BYTES_OF_ONE = 2 * MOST_SUBSCRIBED_OF_ONE;

export interface SessionRowsOptions {
  postgres: Postgres;
  revisions: Revisions;
  clock: Clock;
  logger: Logger;
}

export class SessionRows implements SessionStore {
  readonly #options: SessionRowsOptions;
  readonly #entries = new KnownSessions();
  /** What is new of the sessions that are not written yet. */
  readonly #unwritten = new Map<string, Change>();
  readonly #listeners = new Set<(nonce: string) => void>();
  /** The revision of the newest row that was read. */
  #revision = "0";
  #isWriteDue = false;
  #isFailing = false;
  #writing: Promise<void> = Promise.resolve();
  #retry: Timer | undefined;
  #lastTidy: number;
  /** Characters of subscriptions that were written since then. */
  #subscribed = 0;
  #isClosed = false;

  constructor(options: SessionRowsOptions) {
    this.#options = options;
    this.#lastTidy = options.clock.monotonic();
    options.revisions.subscribe("sessions", (isBehind) => this.#read(isBehind));
  }

  isRevoked(nonce: string): boolean {
    return this.#find(nonce)?.isRevoked ?? false;
  }

  revoke(nonce: string, expiresAt: number, caller?: string): Promise<void> {
    return this.#put(nonce, { expiresAt, isRevoked: true, ...ownerOf(caller) });
  }

  get(nonce: string): SessionNotes | undefined {
    return this.#find(nonce)?.notes;
  }

  set(nonce: string, expiresAt: number, notes: SessionNotes, caller?: string): Promise<void> {
    // A request that was still running must not bring an ended session back.
    if (this.isRevoked(nonce)) return this.#writing;
    const { home } = this.get(nonce) ?? {};
    const stored = { ...storable(notes), ...(home !== undefined && { home }) };
    return this.#put(nonce, { expiresAt, isRevoked: false, notes: stored, ...ownerOf(caller) });
  }

  async move(
    nonce: string,
    expiresAt: number,
    { began, from, to }: SessionMove,
    caller?: string,
  ): Promise<string | undefined> {
    const { postgres, revisions } = this.#options;
    await revisions.change(
      "sessions",
      `insert into plugboard_sessions
          select $1, $2, false, json_build_object('home', $3::text)::text, revision, $6 from bumped
        on conflict (nonce) do update set revision = excluded.revision,
          notes = jsonb_set(coalesce(plugboard_sessions.notes, '{}')::jsonb, '{home}', to_jsonb($3::text))::text
          where not plugboard_sessions.is_revoked
            and coalesce(plugboard_sessions.notes::jsonb->>'home', $5) = $4
        returning 1`,
      [nonce, Math.round(expiresAt), to, from, began, ownerOf(caller).owner],
    );
    const [row] = await postgres.query(
      "select is_revoked, notes from plugboard_sessions where nonce = $1",
      [nonce],
    );
    if (row?.["is_revoked"] === true) return undefined;
    const { home = began } = notesIn(objectIn(tryParseJson(String(row?.["notes"] ?? ""))));
    const known = this.#find(nonce) ?? { expiresAt, isRevoked: false, ...ownerOf(caller) };
    if (!known.isRevoked) this.#entries.set(nonce, { ...known, notes: { ...known.notes, home } });
    return home;
  }

  async claim(nonce: string, expiresAt: number): Promise<boolean> {
    if (this.isRevoked(nonce)) return false;
    const claimed = await this.#options.revisions.change(
      "sessions",
      `insert into plugboard_sessions select $1, $2, true, null, revision from bumped
        on conflict (nonce) do update set is_revoked = true, notes = null, revision = excluded.revision
          where not plugboard_sessions.is_revoked
        returning 1`,
      [nonce, Math.round(expiresAt)],
    );
    this.#entries.set(nonce, { expiresAt, isRevoked: true });
    return claimed === 1;
  }

  onChange(listener: (nonce: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retry?.cancel();
    await this.#writing;
    if (this.#unwritten.size > 0) await this.#write();
  }

  #find(nonce: string): KnownSession | undefined {
    const entry = this.#entries.get(nonce);
    if (entry === undefined || entry.expiresAt > this.#options.clock.now()) return entry;
    this.#entries.delete(nonce);
    return undefined;
  }

  #put(nonce: string, entry: KnownSession): Promise<void> {
    const known = this.#entries.get(nonce)?.notes;
    this.#entries.set(nonce, entry);
    this.#unwritten.set(nonce, changeTo(entry, known, this.#unwritten.get(nonce)));
    // What comes while a write runs goes with the next one.
    if (!this.#isWriteDue) {
      this.#isWriteDue = true;
      this.#writing = this.#writing.then(() => this.#write());
    }
    return this.#writing;
  }

  /** Never rejects: what could not be written holds in this process, and is tried again. */
  async #write(): Promise<void> {
    this.#isWriteDue = false;
    const due = [...this.#unwritten];
    this.#unwritten.clear();
    const ended = due.filter(([, { kind }]) => kind === "ended");
    const parts = [
      ...(ended.length === 0 ? [] : [ended]),
      ...due.filter(isNoted).map((each) => [each]),
    ];
    for (const part of parts) {
      try {
        const [first] = part;
        await (first !== undefined && isNoted(first)
          ? this.#writeNotes(first)
          : this.#writeEnded(part));
        this.#isFailing = false;
      } catch (error) {
        // What came meanwhile is newer.
        for (const [nonce, change] of part) {
          const newer = this.#unwritten.get(nonce);
          this.#unwritten.set(nonce, newer === undefined ? change : joined(change, newer));
        }
        this.#onFailed(error);
      }
    }
    if (!this.#isFailing) await this.#tidy().catch(() => {});
  }

  async #writeEnded(ended: readonly (readonly [string, Change])[]): Promise<void> {
    await this.#options.revisions.change(
      "sessions",
      `insert into plugboard_sessions
        select nonce, expires_at, true, null, revision, owner
          from unnest($1::text[], $2::bigint[], $3::text[]) given (nonce, expires_at, owner), bumped
        on conflict (nonce) do update set expires_at = excluded.expires_at, is_revoked = true,
          notes = null, revision = excluded.revision,
          owner = coalesce(excluded.owner, plugboard_sessions.owner) where not plugboard_sessions.is_revoked
        returning 1`,
      [
        ended.map(([nonce]) => nonce),
        ended.map(([nonce]) => Math.round(this.#entries.get(nonce)?.expiresAt ?? 0)),
        ended.map(([nonce]) => this.#entries.get(nonce)?.owner),
      ],
    );
  }

  async #writeNotes([nonce, { logLevel, added, removed }]: Noted): Promise<void> {
    const { expiresAt = 0, notes = {}, owner } = this.#entries.get(nonce) ?? {};
    this.#subscribed += subscribedBy({ notes: { subscriptions: [...added] } });
    await this.#options.revisions.change(
      "sessions",
      `insert into plugboard_sessions select $1, $2, false, $3, revision, $7 from bumped
        on conflict (nonce) do update set expires_at = excluded.expires_at,
          revision = excluded.revision, owner = coalesce(excluded.owner, plugboard_sessions.owner), notes = (
            select json_build_object('home', old->'home', 'logLevel', coalesce($4, old->>'logLevel'), 'subscriptions', (
              select coalesce(json_agg(uri), '[]') from (
                select jsonb_array_elements_text(coalesce(old->'subscriptions', '[]')) as uri
                union select unnest($5::text[])) together
              where uri <> all ($6::text[])))::text
            from (select coalesce(plugboard_sessions.notes, '{}')::jsonb as old) before)
          where not plugboard_sessions.is_revoked
        returning 1`,
      [
        nonce,
        Math.round(expiresAt),
        JSON.stringify(notes),
        logLevel,
        [...added],
        [...removed],
        owner,
      ],
    );
  }

  #onFailed(error: unknown): void {
    const { clock, logger } = this.#options;
    if (!this.#isFailing) {
      logger.warn("sessions cannot be saved; they hold here meanwhile", {
        reason: reasonOf(error),
      });
    }
    this.#isFailing = true;
    if (this.#isClosed) return;
    this.#retry ??= clock.later(RETRY_MS, () => this.#tryAgain());
  }

  #tryAgain(): void {
    this.#retry = undefined;
    this.#writing = this.#writing.then(() => this.#write());
  }

  async #tidy(): Promise<void> {
    const { clock, postgres } = this.#options;
    const isDue = clock.monotonic() - this.#lastTidy >= TIDY_MS;
    if (!isDue && this.#subscribed < TIDY_SUBSCRIBED) return;
    this.#lastTidy = clock.monotonic();
    this.#subscribed = 0;
    this.#entries.forgetExpired(clock.now());
    // Those that have expired by the engine's clock, and not at once: a session that has ended would come back on every replica whose
    // clock is behind.
    await postgres.query(
      `with listed as (
          select nonce, row_number() over newest as place, sum(octet_length(notes)) over newest as bytes,
            row_number() over own as own_place, sum(octet_length(notes)) over own as own_bytes
            from plugboard_sessions window newest as (partition by is_revoked order by revision desc),
              own as (partition by is_revoked, owner order by revision desc))
        delete from plugboard_sessions using listed where plugboard_sessions.nonce = listed.nonce and (
          expires_at < extract(epoch from now()) * 1000 - 86400000
          or place > $1 or bytes > $2
          or owner is not null and (own_place > $3 or own_bytes > $4))`,
      [MOST_SESSIONS, MOST_STORED_BYTES, MOST_SESSIONS_OF_ONE, MOST_STORED_BYTES_OF_ONE],
    );
  }

  async #read(isBehind: boolean): Promise<void> {
    if (isBehind) this.#writeAgain();
    const rows = await this.#options.postgres.query(
      `select nonce, expires_at::float8 as expires_at, is_revoked, notes, revision::text, owner
        from plugboard_sessions where revision > $1 and expires_at > $2 order by revision`,
      [this.#revision, this.#options.clock.now()],
    );
    for (const row of rows) this.#take(row);
  }

  /** The engine may have lost that a session has ended. */
  #writeAgain(): void {
    this.#revision = "0";
    for (const [nonce, { isRevoked }] of this.#entries) {
      if (isRevoked) this.#unwritten.set(nonce, { kind: "ended" });
    }
    this.#tryAgain();
  }

  #take({
    nonce,
    expires_at: expiresAt,
    is_revoked: isRevoked,
    notes,
    revision,
    owner,
  }: Row): void {
    this.#revision = String(revision);
    const name = String(nonce);
    const known = this.#entries.get(name);
    // What this process knows and has not written yet is newer, unless the session has ended.
    if (known?.isRevoked || (this.#unwritten.has(name) && isRevoked !== true)) return;
    const entry: KnownSession = {
      expiresAt: Number(expiresAt),
      isRevoked: isRevoked === true,
      ...(typeof notes === "string" && { notes: notesIn(objectIn(tryParseJson(notes))) }),
      ...(typeof owner === "string" && { owner }),
    };
    this.#entries.set(name, entry);
    // What this process has written comes back too.
    if (isDeepStrictEqual(entry, known)) return;
    for (const listener of this.#listeners) listener(name);
  }
}

type Noted = readonly [string, Change & { kind: "noted" }];

function isNoted(each: readonly [string, Change]): each is Noted {
  return each[1].kind === "noted";
}

/** What is new in `entry`, after what was `known` and what waits to be written of it. */
function changeTo(
  { isRevoked, notes }: KnownSession,
  known: SessionNotes = {},
  waiting?: Change,
): Change {
  if (isRevoked) return { kind: "ended" };
  const [before, now] = [known, notes ?? {}].map((each) => new Set(each.subscriptions));
  const change: Change = {
    kind: "noted",
    logLevel: notes?.logLevel === known.logLevel ? undefined : notes?.logLevel,
    added: new Set([...(now ?? [])].filter((uri) => !before?.has(uri))),
    removed: new Set([...(before ?? [])].filter((uri) => !now?.has(uri))),
  };
  return waiting === undefined ? change : joined(waiting, change);
}

function joined(first: Change, then: Change): Change {
  if (first.kind === "ended" || then.kind === "ended") return { kind: "ended" };
  return {
    kind: "noted",
    logLevel: then.logLevel ?? first.logLevel,
    added: new Set([...[...first.added].filter((uri) => !then.removed.has(uri)), ...then.added]),
    removed: new Set([
      ...[...first.removed].filter((uri) => !then.added.has(uri)),
      ...then.removed,
    ]),
  };
}

/** PostgreSQL takes no text with a zero or with half a character in it. A subscription to one ends with the gateway. */
function storable({ subscriptions, ...rest }: SessionNotes): SessionNotes {
  if (subscriptions === undefined) return rest;
  const isStorable = (uri: string): boolean => !/\0|\p{Cs}/u.test(uri);
  return { ...rest, subscriptions: subscriptions.filter(isStorable) };
}
