// How long a call took by itself, in one place: events, statistics, metrics and the audit say the same.

import type { GuardedCall } from "../types/guard.ts";

/** Milliseconds until now, without those in which it waited for answers of people, or of the host's model. */
export function ownTime({
  now,
  started,
  waitedMs,
}: Pick<GuardedCall, "now" | "started" | "waitedMs">): number {
  return Math.max(0, now - started - waitedMs);
}
