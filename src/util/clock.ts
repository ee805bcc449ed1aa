// Time as an argument: everything that waits or measures takes a Clock, so that tests control the time.

import type { CallSignal } from "./abort.ts";

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never go backwards: for deadlines and durations. */
  monotonic(): number;
  /** Runs `task` after `ms` and keeps the process alive until then. */
  after(ms: number, task: () => void): Timer;
  /** Runs `task` after `ms` if the process still runs then. */
  later(ms: number, task: () => void): Timer;
}

/** A longer delay makes setTimeout fire at once. */
const LONGEST_DELAY = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  // `performance` would load a module of Node that a short command does not need.
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  after: (ms, task) => new SystemTimer(ms, task),
  later: (ms, task) => new SystemTimer(ms, task).unref(),
};

/**
 * Lets what has arrived meanwhile go first. After this process could not run for a while, timers are due and answers
 * wait in the pipes: an answer that is there must not be taken for one that is missing.
 */
class SystemTimer implements Timer {
  readonly #timeout: NodeJS.Timeout;
  #immediate: NodeJS.Immediate | undefined;

  constructor(ms: number, task: () => void) {
    const delay = Math.min(Math.max(ms, 0), LONGEST_DELAY);
    this.#timeout = setTimeout(() => {
      this.#immediate = setImmediate(task);
    }, delay);
  }

  cancel(): void {
    clearTimeout(this.#timeout);
    clearImmediate(this.#immediate);
  }

  unref(): this {
    this.#timeout.unref();
    return this;
  }
}

/** Resolves to the promise's value, or to `undefined` after `ms`. */
export async function within<T>(
  clock: Clock,
  ms: number,
  promise: Promise<T>,
): Promise<T | undefined> {
  let timer: Timer | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = clock.after(ms, () => resolve(undefined));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer?.cancel();
  }
}

/** Resolves after `ms`, or as soon as the signal aborts. */
export function pause(clock: Clock, ms: number, signal?: CallSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.after(ms, done);
    signal?.addEventListener("abort", done, { once: true });
  });
}
