// Loads a configuration file for one agent: reads the text (text/), checks all of it (schema/), and merges the
// defaults with the agent's own settings (layers/). Nothing starts here. A command that found the file by
// itself asks next whether somebody trusts it (trust/); references such as `${VAR}` are resolved when a server
// starts (resolve.ts).

import { homedir as systemHome } from "node:os";
import { dirname, resolve } from "node:path";
import { type AgentConfig, DEFAULT_AGENT } from "../model/agent-config.ts";
import { closest } from "../util/closest.ts";
import { expandHome } from "./home.ts";
import { atKey, type Issue, quote, throwIfAny, toProblems } from "./issue.ts";
import { rootsSetting, toDefinition } from "./layers/definition.ts";
import { agentGuard, auditSettings } from "./layers/guard.ts";
import {
  layerIssues,
  type MergedServer,
  mergeServers,
  mergeSessionDefaults,
  overrideIssues,
  plainServers,
} from "./layers/merge.ts";
import { type AgentLayer, type AgentLayers, readAgents, writtenModules } from "./schema/agents.ts";
import { type AgentSettings, DEFAULT_TOOL_NAMES } from "./schema/file-schema.ts";
import { kindOf } from "./schema/servers.ts";
import {
  agentWarnings,
  defaultsWarnings,
  rootWarnings,
  serverWarnings,
} from "./schema/warnings.ts";
import { readDocument } from "./text/read.ts";

export interface LoadConfigOptions {
  /** What a relative path is relative to; by default the process's working directory. */
  cwd?: string;
  homedir?: string;
  /** The text of the file, if you have read it already. */
  text?: string;
}

/**
 * Reads a configuration file for one agent, by default for one that has `agents.defaults` alone. Rejects
 * with CONFIG_INVALID, listing everything that is wrong anywhere in the file.
 */
export async function loadConfig(
  path: string,
  agentId: string = DEFAULT_AGENT,
  { cwd = process.cwd(), homedir = systemHome(), text }: LoadConfigOptions = {},
): Promise<AgentConfig> {
  const file = resolve(cwd, path);
  const document = await readDocument(file, text);
  const layers = readAgents(document.value);
  const agent = layers.list.find(({ id }) => id === agentId);
  const isKnown = agent !== undefined || agentId === DEFAULT_AGENT;
  const source = { file, locate: document.locate };
  throwIfAny(
    [
      ...document.issues,
      ...layers.issues,
      ...mergeIssues(layers),
      ...(isKnown ? [] : [unknownAgent(agentId, layers)]),
    ],
    source,
  );
  const servers = mergeServers(layers.defaults.servers, agent?.servers);
  const warnings = warningsOf(layers, agent, servers);
  return {
    ...mergeAgent(layers, agent, dirname(file), homedir),
    servers: servers.map((server) => toDefinition(server, dirname(file))),
    leftOut: serversElsewhere(layers, servers),
    warnings: toProblems(warnings, source),
    file,
  };
}

/** Those of every agent: a file is right or wrong as a whole. */
function mergeIssues({ defaults, list }: AgentLayers): Issue[] {
  return [
    ...layerIssues(defaults.servers),
    ...list.flatMap((agent) => overrideIssues(defaults.servers, agent.servers)),
  ];
}

function unknownAgent(agentId: string, { list }: AgentLayers): Issue {
  const ids = list.flatMap(({ id }) => id ?? []);
  const known =
    ids.length === 0 ? "the file defines no agents" : `known agents: ${ids.map(quote).join(", ")}`;
  const message = `there is no agent ${quote(agentId)}; ${known}`;
  return atKey(["agents", "list"], message, closest(agentId, ids));
}

/** Everything but the servers. */
function mergeAgent(
  { defaults, root }: AgentLayers,
  agent: AgentLayer | undefined,
  baseDir: string,
  homedir: string,
): Omit<AgentConfig, "servers" | "warnings"> {
  const layers = agent === undefined ? [defaults] : [defaults, agent];
  const settings: AgentSettings = { ...defaults.settings, ...agent?.settings };
  const mcp = { ...defaults.settings.mcp, ...agent?.settings.mcp };
  const toPath = (path: string): string => resolve(baseDir, expandHome(path, homedir));
  return {
    agentId: agent?.id ?? DEFAULT_AGENT,
    toolNames: mcp.toolNames ?? DEFAULT_TOOL_NAMES,
    ...(mcp.toolNames !== undefined && { hasToolNames: true }),
    toolNameLength: mcp.toolNameLength,
    startupWait: mcp.startupWait,
    resourceTools: mcp.resourceTools,
    ...nativeModules(layers, toPath),
    roots: rootsSetting(mcp.roots, baseDir),
    ...(mcp.keepAlive !== undefined && { keepAlive: mcp.keepAlive }),
    workspace: settings.workspace && toPath(settings.workspace),
    ...chosenModels(settings),
    systemPrompt: settings.systemPrompt,
    maxSteps: settings.maxSteps,
    modelNotice: settings.modelNotice,
    modelTimeout: settings.modelTimeout,
    modelProviders: root.models?.providers,
    networkAllow: root.network?.allow,
    networkProxy: root.network?.proxy,
    guard: agentGuard(layers),
    audit: auditSettings(root.audit, toPath),
    session: mergeSessionDefaults(
      layers.map((layer) => ({
        settings: layer.settings.mcp?.session,
        path: [...layer.path, "mcp", "session"],
      })),
    ),
  };
}

/** Those of the defaults come first; an agent adds its own. */
function nativeModules(
  layers: readonly AgentLayer[],
  toPath: (path: string) => string,
): Pick<AgentConfig, "nativeModules"> {
  const modules = writtenModules(layers).map((written) => ({ written, path: toPath(written) }));
  const once = new Map(modules.map((each) => [each.path, each]));
  return once.size === 0 ? {} : { nativeModules: [...once.values()] };
}

/** The first one answers where nobody chooses. */
function chosenModels({
  model,
  models = [],
}: AgentSettings): Pick<AgentConfig, "model" | "models"> {
  const ids = new Set(model === undefined ? models : [model, ...models]);
  const [first] = ids;
  return first === undefined ? {} : { model: first, models: [...ids] };
}

/** Those of other agents: rules in the defaults may be about servers that only some agents have. */
function serversElsewhere(
  { list }: AgentLayers,
  servers: readonly MergedServer[],
): AgentConfig["leftOut"] {
  const own = new Set(servers.map(({ name }) => name));
  const others = list.flatMap((layer) => [...layer.servers.servers.values()]);
  const elsewhere = others.filter(({ name }) => !own.has(name));
  if (elsewhere.length === 0) return undefined;
  return elsewhere.map(({ name, plain }) => ({ name, toolPrefix: plain.toolPrefix }));
}

function warningsOf(
  { defaults, root }: AgentLayers,
  agent: AgentLayer | undefined,
  servers: readonly MergedServer[],
): Issue[] {
  const layerWarnings = (layer: AgentLayer, merged: readonly MergedServer[]): Issue[] => {
    const kinds = new Map(merged.map(({ name, server }) => [name, kindOf(server)]));
    const written = [...layer.servers.servers.values()];
    return [
      ...agentWarnings(layer),
      ...written.flatMap((server) => serverWarnings(server, kinds.get(server.name))),
    ];
  };
  return [
    ...rootWarnings(root),
    ...defaultsWarnings(defaults),
    ...layerWarnings(defaults, plainServers(defaults.servers, "defaults")),
    ...(agent === undefined ? [] : layerWarnings(agent, servers)),
  ];
}
