// Says in the log when an engine of the shared state goes away, and when it is back.

import type { Logger } from "../../../core/types/logger.ts";
import type { StateHealth } from "../../../core/types/shared-state.ts";
import type { Clock, Timer } from "../../../util/clock.ts";

const LOOK_MS = 1000;

export interface HealthLinesOptions {
  health: () => StateHealth;
  clock: Clock;
  logger: Logger;
}

export class HealthLines {
  readonly #options: HealthLinesOptions;
  /** The engines that are away, as was said. */
  #told = new Set<string>();
  #timer: Timer | undefined;

  constructor(options: HealthLinesOptions) {
    this.#options = options;
    this.#lookLater();
  }

  close(): void {
    this.#timer?.cancel();
  }

  #lookLater(): void {
    this.#timer = this.#options.clock.later(LOOK_MS, () => {
      this.#look();
      this.#lookLater();
    });
  }

  #look(): void {
    const { health, logger } = this.#options;
    const { away } = health();
    const now = new Set(away.map(({ engine }) => engine));
    for (const { engine, message } of away) {
      if (!this.#told.has(engine))
        logger.warn(`${message}; the gateway goes on, degraded`, { engine });
    }
    for (const engine of this.#told) {
      if (!now.has(engine)) logger.info(`${engine} is back`, { visit: "gateway" });
    }
    this.#told = now;
  }
}
