// A board laid over an agent's board for one session: adds or shadows servers, shares nothing with other
// sessions.

import type { AskApproval } from "./approval.ts";
import type { BoardUse } from "./board-use.ts";
import type { ApprovalMode } from "./guard-settings.ts";
import type { ServerConfig } from "./server-config.ts";
import type { RequestHandlers } from "./server-request.ts";
import type { ServerStatus } from "./server-status.ts";
import type { NativeTool, NativeToolFactory } from "./tool.ts";

/**
 * `onElicitation` and `onSampling` answer what the session's calls cause. A server that is shared asks only
 * for what the board it belongs to offers.
 */
export interface SessionOptions extends RequestHandlers {
  /** The session's own, by name. One that has the name of an agent's server takes its place. */
  servers?: Readonly<Record<string, ServerConfig>>;
  /** Absolute: where the session's servers run, and their root. */
  cwd: string;
  /** For the audit. Default: a random one. */
  id?: string;
  /** Tools of this session alone, beside the board's. */
  native?: readonly (NativeTool | NativeToolFactory)[];
  /** Asked before a call whose `approval` says so. Default: the board's. */
  onApproval?: AskApproval;
  /** Whether to ask before a call, where the configuration has no word on it. Default "never". */
  approval?: ApprovalMode;
  /** Whether the session's user is the owner. Default: as on the board. */
  owner?: boolean;
  /** Directories, or `file:` URLs, that the session's servers may ask for. Default: `cwd`. */
  roots?: readonly string[];
  /** Milliseconds to wait for the session's servers. Default 2000. */
  startupWait?: number;
}

export interface SessionBoard extends BoardUse {
  readonly id: string;
  readonly cwd: string;
  /** What was left out or takes the place of something else, as it is now: one sentence each. */
  readonly notices: readonly string[];
  /**
   * Stops and starts a server of the session's own. One that is shared is started where it is down; while it
   * runs it is not the session's to restart.
   */
  restart(server: string): Promise<ServerStatus>;
  /**
   * Whether this session uses the server. A disabled one has no tools here: it is stopped if it is the
   * session's own, and goes on for others if it is shared. Rejects with UNSUPPORTED for one that the
   * configuration disables.
   */
  setEnabled(server: string, enabled: boolean): Promise<ServerStatus>;
  /**
   * Starts the session's own servers that were stopped for being idle, without waiting for them, and tries
   * every server again that somebody has signed in to since it was refused. Resolves when these have been
   * tried; does not reject.
   */
  wake(): Promise<void>;
  /**
   * Plugs in another server; resolves when it is ready, has failed or `startupWait` has passed. Rejects
   * with CONFIG_INVALID or INVALID_ARGUMENTS, and then nothing has started.
   */
  add(name: string, config: ServerConfig): Promise<ServerStatus>;
  /** Resolves when nothing of the server is left. An agent's server whose place it took is back. */
  remove(name: string): Promise<void>;
  /** Idempotent; resolves when no process of the session's own is left. */
  close(): Promise<void>;
}
