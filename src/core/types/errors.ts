// The one error class and its table of codes. Callers branch on `code`, never on the text.

import { closest } from "../../util/closest.ts";
import { hasErrorCode } from "../../util/error-code.ts";
import { errorMessage } from "../../util/error-message.ts";
import { systemProblem } from "../../util/system-problem.ts";
import { oneLine } from "../../util/text.ts";

export type ErrorCode =
  /** The configuration is invalid; nothing was started. */
  | "CONFIG_INVALID"
  /** The board has no tool of that name. */
  | "UNKNOWN_TOOL"
  /** The board has no server of that name. */
  | "UNKNOWN_SERVER"
  /** No server of the board is known to have a resource of that URI. */
  | "UNKNOWN_RESOURCE"
  /** The board has no prompt of that name. */
  | "UNKNOWN_PROMPT"
  /** The arguments cannot be parsed or are not valid. */
  | "INVALID_ARGUMENTS"
  /** A variable that the server needs (`${VAR}`) is not set. */
  | "UNRESOLVED_VALUE"
  /** A secret that the server needs (`secret://`) cannot be had. */
  | "SECRET_UNAVAILABLE"
  /** The server's command could not be started: it was not found or is not executable. */
  | "SPAWN_FAILED"
  /** The server started but did not complete the handshake. */
  | "HANDSHAKE_FAILED"
  /** The server and Plugboard have no protocol version in common. */
  | "UNSUPPORTED_VERSION"
  /** The server or this version of Plugboard does not support the request. */
  | "UNSUPPORTED"
  /** The server is down, restarting or stopped; the call was not sent. */
  | "SERVER_UNAVAILABLE"
  /** The connection ended during the call. */
  | "CONNECTION_CLOSED"
  /** The server sent a message larger than `maxMessageBytes`. */
  | "MESSAGE_TOO_LARGE"
  /** The server sent something that is not valid MCP. */
  | "PROTOCOL"
  /** The server cannot be reached: refused, reset, not found, or its certificate is not valid. */
  | "NETWORK"
  /** The network policy does not allow requests to that address. */
  | "REFUSED_ADDRESS"
  /** The server answered with a JSON-RPC error. */
  | "SERVER_ERROR"
  /** The server answered with an HTTP error; `status` says which. */
  | "HTTP_STATUS"
  /** The server needs you to sign in, or other credentials. */
  | "NEEDS_AUTH"
  | "TIMEOUT"
  | "CANCELLED"
  /** A native tool threw. */
  | "TOOL_FAILED"
  /** A rule does not allow this agent to call the tool. */
  | "REFUSED_BY_POLICY"
  /** The call needed approval, which was refused, or nobody could be asked. */
  | "NOT_APPROVED"
  /** The tool has changed since it was pinned or approved. */
  | "CHANGED_TOOL"
  /** Too many calls; the message says when to try again. */
  | "RATE_LIMITED"
  /** The result does not match the tool's own outputSchema. */
  | "INVALID_RESULT"
  /** Nobody has approved the configuration that the server comes from. */
  | "UNTRUSTED"
  /** No model can answer: none is configured, there is no such provider, or its package is not installed. */
  | "NO_MODEL"
  /** The machine refused what Plugboard itself needs: open files, space on the disk, its working directory. */
  | "SYSTEM_ERROR";

/**
 * Failures whose text may repeat a server's words: the last lines of its stderr, how it refused a handshake, names
 * in its answer, or the address that it redirects to. The texts of all other failures are the host's own, and must
 * not hold anything that a server has sent, unless `quote` says what.
 */
const MAY_QUOTE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "SERVER_ERROR",
  "SERVER_UNAVAILABLE",
  "CONNECTION_CLOSED",
  "HANDSHAKE_FAILED",
  "UNSUPPORTED_VERSION",
  "HTTP_STATUS",
  "NEEDS_AUTH",
  "PROTOCOL",
  "INVALID_RESULT",
  "MESSAGE_TOO_LARGE",
  "NETWORK",
  "REFUSED_ADDRESS",
  "UNSUPPORTED",
]);

/** The server's words in a message: "" if there are none, undefined if all of it may be. */
export function quoteIn({
  code,
  quote,
}: Pick<PlugboardError, "code"> & { quote?: string | undefined }): string | undefined {
  return quote ?? (MAY_QUOTE.has(code) ? undefined : "");
}

