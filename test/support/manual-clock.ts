// A clock that stands still until a test moves it.

import type { Clock, Timer } from "../../src/util/clock.ts";

interface Pending {
  at: number;
  task: () => void;
}

export class ManualClock implements Clock {
  #now = 1_000_000;
  #pending: Pending[] = [];

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, task: () => void): Timer {
    const entry = { at: this.#now + Math.max(0, ms), task };
    this.#pending.push(entry);
    return { cancel: () => this.#remove(entry) };
  }

  later(ms: number, task: () => void): Timer {
    return this.after(ms, task);
  }

  /** Milliseconds until the next timer; undefined when none is set. */
  next(): number | undefined {
    if (this.#pending.length === 0) return undefined;
    return Math.min(...this.#pending.map(({ at }) => at)) - this.#now;
  }

  /** Moves time, running what falls due in order and letting promises settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settle();
      const due = this.#pending.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#remove(due);
      this.#now = Math.max(this.#now, due.at);
      due.task();
    }
    this.#now = end;
    await settle();
  }

  #remove(entry: Pending): void {
    this.#pending = this.#pending.filter((each) => each !== entry);
  }
}

/** Lets everything that only waits for promises go on. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
}
