// Limits that each process counts for itself.

import type { Delay, Leave, LimitBucket, Limits } from "../types/shared-state.ts";
import type { Clock } from "../../util/clock.ts";

const MINUTE = 60_000;

/** Adding up fractions ends slightly below 1. */
const WHOLE = 1 - 1e-6;

/** Clients choose some of the keys. Beyond this, buckets are dropped. */
const MOST_BUCKETS = 10_000;

interface Level {
  left: number;
  /** When that was. */
  at: number;
  perMinute: number;
}

export class LocalLimits implements Limits {
  readonly #clock: Pick<Clock, "monotonic">;
  /** A bucket that is not there is full. */
  readonly #levels = new Map<string, Level>();
  /** How many places of each key are taken. */
  readonly #inside = new Map<string, number>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Every call pays for this. */
  take(buckets: readonly LimitBucket[], longestWait: number): undefined | Delay {
    const now = this.#clock.monotonic();
    let waits: number[] | undefined;
    let isRefused = false;
    let index = 0;
    for (const bucket of buckets) {
      const level = this.#level(bucket, now);
      if (level.left < WHOLE) {
        const wait = Math.ceil(((1 - level.left) * MINUTE) / bucket.perMinute);
        waits ??= buckets.map(() => 0);
        waits[index] = wait;
        isRefused ||= wait > longestWait;
      }
      level.left -= 1;
      index += 1;
    }
    if (isRefused) this.giveBack(buckets);
    return waits && { isRefused, waits };
  }

  giveBack(buckets: readonly LimitBucket[]): void {
    const now = this.#clock.monotonic();
    for (const bucket of buckets) this.#level(bucket, now).left += 1;
  }

  enter(key: string, most: number): Leave | undefined {
    const inside = this.#inside.get(key) ?? 0;
    if (inside >= most) return undefined;
    this.#inside.set(key, inside + 1);
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      const left = (this.#inside.get(key) ?? 0) - 1;
      if (left > 0) this.#inside.set(key, left);
      else this.#inside.delete(key);
    };
  }

  #level({ key, perMinute }: LimitBucket, now: number): Level {
    const level = this.#levels.get(key);
    if (level === undefined) {
      if (this.#levels.size >= MOST_BUCKETS) this.#makeRoom(now);
      const full = { left: roomFor(perMinute), at: now, perMinute };
      this.#levels.set(key, full);
      return full;
    }
    level.perMinute = perMinute;
    level.left = filled(level, now);
    level.at = now;
    return level;
  }

  /** Full ones say nothing. If most are in use, the older half begins anew. */
  #makeRoom(now: number): void {
    for (const [key, level] of this.#levels) {
      if (filled(level, now) >= roomFor(level.perMinute)) this.#levels.delete(key);
    }
    const excess = this.#levels.size - MOST_BUCKETS / 2;
    for (const key of [...this.#levels.keys()].slice(0, Math.max(0, excess))) {
      this.#levels.delete(key);
    }
  }
}

function filled({ left, at, perMinute }: Level, now: number): number {
  return Math.min(roomFor(perMinute), left + ((now - at) * perMinute) / MINUTE);
}

/** A replica's part of a small limit may be less than one a minute; then one call passes every few minutes. */
function roomFor(perMinute: number): number {
  return Math.max(1, perMinute);
}
