// Decides when a failed server is tried again, and when we give it up. The delay is 1, 2, 4 … 30 s with
// jitter. Too many restarts in a row, for failed starts and crashes alike, or too many crashes in ten minutes
// are the end. A minute of health forgives everything.

import type { Clock } from "../../../util/clock.ts";
import { plural } from "../../../util/text.ts";

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
  /** Restarts in a row. Infinity for a server that we never give up: a remote one may come back without our help. */
  maxRestarts: () => number;
}

export class Backoff {
  readonly #options: BackoffOptions;
  /** Restarts since the last healthy minute. */
  #restarts = 0;
  #crashes: number[] = [];
  #readySince: number | undefined;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** The number of the next start in this row; the first one is not a restart. */
  get attempt(): number {
    return this.#restarts + 1;
  }

  becameReady(): void {
    this.#readySince = this.#options.clock.monotonic();
  }

  startFailed(): BackoffDecision {
    return this.#restart();
  }

  /** It no longer runs, for whatever reason. */
  stopped(): void {
    const now = this.#options.clock.monotonic();
    if (this.#readySince !== undefined && now - this.#readySince >= HEALTHY_MS) this.forgive();
    this.#readySince = undefined;
  }

  crashed(): BackoffDecision {
    this.stopped();
    const now = this.#options.clock.monotonic();
    this.#crashes = this.#crashes.filter((at) => now - at < CRASH_WINDOW_MS);
    this.#crashes.push(now);
    if (this.#crashes.length >= CRASHES_IN_WINDOW && this.#options.maxRestarts() !== Infinity) {
      return { kind: "give-up", reason: `it crashed ${this.#crashes.length} times in 10 minutes` };
    }
    return this.#restart();
  }

  /** After a healthy minute, or when a person restarts the server. */
  forgive(): void {
    this.#restarts = 0;
    this.#crashes = [];
    this.#readySince = undefined;
  }

  #restart(): BackoffDecision {
    const { random } = this.#options;
    const maxRestarts = this.#options.maxRestarts();
    if (this.#restarts >= maxRestarts) return { kind: "give-up", reason: tooMany(maxRestarts) };
    const longest = maxRestarts === Infinity ? LONGEST_REMOTE_MS : LONGEST_MS;
    const base = Math.min(FIRST_MS * 2 ** this.#restarts, longest);
    this.#restarts += 1;
    const delayMs = Math.round(base * (1 - JITTER + 2 * JITTER * random()));
    return { kind: "retry", delayMs: Math.min(delayMs, longest), attempt: this.attempt };
  }
}

function tooMany(maxRestarts: number): string {
  return maxRestarts === 0 ? "maxRestarts is 0" : `${plural(maxRestarts, "restart")} did not help`;
}
