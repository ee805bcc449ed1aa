// What a command gets from the process around it. Tests bring their own.

import { homedir } from "node:os";
import { type Clock, systemClock } from "../../util/clock.ts";

export type CliOutput = NodeJS.WritableStream & {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
};

export type CliInput = NodeJS.ReadableStream & { isTTY?: boolean };

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
  /** Ends the process at once. */
  exit(code: number): void;
}

export function processIo(): CliIo {
  return {
    stdin: process.stdin,
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
    exit: (code) => process.exit(code),
  };
}
