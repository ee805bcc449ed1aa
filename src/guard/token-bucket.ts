// So many calls a minute: as many at once, then one by one as time goes on.

import type { Clock } from "../util/clock.ts";

const MINUTE = 60_000;

/** Sums of parts of a token miss the whole by a hair. */
const WHOLE = 1 - 1e-6;

export class TokenBucket {
  readonly perMinute: number;
  readonly #clock: Clock;
  #tokens: number;
  #filledAt: number;

  constructor(perMinute: number, clock: Clock) {
    this.perMinute = perMinute;
    this.#clock = clock;
    this.#tokens = perMinute;
    this.#filledAt = clock.monotonic();
  }

  /** Milliseconds until there is a token; 0 when there is one now. */
  wait(): number {
    this.#fill();
    if (this.#tokens >= WHOLE) return 0;
    return Math.ceil(((1 - this.#tokens) * MINUTE) / this.perMinute);
  }

  /** Only where `wait` has just said 0. */
  take(): void {
    this.#tokens -= 1;
  }

  #fill(): void {
    const now = this.#clock.monotonic();
    const grown = this.#tokens + ((now - this.#filledAt) * this.perMinute) / MINUTE;
    this.#tokens = Math.min(this.perMinute, grown);
    this.#filledAt = now;
  }
}
