// The command line's surroundings in real life.

import { homedir } from "node:os";
import { systemClock } from "../../util/clock.ts";
import type { CliIo } from "./io.ts";

export function processIo(): CliIo {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    homedir: homedir(),
    clock: systemClock,
    events: process,
    exit: (code) => process.exit(code),
  };
}
