// Keeps stdout for the protocol: whatever else in this process prints there goes to stderr.

import type { Writable } from "node:stream";

type Output = Pick<NodeJS.WritableStream, "write">;

/**
 * The only way to the real stdout from now on, for good: a client still reads while the process ends.
 * `console.log` and every library write through the stream's `write`, so that replacing it catches them all.
 */
export function claimStdout(stdout: Output, stderr: Output): WritableStream<Uint8Array> {
  const write = stdout.write.bind(stdout) as Writable["write"];
  stdout.write = stderr.write.bind(stderr);
  return new WritableStream<Uint8Array>({
    write: (chunk) =>
      new Promise((resolve, reject) => {
        write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
  });
}
