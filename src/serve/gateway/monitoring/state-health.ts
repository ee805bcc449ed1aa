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
  /** What was said of the engines that are away. */
  readonly #told = new Map<string, Set<string>>();
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
    for (const { engine, message } of away) {
      const told = this.#told.get(engine) ?? new Set();
      if (!told.has(message)) {
        logger.warn(`${message}; the gateway goes on, degraded`, { engine });
      }
      this.#told.set(engine, told.add(message));
    }
    for (const engine of this.#told.keys()) {
      if (away.some((each) => each.engine === engine)) continue;
      logger.info(`${engine} is back`, { visit: "gateway" });
      this.#told.delete(engine);
    }
  }
}
