// Decides when a failed server is tried again, and when we give it up. The delay is 1, 2, 4 … 30 s with
// jitter. Too many failed starts in a row, or too many crashes in ten minutes, are the end. A minute of health
// forgives everything.

import type { Clock } from "../../util/clock.ts";

const FIRST_MS = 1000;
const LONGEST_MS = 30_000;
const LONGEST_REMOTE_MS = 60_000;
const JITTER = 0.2;
const HEALTHY_MS = 60_000;
const CRASH_WINDOW_MS = 600_000;
const CRASHES_IN_WINDOW = 20;

export type BackoffDecision =
  | { kind: "retry"; delayMs: number; attempt: number }
  | { kind: "give-up"; reason: string };

export interface BackoffOptions {
  clock: Clock;
  random: () => number;
  /** Infinity for a server that we never give up: a remote one may come back without our help. */
  maxFailures: number;
}

export class Backoff {
  readonly #options: BackoffOptions;
  /** How many starts in a row failed. */
  #failures = 0;
  /** Failures and crashes since the last healthy minute; they set the delay. */
  #streak = 0;
  #crashes: number[] = [];
  #readySince: number | undefined;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  get attempt(): number {
    return this.#failures + 1;
  }

  becameReady(): void {
    this.#failures = 0;
    this.#readySince = this.#options.clock.monotonic();
  }

  startFailed(): BackoffDecision {
    this.#failures += 1;
    if (this.#failures >= this.#options.maxFailures) {
      return { kind: "give-up", reason: `${this.#failures} starts in a row failed` };
    }
    return this.#retry();
  }

  crashed(): BackoffDecision {
    const now = this.#options.clock.monotonic();
    if (this.#readySince !== undefined && now - this.#readySince >= HEALTHY_MS) this.forgive();
    this.#readySince = undefined;
    this.#crashes = this.#crashes.filter((at) => now - at < CRASH_WINDOW_MS);
    this.#crashes.push(now);
    if (this.#crashes.length >= CRASHES_IN_WINDOW && this.#options.maxFailures !== Infinity) {
      return { kind: "give-up", reason: `it crashed ${this.#crashes.length} times in 10 minutes` };
    }
    return this.#retry();
  }

  /** After a healthy minute, or when a person restarts the server. */
  forgive(): void {
    this.#failures = 0;
    this.#streak = 0;
    this.#crashes = [];
    this.#readySince = undefined;
  }

  #retry(): BackoffDecision {
    const { random, maxFailures } = this.#options;
    const longest = maxFailures === Infinity ? LONGEST_REMOTE_MS : LONGEST_MS;
    const base = Math.min(FIRST_MS * 2 ** this.#streak, longest);
    this.#streak += 1;
    const delayMs = Math.round(base * (1 - JITTER + 2 * JITTER * random()));
    return { kind: "retry", delayMs: Math.min(delayMs, longest), attempt: this.attempt };
  }
}