/** One thing that is wrong in a configuration, and where. */
export interface ConfigProblem {
  /** Absent if the configuration was written in code. */
  file?: string;
  line?: number;
  column?: number;
  /** The keys from the root, as in `agents.defaults.mcp.servers.docs.url`. */
  path: string;
  message: string;
  /** The closest valid key, if this looks like a typo. */
  suggestion?: string;
  /** What to do about it, where the message does not say so. */
  remedy?: string;
  /** A credential is written out there. */
  isCredential?: true;
  /** A block of Plugboard's own file may be meant, in a file that is read as another application's. */
  isMisspelledBlock?: true;
}

export interface ErrorDetails {
  cause?: unknown;
  /** The server that the error is about. */
  server?: string;
  /** What you can do about it. */
  hint?: string;
  /**
   * The server's own words in the message, exactly as they stand there, or "" if there are none: a model reads the
   * rest as the host's.
   */
  quote?: string | undefined;
  /** The message begins with the server's name, as in `server 'docs' is disabled`. */
  namesServer?: boolean;
  /** The hint repeats something that the server wrote, such as a path. */
  isHintQuoted?: boolean;
  /** The hint is about the settings of an MCP server: it says nothing to who has asked something else. */
  isHintForServer?: boolean;
  /** With REFUSED_ADDRESS: what the server's configuration can set to `true` so that this is not refused. */
  allowedBy?: "allowInsecure" | "allowPrivate" | undefined;
  /** Trying again without a change cannot help. */
  permanent?: boolean;
  /** The request has certainly not run: it was never sent, or refused before. */
  hasNotRun?: boolean;
  /** The HTTP status, with HTTP_STATUS and NEEDS_AUTH. */
  status?: number;
  /** With CONFIG_INVALID: everything that is wrong. */
  problems?: readonly ConfigProblem[];
  /** The environment variables that a server says it lacks, and that can be set. They are the server's words. */
  lacks?: readonly string[];
}

export class PlugboardError extends Error {
  override readonly name = "PlugboardError";
  readonly code: ErrorCode;
  // What an error does not have is not a property of its own: Node prints all of these.
  declare readonly server: string | undefined;
  declare readonly hint: string | undefined;
  declare readonly quote: string | undefined;
  declare readonly namesServer: boolean;
  declare readonly isHintQuoted: boolean;
  declare readonly isHintForServer: boolean;
  declare readonly allowedBy: ErrorDetails["allowedBy"];
  declare readonly permanent: boolean;
  declare readonly hasNotRun: boolean;
  declare readonly status: number | undefined;
  declare readonly problems: readonly ConfigProblem[];
  declare readonly lacks: readonly string[];

  static {
    Object.assign(PlugboardError.prototype, {
      server: undefined,
      hint: undefined,
      quote: undefined,
      namesServer: false,
      isHintQuoted: false,
      isHintForServer: false,
      allowedBy: undefined,
      permanent: false,
      hasNotRun: false,
      status: undefined,
      problems: [],
      lacks: [],
    });
  }

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    const { server, hint, quote, allowedBy, status, problems = [], lacks = [] } = details;
    if (server !== undefined) this.server = server;
    if (hint !== undefined) this.hint = hint;
    if (quote !== undefined) this.quote = quote;
    if (details.namesServer) this.namesServer = true;
    if (details.isHintQuoted) this.isHintQuoted = true;
    if (details.isHintForServer) this.isHintForServer = true;
    if (allowedBy !== undefined) this.allowedBy = allowedBy;
    if (details.permanent) this.permanent = true;
    if (details.hasNotRun) this.hasNotRun = true;
    if (status !== undefined) this.status = status;
    if (problems.length > 0) this.problems = problems;
    if (lacks.length > 0) this.lacks = lacks;
  }
}

export function toPlugboardError(
  error: unknown,
  code: ErrorCode,
  details: ErrorDetails = {},
): PlugboardError {
  if (error instanceof PlugboardError) return error;
  const problem = systemProblem(error);
  if (problem !== undefined) {
    const { message, hint } = problem;
    return new PlugboardError(code, message, { cause: error, hint, quote: "", ...details });
  }
  const message = errorMessage(error);
  return new PlugboardError(code, message, { cause: error, ...details });
}

