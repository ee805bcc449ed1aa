// Limits how often one server may ask the host's model: per minute, restarts or not, and per call.

import { PlugboardError } from "../../types/errors.ts";
import type { Clock } from "../../../util/clock.ts";
import type { CausingCall } from "./calls-in-flight.ts";

const PER_MINUTE = 10;
const PER_CALL = 5;
const MINUTE_MS = 60_000;

export class SamplingLimits {
  readonly #clock: Clock;
  /** When the requests of the last minute were allowed, the oldest first. */
  #recent: number[] = [];
  #flooded = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts one request, or refuses it. `isFirst` is the first refusal in a row, so that a flood is logged once. */
  take(call: CausingCall | undefined): { refusal: PlugboardError; isFirst: boolean } | undefined {
    const now = this.#clock.monotonic();
    this.#recent = this.#recent.filter((at) => now - at < MINUTE_MS);
    const limit = this.#exceededLimit(call);
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

  #exceededLimit(call: CausingCall | undefined): string | undefined {
    if (call !== undefined && call.samples >= PER_CALL) return `${PER_CALL} in one call`;
    return this.#recent.length >= PER_MINUTE ? `${PER_MINUTE} a minute` : undefined;
  }
}
