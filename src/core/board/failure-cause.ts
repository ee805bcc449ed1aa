// Names the cause of a server's failure, so that the command line can tell it to programs.

import { findCause } from "../upstream/log/find-cause.ts";

/** From the last lines of its stderr. Undefined for a cause that has no name. */
export function nameOfCause(stderr: readonly string[]): string | undefined {
  return findCause({ stderr, stdout: [] })?.name;
}
