// What the gateway remembers of a session because it cannot be in the sealed session id: that it was ended, its log
// level and its subscriptions. Everything is kept until the session expires.

import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { appendFile, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject, textsIn, tryParseJson } from "../../types/json.ts";
import type { SessionNotes, SessionStore } from "../../types/shared-state.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { makeDirectory } from "../../../util/make-directory.ts";
import { replaceFile } from "../../../util/replace-file.ts";
import { type KnownSession, KnownSessions, notesIn, ownerOf } from "../known-sessions.ts";
import { withLock } from "../lock.ts";

export interface SessionFileOptions {
  stateDir: string;
  clock: Clock;
  /** Called if a line cannot be written. The session keeps its state in this process. */
  onWriteError: (error: unknown) => void;
}

/** Another gateway that shares the directory may have ended a session. */
const LOOK_EVERY = 500;
const CHUNK_BYTES = 1024 * 1024;
/** How much of a list of subscriptions is in one line, in characters. A longer URI holds until the gateway ends. */
const LONGEST_PART = 128 * 1024;
/** A file with fewer lines is never worth rewriting. */
const LEAST_LINES = 1000;
const FILE_MODE = 0o600;

/**
 * A file of lines, each with what is new of one session: all of it, or what has changed. It is rewritten when most of its lines
 * say nothing any more.
 */
export class SessionFile implements SessionStore {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #onWriteError: (error: unknown) => void;
  readonly #entries = new KnownSessions();
  /** How far the file has been read, and which file it was. */
  #read = { inode: 0, offset: 0, lines: 0 };
  #enoughLines = LEAST_LINES;
  #lastLook = -Infinity;
  /** What the file has of the sessions of which we know something newer. Undefined: nothing, or nobody knows what. */
  readonly #unwritten = new Map<string, KnownSession | undefined>();
  #isWriteDue = false;
  #writing: Promise<void> = Promise.resolve();
  readonly #listeners = new Set<(nonce: string) => void>();
  #timer: Timer | undefined;

  constructor({ stateDir, clock, onWriteError }: SessionFileOptions) {
    this.#file = join(stateDir, "gateway", "sessions.jsonl");
    this.#clock = clock;
    this.#onWriteError = onWriteError;
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
    return this.#put(nonce, { expiresAt, isRevoked: false, notes, ...ownerOf(caller) });
  }

