// What a caller may write for a board: its servers, and how they are to be treated.

import type {
  AgentGuard,
  ApprovalMode,
  AuditSettings,
  FramingMode,
  PinMode,
  ToolRules,
} from "../model/guard-settings.ts";
import type { ServerConfig, SessionDefaults } from "../model/server-config.ts";

export type { ServerAuth, ServerConfig, Transport } from "../model/server-config.ts";

/** The servers of one board, and how their tools are named. */
export interface BoardConfig {
  /** By name: 1 to 64 characters without "/"; `native` is reserved. */
  servers: Record<string, ServerConfig>;
  /** Template of public tool names. Default `mcp__{server}__{tool}`. */
  toolNames?: string;
  /** Milliseconds to wait for servers at the start. Default: each server's `timeout`. */
  startupWait?: number;
  /** The directory the agent works in. */
  workspace?: string;
  /** Tools by which a model finds and reads resources by itself. Default false. */
  resourceTools?: boolean;
  /** Hosts and address ranges that every server may reach, as `network.allow` in a file. */
  networkAllow?: string[];
  /** Which tools may be called, by patterns such as `docs/read_*`, `native/*` or a public name. */
  tools?: ToolRules;
  /** Ask before a call. Default "never". */
  approval?: ApprovalMode;
  pins?: PinMode;
  framing?: FramingMode;
  /** For what a session brings. */
  limits?: AgentGuard["limits"];
  /** For every server that a session brings, where it does not say otherwise. */
  session?: SessionDefaults;
  audit?: AuditSettings;
}
