// A configuration file as what one agent gets of it: read, checked as a whole, merged.

import { homedir as systemHome } from "node:os";
import { dirname, resolve } from "node:path";
import type { AgentConfig } from "../model/agent-config.ts";
import type { AuditSettings } from "../model/guard-settings.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import type { ModelProvider } from "../model/model-provider.ts";
import { closest } from "../util/closest.ts";
import { readAgents } from "./agents.ts";
import type { AgentLayer, AgentLayers } from "./agents.ts";
import { familyOf } from "./connection.ts";
import { toDefinition } from "./definition.ts";
import { atKey } from "./issue.ts";
import type { Issue } from "./issue.ts";
import { agentGuard, auditSettings } from "./guard.ts";
import { expandHome } from "./home.ts";
import { layerIssues, mergeServers, overrideIssues, plainServers } from "./merge.ts";
import type { MergedServer } from "./merge.ts";
import { quote } from "./issue.ts";
import { readDocument } from "./text/read.ts";
import { throwIfAny, toProblems } from "./issue.ts";
import type { IssueSource } from "./issue.ts";
import { ruleWarnings } from "./rule-warnings.ts";
import type { AgentSettings } from "./schema.ts";
import { sessionDefaults } from "./session.ts";
import { DEFAULT_TOOL_NAMES } from "./tool-names.ts";
import { agentWarnings, defaultsWarnings, rootWarnings, serverWarnings } from "./warnings.ts";

/** The agent that has the defaults and nothing else. */
const DEFAULT_AGENT = "default";

export interface LoadOptions {
  /** What a relative path is relative to; by default the process's working directory. */
  cwd?: string;
  homedir?: string;
}

/**
 * Reads a configuration file for one agent, by default for one that has `agents.defaults` alone. Rejects
 * with CONFIG_INVALID, listing everything that is wrong anywhere in the file.
 */
export async function loadConfig(
  path: string,
  agentId: string = DEFAULT_AGENT,
  options: LoadOptions = {},
): Promise<AgentConfig> {
  const file = resolve(options.cwd ?? process.cwd(), path);
  const document = await readDocument(file);
  const source = { file, locate: document.locate };
  const layers = readAgents(document.value);
  const agent = layers.list.find(({ id }) => id === agentId);
  const isUnknown = agent === undefined && agentId !== DEFAULT_AGENT;
  const issues = [...document.issues, ...layers.issues, ...mergeIssues(layers)];
  throwIfAny(isUnknown ? [...issues, unknownAgent(agentId, layers)] : issues, source);
  return compose({ layers, agent, source, homedir: options.homedir ?? systemHome() });
}

/** The agents that are not asked for too: a file is right or wrong as a whole. */
function mergeIssues({ defaults, list }: AgentLayers): Issue[] {
  return [
    ...layerIssues(defaults.servers),
    ...list.flatMap((agent) => overrideIssues(defaults.servers, agent.servers)),
  ];
}

function unknownAgent(agentId: string, { list }: AgentLayers): Issue {
  const ids = list.flatMap(({ id }) => id ?? []);
  const known =
    ids.length === 0 ? "the file has none" : `known agents: ${ids.map(quote).join(", ")}`;
  const message = `there is no agent ${quote(agentId)}; ${known}`;
  return atKey(["agents", "list"], message, closest(agentId, ids));
}

interface Composition {
  layers: AgentLayers;
  agent: AgentLayer | undefined;
  source: Required<IssueSource>;
  homedir: string;
}

function compose({ layers, agent, source, homedir }: Composition): AgentConfig {
  const { defaults, root } = layers;
  const servers = mergeServers(defaults.servers, agent?.servers);
  const baseDir = dirname(source.file);
  const settings = { ...defaults.settings, ...agent?.settings };
  const mcp = { ...defaults.settings.mcp, ...agent?.settings.mcp };
  const { allow, proxy } = networkBlock(root);
  const toPath = (path: string): string => resolve(baseDir, expandHome(path, homedir));
  const workspace = settings.workspace && toPath(settings.workspace);
  const guard = agentGuard(agent === undefined ? [defaults] : [defaults, agent]);
  // The root has passed its schema.
  const audit = auditSettings(root["audit"] as AuditSettings | undefined, toPath);
  const session = sessionDefaults(
    [defaults, ...(agent === undefined ? [] : [agent])].map(({ settings: { mcp: of }, path }) => ({
      settings: of?.session,
      path: [...path, "mcp", "session"],
    })),
  );
  const { providers: modelProviders } = modelsBlock(root);
  const names = serverNames(layers);
  return {
    agentId: agent?.id ?? DEFAULT_AGENT,
    servers: servers.map((server) => toDefinition(server, baseDir)),
    toolNames: mcp.toolNames ?? DEFAULT_TOOL_NAMES,
    ...(mcp.startupWait !== undefined && { startupWait: mcp.startupWait }),
    ...(mcp.resourceTools !== undefined && { resourceTools: mcp.resourceTools }),
    ...(workspace !== undefined && { workspace }),
    ...chosenModels(settings),
    ...(settings.systemPrompt !== undefined && { systemPrompt: settings.systemPrompt }),
    ...(settings.maxSteps !== undefined && { maxSteps: settings.maxSteps }),
    ...(modelProviders !== undefined && { modelProviders }),
    ...(allow !== undefined && { networkAllow: allow }),
    ...(proxy !== undefined && { networkProxy: proxy }),
    ...(guard !== undefined && { guard }),
    ...(audit !== undefined && { audit }),
    ...(session !== undefined && { session }),
    warnings: toProblems(
      [
        ...rootWarnings(root),
        ...defaultsWarnings(defaults.settings, defaults.path),
        ...layerWarnings(defaults, plainServers(defaults.servers, "defaults"), names),
        ...(agent === undefined ? [] : layerWarnings(agent, servers, names)),
      ],
      source,
    ),
    file: source.file,
  };
}

function layerWarnings(
  layer: AgentLayer,
  merged: readonly MergedServer[],
  names: ReadonlySet<string>,
): Issue[] {
  const families = new Map(merged.map(({ name, server }) => [name, familyOf(server)]));
  return [
    ...agentWarnings(layer.settings, layer.path),
    ...ruleWarnings(layer.settings.tools, layer.path, names),
    ...[...layer.servers.servers.values()].flatMap((server) =>
      serverWarnings(server, families.get(server.name)),
    ),
  ];
}

/** Of every agent: rules in the defaults may be about servers that only some agents have. */
function serverNames({ defaults, list }: AgentLayers): ReadonlySet<string> {
  return new Set([defaults, ...list].flatMap(({ servers }) => [...servers.servers.keys()]));
}

/** The first is the one that answers where nobody chooses. */
function chosenModels({
  model,
  models = [],
}: AgentSettings): Pick<AgentConfig, "model" | "models"> {
  const ids = new Set(model === undefined ? models : [model, ...models]);
  const [first] = ids;
  return first === undefined ? {} : { model: first, models: [...ids] };
}

/** The root has passed its schema. */
function networkBlock(root: JsonObject): { allow?: string[]; proxy?: string } {
  return isJsonObject(root["network"]) ? root["network"] : {};
}

/** The root has passed its schema. */
function modelsBlock(root: JsonObject): { providers?: Record<string, ModelProvider> } {
  return isJsonObject(root["models"]) ? root["models"] : {};
}
