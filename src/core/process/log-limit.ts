// Limits how many lines a server can put into the log; the rest of a flood is only counted.

import type { Clock } from "../../util/clock.ts";

export interface LogLimitOptions {
  clock: Clock;
  maxLines: number;
  windowMs: number;
  /** Called at the start of the next window with the number of lines that were left out. */
  onLeftOut: (count: number) => void;
}

export class LogLimit {
  readonly #options: LogLimitOptions;
  #windowEnds = 0;
  #lines = 0;
  #leftOut = 0;

  constructor(options: LogLimitOptions) {
    this.#options = options;
  }

  /** Whether one more line may be logged. */
  take(): boolean {
    const { clock, maxLines, windowMs, onLeftOut } = this.#options;
    const now = clock.monotonic();
    if (now >= this.#windowEnds) {
      if (this.#leftOut > 0) onLeftOut(this.#leftOut);
      this.#windowEnds = now + windowMs;
      this.#lines = 0;
      this.#leftOut = 0;
    }
    if (this.#lines >= maxLines) {
      this.#leftOut += 1;
      return false;
    }
    this.#lines += 1;
    return true;
  }
}