/** The same error, of which `quote` is now known. */
export function quoting(error: PlugboardError, quote: string): PlugboardError {
  return copyOf(error, { quote });
}

/** The same error, about a request that has certainly not run. */
export function withoutEffect(error: PlugboardError): PlugboardError {
  return error.hasNotRun ? error : copyOf(error, { hasNotRun: true });
}

/** The same error, about a request that was sent before the failure, whatever the failure itself was about. */
export function withPossibleEffect(error: PlugboardError): PlugboardError {
  return error.hasNotRun ? copyOf(error, { hasNotRun: false }) : error;
}

/** The same error, which says what was being done. */
export function duringStep(step: string, error: PlugboardError): PlugboardError {
  return copyOf(error, {}, `${step}: ${error.message}`);
}

/** These words end each advice in a hint to change the server's entry in the configuration. */
const FOR_THIS_SERVER = "for this server";

/**
 * The same error, about a server that a session brings. It has no entry in the configuration: mcp.session has the settings
 * of all such servers, but not those of one URL.
 */
export function ofSession(error: PlugboardError): PlugboardError {
  const { hint } = error;
  if (hint?.includes(FOR_THIS_SERVER) !== true) return error;
  const known = hint
    .replace(
      /set ("tls": \{[^}]*\}) for this server/,
      "put the server into the configuration, with $1",
    )
    .replaceAll(FOR_THIS_SERVER, "in mcp.session");
  return copyOf(error, { hint: known });
}

/** The same error, about a server that a worker runs: nothing listens there as long as that does not. */
export function ofWorker(error: PlugboardError, server: string): PlugboardError {
  if (!hasErrorCode(error.cause, "ECONNREFUSED")) return error;
  return copyOf(error, {
    hint: `plugboard up --only ${server} runs it, on the machine of worker.url`,
  });
}

function copyOf(
  error: PlugboardError,
  changes: ErrorDetails,
  message: string = error.message,
): PlugboardError {
  const { code, cause, server, hint, permanent, status, problems, hasNotRun } = error;
  const { quote, namesServer, isHintQuoted, isHintForServer, allowedBy, lacks } = error;
  const facts = { namesServer, isHintQuoted, isHintForServer, permanent, hasNotRun };
  const details = { cause, server, hint, quote, allowedBy, status, problems, lacks };
  return new PlugboardError(code, message, { ...details, ...facts, ...changes });
}

/** The message and the hint in one line, for a person. */
export function withHint({ message, hint }: Pick<PlugboardError, "message" | "hint">): string {
  return hint === undefined ? message : `${message}: ${hint}`;
}

/** TIMEOUT if the signal is one of `AbortSignal.timeout`. The signal's reason is the cause. */
export function cancelled(signal?: { readonly reason: unknown }): PlugboardError {
  const cause = signal?.reason;
  const isTimeout = cause instanceof DOMException && cause.name === "TimeoutError";
  if (isTimeout) return new PlugboardError("TIMEOUT", "the caller's time was over", { cause });
  return new PlugboardError("CANCELLED", "the call was cancelled", { cause });
}

/** Whether somebody has refused, or says why nobody could be asked. */
export function isRefusal(error: unknown): error is PlugboardError {
  return error instanceof PlugboardError && error.code === "NOT_APPROVED";
}

/** What somebody asks for is not as it must be, so nothing was done. */
export function invalidRequest(message: string, cause?: unknown): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", message, { hasNotRun: true, cause });
}

export function boardClosed(): PlugboardError {
  return new PlugboardError("SERVER_UNAVAILABLE", "the board is closed");
}

const MOST_NAMES = 20;

/** Suggests the nearest of the servers, or else names them. */
export function unknownServer(name: string, names: readonly string[]): PlugboardError {
  const meant = closest(name, names);
  const listed = names.slice(0, MOST_NAMES).join(", ");
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  const known =
    names.length === 0 ? "no servers are configured" : `the servers are: ${listed}${more}`;
  return new PlugboardError("UNKNOWN_SERVER", `there is no server named '${oneLine(name, 100)}'`, {
    server: name,
    hint: meant === undefined ? known : `did you mean '${meant}'?`,
  });
}
