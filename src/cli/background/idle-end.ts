// Decides when a gateway in the background ends: when nobody has been attached to it for a while.

import type { Clock, Timer } from "../../util/clock.ts";

/** The command that has started the gateway attaches first; on a machine under load that takes a while. */
const FIRST_USE_MS = 20_000;

export class IdleEnd {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #end: () => void;
  #attached = 0;
  #timer: Timer | undefined;

  /** A gateway that nobody ever uses ends, too. */
  constructor(clock: Clock, idleMs: number, end: () => void) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#end = end;
    this.#arm(Math.max(idleMs, FIRST_USE_MS));
  }

  /** Somebody has attached; the returned function says that they have gone. */
  attached(): () => void {
    this.#attached += 1;
    this.#timer?.cancel();
    let isGone = false;
    return () => {
      if (isGone) return;
      isGone = true;
      this.#attached -= 1;
      if (this.#attached === 0) this.#arm();
    };
  }

  stop(): void {
    this.#timer?.cancel();
    this.#attached = Infinity;
  }

  #arm(ms = this.#idleMs): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.later(ms, this.#end);
  }
}
