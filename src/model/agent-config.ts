// What a configuration says for one agent, merged and checked: the input of a board.

import type { ServerDefinition } from "./server-definition.ts";
import type { ConfigProblem } from "./errors.ts";
import type { AgentGuard, AuditSettings, PlacedRules } from "./guard-settings.ts";
import type { SessionDefaults } from "./server-config.ts";

export interface AgentConfig {
  agentId: string;
  servers: ServerDefinition[];
  /** Template of public tool names. */
  toolNames: string;
  /** Milliseconds to wait for servers at the start; undefined means each server's own `timeout`. */
  startupWait?: number;
  workspace?: string;
  /** `provider/model`, for the agent's own loop. */
  model?: string;
  /** All that a session may choose from, `model` first; there wherever `model` is. */
  models?: string[];
  /** Instead of the loop's own words. */
  systemPrompt?: string;
  /** Requests to the model that one prompt may lead to. */
  maxSteps?: number;
  /** Beside the providers that are known anyway. */
  modelProviders?: Record<string, ModelProvider>;
  /** A model gets tools to find and read resources by itself. */
  resourceTools?: boolean;
  /** Hosts and ranges that every server may reach, by the operator's word. */
  networkAllow?: string[];
  /** The proxy for every server, instead of what the environment says. */
  networkProxy?: string;
  /** Absent where nothing is configured for the guard. */
  guard?: AgentGuard;
  audit?: AuditSettings;
  /** What holds for servers that a session brings: keys of a server, checked, and rules for tools. */
  session?: { settings: SessionDefaults; rules: PlacedRules[] };
  /** Accepted keys whose feature this version does not have, and anything else worth saying. */
  warnings: ConfigProblem[];
  /** Nobody has approved what it would start: every server stays down, and says what to do. */
  untrusted?: { remedy: string };
  /** Where it was read from. */
  file?: string;
}

/** The API it speaks. */
export type ModelProviderType = "anthropic" | "openai" | "google" | "openai-compatible";

export interface ModelProvider {
  type: ModelProviderType;
  /** Up to and with the version, as in `http://localhost:11434/v1`. May hold `${VAR}`. */
  baseUrl?: string;
  /** May hold `${VAR}`. Default: the variable that the API's own tools read. */
  apiKey?: string;
  /** Tokens that fit into one request. */
  contextWindow?: number;
}
