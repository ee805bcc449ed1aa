// One process as Linux describes it in /proc/<pid>/stat.

import { closeSync, openSync, readSync } from "node:fs";
import { hasErrorCode } from "./error-code.ts";

export interface ProcStat {
  pid: number;
  ppid: number;
  pgid: number;
  /** Clock ticks after boot. */
  start: string;
  zombie: boolean;
  /** A thread of the kernel: no program, and without an environment. */
  kernel: boolean;
}

/** Longer than any line there is: a name of at most 64 bytes, and 51 numbers. */
const LINE = Buffer.alloc(2048);
const PF_KTHREAD = 0x20_0000;

/**
 * Reads /proc/<pid>/stat; `undefined` when there is no such process. Throws when we cannot know: running out
 * of file descriptors, for example, does not prove that a process is dead. Synchronous, so that a signal can
 * follow at once.
 */
export function readStat(proc: string, pid: number): ProcStat | undefined {
  try {
    return parseStat(readLine(`${proc}/${pid}/stat`));
  } catch (error) {
    if (hasErrorCode(error, "ENOENT", "ESRCH")) return undefined;
    throw error;
  }
}

/**
 * `undefined` for text that is cut short or malformed. The command's name stands in parentheses and may
 * itself hold spaces, parentheses and newlines, so the fields are counted from the last parenthesis.
 */
export function parseStat(text: string): ProcStat | undefined {
  const pid = Number.parseInt(text, 10);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, ppid, pgid] = fields;
  const [flags, start] = [fields[6], fields[19]];
  if (!(pid > 0) || !state || !ppid || !pgid || !start || !/^\d+$/.test(start)) return undefined;
  const zombie = state === "Z" || state === "X" || state === "x";
  const kernel = (Number(flags) & PF_KTHREAD) !== 0;
  return { pid, ppid: Number(ppid), pgid: Number(pgid), start, zombie, kernel };
}

/** Hundreds of processes are read in a row: `readFileSync` takes three times as long, for it cannot know the size. */
function readLine(path: string): string {
  const file = openSync(path, "r");
  try {
    return LINE.toString("latin1", 0, readSync(file, LINE, 0, LINE.length, 0));
  } finally {
    closeSync(file);
  }
}
