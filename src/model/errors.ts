// The one error class and its table of codes. Callers branch on `code`, never on the text.

export type ErrorCode =
  /** The configuration is wrong; nothing was started. */
  | "CONFIG_INVALID"
  /** No tool of that name on the board. */
  | "UNKNOWN_TOOL"
  /** No server of that name on the board. */
  | "UNKNOWN_SERVER"
  /** No server on the board is known to have what the URI names. */
  | "UNKNOWN_RESOURCE"
  /** No prompt of that name on the board. */
  | "UNKNOWN_PROMPT"
  /** The arguments cannot be read or do not fit. */
  | "INVALID_ARGUMENTS"
  /** A value the server needs (`${VAR}`, `secret://`) cannot be resolved. */
  | "UNRESOLVED_VALUE"
  /** The server's command could not be started at all: not found, not executable. */
  | "SPAWN_FAILED"
  /** The server started and then did not complete the handshake. */
  | "HANDSHAKE_FAILED"
  /** The server speaks no protocol version that the host speaks. */
  | "UNSUPPORTED_VERSION"
  /** What was asked for is not offered by the server or not built yet. */
  | "UNSUPPORTED"
  /** The server is down, restarting or stopped; the call was not sent. */
  | "SERVER_UNAVAILABLE"
  /** The connection ended while the call was under way. */
  | "CONNECTION_CLOSED"
  /** The server sent a message above `maxMessageBytes`. */
  | "MESSAGE_TOO_LARGE"
  /** The server's output is not the protocol. */
  | "PROTOCOL"
  /** The server cannot be reached: refused, reset, not found, or its certificate does not hold. */
  | "NETWORK"
  /** The network policy does not let a request go to that address. */
  | "REFUSED_ADDRESS"
  /** The server answered with a JSON-RPC error. */
  | "SERVER_ERROR"
  /** The server answered with an HTTP error; `status` says which. */
  | "HTTP_STATUS"
  /** The server wants to know who is calling. */
  | "NEEDS_AUTH"
  | "TIMEOUT"
  | "CANCELLED"
  /** A native tool threw. */
  | "TOOL_FAILED"
  /** A rule does not let this agent call the tool. */
  | "REFUSED_BY_POLICY"
  /** Somebody had to agree to the call, and did not or could not be asked. */
  | "NOT_APPROVED"
  /** The tool is not what it was when it was pinned. */
  | "CHANGED_TOOL"
  /** Too many calls; the message says when to try again. */
  | "RATE_LIMITED"
  /** The answer breaks the tool's own outputSchema. */
  | "INVALID_RESULT"
  /** The configuration that wants to start it has not been approved. */
  | "UNTRUSTED";

export interface ConfigProblem {
  /** Absent where the configuration came from code. */
  file?: string;
  line?: number;
  column?: number;
  /** Keys from the root, as in `agents.defaults.mcp.servers.docs.url`. */
  path: string;
  message: string;
  /** The nearest valid key, for a typo. */
  suggestion?: string;
}

export interface ErrorDetails {
  cause?: unknown;
  /** The server it is about. */
  server?: string;
  /** What the reader can do about it. */
  hint?: string;
  /** Trying again unchanged cannot help, so a supervisor must not. */
  permanent?: boolean;
  /** With HTTP_STATUS and NEEDS_AUTH. */
  status?: number;
  /** Every problem found, with CONFIG_INVALID. */
  problems?: readonly ConfigProblem[];
}

export class PlugboardError extends Error {
  override readonly name = "PlugboardError";
  readonly code: ErrorCode;
  readonly server: string | undefined;
  readonly hint: string | undefined;
  readonly permanent: boolean;
  readonly status: number | undefined;
  readonly problems: readonly ConfigProblem[];

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.server = details.server;
    this.hint = details.hint;
    this.permanent = details.permanent ?? false;
    this.status = details.status;
    this.problems = details.problems ?? [];
  }
}

export function toPlugboardError(
  error: unknown,
  code: ErrorCode,
  details: ErrorDetails = {},
): PlugboardError {
  if (error instanceof PlugboardError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new PlugboardError(code, message, { cause: error, ...details });
}

/** For a person, in one line. */
export function withHint({ message, hint }: Pick<PlugboardError, "message" | "hint">): string {
  return hint === undefined ? message : `${message}: ${hint}`;
}

export function cancelled(): PlugboardError {
  return new PlugboardError("CANCELLED", "the call was cancelled");
}
