// When a server that nobody calls is stopped: after its `idleTimeout`, or soon where it was started only to be
// known.

import type { ServerDefinition } from "../model/server-definition.ts";
import type { Clock, Timer } from "../util/clock.ts";

/** How long a lazy server that was started to be known waits for its first call. */
const KNOWN_IDLE_MS = 30_000;

export class Idling {
  readonly #definition: Pick<ServerDefinition, "idleTimeout">;
  readonly #clock: Clock;
  readonly #onIdle: () => void;
  #timer: Timer | undefined;
  #onlyToBeKnown = false;

  /** `onIdle` is to see for itself whether a call is under way. */
  constructor(definition: Pick<ServerDefinition, "idleTimeout">, clock: Clock, onIdle: () => void) {
    this.#definition = definition;
    this.#clock = clock;
    this.#onIdle = onIdle;
  }

  /** For the start that follows. */
  begin(onlyToBeKnown: boolean): void {
    this.#onlyToBeKnown = onlyToBeKnown;
  }

  /** A call has come: what was started to be known is started to be used. */
  used(): void {
    if (!this.#onlyToBeKnown) return;
    this.#onlyToBeKnown = false;
    this.#timer?.cancel();
  }

  /** Counts from now on. */
  arm(): void {
    const ms = this.#definition.idleTimeout || (this.#onlyToBeKnown ? KNOWN_IDLE_MS : 0);
    if (ms === 0) return;
    this.#timer?.cancel();
    this.#timer = this.#clock.later(ms, this.#onIdle);
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
