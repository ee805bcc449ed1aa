// How often one server may ask for the host's model: in a minute, whatever its restarts, and in one call.

import { PlugboardError } from "../../model/errors.ts";
import type { Clock } from "../../util/clock.ts";
import type { CausingCall } from "./origin.ts";

const PER_MINUTE = 10;
const PER_CALL = 5;
const MINUTE_MS = 60_000;

export class SamplingLimits {
  readonly #clock: Clock;
  /** When those of the last minute were let through, the oldest first. */
  #recent: number[] = [];
  #flooded = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts one, or gives the refusal; `isFirst` of those in a row, so that a flood is told once. */
  take(call: CausingCall | undefined): { refusal: PlugboardError; isFirst: boolean } | undefined {
    const now = this.#clock.monotonic();
    this.#recent = this.#recent.filter((at) => now - at < MINUTE_MS);
    const limit = this.#exceeded(call);
    if (limit === undefined) {
      this.#recent.push(now);
      if (call !== undefined) call.samples += 1;
      this.#flooded = false;
      return undefined;
    }
    const isFirst = !this.#flooded;
    this.#flooded = true;
    const message = `too many requests for the model: at most ${limit}`;
    return { refusal: new PlugboardError("RATE_LIMITED", message), isFirst };
  }

  #exceeded(call: CausingCall | undefined): string | undefined {
    if (call !== undefined && call.samples >= PER_CALL) return `${PER_CALL} in one call`;
    return this.#recent.length >= PER_MINUTE ? `${PER_MINUTE} a minute` : undefined;
  }
}
