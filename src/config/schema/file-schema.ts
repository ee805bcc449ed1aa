// The schemas of a whole configuration: the root blocks of a file, the settings of one agent, and a board in
// code. Servers are checked one by one (servers.ts), so that a bad one does not hide what is wrong with the
// others.

import type { ModelProvider, ModelProviderType } from "../../model/agent-config.ts";
import { SEARCH_SETTINGS, type ToolSearchSetting } from "../../model/include.ts";
import { secureUrlProblem } from "../../net/secure-url.ts";
import type { KeyPath } from "../issue.ts";
import { gatewaySchema } from "./gateway-schema.ts";
import {
  anyObject,
  byType,
  either,
  flag,
  type Infer,
  integer,
  listOf,
  mapOf,
  object,
  oneOf,
  text,
  textOrEmpty,
  verified,
} from "./schema.ts";
import { secretsSchema } from "./secrets-schema.ts";
import {
  approval,
  framing,
  patterns,
  pins,
  roots,
  sessionDefaultsSchema,
  toolRules,
} from "./server-schema.ts";
import { milliseconds, nameProblem, resolvable, resolvableUrl } from "./values.ts";

/** The template of public tool names where none is given. */
export const DEFAULT_TOOL_NAMES = "mcp__{server}__{tool}";

/** Room for the beginning of a name and its hash. */
const SHORTEST_NAME = 24;
/** What MCP allows. */
const LONGEST_NAME = 128;

const LARGEST_WINDOW = 100_000_000;

/** Versions without a search took `true` and `false`. */
const toolSearch = either(
  [(value) => typeof value === "boolean", flag()],
  [(value) => typeof value === "string", oneOf(SEARCH_SETTINGS)],
  SEARCH_SETTINGS.join(", "),
);

export function toolSearchSetting(value: Infer<typeof toolSearch>): ToolSearchSetting {
  if (typeof value === "string") return value;
  return value ? "on" : "off";
}

const board = {
  toolNames: verified(toolNamesProblem).optional(),
  toolNameLength: integer(SHORTEST_NAME, LONGEST_NAME, " of characters").optional(),
  startupWait: milliseconds(0).optional(),
  resourceTools: flag().optional(),
  toolSearch: toolSearch.optional(),
  roots: roots.optional(),
};

const guard = {
  framing: framing.optional(),
  pins: pins.optional(),
  limits: object({
    sessionServers: integer(0, 1000).optional(),
    sessionTools: integer(0, 10_000).optional(),
  }).optional(),
};

const audit = object({ file: text().optional(), arguments: flag().optional() });

// An agent

const agent = {
  id: verified(agentIdProblem).optional(),
  model: verified(modelIdProblem).optional(),
  models: listOf(verified(modelIdProblem)).optional(),
  systemPrompt: textOrEmpty().optional(),
  maxSteps: integer(1, 10_000).optional(),
  modelNotice: milliseconds(1).optional(),
  modelTimeout: milliseconds(1).optional(),
  workspace: text().optional(),
  mcp: object({
    servers: anyObject().optional(),
    ...board,
    keepAlive: flag().optional(),
    session: sessionDefaultsSchema.optional(),
  }).optional(),
  tools: object({
    ...toolRules,
    approval: approval.optional(),
    native: listOf(text()).optional(),
  }).optional(),
  ...guard,
};

const agentAdvice = Object.fromEntries(
  [
    "servers",
    "toolNames",
    "toolNameLength",
    "startupWait",
    "toolSearch",
    "resourceTools",
    "roots",
    "keepAlive",
  ].map((key) => [key, `it belongs in mcp.${key}`]),
);

export const defaultsSchema = object(agent, agentAdvice);

export const agentSchema = object({ ...agent, id: verified(agentIdProblem) }, agentAdvice);

export type AgentSettings = Infer<typeof defaultsSchema>;

function agentIdProblem(id: string): string | undefined {
  return nameProblem(id, {
    name: "default",
    meaning: "the agent that every file has, made of agents.defaults",
  });
}

