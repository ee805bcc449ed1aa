// The configuration of one agent, merged and checked: what `loadConfig` returns and `openBoard` takes.

import type { ConfigProblem } from "./errors.ts";
import type { AgentGuard, AuditSettings, PlacedRules } from "./guard-settings.ts";
import type { RootsSetting } from "./roots.ts";
import type { SessionDefaults } from "./server-config.ts";
import type { ServerDefinition } from "./server-definition.ts";

/** The agent that has the defaults of the configuration and nothing else. */
export const DEFAULT_AGENT = "default";

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
  /** Gives the model tools to find and read resources by itself. */
  resourceTools?: boolean;
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
  /** Absent if the configuration sets nothing for the guard. */
  guard?: AgentGuard;
  audit?: AuditSettings;
  /** Default settings and tool rules for servers that a session brings. */
  session?: { settings: SessionDefaults; rules: PlacedRules[] };
  /** Problems that do not stop the board, such as keys this version accepts but does not support yet. */
  warnings: ConfigProblem[];
  /** Set if nobody has approved this configuration: no server starts, and `remedy` says what to do. */
  untrusted?: { remedy: string };
  /** The file it was read from. */
  file?: string;
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
  /** May contain `${VAR}`. Default: the variable that the provider's own tools read. */
  apiKey?: string;
  /** How many tokens fit into one request. */
  contextWindow?: number;
  /** With `openai-compatible`: false for models that do not take images. Default: it is tried. */
  images?: boolean;
}
