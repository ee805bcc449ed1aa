// Keeps stdout for the protocol: whatever else in this process prints there goes to stderr.

import type { Writable } from "node:stream";

export interface ClaimedOutput {
  /** The only way to the real stdout until it is released. */
  readonly stream: WritableStream<Uint8Array>;
  release(): void;
}

type Output = Pick<NodeJS.WritableStream, "write">;

/** `console.log` and every library write through the stream's `write`, so that replacing it catches them all. */
export function claimStdout(stdout: Output, stderr: Output): ClaimedOutput {
  const original = stdout.write;
  const write = original.bind(stdout) as Writable["write"];
  stdout.write = stderr.write.bind(stderr);
  return {
    stream: new WritableStream<Uint8Array>({
      write: (chunk) =>
        new Promise((resolve, reject) => {
          write(chunk, (error) => (error ? reject(error) : resolve()));
        }),
    }),
    release() {
      stdout.write = original;
    },
  };
}
