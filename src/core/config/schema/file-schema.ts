// The schemas of a whole configuration: the root blocks of a file, the settings of one agent, and a board in
// code. Servers are checked one by one (servers.ts), so that a bad one does not hide what is wrong with the
// others.

import type { ModelProvider, ModelProviderType } from "../../types/agent-config.ts";
import { SEARCH_SETTINGS, type ToolSearchSetting } from "../../types/include.ts";
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
  matching,
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
  serversSchema,
  sessionDefaultsSchema,
  toolRules,
} from "./server-schema.ts";
import { milliseconds, NAME, nameProblem, resolvable, resolvableUrl, WEB_URL } from "./values.ts";

/** The template of public tool names where none is given. */
export const DEFAULT_TOOL_NAMES = "mcp__{server}__{tool}";

/** Room for the beginning of a name and its hash. */
const SHORTEST_NAME = 24;
/** What MCP allows. */
const LONGEST_NAME = 128;

const LARGEST_WINDOW = 100_000_000;

/** What `toolNamesProblem` accepts. */
const TOOL_NAMES =
  /^(?:\{tool\}|[A-Za-z0-9_:-]*\{server\}[A-Za-z0-9_:-]*\{tool\}[A-Za-z0-9_:-]*|[A-Za-z0-9_:-]*\{tool\}[A-Za-z0-9_:-]*\{server\}[A-Za-z0-9_:-]*)$/;

const AGENT_ID = new RegExp(`^(?!default$)${NAME.source.slice(1)}`, "u");

const BASE_URL = resolvableUrl().describe(
  "Its URL, with the version. `openai-compatible` needs it.",
  { examples: ["http://127.0.0.1:11434/v1"] },
);

/** Versions without a search took `true` and `false`. */
const toolSearch = either(
  [(value) => typeof value === "boolean", flag()],
  [(value) => typeof value === "string", oneOf(SEARCH_SETTINGS)],
  SEARCH_SETTINGS.join(", "),
);

export function toolSearchSetting(
  value: Infer<typeof toolSearch> | undefined,
): ToolSearchSetting | undefined {
  if (value === undefined || typeof value === "string") return value;
  return value ? "on" : "off";
}

const board = {
  toolNames: verified(toolNamesProblem, text(), TOOL_NAMES)
    .describe(
      "Template of tool names. `{tool}` alone keeps the names of a single server's tools.",
      { default: DEFAULT_TOOL_NAMES, examples: ["{server}__{tool}", "{tool}"] },
    )
    .optional(),
  toolNameLength: integer(SHORTEST_NAME, LONGEST_NAME, "characters")
    .describe("The longest tool name. Longer ones are cut and end in a hash.", { default: 64 })
    .optional(),
  startupWait: milliseconds(0)
    .describe("How long to wait for servers at the start.", {
      otherwise: "each server's `timeout`",
    })
    .optional(),
  resourceTools: flag()
    .describe("Gives a model the tools `list_resources` and `read_resource`.", {
      otherwise: "in `ask` and `acp`, once a server has resources",
    })
    .optional(),
  toolSearch: toolSearch
    .describe("Whether a model searches for tools.", {
      default: "auto",
      see: "#tool-search",
    })
    .optional(),
  roots: roots
    .describe("`roots` of every server without its own.", {
      default: false,
      see: "server-requests.md#roots",
    })
    .optional(),
};

const guard = {
  framing: framing
    .describe("How results are marked as untrusted for a model.", {
      default: "full",
      see: "security.md#what-a-model-reads",
    })
    .optional(),
  pins: pins
    .describe("What happens if a tool has changed since it was first seen.", {
      default: "warn",
      see: "security.md#pins",
    })
    .optional(),
  limits: object({
    sessionServers: integer(0, 1000)
      .describe("Servers that a session may bring. More do not start.", { default: 10 })
      .optional(),
    sessionTools: integer(0, 10_000)
      .describe("Tools that a session may bring. A model finds more by search.", { default: 100 })
      .optional(),
  })
    .describe("What a session may bring.", { see: "#limits" })
    .optional(),
};

const audit = object({
  file: text()
    .describe("Where calls are recorded.", { otherwise: "`audit.jsonl` in `$PLUGBOARD_HOME`" })
    .optional(),
  arguments: flag()
    .describe("Records the arguments of calls, instead of a hash of them.", { default: false })
    .optional(),
});

