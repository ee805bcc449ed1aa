// The system's clock, which a test can put forward: what waits for real processes goes on as it is, and a timeout runs
// out when the test says so, not when the machine was slow.

import { type Clock, systemClock, type Timer } from "../../src/util/clock.ts";

interface Pending {
  /** On this clock. */
  at: number;
  start: (ms: number) => Timer;
  timer: Timer;
}

export class MovableClock implements Clock {
  readonly #pending = new Set<Pending>();
  #ahead = 0;

  now(): number {
    return systemClock.now() + this.#ahead;
  }

  monotonic(): number {
    return systemClock.monotonic() + this.#ahead;
  }

  after(ms: number, task: () => void): Timer {
    return this.#start(ms, task, "after");
  }

  later(ms: number, task: () => void): Timer {
    return this.#start(ms, task, "later");
  }

  /** What is due by then runs soon, in the order in which it is due. */
  forward(ms: number): void {
    this.#ahead += ms;
    const now = this.monotonic();
    for (const each of [...this.#pending].toSorted((a, b) => a.at - b.at)) {
      each.timer.cancel();
      each.timer = each.start(each.at - now);
    }
  }

  #start(ms: number, task: () => void, kind: "after" | "later"): Timer {
    const run = (): void => {
      this.#pending.delete(pending);
      task();
    };
    const start = (left: number): Timer => systemClock[kind](left, run);
    const pending: Pending = { at: this.monotonic() + ms, start, timer: start(ms) };
    this.#pending.add(pending);
    return {
      cancel: () => {
        this.#pending.delete(pending);
        pending.timer.cancel();
      },
    };
  }
}
