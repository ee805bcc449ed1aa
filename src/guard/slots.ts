// A number of places that are given out in the order they were asked for.

import { cancelled } from "../model/errors.ts";

interface Waiter {
  enter: () => void;
}

export class Slots {
  #free: number;
  /** A set keeps its order, and one who leaves costs the others nothing. */
  readonly #waiting = new Set<Waiter>();

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Undefined where there is a place at once, so that who needs several is not overtaken in between.
   * Once entered, one `leave` must follow. Throws or rejects with CANCELLED on abort.
   */
  enter(signal: AbortSignal | undefined): Promise<void> | undefined {
    if (signal?.aborted) throw cancelled();
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    return new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(waiter);
        reject(cancelled());
      };
      const waiter: Waiter = {
        enter: () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      this.#waiting.add(waiter);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Hands the place to the next in line. */
  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next.enter();
  }
}
