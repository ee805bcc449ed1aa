// Decides when a server that nobody calls is stopped: after its `idleTimeout`, or soon if it was started only
// to list its tools.

import type { Clock, Timer } from "../../../util/clock.ts";

/** How long a lazy server that was started only to list its tools waits for its first call. */
const AFTER_LISTING_MS = 30_000;

export class IdleTimer {
  readonly #idleTimeout: () => number;
  readonly #clock: Clock;
  readonly #onIdle: () => void;
  #timer: Timer | undefined;
  #onlyToList = false;

  /** `idleTimeout` gives the server's, as it is now. `onIdle` must check for itself whether a call is under way. */
  constructor(idleTimeout: () => number, clock: Clock, onIdle: () => void) {
    this.#idleTimeout = idleTimeout;
    this.#clock = clock;
    this.#onIdle = onIdle;
  }

  /** Says what the next start is for. */
  begin(onlyToList: boolean): void {
    this.#onlyToList = onlyToList;
  }

  /** A call has come: from now on the server is in use. */
  used(): void {
    if (!this.#onlyToList) return;
    this.#onlyToList = false;
    this.#timer?.cancel();
  }

  /** Starts counting from now. */
  arm(): void {
    const ms = this.#idleTimeout() || (this.#onlyToList ? AFTER_LISTING_MS : 0);
    if (ms === 0) return;
    this.#timer?.cancel();
    this.#timer = this.#clock.later(ms, this.#onIdle);
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
