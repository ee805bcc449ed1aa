// The requests that wait until there is room to send them. None of them is text yet: a request that waits costs a
// few words, whatever the size of its arguments.

import { PlugboardError } from "../../types/errors.ts";

/** Far more than anybody waits for; each costs about a kilobyte with its promises. */
const MOST_WAITING = 100_000;

export class Backlog {
  readonly #waiting = new Map<number, () => void>();
  readonly #hasRoom: () => boolean;

  /** `hasRoom` tells whether the next request may be sent. */
  constructor(hasRoom: () => boolean) {
    this.#hasRoom = hasRoom;
  }

  /** Whether a new request may be sent at once. If not, `add` it. */
  get isOpen(): boolean {
    return this.#waiting.size === 0 && this.#hasRoom();
  }

  /** `send` is called in its turn, when there is room. Throws SERVER_UNAVAILABLE if far too many wait already. */
  add(id: number, send: () => void): void {
    if (this.#waiting.size >= MOST_WAITING) {
      const message = `the server does not keep up: ${MOST_WAITING} requests wait to be sent; this one has not run`;
      throw new PlugboardError("SERVER_UNAVAILABLE", message, { quote: "" });
    }
    this.#waiting.set(id, send);
  }

  /** Call it when there may be room again. */
  advance(): void {
    // Every write ends here, and almost none finds something waiting.
    if (this.#waiting.size === 0) return;
    for (const [id, send] of this.#waiting) {
      if (!this.#hasRoom()) return;
      this.#waiting.delete(id);
      send();
    }
  }

  /** False if the request does not wait: it has been sent. */
  remove(id: number): boolean {
    return this.#waiting.delete(id);
  }

  /** Returns the requests that were waiting. */
  clear(): number[] {
    const ids = [...this.#waiting.keys()];
    this.#waiting.clear();
    return ids;
  }
}
