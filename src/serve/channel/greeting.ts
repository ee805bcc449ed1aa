// How a gateway and a command recognise each other before anything else is sent: both prove that they know the key in
// the gateway's note, and neither sends it.

import { createHmac, randomBytes } from "node:crypto";

/** The version of what is said on a channel. */
export const CHANNEL_VERSION = 1;

/** Which command uses the channel, for people. */
export interface CommandInfo {
  /** The command: `call`, `acp`, `serve`. */
  command: string;
  pid: number;
  cwd: string;
}

export function newNonce(): string {
  return randomBytes(16).toString("base64url");
}

/** A proof of one side is none of the other, so that nobody can send back what they were sent. */
export function proofOf(
  side: "command" | "gateway",
  key: string,
  nonces: readonly string[],
): string {
  return createHmac("sha256", key)
    .update(JSON.stringify([side, ...nonces]))
    .digest("base64url");
}
