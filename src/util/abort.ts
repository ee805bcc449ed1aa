// Waiting that a signal can end, and a signal that costs next to nothing.

import { setMaxListeners } from "node:events";

/**
 * Belongs to one request. An AbortController costs a tenth of what the request costs, so there is one only
 * once somebody asks for `signal`.
 */
export class LightSignal {
  #isAborted = false;
  #reason: unknown;
  // Nearly always none or one.
  #listener: (() => void) | undefined;
  #others: Set<() => void> | undefined;
  #controller: AbortController | undefined;

  get aborted(): boolean {
    return this.#isAborted;
  }

  /** As it was given to `abort`. */
  get reason(): unknown {
    return this.#reason;
  }

  /** For code that takes nothing but an AbortSignal. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isAborted) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  /** As with an AbortSignal, a listener is called at most once, and never if it comes too late. */
  addEventListener(_type: "abort", listener: () => void, _options?: { once?: boolean }): void {
    if (this.#isAborted || listener === this.#listener) return;
    if (this.#listener === undefined) this.#listener = listener;
    else (this.#others ??= new Set()).add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    if (listener === this.#listener) this.#listener = undefined;
    else this.#others?.delete(listener);
  }

  abort(reason?: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    const listeners = [this.#listener, ...(this.#others ?? [])];
    this.#listener = undefined;
    this.#others = undefined;
    for (const listener of listeners) listener?.();
    this.#controller?.abort(reason);
  }
}

export type CallSignal = AbortSignal | LightSignal;

export function abortSignalOf(signal: CallSignal): AbortSignal {
  return signal instanceof LightSignal ? signal.signal : signal;
}

const MANY = new WeakSet<AbortSignal>();

/** An agent may make any number of calls with one signal: that is not a leak, so Node must not warn of one. */
export function allowManyListeners(signal: CallSignal): void {
  if (signal instanceof LightSignal || MANY.has(signal)) return;
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
  signal: CallSignal | undefined,
  reason: (signal: CallSignal) => Error,
): Promise<T> {
  if (signal === undefined) return promise;
  if (signal.aborted) {
    // Nobody waits for the promise any more, so its rejection must not end the process.
    promise.catch(() => {});
    throw reason(signal);
  }
  let onAbort: () => void = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    onAbort = () => reject(reason(signal));
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, interrupted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
