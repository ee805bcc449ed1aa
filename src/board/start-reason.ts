// Which servers start with the board, and why.

import type { BoardOptions } from "../model/board-options.ts";
import type { Slot } from "./slot.ts";

/** A remembered list this old is asked for again before anybody has to name the server. */
const FRESH_MS = 24 * 3_600_000;

/** `now` in milliseconds since the epoch. */
export function startReason(
  { definition, knowledge, cachedAt }: Slot,
  start: BoardOptions["start"],
  now: number,
): "eager" | "to-be-known" | undefined {
  if (!definition.enabled || start === "none") return undefined;
  // Of one for each session the board itself needs none before it is called here.
  const isEager = !definition.lazy && definition.scope !== "session";
  if (start !== "unknown" && isEager) return "eager";
  const age = cachedAt === undefined ? Infinity : now - cachedAt;
  return knowledge === "none" || age > FRESH_MS ? "to-be-known" : undefined;
}
