// Running `ps` and reading what it prints, for systems without a proc file system.

import { execFile, execFileSync } from "node:child_process";
import type { ProcessEntry } from "./table.ts";

/** Dates come in the language and time zone of the reader unless told otherwise. */
const ENVIRONMENT = { LC_ALL: "C", TZ: "UTC", PATH: "/bin:/usr/bin" };
const PS = "/bin/ps";
const LIMITS = {
  env: ENVIRONMENT,
  encoding: "latin1",
  maxBuffer: 64 << 20,
  timeout: 5000,
} as const;

/** One `-o` per column: on the BSDs everything after the first `=` of an item is its title. */
export function columns(...names: string[]): string[] {
  return names.flatMap((name) => ["-o", `${name}=`]);
}

/** What `ps` printed, line by line. */
export function ps(args: readonly string[]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    execFile(PS, args, LIMITS, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout.split("\n").filter((line) => line !== ""));
    });
  });
}

/**
 * The same for some processes. Its exit status does not tell "none of them exists" from a failure,
 * so this process, which does exist, is always asked for as well.
 */
export function psOf(pids: readonly number[], args: readonly string[]): Promise<string[]> {
  return ps([...args, "-p", [process.pid, ...pids].join(",")]);
}

/** Start of one process in seconds since the epoch, or `undefined`. */
export function psStartTime(pid: number): string | undefined {
  try {
    const args = [...columns("lstart"), "-p", String(pid)];
    return parseStart(execFileSync(PS, args, { ...LIMITS, stdio: ["ignore", "pipe", "ignore"] }));
  } catch {
    return undefined;
  }
}

const LSTART = String.raw`\w{3} +\w{3} +\d+ +[\d:]{8} +\d{4}`;
const LINE = new RegExp(
  String.raw`^ *(\d+) +(\d+) +(\d+) +(-?\d+) +(\S+) +(${LSTART}) +(.*)$`,
  "s",
);
const SHORT_LINE = new RegExp(String.raw`^ *(\d+) +(\S+) +(${LSTART})`);

export const FULL_COLUMNS = columns("pid", "ppid", "pgid", "uid", "stat", "lstart", "command");
export const SHORT_COLUMNS = columns("pid", "stat", "lstart");

export interface PsLine {
  entry: ProcessEntry;
  /** The arguments and, where `ps` may show it, the environment after them. */
  command: string;
}

/** Reads a line of FULL_COLUMNS. */
export function parseLine(line: string, now: number): PsLine | undefined {
  const match = LINE.exec(line);
  const start = parseStart(match?.[6] ?? "");
  if (!match || !start) return undefined;
  const entry = {
    pid: Number(match[1]),
    ppid: Number(match[2]),
    pgid: Number(match[3]),
    uid: Number(match[4]),
    zombie: isZombie(match[5]),
    start,
    ageMs: Math.max(0, now - Number(start) * 1000),
  };
  return { entry, command: match[7] ?? "" };
}

/** Reads a line of SHORT_COLUMNS. */
export function parseShortLine(
  line: string,
): Pick<ProcessEntry, "pid" | "start" | "zombie"> | undefined {
  const match = SHORT_LINE.exec(line);
  const start = parseStart(match?.[3] ?? "");
  if (!match || !start) return undefined;
  return { pid: Number(match[1]), start, zombie: isZombie(match[2]) };
}

function isZombie(stat: string | undefined): boolean {
  return stat?.startsWith("Z") ?? false;
}

function parseStart(text: string): string | undefined {
  const at = Date.parse(`${text.trim()} UTC`);
  return Number.isNaN(at) ? undefined : String(at / 1000);
}
