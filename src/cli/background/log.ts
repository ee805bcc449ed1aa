// The log of a gateway in the background: a file of lines with their times, which never takes more room than two files
// of 1 MiB.

import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  readSync,
  renameSync,
  writeSync,
} from "node:fs";
import { openRegularFileNow } from "../../util/regular-file.ts";
import type { Clock } from "../../util/clock.ts";

const MOST_BYTES = 1024 * 1024;
const LONGEST_LINE = 16 * 1024;

/** How much of the end is looked at for the last lines. */
const TAIL_BYTES = 8 * 1024;

type Stream = Pick<NodeJS.WritableStream, "write">;

/** Opens the log for a process that is about to be started. */
export function openLog(path: string): number {
  const { O_APPEND, O_CREAT, O_WRONLY } = constants;
  return openRegularFileNow(path, O_APPEND | O_CREAT | O_WRONLY, 0o600);
}

/** The last lines after the first `before` bytes, without their times. */
export function readLog(path: string, before: number): string[] {
  try {
    const file = openRegularFileNow(path);
    try {
      const { size } = fstatSync(file);
      // It may have been rotated in the meantime.
      const start = Math.max(before > size ? 0 : before, size - TAIL_BYTES);
      const tail = Buffer.alloc(size - start);
      readSync(file, tail, 0, tail.length, start);
      const lines = tail.toString("utf8").split("\n");
      return lines
        .map((line) => line.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /, ""))
        .filter((line) => line.trim() !== "");
    } finally {
      closeSync(file);
    }
  } catch {
    return [];
  }
}

export interface BackgroundLogOptions {
  clock: Clock;
  mostBytes?: number;
}

/**
 * Writes synchronously, so that the last line before a crash is there. A log that cannot be written is no reason for a
 * gateway to end.
 */
export class BackgroundLog {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #mostBytes: number;
  #file: number | undefined;
  #size = 0;
  #rest = "";
  #isClosed = false;

  constructor(path: string, { clock, mostBytes = MOST_BYTES }: BackgroundLogOptions) {
    this.#path = path;
    this.#clock = clock;
    this.#mostBytes = mostBytes;
    this.#open();
  }

  /** Takes a part of a line, a line, or several. */
  write(text: string): void {
    const lines = (this.#rest + text).split("\n");
    const rest = lines.pop() ?? "";
    // A line that never ends must not grow for ever.
    this.#rest = rest.length > LONGEST_LINE ? "" : rest;
    if (rest.length > LONGEST_LINE) lines.push(rest);
    const time = new Date(this.#clock.now()).toISOString();
    for (const line of lines) {
      if (line.trim() !== "") this.#append(`${time} ${line.slice(0, LONGEST_LINE)}\n`);
    }
  }

  /** From now on everything that is printed goes here: a module of native tools may print without end. */
  claim(...streams: Stream[]): void {
    for (const stream of streams) {
      stream.write = (chunk: unknown, ...rest: unknown[]): boolean => {
        this.write(typeof chunk === "string" ? chunk : Buffer.from(chunk as Uint8Array).toString());
        const done = rest.at(-1);
        if (typeof done === "function") process.nextTick(done);
        return true;
      };
    }
  }

  close(): void {
    if (this.#rest !== "") this.write("\n");
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#isClosed = true;
  }

  #append(line: string): void {
    if (this.#isClosed) return;
    const bytes = Buffer.from(line);
    try {
      if (this.#size + bytes.length > this.#mostBytes) this.#rotate();
      if (this.#file === undefined) this.#open();
      if (this.#file !== undefined) this.#size += writeSync(this.#file, bytes);
    } catch {
      // The disk is full, or the directory is gone. The next line tries again.
    }
  }

  /** The older lines stay beside it, until the next time. */
  #rotate(): void {
    const file = this.#file;
    if (file === undefined) return;
    try {
      renameSync(this.#path, `${this.#path}.1`);
    } catch {
      // The directory cannot be written any more: then the old lines are given up.
      this.#size = 0;
      return ftruncateSync(file);
    }
    // After the close, the number of this file may belong to another one.
    this.#file = undefined;
    closeSync(file);
  }

  #open(): void {
    this.#file = openLog(this.#path);
    this.#size = fstatSync(this.#file).size;
  }
}
