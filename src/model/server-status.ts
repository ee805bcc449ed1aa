// One server's row in `board.status()`.

import type { Diagnostic } from "./diagnostic.ts";
import type { ServerIdentity } from "./connection.ts";
import type { ServerState } from "./server-state.ts";
import type { ServerScope } from "./server-definition.ts";

export interface ServerStatus {
  name: string;
  origin: ServerScope;
  transport: "stdio" | "http" | "sse" | "remote";
  /** The command line or the URL, with `${VAR}` unexpanded. */
  target: string;
  state: ServerState;
  /** Tools listed now; they stay listed while the server is down. */
  tools: number;
  /** The list comes from the cache and has not been confirmed by the server yet. */
  cached: boolean;
  /** When the server itself was last asked, while `cached`; milliseconds since the epoch. */
  cachedAt?: number;
  /** The server can take a call now or after a start that the call triggers. */
  available: boolean;
  restarts: number;
  lastError?: string;
  identity?: ServerIdentity;
  pid?: number;
  calls: { total: number; failed: number; inFlight: number; latencyMs?: number };
  diagnostics: Diagnostic[];
  stderr: string[];
}
