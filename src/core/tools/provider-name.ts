// Tool names that every provider accepts, for names that the board's template or a model made up.

import { createHash } from "node:crypto";

const ACCEPTED = /^[a-zA-Z0-9_-]{1,64}$/;
const LONGEST_NAME = 64;
const HASH_LENGTH = 8;

/** The name itself where providers accept it; otherwise a cleaned one, with a hash that keeps it unique. */
export function providerName(name: string): string {
  if (ACCEPTED.test(name)) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_LENGTH);
  const clean = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, LONGEST_NAME - HASH_LENGTH - 1);
  return `${clean}_${hash}`;
}

/**
 * The name that a conversation keeps for a called tool. A model may have made the name up, and a provider
 * refuses the whole conversation for a name it does not accept.
 */
export function safeName(name: string): string {
  return ACCEPTED.test(name) && !(name in Object.prototype) ? name : "unknown_tool";
}
