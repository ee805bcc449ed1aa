// Keeps stdout for a protocol: from now on, whatever else prints there goes to stderr.

import type { Writable } from "node:stream";

type StandardStream = Pick<NodeJS.WritableStream, "write">;

/**
 * Returns the only way to the real stdout. `console.log` and libraries write through the stream's `write`, so replacing
 * it catches them all. It is never put back, because the client still reads while the process ends.
 */
export function claimStdout(stdout: StandardStream, stderr: StandardStream): Writable["write"] {
  const write = stdout.write.bind(stdout) as Writable["write"];
  stdout.write = stderr.write.bind(stderr);
  return write;
}
