// The first line that a socket sends, for a greeting before anything else is read.

import type { Socket } from "node:net";

/**
 * Calls `onLine` once with the first line of the socket; with undefined if the socket ends first, or sends more than
 * `maxBytes` before the end of a line. The socket is paused then, and what came after the line is read next.
 */
export function readFirstLine(
  socket: Socket,
  maxBytes: number,
  onLine: (line: string | undefined) => void,
): void {
  let held: Buffer = Buffer.alloc(0);
  const finish = (line: string | undefined, rest?: Buffer): void => {
    socket.off("data", onData);
    socket.off("close", onClose);
    socket.pause();
    if (rest?.length) socket.unshift(rest);
    onLine(line);
  };
  const onClose = (): void => finish(undefined);
  const onData = (chunk: Buffer): void => {
    const at = chunk.indexOf(10);
    const end = at === -1 ? chunk.length : at;
    if (held.length + end > maxBytes) return finish(undefined);
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    if (at === -1) return;
    const length = held.length - chunk.length + at;
    finish(held.toString("utf8", 0, length), held.subarray(length + 1));
  };
  socket.on("data", onData);
  socket.on("close", onClose);
  socket.resume();
}
