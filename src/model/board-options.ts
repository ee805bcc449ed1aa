// What the caller of `openBoard` brings along.

import type { Clock } from "../util/clock.ts";
import type { AskApproval } from "./approval.ts";
import type { OnAuthorization } from "./authorization.ts";
import type { OnElicitation } from "./elicitation.ts";
import type { Logger } from "./logger.ts";
import type { NativeTool, NativeToolFactory, Tool } from "./tool.ts";

export interface BoardOptions {
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
  /** Called when a server asks a person something during a call. Without it that is not offered. */
  onElicitation?: OnElicitation;
  /** Called with the whole list whenever it changes. */
  onToolsChanged?: (tools: Tool[]) => void;
  /** Aborting it closes the board. */
  signal?: AbortSignal;
  /** The library is silent without one. */
  logger?: Logger;
  /** Where `${VAR}` and the servers' baseline environment come from. Default: the process's. */
  env?: Readonly<Record<string, string | undefined>>;
  clock?: Clock;
  /** 0 ≤ n < 1. */
  random?: () => number;
}
