// One process as Linux describes it in /proc/<pid>/stat.

import { readFileSync } from "node:fs";
import { hasErrorCode } from "./error-code.ts";

export interface ProcStat {
  pid: number;
  ppid: number;
  pgid: number;
  /** Clock ticks after boot. */
  start: string;
  zombie: boolean;
}

/**
 * Reads /proc/<pid>/stat; `undefined` when there is no such process. Throws when we cannot know: running out
 * of file descriptors, for example, does not prove that a process is dead. Synchronous, so that a signal can
 * follow at once.
 */
export function readStat(proc: string, pid: number): ProcStat | undefined {
  try {
    return parseStat(readFileSync(`${proc}/${pid}/stat`, "latin1"));
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
  const start = fields[19];
  if (!(pid > 0) || !state || !ppid || !pgid || !start || !/^\d+$/.test(start)) return undefined;
  const zombie = state === "Z" || state === "X" || state === "x";
  return { pid, ppid: Number(ppid), pgid: Number(pgid), start, zombie };
}
