// What a person types or a program pipes in: one line in answer to a question, or all of stdin.

import type { CliInput, CliIo } from "../io.ts";
import { untilInterrupted } from "../lifetime.ts";
import type { Screen } from "./screen.ts";

/** Longer than anything typed before Enter. */
const LONGEST_LINE = 4096;

/**
 * Resolves to an empty line where stdin ends before Enter. Rejects with CANCELLED when the command must end.
 */
export async function askLine(
  question: string,
  { stdin, stderr }: Pick<CliIo, "stdin" | "stderr">,
  signal: AbortSignal,
): Promise<string> {
  stderr.write(question);
  let onData: (chunk: Buffer | string) => void = () => {};
  let onEnd: () => void = () => {};
  const line = new Promise<string>((resolve) => {
    let text = "";
    onData = (chunk) => {
      text += chunk.toString();
      const end = text.indexOf("\n");
      if (end !== -1) resolve(text.slice(0, end));
      else if (text.length > LONGEST_LINE) resolve("");
    };
    onEnd = () => resolve("");
  });
  stdin.on("data", onData).on("end", onEnd).on("error", onEnd);
  // The question before this one paused it, and a listener alone would not resume it.
  stdin.resume();
  try {
    return await untilInterrupted(line, signal);
  } finally {
    stdin.off("data", onData).off("end", onEnd).off("error", onEnd);
    stdin.pause();
  }
}

export interface Asked {
  io: Pick<CliIo, "stdin" | "stderr">;
  screen: Pick<Screen, "terminal">;
  signal: AbortSignal;
}

/** Whether a person can be asked. */
export function canAsk({ io, screen }: Pick<Asked, "io" | "screen">): boolean {
  return io.stdin.isTTY === true && screen.terminal.err.isTerminal;
}

/** True for `y` and `yes` alone. Rejects with CANCELLED when the command must end. */
export async function askYesNo(question: string, { io, signal }: Asked): Promise<boolean> {
  return /^y(?:es)?$/i.test((await askLine(`${question} [y/N] `, io, signal)).trim());
}

export interface StdinSource {
  io: Pick<CliIo, "stdin">;
  screen: Pick<Screen, "note">;
  signal: AbortSignal;
}

/** Rejects with CANCELLED when the command must end. */
export async function readStdin({ io, screen, signal }: StdinSource): Promise<string> {
  const { stdin } = io;
  if (stdin.isTTY) screen.note("reading from the terminal; press Ctrl-D to end");
  try {
    return await untilInterrupted(readAll(stdin), signal);
  } finally {
    // While it flows it keeps the process alive.
    stdin.pause();
  }
}

function readAll(stdin: CliInput): Promise<string> {
  return new Promise((done, fail) => {
    const chunks: Buffer[] = [];
    stdin.on("data", (chunk: Buffer | string) => chunks.push(Buffer.from(chunk)));
    stdin.once("end", () => done(Buffer.concat(chunks).toString("utf8")));
    stdin.once("error", fail);
  });
}
