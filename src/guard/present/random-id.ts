// The id of a frame: 16 hexadecimal digits that nobody can guess.

import { randomUUID } from "node:crypto";

/** Both ends of a UUID are random throughout, and Node makes UUIDs in stock. */
export function randomId(): string {
  const uuid = randomUUID();
  return uuid.slice(0, 8) + uuid.slice(-8);
}
