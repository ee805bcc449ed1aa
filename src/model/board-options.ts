// What the caller of `openBoard` brings along.

import type { Clock } from "../util/clock.ts";
import type { AskApproval } from "./approval.ts";
import type { OnAuthorization } from "./authorization.ts";
import type { ApprovalMode } from "./guard-settings.ts";
import type { Logger, LogLevel } from "./logger.ts";
import type { RequestHandlers } from "./request-handlers.ts";
import type { ServerConfig } from "./server-config.ts";
import type { NativeTool, NativeToolFactory, Tool } from "./tool.ts";

/**
 * With `onElicitation` and `onSampling`: without one of them that is not offered to servers, and a server
 * that asks for it all the same is refused.
 */
export interface BoardOptions extends RequestHandlers {
  /** The host's own tools, beside those of the servers. */
  native?: readonly (NativeTool | NativeToolFactory)[];
  /** Where servers without a `cwd` of their own run. */
  workspaceDir?: string;
  /** Where the catalog is remembered between runs. Without it nothing is written to disk. */
  stateDir?: string;
  /**
   * Which servers start with the board: `eager` all but the lazy ones, and those too while their tools
   * are not known; `unknown` only those whose tools are not known, or were last asked a day ago; `none` none before a call needs it.
   */
  start?: "eager" | "unknown" | "none";
  /**
   * Called when a person must sign in to a server. Without it such a server is `needs-auth`, and its
   * state says what to run.
   */
  onAuthorization?: OnAuthorization;
  /**
   * Asked before a call whose `approval` says so. Without it such calls are refused.
   */
  onApproval?: AskApproval;
  /** The caller owns what the board can reach: tools that are `ownerOnly` are for them. */
  owner?: boolean;
  /** Tools by which a model finds and reads resources by itself. Default: what the configuration says. */
  resourceTools?: boolean;
  /**
   * Directories, or `file:` URLs, that servers may ask for as roots. Default: `workspaceDir`, where there
   * is one.
   */
  roots?: readonly string[];
  /** What servers are asked to say to the log, and all above. Default `warn`. */
  serverLogLevel?: LogLevel;
  /** Called with the whole list whenever it changes. */
  onToolsChanged?: (tools: Tool[]) => void;
  /** Aborting it closes the board. */
  signal?: AbortSignal;
  /** The library is silent without one. */
  logger?: Logger;
  /** Where `${VAR}` and the servers' baseline environment come from. Default: the process's. */
  env?: Readonly<Record<string, string | undefined>>;
  /**
   * The PATH that servers are started with, in place of the one in `env`; those that are programs wait for
   * it, nothing else does. Must not reject.
   */
  programPath?: Promise<string | undefined>;
  clock?: Clock;
  /** 0 ≤ n < 1. */
  random?: () => number;
}

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
