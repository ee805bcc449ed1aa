// One process as /proc/<pid>/stat tells it.

import { readFileSync } from "node:fs";
import { hasCode } from "./errno.ts";

export interface ProcStat {
  pid: number;
  ppid: number;
  pgid: number;
  /** Clock ticks after boot. */
  start: string;
  zombie: boolean;
}

/**
 * `undefined` for text that is cut short or foreign. The command's name stands in parentheses and may
 * itself hold spaces, parentheses and newlines, so the fields are counted from the last one.
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

/**
 * `undefined` when there is no such process. Throws when that is not known: out of files to open, say,
 * is no proof of anybody's death. Synchronous, so that a signal can follow at once.
 */
export function readStat(proc: string, pid: number): ProcStat | undefined {
  try {
    return parseStat(readFileSync(`${proc}/${pid}/stat`, "latin1"));
  } catch (error) {
    if (hasCode(error, "ENOENT", "ESRCH")) return undefined;
    throw error;
  }
}
