// All that comes from stdin, as text.

import { untilAborted } from "../../../util/abort.ts";
import { interrupted } from "../interrupted.ts";
import type { Input } from "../io.ts";

/** `onPrompt` is told that a person at a terminal is being waited for. Rejects with CANCELLED. */
export async function readStdin(
  stdin: Input,
  signal: AbortSignal,
  onPrompt: () => void,
): Promise<string> {
  if (stdin.isTTY) onPrompt();
  try {
    return await untilAborted(readAll(stdin), signal, interrupted);
  } finally {
    // Nobody reads on: it must not keep the process alive.
    stdin.pause();
  }
}

function readAll(stdin: Input): Promise<string> {
  return new Promise((done, fail) => {
    const chunks: Buffer[] = [];
    stdin.on("data", (chunk: Buffer | string) => chunks.push(Buffer.from(chunk)));
    stdin.once("end", () => done(Buffer.concat(chunks).toString("utf8")));
    stdin.once("error", fail);
  });
}
