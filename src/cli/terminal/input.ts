// What a person types or a program pipes in: one line in answer to a question, or all of stdin.

import { PlugboardError } from "../../core/types/errors.ts";
import type { CliInput, CliIo } from "../io.ts";
import { untilInterrupted } from "../lifetime.ts";
import type { Screen } from "./screen.ts";

/** Longer than anything typed before Enter. */
const LONGEST_LINE = 4096;

/**
 * Resolves to an empty line where stdin ends before Enter. Rejects with CANCELLED when the command must end.
 */
export async function askLine(question: string, { io, screen, signal }: Asked): Promise<string> {
  const answered = screen.ask(question);
  let text = "";
  try {
    return await readTyped(io.stdin, signal, (chunk) => {
      text += chunk;
      const end = text.indexOf("\n");
      if (end !== -1) return text.slice(0, end);
      return text.length > LONGEST_LINE ? "" : undefined;
    });
  } finally {
    answered();
  }
}

/** As `askLine`, and what is typed is not shown. */
export async function askHidden(question: string, { io, screen, signal }: Asked): Promise<string> {
  const { stdin, stderr } = io;
  const answered = screen.ask(question);
  let typed = "";
  stdin.setRawMode?.(true);
  try {
    return await readTyped(stdin, signal, (chunk) => {
      for (const key of chunk.replace(ESCAPE_SEQUENCES, "")) {
        if (key === ENTER || key === "\n") return typed;
        // The terminal sends no signal while its keys come as they are typed.
        if (key === CTRL_C) throw new PlugboardError("CANCELLED", "interrupted");
        if (key === CTRL_D) return "";
        if (key === CTRL_U) typed = "";
        else if (key === BACKSPACE || key === "\b") typed = typed.slice(0, -1);
        else typed += key;
      }
      return typed.length > LONGEST_LINE ? "" : undefined;
    });
  } finally {
    stdin.setRawMode?.(false);
    stderr.write("\n");
    answered();
  }
}

const ENTER = "\r";
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const CTRL_U = "\u0015";
const BACKSPACE = "\u007f";
/** Arrow keys, and what a terminal puts around a pasted text. */
// oxlint-disable-next-line no-control-regex -- these sequences begin with a control character
const ESCAPE_SEQUENCES = /\u001b\[[0-9;]*[A-Za-z~]/g;

/**
 * Resolves to what `take` first returns, or to an empty line where stdin ends before that. Rejects with what `take`
 * throws, and with CANCELLED when the command must end.
 */
async function readTyped(
  stdin: CliInput,
  signal: AbortSignal,
  take: (chunk: string) => string | undefined,
): Promise<string> {
  // Stdin reports its end only once, and an earlier question has heard it.
  if ("readableEnded" in stdin && stdin.readableEnded === true) return "";
  let onData: (chunk: Buffer | string) => void = () => {};
  let onEnd: () => void = () => {};
  const line = new Promise<string>((resolve, reject) => {
    onData = (chunk) => {
      try {
        const taken = take(chunk.toString());
        if (taken !== undefined) resolve(taken);
      } catch (error) {
        reject(error);
      }
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
  screen: Pick<Screen, "terminal" | "ask">;
  signal: AbortSignal;
}

/** Whether a person can be asked. */
export function canAsk({ io, screen }: Pick<Asked, "io" | "screen">): boolean {
  return io.stdin.isTTY === true && screen.terminal.err.isTerminal;
}

/**
 * True for `y` and `yes`; also for Enter alone where yes does no harm. Rejects with CANCELLED when the command must end.
 */
export async function askYesNo(
  question: string,
  asked: Asked,
  onEnter: "yes" | "no" = "no",
): Promise<boolean> {
  const choices = onEnter === "yes" ? "[Y/n]" : "[y/N]";
  const answer = (await askLine(`${question} ${choices} `, asked)).trim();
  return answer === "" ? onEnter === "yes" : /^y(?:es)?$/i.test(answer);
}

/**
 * Asks before something is done that has been shown. `what` completes "cannot ask whether to …", and `otherwise` says
 * what a no leaves. Rejects with NOT_APPROVED unless the person says yes, or has said so with `--yes`.
 */
export async function requireYes(
  question: string,
  { yes, what, otherwise }: { yes: boolean; what: string; otherwise?: string | undefined },
  asked: Asked,
): Promise<void> {
  if (yes) return;
  if (!canAsk(asked)) {
    throw new PlugboardError(
      "NOT_APPROVED",
      `cannot ask whether to ${what}, because this is not a terminal`,
      { hint: "to accept what is shown above, add --yes" },
    );
  }
  if (!(await askYesNo(question, asked))) throw notWanted(otherwise);
}

const ownAnswers = new WeakSet<PlugboardError>();

/** What a command ends with after a person's own no. `outcome` says what that leaves. */
export function notWanted(outcome = "nothing has changed"): PlugboardError {
  const error = new PlugboardError("NOT_APPROVED", outcome);
  ownAnswers.add(error);
  return error;
}

/** A person need not be told why, nor where to read more. */
export function isOwnAnswer(error: PlugboardError): boolean {
  return ownAnswers.has(error);
}

export interface StdinSource {
  io: Pick<CliIo, "stdin">;
  screen: Pick<Screen, "note">;
  signal: AbortSignal;
}

/** More than any server takes in one message. */
export const LARGEST_INPUT = 64 * 1024 * 1024;

/** Rejects with CANCELLED when the command must end, and with INVALID_ARGUMENTS for more than LARGEST_INPUT. */
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
    let size = 0;
    stdin.on("data", (chunk: Buffer | string) => {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size <= LARGEST_INPUT) return chunks.push(bytes);
      chunks.length = 0;
      stdin.pause();
      return fail(new PlugboardError("INVALID_ARGUMENTS", "there is more than 64 MiB on stdin"));
    });
    stdin.once("end", () => done(Buffer.concat(chunks).toString("utf8")));
    stdin.once("error", fail);
  });
}
