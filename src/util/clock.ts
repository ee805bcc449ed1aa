// Time as an argument: everything that waits or measures takes a Clock, so tests decide when it is late.

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that only ever go forward: for deadlines and durations. */
  monotonic(): number;
  /** Runs `task` after `ms`; somebody waits for it, so it keeps the process alive. */
  after(ms: number, task: () => void): Timer;
  /** Runs `task` after `ms` if the process still lives then. */
  later(ms: number, task: () => void): Timer;
}

/** setTimeout fires at once for anything longer than this. */
const LONGEST_DELAY = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, task) {
    const handle = start(ms, task);
    return { cancel: () => clearTimeout(handle) };
  },
  later(ms, task) {
    const handle = start(ms, task).unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

function start(ms: number, task: () => void): NodeJS.Timeout {
  return setTimeout(task, Math.min(Math.max(ms, 0), LONGEST_DELAY));
}

/** Resolves to the promise's value, or to `undefined` when `ms` pass first. */
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
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      timer.cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.after(ms, done);
    signal.addEventListener("abort", done, { once: true });
  });
}
