// Puts the end of a server into words: how it ended and what it said last.

import { PlugboardError } from "../model/errors.ts";
import type { ExitStatus } from "./process/stop-process-tree.ts";
import { truncate } from "../util/text.ts";

const LAST_LINES = 3;
const MAX_WORDS = 400;

export function exitReason(
  status: ExitStatus | undefined,
  stderr: readonly string[],
  seen?: PlugboardError,
): PlugboardError {
  const words = stderr.slice(-LAST_LINES).join(" | ");
  const said = words === "" ? "" : `; it last wrote: ${truncate(words, MAX_WORDS)}`;
  return new PlugboardError("CONNECTION_CLOSED", `${how(status, seen)}${said}`, { cause: seen });
}

function how(status: ExitStatus | undefined, seen: PlugboardError | undefined): string {
  if (status === undefined) return seen?.message ?? "the connection ended";
  if (status.signal !== null) return `the server was ended by ${status.signal}`;
  return `the server exited with code ${status.code ?? "unknown"}`;
}