function modelIdProblem(id: string): string | undefined {
  return /^[^/]+\/./.test(id)
    ? undefined
    : "does not name a model; expected provider/model, as in anthropic/claude-sonnet-5";
}

function toolNamesProblem(template: string): string | undefined {
  // The tools of a single server keep their names.
  if (template === "{tool}") return undefined;
  for (const placeholder of ["{server}", "{tool}"]) {
    const count = template.split(placeholder).length - 1;
    if (count !== 1) {
      const found = count === 0 ? `has no ${placeholder}` : `has ${placeholder} more than once`;
      return `${found}; expected {server} and {tool} once each, or {tool} alone`;
    }
  }
  const rest = template.replace("{server}", "").replace("{tool}", "");
  if (/[{}]/.test(rest)) {
    return "has other braces than {server} and {tool}; expected those two once each";
  }
  if (!/^[A-Za-z0-9_:-]*$/.test(rest)) {
    return "has a character that tool names cannot have; expected only A-Z a-z 0-9 _ - : around {server} and {tool}";
  }
  return undefined;
}

// The root of a file

const modelProvider = byType<ModelProvider>(
  {
    anthropic: hostedProvider("anthropic"),
    openai: hostedProvider("openai"),
    google: hostedProvider("google"),
    "openai-compatible": object({
      ...providerKeys("openai-compatible"),
      baseUrl: resolvableUrl(),
      images: flag().optional(),
    }),
  },
  'an object such as { type: "openai-compatible", baseUrl }',
);

function hostedProvider<const Type extends ModelProviderType>(type: Type) {
  return object({ ...providerKeys(type), baseUrl: resolvableUrl().optional() });
}

function providerKeys<const Type extends ModelProviderType>(type: Type) {
  return {
    type: oneOf([type]),
    apiKey: resolvable().optional(),
    contextWindow: integer(1000, LARGEST_WINDOW, " of tokens").optional(),
  };
}

/** Where other programs keep their servers. */
const rootAdvice = Object.fromEntries(
  ["mcp", "mcp_servers", "context_servers"].map((key) => [
    key,
    "servers belong in mcpServers, or in agents.defaults.mcp.servers",
  ]),
);

const root = {
  $schema: textOrEmpty().optional(),
  // The short form, which is gone when a file is checked: it is here for whoever mistypes it.
  mcpServers: anyObject().optional(),
  servers: anyObject().optional(),
  agents: object({
    defaults: anyObject().optional(),
    list: listOf(anyObject()).optional(),
  }).optional(),
  gateway: gatewaySchema.optional(),
  secrets: secretsSchema.optional(),
  network: object({
    allow: patterns.optional(),
    proxy: verified(proxyProblem).optional(),
  }).optional(),
  registry: verified(secureUrlProblem).optional(),
  audit: audit.optional(),
  models: object({
    providers: mapOf(modelProvider, (name) => nameProblem(name)).optional(),
  }).optional(),
};

/** Where a file has the servers of all agents. */
export const DEFAULT_SERVERS: KeyPath = ["agents", "defaults", "mcp", "servers"];

/** The blocks of a file. */
export const ROOT_KEYS: ReadonlySet<string> = new Set(Object.keys(root));

export const rootSchema = object(root, rootAdvice);

export type RootSettings = Infer<typeof rootSchema>;

/** Never quotes the value: it may hold a password. */
function proxyProblem(proxy: string): string | undefined {
  return URL.canParse(proxy) && /^https?:$/.test(new URL(proxy).protocol)
    ? undefined
    : "is not the URL of a proxy; expected one such as http://proxy.example:3128";
}

// A board in code

export const boardSchema = object({
  servers: anyObject(),
  ...board,
  networkAllow: patterns.optional(),
  secrets: secretsSchema.optional(),
  workspace: text().optional(),
  tools: object(toolRules).optional(),
  approval: approval.optional(),
  ...guard,
  session: sessionDefaultsSchema.optional(),
  audit: audit.optional(),
});
