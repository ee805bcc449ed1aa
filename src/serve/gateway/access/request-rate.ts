// How much of something each may have in a minute.

import type { Clock } from "../../../util/clock.ts";

interface Bucket {
  /** What was left at the time `at`. */
  left: number;
  at: number;
}

const MINUTE = 60_000;
/** With more callers than this, the callers whose last request is oldest begin anew. */
const MOST_BUCKETS = 10_000;

export class RequestRate {
  readonly #clock: Clock;
  /** The one that was used longest ago first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes so many; otherwise returns the milliseconds until there are as many. More than there ever are count as all. */
  take(key: string, perMinute: number, wanted = 1): number {
    const bucket = this.#bucket(key, perMinute);
    const amount = Math.min(wanted, perMinute);
    if (bucket.left < amount) return Math.ceil(((amount - bucket.left) * MINUTE) / perMinute);
    bucket.left -= amount;
    return 0;
  }

  /** Whether there is less than one. */
  isEmpty(key: string, perMinute: number): boolean {
    return this.#buckets.has(key) && this.#bucket(key, perMinute).left < 1;
  }

  #bucket(key: string, perMinute: number): Bucket {
    const now = this.#clock.monotonic();
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      const [oldest] = this.#buckets.keys();
      if (this.#buckets.size >= MOST_BUCKETS && oldest !== undefined) this.#buckets.delete(oldest);
      const made = { left: perMinute, at: now };
      this.#buckets.set(key, made);
      return made;
    }
    bucket.left = Math.min(perMinute, bucket.left + ((now - bucket.at) * perMinute) / MINUTE);
    bucket.at = now;
    if (this.#buckets.size > 1) {
      this.#buckets.delete(key);
      this.#buckets.set(key, bucket);
    }
    return bucket;
  }
}
