// What a replica has taken from the buckets ahead of its calls, so that a call need not wait for Valkey. It is little, is taken only
// while a bucket is more than half full, and goes back if it is not used soon: near a limit, every call asks.

import type { LimitBucket } from "../../types/shared-state.ts";

/** How long it is kept. What is there when more comes is used first, so that nothing is used after twice this time. */
export const KEPT_MS = 500;
/** The most of a bucket, as a part of what it allows in a minute, and as a number. */
const PART = 0.01;
const MOST = 128;

interface Held {
  left: number;
  perMinute: number;
  until: number;
  /** More has been asked for. */
  isFilling: boolean;
}

export class Stock {
  readonly #held = new Map<string, Held>();
  /** What was kept too long, until it is given back. */
  readonly #unused = new Map<string, number>();

  /** Takes one from each bucket, or from none. Every call pays for this. */
  take(buckets: readonly LimitBucket[], now: number): boolean {
    let taken = 0;
    for (const { key, perMinute } of buckets) {
      const held = this.#held.get(key);
      if (held === undefined || held.left < 1 || held.until <= now) break;
      if (held.perMinute !== perMinute) break;
      held.left -= 1;
      taken += 1;
    }
    if (taken === buckets.length) return true;
    for (const { key } of buckets.slice(0, taken)) this.#add(key, 1);
    return false;
  }

  isLow({ key, perMinute }: LimitBucket): boolean {
    const held = this.#held.get(key);
    return held !== undefined && !held.isFilling && held.left < mostOf(perMinute) / 2;
  }

  /** How many to ask for, of each of the buckets. Of calls that ask at once, one asks for more. */
  beginFilling(buckets: readonly LimitBucket[], now: number): number {
    const most = Math.min(...buckets.map(({ perMinute }) => mostOf(perMinute)));
    if (most === 0 || buckets.some(({ key }) => this.#held.get(key)?.isFilling)) return 0;
    for (const { key, perMinute } of buckets) {
      const { left, until } = this.#fresh(key, perMinute, now);
      this.#held.set(key, { left, perMinute, until, isFilling: true });
    }
    return most;
  }

  /** After `beginFilling`: so many of each have been taken since `asked`. */
  endFilling(buckets: readonly LimitBucket[], count: number, asked: number): void {
    for (const { key } of buckets) {
      const held = this.#held.get(key);
      if (held === undefined) continue;
      held.isFilling = false;
      held.left += count;
      if (count > 0) held.until = asked + KEPT_MS;
    }
  }

  get isEmpty(): boolean {
    return this.#held.size === 0;
  }

  /** What has been kept too long, to be given back: from here it is gone. */
  removeOld(now: number): Map<string, number> {
    for (const [key, held] of this.#held) {
      if (held.isFilling || held.until > now) continue;
      this.#discard(key, held.left);
      this.#held.delete(key);
    }
    const old = new Map(this.#unused);
    this.#unused.clear();
    return old;
  }

  clear(): void {
    this.#held.clear();
    this.#unused.clear();
  }

  #add(key: string, count: number): void {
    const held = this.#held.get(key);
    if (held !== undefined) held.left += count;
  }

  /** What is there of it, without what has been kept too long or was taken from a bucket of another size. */
  #fresh(key: string, perMinute: number, now: number): { left: number; until: number } {
    const held = this.#held.get(key);
    if (held === undefined) return { left: 0, until: now };
    if (held.until > now && held.perMinute === perMinute) return held;
    this.#discard(key, held.left);
    return { left: 0, until: now };
  }

  #discard(key: string, count: number): void {
    if (count > 0) this.#unused.set(key, (this.#unused.get(key) ?? 0) + count);
  }
}

function mostOf(perMinute: number): number {
  return Math.min(MOST, Math.floor(perMinute * PART));
}