// An agent

const agentId = verified(agentIdProblem, text(), AGENT_ID).describe(
  "The agent's name, as in `--agent research`. `default` is reserved.",
);

const modelId = matching(
  /^[^/]+\/./,
  "does not name a model; expected provider/model, as in anthropic/claude-sonnet-5",
);

const agent = {
  id: agentId.optional(),
  model: modelId
    .describe("`provider/model`, for `plugboard ask` and editors.", {
      otherwise: "the first provider that has a key",
      see: "#models",
      examples: ["anthropic/claude-sonnet-5", "ollama/qwen3"],
    })
    .optional(),
  models: listOf(modelId)
    .describe("Other models that you can choose in an editor.", { default: [] })
    .optional(),
  systemPrompt: textOrEmpty().describe("Replaces the built-in system prompt.").optional(),
  maxSteps: integer(1, 10_000)
    .describe("How many requests to the model one prompt may cause.", { default: 50 })
    .optional(),
  modelNotice: milliseconds(1)
    .describe("How long the model may be silent before you are told.", { default: 20_000 })
    .optional(),
  modelTimeout: milliseconds(1)
    .describe("How long the model may be silent before it is given up.", {
      default: 120_000,
      see: "agent.md#when-something-is-wrong",
    })
    .optional(),
  workspace: text()
    .describe("The directory that the agent works in.", { otherwise: "the current directory" })
    .optional(),
  mcp: object({
    servers: anyObject(serversSchema).describe("Its servers, by name.").optional(),
    ...board,
    keepAlive: flag()
      .describe("`keepAlive` of every server without its own.", {
        default: false,
        see: "gateway.md#keep-alive",
      })
      .optional(),
    session: sessionDefaultsSchema
      .describe("Settings of servers that a session brings.", { see: "#servers-of-sessions" })
      .optional(),
  })
    .describe("Its servers, and how their tools reach a model.")
    .optional(),
  tools: object({
    ...toolRules,
    approval: approval
      .describe("Which calls need your approval.", { default: "never", see: "#approval" })
      .optional(),
    native: listOf(text())
      .describe("Modules with tools of your own.", {
        default: [],
        see: "#native-tools",
        examples: [["./tools.mjs"]],
      })
      .optional(),
  })
    .describe("Which tools may be called, and by whom.", { see: "#rules-for-tools" })
    .optional(),
  ...guard,
};

const agentAdvice = {
  ...belongingIn("mcp", [
    "servers",
    "toolNames",
    "toolNameLength",
    "startupWait",
    "toolSearch",
    "resourceTools",
    "roots",
    "keepAlive",
  ]),
  ...belongingIn("tools", ["approval", ...Object.keys(toolRules)]),
};

function belongingIn(place: string, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, `it belongs in ${place}.${key}`]));
}

export const defaultsSchema = object(agent, agentAdvice);

export const agentSchema = object({ ...agent, id: agentId }, agentAdvice);

export type AgentSettings = Infer<typeof defaultsSchema>;

function agentIdProblem(id: string): string | undefined {
  return nameProblem(id, {
    name: "default",
    meaning: "the agent that every file has, made of agents.defaults",
  });
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
      baseUrl: BASE_URL,
      images: flag()
        .describe("`false` if the models take no images. For `openai-compatible`.", {
          otherwise: "it is tried",
        })
        .optional(),
    }),
  },
  'an object such as { type: "openai-compatible", baseUrl }',
);

function hostedProvider<const Type extends ModelProviderType>(type: Type) {
  return object({ ...providerKeys(type), baseUrl: BASE_URL.optional() });
}

function providerKeys<const Type extends ModelProviderType>(type: Type) {
  return {
    type: oneOf([type]).describe("The API that it speaks."),
    apiKey: resolvable()
      .describe("Its API key.", {
        otherwise: "from the environment",
        examples: ["${LAB_KEY}", "secret://keyring/lab"],
      })
      .optional(),
    contextWindow: integer(1000, LARGEST_WINDOW, "tokens")
      .describe("How many tokens fit into a request.", {
        otherwise: "by `type`",
      })
      .optional(),
  };
}

