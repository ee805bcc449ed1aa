// What a command gets from the process around it. Tests bring their own.

import { fstatSync, writeSync } from "node:fs";
import { homedir } from "node:os";
import type { Writable } from "node:stream";
import { type Clock, systemClock } from "../util/clock.ts";

export type CliOutput = NodeJS.WritableStream & {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
  /** How much waits to be written. */
  readonly writableLength?: number;
};

export type CliInput = NodeJS.ReadableStream & {
  isTTY?: boolean;
  /** Only a terminal has it. Raw: each key comes as it is typed, and is not shown. */
  setRawMode?: (isRaw: boolean) => unknown;
};

export interface CliIo {
  stdin: CliInput;
  stdout: CliOutput;
  stderr: CliOutput;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  homedir: string;
  clock: Clock;
  /** Emits signals and uncaught errors, as `process` does. */
  events: Pick<NodeJS.EventEmitter, "on" | "off">;
  /** Ends the process at once, and what is left of its servers. */
  exit(code: number): void;
}

export function processIo(): CliIo {
  writeWhole(process.stdout, STDOUT);
  // Node prints warnings about the code of packages, which mean nothing to a user. They are in the log instead.
  process.removeAllListeners("warning");
  return {
    // Opened with its first use: most commands do not read it.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    // Fails if the directory has been removed, so it is read only where it is needed.
    get cwd() {
      return process.cwd();
    },
    homedir: homedir(),
    clock: systemClock,
    events: process,
    exit: exitNow,
  };
}

const STDOUT = 1;

/**
 * Node's stream for a file takes a write that was cut short for a whole one. So a disk that fills up in the middle of
 * a result would go unnoticed. This writes the rest, which fails.
 */
function writeWhole(stdout: Writable, file: number): void {
  try {
    if (!fstatSync(file).isFile()) return;
  } catch {
    // stdout is closed.
    return;
  }
  stdout._write = (chunk: Buffer | string, encoding, done) => {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk;
    try {
      for (let at = 0; at < bytes.length; at += writeSync(file, bytes, at));
    } catch (error) {
      return done(error as Error);
    }
    done();
  };
}

/**
 * `process.exit` waits for the file operations that are under way, so one that hangs would hang it too. Then a
 * signal ends the process, after everything that listens for its end has run.
 */
function exitNow(code: number): void {
  if (process.getActiveResourcesInfo().some((each) => each.startsWith("FSReq"))) {
    const signal = SIGNAL_OF[code] ?? "SIGKILL";
    process.once("exit", () => {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    });
  }
  process.exit(code);
}

/** A shell shows a process that a signal has ended with the same code as one that has exited because of it. */
const SIGNAL_OF: Readonly<Record<number, NodeJS.Signals>> = {
  129: "SIGHUP",
  130: "SIGINT",
  143: "SIGTERM",
};
