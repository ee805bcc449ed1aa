// Checks a configuration written in code, as loadConfig checks a file.

import type { AgentConfig } from "../model/agent-config.ts";
import type {
  AgentGuard,
  ApprovalMode,
  AuditSettings,
  FramingMode,
  PinMode,
  ToolRules,
} from "../model/guard-settings.ts";
import { isJsonObject } from "../model/json.ts";
import type { ServerConfig, SessionDefaults } from "../model/server-config.ts";
import { throwIfAny, toProblems } from "./issue.ts";
import { rootsSetting, toDefinition } from "./layers/definition.ts";
import { agentGuard, auditSettings } from "./layers/guard.ts";
import { layerIssues, mergeSessionDefaults, plainServers } from "./layers/merge.ts";
import { boardSchema, DEFAULT_TOOL_NAMES } from "./schema/file-schema.ts";
import { check } from "./schema/schema.ts";
import { kindOf, readServers } from "./schema/servers.ts";
import { durationWarnings, serverWarnings, sessionWarnings } from "./schema/warnings.ts";

/** The servers of one board, and how their tools are named. */
export interface BoardConfig {
  /** By name: 1 to 64 characters without "/"; `native` is reserved. */
  servers: Record<string, ServerConfig>;
  /**
   * Template of public tool names. Default `mcp__{server}__{tool}`. With `{tool}` and one server, tools keep their own
   * names; with several servers, `{tool}` means `{server}__{tool}`.
   */
  toolNames?: string;
  /** The most characters of a public tool name, from 24 to 128. Default 64. Longer names are cut and get a hash. */
  toolNameLength?: number;
  /** Milliseconds to wait for servers at the start. Default: each server's `timeout`. */
  startupWait?: number;
  /** The directory the agent works in. */
  workspace?: string;
  /** Gives a model tools to find and read resources by itself. Default false. */
  resourceTools?: boolean;
  /**
   * The directories that servers get as roots, unless they have a setting of their own: `true` is the working
   * directory. Default: none.
   */
  roots?: boolean | string[];
  /** Hosts and address ranges that every server may reach, as `network.allow` in a file. */
  networkAllow?: string[];
  /** Which tools may be called, by patterns such as `docs/read_*`, `native/*` or a public name. */
  tools?: ToolRules;
  /** Ask before a call. Default "never". */
  approval?: ApprovalMode;
  pins?: PinMode;
  framing?: FramingMode;
  /** How many servers and tools a session may bring. */
  limits?: AgentGuard["limits"];
  /** Settings of every server that a session brings, unless the server has its own. */
  session?: SessionDefaults;
  audit?: AuditSettings;
}

/** Throws CONFIG_INVALID, listing everything that is wrong. */
export function parseAgentConfig(input: BoardConfig): AgentConfig {
  const checked = check(boardSchema, input, []);
  const layer = readServers(isJsonObject(input) ? input.servers : undefined, ["servers"]);
  throwIfAny([...checked.issues, ...layer.issues, ...layerIssues(layer)], {});
  const { toolNames, startupWait, workspace, networkAllow, tools, approval, resourceTools, roots } =
    input;
  const warnings = [
    ...durationWarnings({ startupWait }, ["startupWait"], []),
    ...sessionWarnings(input.session, ["session"]),
    ...[...layer.servers.values()].flatMap((server) =>
      serverWarnings(server, kindOf(server.plain)),
    ),
  ];
  return {
    agentId: "default",
    servers: plainServers(layer, "agent").map((server) => toDefinition(server, undefined)),
    toolNames: toolNames ?? DEFAULT_TOOL_NAMES,
    toolNameLength: input.toolNameLength,
    startupWait,
    resourceTools,
    roots: rootsSetting(roots, undefined),
    workspace,
    networkAllow,
    guard: agentGuard([{ path: [], settings: { ...input, tools: { ...tools, approval } } }]),
    audit: auditSettings(input.audit, (file) => file),
    session: mergeSessionDefaults([{ settings: input.session, path: ["session"] }]),
    warnings: toProblems(warnings, {}),
  };
}