  claim(nonce: string, expiresAt: number): Promise<boolean> {
    return withLock(`${this.#file}.lock`, this.#clock, async () => {
      this.#lastLook = -Infinity;
      if (this.isRevoked(nonce)) return false;
      this.#unwritten.set(nonce, this.#entries.get(nonce));
      this.#entries.set(nonce, { expiresAt, isRevoked: true });
      await this.#append();
      return true;
    });
  }

  onChange(listener: (nonce: string) => void): () => void {
    this.#listeners.add(listener);
    this.#timer ??= this.#lookLater();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#timer?.cancel();
      this.#timer = undefined;
    };
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#listeners.clear();
    await this.#writing;
  }

  #lookLater(): Timer {
    return this.#clock.later(LOOK_EVERY, () => {
      this.#look();
      this.#timer &&= this.#lookLater();
    });
  }

  #find(nonce: string): KnownSession | undefined {
    this.#look();
    const entry = this.#entries.get(nonce);
    if (entry === undefined || entry.expiresAt > this.#clock.now()) return entry;
    this.#entries.delete(nonce);
    return undefined;
  }

  #put(nonce: string, entry: KnownSession): Promise<void> {
    if (!this.#unwritten.has(nonce)) this.#unwritten.set(nonce, this.#entries.get(nonce));
    this.#entries.set(nonce, entry);
    // Lines that come while a write runs go with the next write.
    if (!this.#isWriteDue) {
      this.#isWriteDue = true;
      this.#writing = this.#writing.then(() => this.#write()).catch(this.#onWriteError);
    }
    return this.#writing;
  }

  async #write(): Promise<void> {
    this.#isWriteDue = false;
    await withLock(`${this.#file}.lock`, this.#clock, async () => {
      // Another gateway may have written something about the same sessions.
      this.#lastLook = -Infinity;
      this.#look();
      await this.#append();
      this.#lastLook = -Infinity;
      this.#look();
      if (this.#read.lines > this.#enoughLines) await this.#tidy();
    });
  }

  async #append(): Promise<void> {
    const lines: string[] = [];
    const written = new Map<string, KnownSession | undefined>();
    for (const [nonce, known] of this.#unwritten) {
      const entry = this.#entries.get(nonce);
      written.set(nonce, entry);
      if (entry !== undefined) lines.push(...linesOf(nonce, entry, known));
    }
    try {
      await appendFile(this.#file, lines.join(""), { mode: FILE_MODE });
    } catch (error) {
      // A part of it may be there.
      for (const nonce of written.keys()) this.#unwritten.set(nonce, undefined);
      throw error;
    }
    for (const [nonce, entry] of written) {
      if (this.#entries.get(nonce) === entry) this.#unwritten.delete(nonce);
      else this.#unwritten.set(nonce, entry);
    }
  }

  /** Looks at every entry, so it waits until there are twice as many lines as the last time. */
  async #tidy(): Promise<void> {
    this.#entries.forgetExpired(this.#clock.now());
    const isWorthIt = this.#read.lines > 2 * this.#entries.size;
    if (isWorthIt) await this.#rewrite();
    this.#enoughLines = LEAST_LINES + 2 * (isWorthIt ? this.#entries.size : this.#read.lines);
  }

  /** While the lock is held, so that nobody else's line is lost. */
  async #rewrite(): Promise<void> {
    const temporary = `${this.#file}.tmp`;
    await makeDirectory(dirname(this.#file));
    await rm(temporary, { force: true });
    const file = await open(temporary, "wx", FILE_MODE);
    try {
      const all = [...this.#entries].flatMap(([nonce, entry]) => linesOf(nonce, entry));
      await file.writeFile(all.join(""));
    } finally {
      await file.close();
    }
    await replaceFile(temporary, this.#file, { clock: this.#clock });
  }

  /** Takes over the lines that are new in the file. Synchronous, since it runs in the middle of a request. */
  #look(): void {
    const now = this.#clock.monotonic();
    if (now - this.#lastLook < LOOK_EVERY) return;
    this.#lastLook = now;
    try {
      const found = statSync(this.#file, { throwIfNoEntry: false });
      if (found === undefined || !found.isFile()) return;
      const isSame = found.ino === this.#read.inode && found.size >= this.#read.offset;
      if (isSame && found.size === this.#read.offset) return;
      if (!isSame) this.#read = { inode: found.ino, offset: 0, lines: 0 };
      this.#readOn();
    } catch {
      // The sessions read earlier stay, and the next look tries again.
    }
  }

  #readOn(): void {
    const file = openSync(this.#file, "r");
    try {
      // The path may name another file by now.
      if (fstatSync(file).ino !== this.#read.inode) return;
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      for (;;) {
        const size = readSync(file, chunk, 0, CHUNK_BYTES, this.#read.offset);
        const end = chunk.subarray(0, size).lastIndexOf(0x0a) + 1;
        // A line without its end is still being written. No line of ours fills a chunk.
        if (end === 0) {
          if (size === CHUNK_BYTES) this.#read.offset += size;
          else return;
        }
        for (const line of chunk.toString("utf8", 0, end).split("\n")) this.#take(line);
        this.#read.offset += end;
      }
    } finally {
      closeSync(file);
    }
  }

  #take(line: string): void {
    if (line === "") return;
    this.#read.lines += 1;
    const value = tryParseJson(line);
    if (!isJsonObject(value)) return;
    const { nonce, expiresAt, revoked, owner: named } = value;
    if (typeof nonce !== "string" || typeof expiresAt !== "number") return;
    if (expiresAt <= this.#clock.now()) return;
    if (this.#entries.get(nonce)?.isRevoked) return;
    // The version before this one writes no owner.
    const owner = typeof named === "string" ? named : this.#entries.get(nonce)?.owner;
    const whose = owner === undefined ? {} : { owner };
    if (revoked === true) return this.#heard(nonce, { expiresAt, isRevoked: true, ...whose });
    const isNewerKnown = this.#unwritten.has(nonce);
    const known = isNewerKnown ? this.#unwritten.get(nonce) : this.#entries.get(nonce);
    const notes = notesAfter(value, known?.notes);
    const entry = { expiresAt, isRevoked: false, notes, ...whose };
    if (!isNewerKnown) return this.#heard(nonce, entry);
    this.#unwritten.set(nonce, entry);
    // What another process has changed is no change of ours.
    const own = this.#entries.get(nonce);
    if (own === undefined || !isJsonObject(value.changes)) return;
    const { logLevel: _, ...changes } = value.changes;
    this.#heard(nonce, { ...own, notes: notesAfter({ changes }, own.notes) });
  }

  /** What this process has written comes back too. */
  #heard(nonce: string, entry: KnownSession): void {
    const isNew = !isDeepStrictEqual(this.#entries.get(nonce), entry);
    this.#entries.set(nonce, entry);
    if (isNew) for (const listener of this.#listeners) listener(nonce);
  }
}

/** What the file has to say about a session, of which it has said what is `known` already. */
function linesOf(
  nonce: string,
  { expiresAt, isRevoked, notes, owner }: KnownSession,
  known?: KnownSession,
): string[] {
  const line = (more: object): string =>
    `${JSON.stringify({ nonce, expiresAt, owner, ...more })}\n`;
  if (isRevoked) return [line({ revoked: true })];
  const { logLevel, subscriptions } = notes ?? {};
  if (known?.notes === undefined || known.isRevoked) {
    const [first, ...rest] = partsOf(subscriptions ?? []);
    const isEmpty = subscriptions === undefined;
    return [
      line({ logLevel, ...(!isEmpty && { subscriptions: first ?? [] }) }),
      ...rest.map((subscribed) => line({ changes: { subscribed } })),
    ];
  }
  const before = new Set(known.notes.subscriptions);
  const now = new Set(subscriptions);
  const gone = [...before].filter((uri) => !now.has(uri));
  const added = [...now].filter((uri) => !before.has(uri));
  const isSaid = logLevel === known.notes.logLevel && expiresAt === known.expiresAt;
  return [
    ...(isSaid ? [] : [line({ changes: { logLevel } })]),
    ...partsOf(gone).map((unsubscribed) => line({ changes: { unsubscribed } })),
    ...partsOf(added).map((subscribed) => line({ changes: { subscribed } })),
  ];
}

/** In parts that are no longer than a line may be. */
function partsOf(uris: readonly string[]): string[][] {
  const parts: string[][] = [];
  let room = 0;
  for (const uri of uris) {
    const length = JSON.stringify(uri).length + 1;
    if (length > LONGEST_PART) continue;
    room -= length;
    const last = parts.at(-1);
    if (last !== undefined && room >= 0) {
      last.push(uri);
    } else {
      parts.push([uri]);
      room = LONGEST_PART - length;
    }
  }
  return parts;
}

/** What is noted after a line. */
function notesAfter(line: JsonObject, before: SessionNotes = {}): SessionNotes {
  if (!isJsonObject(line.changes)) return notesIn(line);
  const { logLevel, subscribed, unsubscribed } = line.changes;
  const uris = new Set(before.subscriptions);
  for (const uri of textsIn(unsubscribed)) uris.delete(uri);
  for (const uri of textsIn(subscribed)) uris.add(uri);
  const hasNone = uris.size === 0 && before.subscriptions === undefined;
  return {
    ...before,
    ...notesIn({ logLevel }),
    ...(!hasNone && { subscriptions: [...uris] }),
  };
}
