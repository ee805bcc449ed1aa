// The process table of Linux, read from the proc file system.

import {
  close,
  closeSync,
  existsSync,
  open,
  openSync,
  read,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from "node:fs";
import { readdir } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { systemClock, within } from "../../util/clock.ts";
import { hasErrorCode } from "../../util/error-code.ts";
import { readStat } from "../../util/proc-stat.ts";
import { COOKIE_VARIABLE } from "../../util/environment.ts";
import {
  type ProcessEntry,
  type ProcessRef,
  type ProcessTable,
  programName,
  relativesOf,
} from "./process-table.ts";

/** Linux reports a hundred ticks a second to programs, whatever the kernel's own rate. */
const TICKS_PER_SECOND = 100;
/** The event loop gets a turn after this many processes: about two milliseconds. */
const SLICE = 64;
const READERS = 8;
/** We put the cookie first, but a server that rebuilt its environment may have moved it. */
const ENVIRON_BYTES = 256 << 10;
/** Reading the environment of a process whose memory is locked blocks in the kernel, maybe for ever. */
const ENVIRON_WAIT = 3000;

const PREFIX = `${COOKIE_VARIABLE}=`;

export class ProcTable implements ProcessTable {
  readonly #proc: string;
  readonly #uid: number;

  constructor({ proc = "/proc", uid = process.geteuid?.() ?? 0 } = {}) {
    this.#proc = proc;
    this.#uid = uid;
  }

  /** Reads what cannot block synchronously, in slices: that takes a tenth of the time threads take. */
  async list(since = "0"): Promise<ProcessEntry[]> {
    const uptime = this.#uptime();
    const entries: ProcessEntry[] = [];
    let count = 0;
    for (const name of await readdir(this.#proc)) {
      if (!/^\d+$/.test(name)) continue;
      const entry = this.#entry(Number(name), uptime, since);
      if (entry) entries.push(entry);
      count += 1;
      if (count % SLICE === 0) await setImmediate();
    }
    await within(
      systemClock,
      ENVIRON_WAIT,
      this.#readCookies(entries.filter((entry) => this.#mayCarry(entry))),
    );
    return entries;
  }

  /** Could block on an environment, see ENVIRON_WAIT, but only on one of the few that may be of our servers. */
  listNow(since: string): ProcessEntry[] {
    const uptime = this.#uptime();
    const pids = readdirSync(this.#proc).filter((name) => /^\d+$/.test(name));
    const entries = pids.flatMap((name) => this.#entry(Number(name), uptime, since) ?? []);
    const buffer = Buffer.allocUnsafe(ENVIRON_BYTES);
    for (const entry of entries) {
      if (!this.#mayCarry(entry)) continue;
      const path = `${this.#proc}/${entry.pid}/environ`;
      const cookie = orElse(() => findCookie(buffer, readStartNow(path, buffer)), undefined);
      if (cookie !== undefined) entry.cookie = cookie;
    }
    return entries;
  }

  async descendants(pid: number): Promise<ProcessRef[]> {
    // Kernels may be built without this file.
    if (!existsSync(`${this.#proc}/thread-self/children`)) {
      return relativesOf(await this.list(), pid);
    }
    const pids = new Set([pid]);
    for (const parent of pids) {
      for (const child of this.#children(parent)) pids.add(child);
    }
    pids.delete(pid);
    return [...pids].flatMap((child) => this.#read(child) ?? []);
  }

  async living<Ref extends ProcessRef>(refs: readonly Ref[]): Promise<Ref[]> {
    return refs.filter(({ pid, start }) => this.#read(pid)?.start === start);
  }

  #uptime(): number {
    return Number.parseFloat(readFileSync(`${this.#proc}/uptime`, "latin1"));
  }

  /** `undefined` for threads of the kernel, too. Whose it is, only where that may matter: that takes half of the time. */
  #entry(pid: number, uptime: number, since: string): ProcessEntry | undefined {
    try {
      const stat = readStat(this.#proc, pid);
      if (!stat || stat.kernel) return undefined;
      const { ppid, pgid, start, zombie } = stat;
      const seconds = uptime - Number(start) / TICKS_PER_SECOND;
      const ageMs = Math.max(0, Math.round(seconds * 1000));
      const entry = { pid, ppid, pgid, start, zombie, ageMs };
      if (zombie || Number(start) < Number(since)) return entry;
      return { ...entry, uid: statSync(`${this.#proc}/${pid}`).uid };
    } catch (error) {
      // It has just ended, or the system hides other users' processes.
      if (hasErrorCode(error, "ENOENT", "ESRCH", "EACCES", "EPERM")) return undefined;
      throw error;
    }
  }

  #read(pid: number): ProcessRef | undefined {
    const stat = readStat(this.#proc, pid);
    return stat && !stat.zombie ? stat : undefined;
  }

  /** Every thread has its own list of the children it started. */
  #children(pid: number): number[] {
    const tasks = `${this.#proc}/${pid}/task`;
    const threads = orElse(() => readdirSync(tasks), []);
    return threads
      .map((thread) => orElse(() => readFileSync(`${tasks}/${thread}/children`, "latin1"), ""))
      .flatMap((pids) => pids.split(" ").filter((text) => text !== ""))
      .map(Number);
  }

  #mayCarry({ uid }: ProcessEntry): boolean {
    return uid === this.#uid;
  }

  async #readCookies(entries: readonly ProcessEntry[]): Promise<void> {
    const queue = entries.values();
    const reader = async (): Promise<void> => {
      const buffer = Buffer.allocUnsafe(ENVIRON_BYTES);
      for (const entry of queue) {
        const cookie = await this.#cookie(entry.pid, buffer);
        if (cookie === undefined) continue;
        entry.cookie = cookie;
        entry.name = await this.#name(entry.pid, buffer);
      }
    };
    await Promise.all(Array.from({ length: READERS }, reader));
  }

  async #cookie(pid: number, buffer: Buffer): Promise<string | undefined> {
    try {
      return findCookie(buffer, await readStart(`${this.#proc}/${pid}/environ`, buffer));
    } catch {
      // It ended in the meantime, or changed its user.
      return undefined;
    }
  }

  /** From its arguments: the name in /proc/<pid>/stat is that of its main thread. */
  async #name(pid: number, buffer: Buffer): Promise<string | undefined> {
    try {
      const length = await readStart(`${this.#proc}/${pid}/cmdline`, buffer);
      const [program = ""] = buffer.toString("utf8", 0, length).split("\0", 1);
      return programName(program);
    } catch {
      return undefined;
    }
  }
}

/**
 * Reads the beginning of a file in the thread pool; resolves to how much of `buffer` was filled. Uses
 * callbacks because it runs for hundreds of files in a row, where a FileHandle takes three times as long.
 */
function readStart(path: string, buffer: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    open(path, "r", (openError, file) => {
      if (openError) return reject(openError);
      read(file, buffer, 0, buffer.length, 0, (readError, length) => {
        close(file, () => (readError ? reject(readError) : resolve(length)));
      });
    });
  });
}

function readStartNow(path: string, buffer: Buffer): number {
  const file = openSync(path, "r");
  try {
    return readSync(file, buffer, 0, buffer.length, 0);
  } finally {
    closeSync(file);
  }
}

function findCookie(buffer: Buffer, length: number): string | undefined {
  const environ = buffer.subarray(0, length);
  if (!environ.includes(PREFIX)) return undefined;
  const variables = environ.toString("latin1").split("\0");
  return variables.find((text) => text.startsWith(PREFIX))?.slice(PREFIX.length);
}

/** Processes and threads may end while we read about them. */
function orElse<Value>(look: () => Value, otherwise: Value): Value {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
