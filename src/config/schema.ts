// The schemas of a file: its root blocks and the settings of one agent. Servers are checked one by one
// with server-schema.ts, so that a bad one does not hide what is wrong with the others.

import { anyObject, either, object } from "./compound.ts";
import {
  flag,
  integer,
  listOf,
  milliseconds,
  oneOf,
  text,
  textOrEmpty,
  verified,
} from "./fields.ts";
import type { Infer } from "./kit.ts";
import { modelIdProblem, modelProviders } from "./model-schema.ts";
import { nameProblem } from "./names.ts";
import {
  approval,
  audit,
  framing,
  limits,
  patterns,
  pins,
  tls,
  toolRules,
} from "./policy-schema.ts";
import { SECRET_PROVIDERS } from "./secret-reference.ts";
import { sessionDefaultsSchema } from "./server-schema.ts";
import { toolNamesProblem } from "./tool-names.ts";

const toolSearch = either(
  [(value) => typeof value === "boolean", flag()],
  [(value) => typeof value === "string", oneOf(["auto"])],
  "true, false or auto",
);

const board = {
  toolNames: verified(toolNamesProblem).optional(),
  startupWait: milliseconds(0).optional(),
  resourceTools: flag().optional(),
};

const treatment = {
  framing: framing().optional(),
  pins: pins().optional(),
  limits: limits().optional(),
};

/** Other programs' names for what is kept elsewhere here. */
const rootAdvice = Object.fromEntries(
  ["servers", "mcp", "mcpServers", "mcp_servers", "context_servers"].map((key) => [
    key,
    "servers belong in agents.defaults.mcp.servers",
  ]),
);

const agentAdvice = Object.fromEntries(
  ["servers", "toolNames", "startupWait", "toolSearch", "resourceTools"].map((key) => [
    key,
    `it belongs in mcp.${key}`,
  ]),
);

const agent = {
  id: verified(agentIdProblem).optional(),
  model: verified(modelIdProblem).optional(),
  models: listOf(verified(modelIdProblem)).optional(),
  systemPrompt: textOrEmpty().optional(),
  maxSteps: integer(1, 10_000).optional(),
  workspace: text().optional(),
  mcp: object({
    servers: anyObject().optional(),
    ...board,
    toolSearch: toolSearch.optional(),
    session: sessionDefaultsSchema.optional(),
  }).optional(),
  tools: object({
    ...toolRules(),
    approval: approval().optional(),
    native: listOf(text()).optional(),
  }).optional(),
  ...treatment,
};

export const defaultsSchema = object(agent, agentAdvice);

export const agentSchema = object({ ...agent, id: verified(agentIdProblem) }, agentAdvice);

export type AgentSettings = Infer<typeof defaultsSchema>;

const providers = Object.fromEntries(
  SECRET_PROVIDERS.map((provider) => [provider, anyObject().optional()]),
);

export const rootSchema = object(
  {
    $schema: textOrEmpty().optional(),
    agents: object({
      defaults: anyObject().optional(),
      list: listOf(anyObject()).optional(),
    }).optional(),
    gateway: object({
      host: text().optional(),
      port: integer(0, 65_535).optional(),
      tls: tls().optional(),
    }).optional(),
    secrets: object(providers).optional(),
    network: object({
      allow: patterns().optional(),
      proxy: verified(proxyProblem).optional(),
    }).optional(),
    audit: audit().optional(),
    models: object({ providers: modelProviders().optional() }).optional(),
  },
  rootAdvice,
);

/** What `parseAgentConfig` takes. */
export const boardSchema = object({
  servers: anyObject(),
  ...board,
  networkAllow: patterns().optional(),
  workspace: text().optional(),
  tools: object(toolRules()).optional(),
  approval: approval().optional(),
  ...treatment,
  session: sessionDefaultsSchema.optional(),
  audit: audit().optional(),
});

function agentIdProblem(id: string): string | undefined {
  return nameProblem(id, "default");
}

/** Never quotes the value: it may hold a password. */
function proxyProblem(proxy: string): string | undefined {
  return URL.canParse(proxy) && /^https?:$/.test(new URL(proxy).protocol)
    ? undefined
    : "is not the URL of a proxy; expected one such as http://proxy.example:3128";
}
