// Waiting that an AbortSignal can end.

import { setMaxListeners } from "node:events";

const MANY = new WeakSet<AbortSignal>();

/** An agent may make any number of calls with one signal: that is not a leak, so Node must not warn of one. */
export function allowManyListeners(signal: AbortSignal): void {
  if (MANY.has(signal)) return;
  MANY.add(signal);
  setMaxListeners(0, signal);
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Settles like the promise, or rejects with `reason()` as soon as the signal aborts. Leaves no listener behind. */
export async function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  reason: () => Error,
): Promise<T> {
  if (signal === undefined) return promise;
  if (signal.aborted) {
    // Nobody waits for the promise any more, so its rejection must not end the process.
    promise.catch(() => {});
    throw reason();
  }
  let onAbort: () => void = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    onAbort = () => reject(reason());
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, interrupted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
