// Limits without Valkey, or while it is away: each replica allows its part of what all of them may do together.

import type { Delay, Leave, LimitBucket, Limits } from "../../types/shared-state.ts";
import type { LocalLimits } from "../local-limits.ts";

export class DividedLimits implements Limits {
  readonly #local: LocalLimits;
  /** How many live. */
  readonly #replicas: () => number;

  constructor(local: LocalLimits, replicas: () => number) {
    this.#local = local;
    this.#replicas = replicas;
  }

  take(buckets: readonly LimitBucket[], longestWait: number): undefined | Delay {
    return this.#local.take(this.#parts(buckets), longestWait);
  }

  giveBack(buckets: readonly LimitBucket[]): void {
    this.#local.giveBack(this.#parts(buckets));
  }

  enter(key: string, most: number): Leave | undefined {
    // A limit that is less than the number of replicas must not refuse everybody for good.
    return this.#local.enter(key, Math.max(1, Math.floor(most / this.#count)));
  }

  #parts(buckets: readonly LimitBucket[]): LimitBucket[] {
    return buckets.map(({ key, perMinute }) => ({ key, perMinute: perMinute / this.#count }));
  }

  get #count(): number {
    return Math.max(1, this.#replicas());
  }
}
