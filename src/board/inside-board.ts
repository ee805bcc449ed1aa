// Whether this process is one of the servers of a board, or was started by one.

import type { Environment } from "../util/environment.ts";
import { COOKIE_VARIABLE } from "../server/process/cookie.ts";

/** The variable that says so, or undefined. */
export function boardAround(env: Environment): string | undefined {
  return env[COOKIE_VARIABLE] ? COOKIE_VARIABLE : undefined;
}
