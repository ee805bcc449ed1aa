// What `openBoard` and `board.reload` take: the configuration of one agent, merged and checked, as `loadConfig`
// returns it, or one that is written in code.

import type { ConfigProblem } from "./errors.ts";
import type {
  AgentGuard,
  ApprovalMode,
  AuditSettings,
  FramingMode,
  PinMode,
  PlacedRules,
  ToolRules,
} from "./guard-settings.ts";
import type { ToolSearchSetting } from "./include.ts";
import type { RootsSetting } from "./roots.ts";
import type { SecretSettings } from "./secret-provider.ts";
import type { ServerConfig, SessionDefaults } from "./server-config.ts";
import type { ServerDefinition } from "./server-definition.ts";

/** The agent that has the defaults of the configuration and nothing else. */
export const DEFAULT_AGENT = "default";

/** The template that leaves tools the names that their server gives them, if there is only one server. */
export const OWN_NAMES = "{tool}";
export const OF_SEVERAL_SERVERS = "{server}__{tool}";

/** The template of public names for an agent with so many enabled servers. */
export function templateFor(toolNames: string, serverCount: number): string {
  return toolNames === OWN_NAMES && serverCount > 1 ? OF_SEVERAL_SERVERS : toolNames;
}

/** How the tools of the agent are named: the template, and the most characters of a name. */
export function toolNamesOf({
  toolNames,
  toolNameLength: length,
  servers,
}: Pick<AgentConfig, "toolNames" | "toolNameLength" | "servers">): {
  template: string;
  length?: number;
} {
  const count = servers.filter(({ enabled }) => enabled).length;
  return { template: templateFor(toolNames, count), length };
}

export interface AgentConfig {
  agentId: string;
  servers: ServerDefinition[];
  /** Servers that are configured, but not on this board. Rules still know their names. */
  leftOut?: Pick<ServerDefinition, "name" | "toolPrefix">[];
  /** Template of public tool names. `{tool}` alone: a single server's tools keep their own names. */
  toolNames: string;
  /** The configuration says so itself. Absent: `toolNames` is the default. */
  hasToolNames?: true;
  /** The most characters of a public tool name. Absent: 64. */
  toolNameLength?: number;
  /** Milliseconds to wait for servers when the board opens. Default: each server's own `timeout`. */
  startupWait?: number;
  /** The directory the agent works in. */
  workspace?: string;
  /** The model of the built-in agent loop, as `provider/model`. */
  model?: string;
  /** All models that a session may choose from, `model` first. Set whenever `model` is set. */
  models?: string[];
  /** Replaces the built-in system prompt of the agent loop. */
  systemPrompt?: string;
  /** How many requests the agent loop may send to the model to answer one prompt. */
  maxSteps?: number;
  /** Milliseconds that the model may say nothing until the user is told. */
  modelNotice?: number;
  /** Milliseconds that the model may say nothing until it is given up. */
  modelTimeout?: number;
  /** Model providers by name, in addition to the built-in ones. */
  modelProviders?: Record<string, ModelProvider>;
  /** What the providers of secrets are told. */
  secrets?: SecretSettings;
  /** Gives the model tools to find and read resources by itself. */
  resourceTools?: boolean;
  /** Default `auto`. */
  toolSearch?: ToolSearchSetting;
  /** Modules with native tools. The board runs them when it opens. */
  nativeModules?: NativeModule[];
  /** `keepAlive` of servers that have no setting of their own. */
  keepAlive?: boolean;
  /** The roots of servers that have no setting of their own. Absent: none. */
  roots?: RootsSetting;
  /** Hosts and address ranges that the operator allows every server to reach. */
  networkAllow?: string[];
  /** The proxy for every server. Overrides the proxy variables of the environment. */
  networkProxy?: string;
  /** False: programs do not get the proxy, certificates and registries of the environment, nor `networkProxy`. */
  networkInherit?: boolean;
  /** The address of the MCP registry that servers are added from. Default: the official one. */
  registry?: string;
  /** Sessions of editors: whether whoever is at the editor is the owner. */
  acp?: { owner?: boolean };
  /** Absent if the configuration sets nothing for the guard. */
  guard?: AgentGuard;
  audit?: AuditSettings;
  /** Default settings and tool rules for servers that a session brings. */
  session?: { settings: SessionDefaults; rules: PlacedRules[] };
  /** Problems that do not stop the board, such as keys this version accepts but does not support yet. */
  warnings: ConfigProblem[];
  /** What was ignored or renamed in the file of another application. Absent if there is nothing to tell. */
  notes?: ConfigProblem[];
  /** Configuration files with something that nobody has approved. It is shown, and not used. */
  untrusted?: UntrustedFile[];
  /** The file it was read from. */
  file?: string;
  /** The file has other servers for other working directories. */
  isOfDirectory?: true;
}

export interface UntrustedFile {
  file: string;
  /** Says what to do. */
  remedy: string;
  /** They never start. Nothing in `servers` has the name of one of them. */
  servers: ServerDefinition[];
  /** Only these servers have changed since the file was approved; everything else of it is used. */
  inUse?: true;
}

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
   * Whether a model searches for tools instead of having all in its prompt. Default `auto`: if their definitions are
   * more than 50, or take more than a tenth of the model's context.
   */
  toolSearch?: ToolSearchSetting;
  /**
   * The directories that servers get as roots, unless they have a setting of their own: `true` is the working
   * directory. Default: none.
   */
  roots?: boolean | string[];
  /** Hosts and address ranges that every server may reach, as `network.allow` in a file. */
  networkAllow?: string[];
  /** What the providers of secrets are told, as `secrets` in a file. */
  secrets?: SecretSettings;
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

/** A module whose default export is a native tool, a list of them, or a function that makes them. */
export interface NativeModule {
  path: string;
  /** As the configuration has it. */
  written: string;
}

/** The API that a model provider speaks. */
export type ModelProviderType = "anthropic" | "openai" | "google" | "openai-compatible";

export interface ModelProvider {
  type: ModelProviderType;
  /** Includes the version, as in `http://localhost:11434/v1`. May contain `${VAR}`. */
  baseUrl?: string;
  /** May contain `${VAR}` and `secret://`. Default: the variable that the provider's own tools read. */
  apiKey?: string;
  /** How many tokens fit into one request. */
  contextWindow?: number;
  /** With `openai-compatible`: false for models that do not take images. Default: it is tried. */
  images?: boolean;
  /** The directory of the configuration file, where a secret of the provider is in a file. */
  baseDir?: string;
  /** A project's file chose its address, so neither the environment's key nor the stored one is sent there. */
  needsOwnKey?: true;
}
