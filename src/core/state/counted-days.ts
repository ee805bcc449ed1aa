// How much each key has used on a day: counted in memory, and added to what all have stored, a few times a second at most.

import type { DailyUsage } from "../types/shared-state.ts";
import type { Clock, Timer } from "../../util/clock.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long what was used waits to be stored. */
const STORE_MS = 500;
const RETRY_MS = 2000;
/** Callers are many, and few of them are there at a time. One that is dropped is read again. */
const MOST_KEYS = 10_000;

/** Days are numbered, from 1970-01-01. */
export interface UsageStore {
  /** Adds to what is stored, in one step for all keys, and resolves to what each of them has then. */
  add(day: number, used: ReadonlyMap<string, number>): Promise<Map<string, number>>;
  read(day: number, keys: readonly string[]): Promise<Map<string, number>>;
}

interface Counted {
  /** As it was last stored, by everybody. */
  stored: number;
  /** Used here since then. */
  more: number;
}

/** The day of a moment, in UTC. */
export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}

export class CountedDays implements DailyUsage {
  readonly #store: UsageStore;
  readonly #clock: Clock;
  #day = 0;
  #keys = new Map<string, Counted>();
  /** Those that are being read for the first time. */
  readonly #reading = new Map<string, Promise<void>>();
  #timer: Timer | undefined;
  #storing: Promise<void> = Promise.resolve();

  constructor(store: UsageStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  use(key: string, most: number): boolean | Promise<boolean> {
    this.#turnDay();
    const counted = this.#keys.get(key);
    if (counted !== undefined) return this.#use(counted, most);
    const reading = this.#reading.get(key) ?? this.#read(key);
    return reading.then(() => this.use(key, most));
  }

  async today(keys: readonly string[]): Promise<Map<string, number>> {
    this.#turnDay();
    const stored = await this.#store.read(this.#day, keys);
    for (const key of keys) {
      const { more = 0 } = this.#keys.get(key) ?? {};
      if (more !== 0) stored.set(key, (stored.get(key) ?? 0) + more);
    }
    return stored;
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#storing;
    await this.#write();
    this.#timer?.cancel();
  }

  #use(counted: Counted, most: number): boolean {
    if (counted.stored + counted.more >= most) return false;
    counted.more += 1;
    this.#storeLater(STORE_MS);
    return true;
  }

  async #read(key: string): Promise<void> {
    const day = this.#day;
    const reading = this.#store
      .read(day, [key])
      .then(
        (stored) => stored.get(key) ?? 0,
        // Calls must not fail because an engine cannot be asked.
        () => 0,
      )
      .then((stored) => {
        this.#reading.delete(key);
        if (this.#keys.size >= MOST_KEYS) this.#makeRoom();
        if (day === this.#day && !this.#keys.has(key)) this.#keys.set(key, { stored, more: 0 });
      });
    this.#reading.set(key, reading);
    await reading;
  }

  /** What was used yesterday and is not stored yet still is, as yesterday's. */
  #turnDay(): void {
    const day = dayOf(this.#clock.now());
    if (day === this.#day) return;
    const [before, keys] = [this.#day, this.#keys];
    this.#day = day;
    this.#keys = new Map();
    const used = usedSince(keys);
    if (used.size === 0) return;
    this.#storing = this.#storing
      .then(() => this.#store.add(before, used))
      .then(
        () => {},
        () => {},
      );
  }

  #storeLater(after: number): void {
    this.#timer ??= this.#clock.later(after, () => {
      this.#timer = undefined;
      this.#storing = this.#storing.then(() => this.#write());
    });
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    const [day, keys] = [this.#day, this.#keys];
    const used = usedSince(keys);
    if (used.size === 0) return;
    // Counted as stored from now on: what is used meanwhile comes on top.
    for (const [key, more] of used) this.#move(keys, key, more);
    try {
      const stored = await this.#store.add(day, used);
      for (const [key, all] of stored) {
        const counted = keys.get(key);
        if (counted !== undefined) counted.stored = all;
      }
    } catch {
      for (const [key, more] of used) this.#move(keys, key, -more);
      this.#storeLater(RETRY_MS);
    }
  }

  #move(keys: ReadonlyMap<string, Counted>, key: string, more: number): void {
    const counted = keys.get(key);
    if (counted === undefined) return;
    counted.more -= more;
    counted.stored += more;
  }

  /** Those that have nothing to store. */
  #makeRoom(): void {
    for (const [key, { more }] of this.#keys) if (more === 0) this.#keys.delete(key);
  }
}

/** What was used here since it was last stored, by key. */
function usedSince(keys: ReadonlyMap<string, Counted>): Map<string, number> {
  return new Map([...keys].flatMap(([key, { more }]) => (more === 0 ? [] : [[key, more]])));
}
