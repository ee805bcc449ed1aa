// How many lines a server may put into the log; the rest of a flood is counted.

import type { Clock } from "../../util/clock.ts";

const MAX_LINES = 100;
const WINDOW_MS = 1000;

export class LineLimit {
  readonly #clock: Clock;
  /** Called with how many were left out, when there is room again. */
  readonly #onLeftOut: (count: number) => void;
  #windowEnds = 0;
  #lines = 0;
  #leftOut = 0;

  constructor(clock: Clock, onLeftOut: (count: number) => void) {
    this.#clock = clock;
    this.#onLeftOut = onLeftOut;
  }

  /** Whether there is room for one more. */
  take(): boolean {
    const now = this.#clock.monotonic();
    if (now >= this.#windowEnds) {
      if (this.#leftOut > 0) this.#onLeftOut(this.#leftOut);
      this.#windowEnds = now + WINDOW_MS;
      this.#lines = 0;
      this.#leftOut = 0;
    }
    if (this.#lines >= MAX_LINES) {
      this.#leftOut += 1;
      return false;
    }
    this.#lines += 1;
    return true;
  }
}
