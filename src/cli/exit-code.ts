// The exit codes, and which error leads to which.

import type { ErrorCode } from "../core/types/errors.ts";
import type { CallOutcome } from "../core/types/tool.ts";

export const EXIT = {
  ok: 0,
  /** The tool reported an error. */
  toolError: 1,
  /** A part of the output could not be written, or a part of the file that it shows could not be read. */
  incomplete: 1,
  /** A server from the registry has a newer version. */
  outdated: 1,
  /** The doctor found something broken. */
  broken: 1,
  /** Wrong usage or configuration, including an unknown tool. */
  usage: 2,
  /** The server, the model or something of the machine is unavailable, or there was no answer in time. */
  unavailable: 3,
  /** Refused by a rule, without approval, or because the tool has changed. */
  refused: 4,
  /** A bug in Plugboard. */
  internal: 70,
  interrupted: 130,
} as const;

const BY_CODE: Readonly<Record<ErrorCode, number>> = {
  CONFIG_INVALID: EXIT.usage,
  UNKNOWN_TOOL: EXIT.usage,
  UNKNOWN_SERVER: EXIT.usage,
  UNKNOWN_RESOURCE: EXIT.usage,
  UNKNOWN_PROMPT: EXIT.usage,
  INVALID_ARGUMENTS: EXIT.usage,
  UNRESOLVED_VALUE: EXIT.usage,
  SECRET_UNAVAILABLE: EXIT.unavailable,
  SPAWN_FAILED: EXIT.unavailable,
  HANDSHAKE_FAILED: EXIT.unavailable,
  UNSUPPORTED_VERSION: EXIT.unavailable,
  UNSUPPORTED: EXIT.unavailable,
  HTTP_STATUS: EXIT.unavailable,
  NEEDS_AUTH: EXIT.unavailable,
  SERVER_UNAVAILABLE: EXIT.unavailable,
  CONNECTION_CLOSED: EXIT.unavailable,
  MESSAGE_TOO_LARGE: EXIT.unavailable,
  PROTOCOL: EXIT.unavailable,
  NETWORK: EXIT.unavailable,
  REFUSED_ADDRESS: EXIT.unavailable,
  TIMEOUT: EXIT.unavailable,
  SERVER_ERROR: EXIT.toolError,
  TOOL_FAILED: EXIT.toolError,
  INVALID_RESULT: EXIT.toolError,
  REFUSED_BY_POLICY: EXIT.refused,
  NOT_APPROVED: EXIT.refused,
  CHANGED_TOOL: EXIT.refused,
  RATE_LIMITED: EXIT.unavailable,
  UNTRUSTED: EXIT.usage,
  NO_MODEL: EXIT.unavailable,
  SYSTEM_ERROR: EXIT.unavailable,
  CANCELLED: EXIT.interrupted,
};

export const ERROR_CODES = Object.keys(BY_CODE) as readonly ErrorCode[];

export function exitCodeFor(code: ErrorCode): number {
  return BY_CODE[code];
}

export function exitCodeOf(outcome: CallOutcome): number {
  if (outcome.failure !== undefined) return exitCodeFor(outcome.failure.code);
  return outcome.isError ? EXIT.toolError : EXIT.ok;
}
