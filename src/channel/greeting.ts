// How a gateway and a command recognise each other before anything else is sent: both prove that they know the key in
// the gateway's note, and neither sends it.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";

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

export function isSameProof(given: unknown, expected: string): boolean {
  if (typeof given !== "string") return false;
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/**
 * Calls `onLine` once with the first line of the socket and what came after it; with undefined if the socket ends
 * first, or sends more than `maxBytes` before the end of a line. The socket is paused then.
 */
export function readFirstLine(
  socket: Socket,
  maxBytes: number,
  onLine: (line: string | undefined, rest: Buffer) => void,
): void {
  let held: Buffer = Buffer.alloc(0);
  const finish = (line: string | undefined, rest: Buffer): void => {
    socket.off("data", onData);
    socket.off("close", onClose);
    socket.pause();
    onLine(line, rest);
  };
  const onClose = (): void => finish(undefined, held);
  const onData = (chunk: Buffer): void => {
    const at = chunk.indexOf(10);
    const end = at === -1 ? chunk.length : at;
    if (held.length + end > maxBytes) return finish(undefined, held);
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    if (at === -1) return;
    const length = held.length - chunk.length + at;
    finish(held.toString("utf8", 0, length), held.subarray(length + 1));
  };
  socket.on("data", onData);
  socket.on("close", onClose);
  socket.resume();
}
