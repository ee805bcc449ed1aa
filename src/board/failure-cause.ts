// What is known by name of why a server failed, for a face that tells programs.

import { findCause } from "../server/log/find-cause.ts";

/** From the last lines of its stderr. Undefined for a cause that has no name. */
export function nameOfCause(stderr: readonly string[]): string | undefined {
  return findCause({ stderr, stdout: [] })?.name;
}
