// How many requests each caller may make in a minute.

import type { Clock } from "../../../util/clock.ts";

interface Bucket {
  /** The requests that were left at the time `at`. */
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

  /** Takes one; otherwise returns the milliseconds until there is one. */
  take(key: string, perMinute: number): number {
    const bucket = this.#bucket(key, perMinute);
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) * MINUTE) / perMinute);
    bucket.left -= 1;
    return 0;
  }

  /** The milliseconds until there is one, without taking it. */
  wait(key: string, perMinute: number): number {
    if (!this.#buckets.has(key)) return 0;
    const { left } = this.#bucket(key, perMinute);
    return left >= 1 ? 0 : Math.ceil(((1 - left) * MINUTE) / perMinute);
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
