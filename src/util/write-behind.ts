// Writes a moment later: what changes several times meanwhile is written once, and nobody who waits for something else waits
// for a burst of writes.

import type { Clock, Timer } from "./clock.ts";

const WAIT_MS = 300;

export class WriteBehind<Item> {
  readonly #clock: Clock;
  readonly #write: (items: Item[]) => Promise<void>;
  readonly #waiting = new Map<unknown, Item>();
  #timer: Timer | undefined;
  #writing = Promise.resolve();

  /** `write` gets what has come since it was last called, and is not called again before it has ended. It must not reject. */
  constructor(clock: Clock, write: (items: Item[]) => Promise<void>) {
    this.#clock = clock;
    this.#write = write;
  }

  /** Takes the place of what waits under the same key. */
  add(item: Item, key: unknown = item): void {
    this.#waiting.set(key, item);
    this.#timer ??= this.#clock.later(WAIT_MS, () => void this.flush());
  }

  /** Writes at once. Resolves when everything that was added is written. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#waiting.size > 0) {
      this.#writing = this.#writing.then(() => {
        const items = [...this.#waiting.values()];
        this.#waiting.clear();
        return items.length > 0 ? this.#write(items) : undefined;
      });
    }
    return this.#writing;
  }
}
