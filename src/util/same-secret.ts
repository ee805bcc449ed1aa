// Compares secrets in a time that does not tell where they differ.

import { timingSafeEqual } from "node:crypto";

export function isSameSecret(given: unknown, expected: string): boolean {
  if (typeof given !== "string") return false;
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