const rootAdvice = {
  // An agent's settings, for whoever has one agent.
  ...belongingIn("agents.defaults", Object.keys(agent)),
  ...Object.fromEntries(
    Object.entries(agentAdvice).map(([key, advice]) => [
      key,
      advice.replace(" in ", " in agents.defaults."),
    ]),
  ),
  // Where other programs keep their servers.
  ...Object.fromEntries(
    ["mcp", "mcp_servers", "context_servers"].map((key) => [
      key,
      "servers belong in mcpServers, or in agents.defaults.mcp.servers",
    ]),
  ),
};

const root = {
  $schema: textOrEmpty()
    .describe("For your editor. Plugboard ignores it.", {
      see: "#your-editor",
    })
    .optional(),
  // The short form, which is gone when a file is checked: it is here for whoever mistypes it.
  mcpServers: anyObject(serversSchema)
    .describe("The servers of every agent, by name. Short for `agents.defaults.mcp.servers`.", {
      see: "#server-keys",
    })
    .optional(),
  servers: anyObject(serversSchema).describe("Another name for `mcpServers`.").optional(),
  agents: object({
    defaults: anyObject(defaultsSchema)
      .describe("The settings of every agent.", { see: "#agent-keys" })
      .optional(),
    list: listOf(anyObject(agentSchema))
      .describe("Single agents, each with what differs from the defaults.", {
        see: "#how-an-agents-servers-are-merged",
      })
      .optional(),
  })
    .describe("What each agent gets.")
    .optional(),
  gateway: gatewaySchema
    .describe("Where the gateway listens and whom it lets in.", { see: "#the-gateway" })
    .optional(),
  secrets: secretsSchema
    .describe("What the providers of secrets are told.", { see: "#settings-for-secrets" })
    .optional(),
  network: object({
    allow: patterns
      .describe("Hosts and address ranges that every server may reach.", {
        default: [],
        see: "network.md",
        examples: [["10.0.0.0/8", "build.internal"]],
      })
      .optional(),
    proxy: verified(proxyProblem, text(), WEB_URL)
      .describe("A proxy for all servers and models. `NO_PROXY` still applies.", {
        otherwise: "the one in the environment",
        examples: ["http://proxy.example:3128"],
      })
      .optional(),
    inherit: flag()
      .describe("Programs get the proxy, certificates and registries of your environment.", {
        default: true,
        see: "network.md#behind-a-companys-proxy",
      })
      .optional(),
  })
    .describe("What servers may reach.")
    .optional(),
  acp: object({
    owner: flag()
      .describe("Whether you are the owner of your editors' sessions. Only in your own file.", {
        default: false,
        see: "security.md#the-owner",
      })
      .optional(),
  })
    .describe("Sessions of editors.")
    .optional(),
  registry: verified(secureUrlProblem, text(), WEB_URL)
    .describe("The address of the MCP registry.", {
      otherwise: "the official one",
    })
    .optional(),
  audit: audit.describe("The record of calls.", { see: "security.md#the-audit" }).optional(),
  models: object({
    providers: mapOf(modelProvider, (name) => nameProblem(name), NAME)
      .describe("Model providers by name.")
      .optional(),
  })
    .describe("Models besides the built-in ones.", { see: "#models" })
    .optional(),
};

/** Where a file has the servers of all agents. */
export const DEFAULT_SERVERS: KeyPath = ["agents", "defaults", "mcp", "servers"];

/** The blocks of a file. */
export const ROOT_KEYS: ReadonlySet<string> = new Set(Object.keys(root));

/** Whether a block of the file has such a key. */
export function isKeyOfBlock(block: string, key: string): boolean {
  const { shape } = root[block as keyof typeof root];
  return shape.kind === "object" && Object.hasOwn(shape.keys, key);
}

/** What `tools` of an agent has. */
export const TOOL_KEYS: ReadonlySet<string> = new Set(
  agent.tools.shape.kind === "object" ? Object.keys(agent.tools.shape.keys) : [],
);

/** Keys that restrict what tools may do, for an agent. Whoever writes one relies on it. */
export const GUARD_KEYS: ReadonlySet<string> = new Set([
  "approval",
  ...Object.keys(toolRules),
  ...Object.keys(guard),
]);

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
  servers: anyObject(serversSchema),
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
