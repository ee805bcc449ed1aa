// The process table of macOS and the BSDs, as `ps` prints it. macOS hides the environment of the system's
// own programs (/bin/sh, /usr/bin/…) even from their owner, so those have no cookie here.

import { execFile, execFileSync } from "node:child_process";
import { COOKIE_VARIABLE } from "../../util/environment.ts";
import {
  type ProcessEntry,
  type ProcessRef,
  type ProcessTable,
  programName,
  relativesOf,
} from "./process-table.ts";

const COOKIE = new RegExp(String.raw`(?:^| )${COOKIE_VARIABLE}=(\S+)`);
/** Where `ps` computes start times from the uptime, as on Linux, they vary by a second. */
const START_TOLERANCE = 1;

export class PsTable implements ProcessTable {
  /** All processes, lines of any length, environments. */
  readonly #selection: string;
  readonly #uid: number;

  constructor({ platform = process.platform, uid = process.geteuid?.() ?? 0 } = {}) {
    this.#selection = platform === "darwin" ? "-axwwE" : "axeww";
    this.#uid = uid;
  }

  async list(): Promise<ProcessEntry[]> {
    const found = parseLines(await ps([this.#selection, ...FULL_COLUMNS]));
    const candidates = this.#candidates(found);
    if (candidates.length > 0) {
      addCookies(candidates, await psOf(pidsOf(candidates), ARGUMENTS));
    }
    return found.map(({ entry }) => entry);
  }

  /** Reads all cookies: `ps` has read the environments anyway. */
  listNow(): ProcessEntry[] {
    const found = parseLines(psNow([this.#selection, ...FULL_COLUMNS]));
    const candidates = this.#candidates(found);
    if (candidates.length > 0) {
      addCookies(candidates, psNow([...ARGUMENTS, ...selected(pidsOf(candidates))]));
    }
    return found.map(({ entry }) => entry);
  }

  async descendants(pid: number): Promise<ProcessRef[]> {
    return relativesOf(await this.list(), pid);
  }

  async living<Ref extends ProcessRef>(refs: readonly Ref[]): Promise<Ref[]> {
    if (refs.length === 0) return [];
    const pids = refs.map(({ pid }) => pid);
    const lines = await psOf(pids, SHORT_COLUMNS);
    const now = new Map(
      lines.flatMap((line) => parseShortLine(line) ?? []).map((entry) => [entry.pid, entry]),
    );
    return refs.filter(({ pid, start }) => {
      const entry = now.get(pid);
      if (!entry || entry.zombie) return false;
      return Math.abs(Number(entry.start) - Number(start)) <= START_TOLERANCE;
    });
  }

  #candidates(lines: readonly PsLine[]): PsLine[] {
    return lines.filter(
      ({ entry, command }) => entry.uid === this.#uid && !entry.zombie && COOKIE.test(command),
    );
  }
}

function parseLines(lines: readonly string[]): PsLine[] {
  return lines.flatMap((line) => parseLine(line, Date.now()) ?? []);
}

function pidsOf(lines: readonly PsLine[]): number[] {
  return lines.map(({ entry }) => entry.pid);
}

/**
 * `ps` prints arguments and environment as one text, and an argument may look like a variable. So the candidates
 * are listed again without their environment: only what is missing then was in it.
 */
function addCookies(candidates: readonly PsLine[], withoutEnvironment: readonly string[]): void {
  const argumentsOf = new Map(
    withoutEnvironment.map((line) => {
      const text = line.trimStart();
      const end = text.indexOf(" ");
      return [Number(text.slice(0, end)), text.slice(end).trimStart()];
    }),
  );
  for (const { entry, command } of candidates) {
    const args = argumentsOf.get(entry.pid);
    if (args === undefined || !command.startsWith(args)) continue;
    const cookie = COOKIE.exec(command.slice(args.length))?.[1];
    if (cookie !== undefined) entry.cookie = cookie;
  }
}

/** `ps` writes dates in the language and time zone of the reader unless told otherwise. */
const ENVIRONMENT = { LC_ALL: "C", TZ: "UTC", PATH: "/bin:/usr/bin" };
const PS = "/bin/ps";
const LIMITS = {
  env: ENVIRONMENT,
  encoding: "latin1",
  maxBuffer: 64 << 20,
  timeout: 5000,
} as const;

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
 * The same for some processes. The exit status of `ps` does not tell "none of them exists" from a failure,
 * so we always ask for this process as well, which does exist.
 */
export function psOf(pids: readonly number[], args: readonly string[]): Promise<string[]> {
  return ps([...args, ...selected(pids)]);
}

function selected(pids: readonly number[]): string[] {
  return ["-p", [process.pid, ...pids].join(",")];
}

function psNow(args: readonly string[]): string[] {
  const text = execFileSync(PS, args, { ...LIMITS, stdio: ["ignore", "pipe", "ignore"] });
  return text.split("\n").filter((line) => line !== "");
}

/** The start of one process in seconds since the epoch, or `undefined`. */
export function psStartTime(pid: number): string | undefined {
  try {
    const args = [...columns("lstart"), "-p", String(pid)];
    return parseStart(execFileSync(PS, args, { ...LIMITS, stdio: ["ignore", "pipe", "ignore"] }));
  } catch {
    return undefined;
  }
}

/** One `-o` per column: on the BSDs everything after the first `=` of an option is its title. */
export function columns(...names: string[]): string[] {
  return names.flatMap((name) => ["-o", `${name}=`]);
}

const FULL_COLUMNS = columns("pid", "ppid", "pgid", "uid", "stat", "lstart", "command");
const SHORT_COLUMNS = columns("pid", "stat", "lstart");
const ARGUMENTS = ["-ww", ...columns("pid", "command")];

const LSTART = String.raw`\w{3} +\w{3} +\d+ +[\d:]{8} +\d{4}`;
const LINE = new RegExp(
  String.raw`^ *(\d+) +(\d+) +(\d+) +(-?\d+) +(\S+) +(${LSTART}) +(.*)$`,
  "s",
);
const SHORT_LINE = new RegExp(String.raw`^ *(\d+) +(\S+) +(${LSTART})`);

interface PsLine {
  entry: ProcessEntry;
  /** The arguments and, where `ps` may show it, the environment after them. */
  command: string;
}

/** Reads a line of FULL_COLUMNS. */
export function parseLine(line: string, now: number): PsLine | undefined {
  const match = LINE.exec(line);
  const start = parseStart(match?.[6] ?? "");
  if (!match || !start) return undefined;
  const command = match[7] ?? "";
  const entry: ProcessEntry = {
    pid: Number(match[1]),
    ppid: Number(match[2]),
    pgid: Number(match[3]),
    uid: Number(match[4]),
    zombie: isZombie(match[5]),
    start,
    ageMs: Math.max(0, now - Number(start) * 1000),
  };
  const name = programName(/^\S*/.exec(command)?.[0] ?? "");
  if (name !== undefined) entry.name = name;
  return { entry, command };
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
