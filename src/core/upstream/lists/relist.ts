// Schedules new lists after `list_changed`: one after a burst, one at a time, and never back to back, so that a
// server that reports changes without end costs at most one list a second.

import type { Clock, Timer } from "../../../util/clock.ts";

const DEBOUNCE_MS = 100;
const SPACING_MS = 1000;

export class Relist {
  readonly #clock: Clock;
  readonly #list: () => Promise<void>;
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  #finishedAt = -Infinity;
  /** A change came during a list, which may have missed it. */
  #again = false;

  /** `list` must not reject. */
  constructor(clock: Clock, list: () => Promise<void>) {
    this.#clock = clock;
    this.#list = list;
  }

  changed(): void {
    if (this.#timer !== undefined) return;
    if (this.#running !== undefined) {
      // Wait for its end, because the spacing counts from there.
      this.#again = true;
      return;
    }
    const spacing = this.#finishedAt + SPACING_MS - this.#clock.monotonic();
    this.#timer = this.#clock.later(Math.max(DEBOUNCE_MS, spacing), () => {
      this.#timer = undefined;
      void this.now();
    });
  }

  /** Does not join a list that began before this call: it may miss the change that the call is about. */
  async now(): Promise<void> {
    await this.#running;
    this.#running ??= this.#list().finally(() => {
      this.#running = undefined;
      this.#finishedAt = this.#clock.monotonic();
      if (this.#again) {
        this.#again = false;
        this.changed();
      }
    });
    await this.#running;
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#again = false;
  }
}
