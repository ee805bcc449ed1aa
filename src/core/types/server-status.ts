// The status of one server, as `board.status()` returns it.

import type { Diagnostic } from "./diagnostic.ts";
import type { ServerIdentity } from "./connection.ts";
import type { ServerState } from "./server-state.ts";
import type { ServerOrigin, ServerScope } from "./server-definition.ts";

/**
 * The calls of a server's tools that have ended, refused ones included. Those failed that ended with an error, also one that
 * the tool itself reported.
 */
export interface ServerCalls {
  total: number;
  failed: number;
  inFlight: number;
  /** How long those took that did not fail, on average of the latest, without `waitedMs`. */
  latencyMs?: number;
  /** How long all of them have waited for answers of people, or of the host's model. Absent if none did. */
  waitedMs?: number;
}

export interface ServerStatus {
  name: string;
  origin: ServerScope;
  /** Which configuration file it is from. Absent where there is only one. */
  from?: ServerOrigin;
  transport: "stdio" | "http" | "sse" | "remote" | "acp";
  /** The command line or the URL, with `${VAR}` not expanded; "in the editor" for the transport `acp`. */
  target: string;
  state: ServerState;
  /** How many tools are listed. They stay listed while the server is down. */
  tools: number;
  /** How many more it has that the rules do not allow. Absent if there are none. */
  hiddenByRules?: number;
  /** Roughly how many tokens of a prompt these tools take. */
  promptTokens: number;
  /** Whether the tools come from the cache, and the server has not confirmed them yet. */
  cached: boolean;
  /** With `cached`: when the server last listed its tools, in milliseconds since the epoch. */
  cachedAt?: number;
  /** Whether the server can take a call now, or after a start that the call triggers. */
  available: boolean;
  restarts: number;
  lastError?: string;
  identity?: ServerIdentity;
  pid?: number;
  calls: ServerCalls;
  diagnostics: Diagnostic[];
  /** The last lines that the server wrote to stderr. */
  stderr: string[];
}

/** What a board knows of a server's tools. */
export type ListedTools = Pick<ServerStatus, "tools" | "promptTokens" | "hiddenByRules">;
