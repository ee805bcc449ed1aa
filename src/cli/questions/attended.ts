// Says whether there is anybody to ask.

import type { CliContext } from "../context.ts";

/** Whether a person sits at the terminal who can be asked during a call. */
export function isAttended({ io, screen, options }: CliContext): boolean {
  return screen.terminal.err.isTerminal && !options.exitWithStdin && io.stdin.isTTY === true;
}
