// Loads a configuration file for one agent: reads it in whatever form it is (config-file.ts), checks all of it
// (schema/), and merges the defaults with the agent's own settings (layers/). Nothing starts here. A command that found
// the file by itself asks next whether somebody trusts it (trust/); references such as `${VAR}` are resolved when a server
// starts (resolve.ts).

import { homedir as systemHome } from "node:os";
import { dirname, resolve } from "node:path";
import { type AgentConfig, DEFAULT_AGENT } from "../types/agent-config.ts";
import { type ConfigProblem, PlugboardError } from "../types/errors.ts";
import type { PlacedRules } from "../types/guard-settings.ts";
import { type Kinds, LIST, OBJECT, requireKind, requireOptions, TEXT } from "../types/kinds.ts";
import type { SecretSettings } from "../types/secret-provider.ts";
import type { SessionDefaults } from "../types/server-config.ts";
import { closest } from "../../util/closest.ts";
import { type ConfigFile, readConfigContent, readConfigFile } from "./config-file.ts";
import { expandHome } from "../../util/home-path.ts";
import { oneLine } from "../../util/text.ts";
import { atKey, formatPath, type Issue, quote, throwIfAny, toProblems } from "./issue.ts";
import { rootsSetting, toDefinition } from "./layers/definition.ts";
import { layOver } from "./layers/files.ts";
import { looserKeys } from "./layers/stricter.ts";
import { agentGuard, auditSettings } from "./layers/guard.ts";
import {
  layerIssues,
  type MergedServer,
  mergeServers,
  mergeSessionDefaults,
  overlay,
  overrideIssues,
  plainServers,
} from "./layers/merge.ts";
import { type AgentLayer, type AgentLayers, readAgents, writtenModules } from "./schema/agents.ts";
import { type AgentSettings, DEFAULT_TOOL_NAMES, toolSearchSetting } from "./schema/file-schema.ts";
import { hasFileReference } from "./schema/references.ts";
import { kindOf } from "./schema/servers.ts";
import {
  agentWarnings,
  defaultsWarnings,
  codeVariableNotes,
  plaintextWarnings,
  rootWarnings,
  serverWarnings,
} from "./schema/warnings.ts";
import { unknownProviders } from "./secret-references.ts";

export interface LoadConfigOptions {
  /** What a relative path is relative to; by default the process's working directory. */
  cwd?: string;
  homedir?: string;
  /** The text of the file, if you have read it already. */
  text?: string;
  /** A file that this one lies over, such as the user's own beneath a project's. */
  base?: string;
  /** The text of the file beneath, if you have read it already. */
  baseText?: string;
  /** Settings of every server that has none of its own. */
  serverDefaults?: SessionDefaults;
  /** The providers that you will give to `openBoard`: references may name them. */
  secretProviders?: readonly { readonly name: string }[];
}

const KINDS: Kinds<LoadConfigOptions> = {
  cwd: TEXT,
  homedir: TEXT,
  text: TEXT,
  base: TEXT,
  baseText: TEXT,
  serverDefaults: OBJECT,
  secretProviders: LIST,
};

/**
 * Reads a configuration file for one agent, by default for one that has `agents.defaults` alone. It may be ours or
 * another application's. Rejects with CONFIG_INVALID, listing everything that is wrong anywhere in the file.
 */
export async function loadConfig(
  path: string,
  agentId: string = DEFAULT_AGENT,
  options: LoadConfigOptions = {},
): Promise<AgentConfig> {
  requireKind("the path", path, TEXT);
  requireKind("the id of the agent", agentId, TEXT);
  requireOptions(options, KINDS);
  return loadConfigWith((agent) => agent, path, agentId, options);
}

/** `loadConfig`, where `change` may change what each file has, before one is laid over the other. */
export async function loadConfigWith(
  change: (agent: AgentConfig) => AgentConfig,
  path: string,
  agentId: string = DEFAULT_AGENT,
  options: LoadConfigOptions = {},
): Promise<AgentConfig> {
  const { cwd = process.cwd(), base, baseText } = options;
  const over = await readLayers(resolve(cwd, path), { cwd, text: options.text });
  if (base === undefined) return change(toAgentConfig(over, agentId, options));
  const under = await readLayers(resolve(cwd, base), { cwd, text: baseText });
  const known = [...over.agentIds, ...under.agentIds];
  const [first, second] = [over, under].map((file) =>
    change(toAgentConfig({ ...file, agentIds: known }, agentId, options)),
  ) as [AgentConfig, AgentConfig];
  throwIfAny(looserKeys(under.layers, over.layers, under.file).map(over.asWritten), over.source);
  return layOver(second, first, under.layers.root);
}

/** Which agents a file has. Rejects with CONFIG_INVALID. */
export async function agentIdsIn(
  path: string,
  { cwd = process.cwd(), text }: Pick<LoadConfigOptions, "cwd" | "text"> = {},
): Promise<string[]> {
  return (await readLayers(resolve(cwd, path), { cwd, text })).agentIds;
}

/** The same for the content of a file, as `JSON.parse` gives it. Relative paths are relative to the process. */
export async function loadConfigContent(
  content: unknown,
  agentId: string = DEFAULT_AGENT,
  options: LoadConfigOptions = {},
): Promise<AgentConfig> {
  return toAgentConfig(takenApart(await readConfigContent(content, options)), agentId, options);
}

/** A file that was read and taken apart; its agents are checked when one of them is used. */
interface FileLayers extends ConfigFile {
  file?: string;
  layers: AgentLayers;
  /** The ids that are valid: its own, and those of a file that it lies over or beneath. */
  agentIds: string[];
}

async function readLayers(
  file: string,
  { cwd, text }: { cwd: string; text?: string | undefined },
): Promise<FileLayers & { file: string }> {
  return { ...takenApart(await readConfigFile(file, { cwd, text })), file };
}

function takenApart(config: ConfigFile): FileLayers {
  const layers = readAgents(config.value);
  return { ...config, layers, agentIds: layers.list.flatMap(({ id }) => id ?? []) };
}

function toAgentConfig(
  read: FileLayers,
  agentId: string,
  { cwd, homedir = systemHome(), serverDefaults, secretProviders = [] }: LoadConfigOptions,
): AgentConfig {
  const { file, value, layers, agentIds, issues, warnings, notes, asWritten, source } = read;
  const { isOfDirectory } = read;
  const baseDir = file && dirname(file);
  const agent = layers.list.find(({ id }) => id === agentId);
  const isKnown = agentIds.includes(agentId) || agentId === DEFAULT_AGENT;
  const found = [
    ...layers.issues,
    ...mergeIssues(layers),
    ...unknownProviders(
      value,
      secretProviders.map(({ name }) => name),
    ),
    ...(isKnown ? [] : [unknownAgent(agentId, agentIds)]),
  ];
  const wrong = [...issues, ...found.map(asWritten)];
  // Nothing is wrong with the file then, but with the name that was given.
  if (!isKnown && wrong.length === 1) {
    throw noSuchAgent(agentId, agentIds, { file, problems: toProblems(wrong, source) });
  }
  throwIfAny(wrong, source);
  const servers = mergeServers(layers.defaults.servers, agent?.servers);
  const ownWarnings = warningsOf(layers, agent, servers).map(asWritten);
  const written = [layers.defaults, ...(agent === undefined ? [] : [agent])].flatMap((layer) => [
    ...layer.servers.servers.values(),
  ]);
  const allNotes = [...notes, ...codeVariableNotes(written).map(asWritten)];
  const places = rulePlaces(layers, asWritten);
  const settings = mergeAgent(layers, agent, baseDir ?? cwd ?? process.cwd(), homedir);
  const { guard, session } = settings;
  return {
    ...settings,
    agentId,
    guard: guard?.rules ? { ...guard, rules: guard.rules.map(places) } : guard,
    session: session && { ...session, rules: session.rules.map(places) },
    servers: servers.map(({ server, rules, ...rest }) =>
      toDefinition(
        { ...rest, server: overlay(serverDefaults ?? {}, server), rules: rules.map(places) },
        baseDir,
      ),
    ),
    leftOut: serversElsewhere(layers, servers),
    warnings: toProblems([...warnings, ...ownWarnings], source),
    notes: allNotes.length > 0 ? toProblems(allNotes, source) : undefined,
    isOfDirectory,
    file,
  };
}

/** A refused call names the rule as the user wrote it. */
function rulePlaces(
  { defaults, list }: AgentLayers,
  asWritten: ConfigFile["asWritten"],
): (rules: PlacedRules) => PlacedRules {
  const blocks = [defaults, ...list].flatMap((layer) => [
    layer.path,
    [...layer.path, "mcp", "session"],
    ...Array.from(layer.servers.servers.values(), ({ path }) => path),
  ]);
  const written = new Map(
    blocks.map((block) => {
      const path = [...block, "tools"];
      return [formatPath(path), formatPath(asWritten(atKey(path, "")).path)];
    }),
  );
  return (rules) => ({ ...rules, place: written.get(rules.place) ?? rules.place });
}

/** The mistakes of every agent: a file is right or wrong as a whole. */
function mergeIssues({ defaults, list }: AgentLayers): Issue[] {
  return [
    ...layerIssues(defaults.servers),
    ...list.flatMap((agent) => overrideIssues(defaults.servers, agent.servers)),
  ];
}

function unknownAgent(agentId: string, ids: readonly string[]): Issue {
  const known =
    ids.length === 0 ? "the file defines no agents" : `known agents: ${ids.map(quote).join(", ")}`;
  const message = `there is no agent ${quote(agentId)}; ${known}`;
  const remedy = "name one of these with --agent, or add it to agents.list";
  return { ...atKey(["agents", "list"], message, closest(agentId, ids)), remedy };
}

function noSuchAgent(
  agentId: string,
  ids: readonly string[],
  { file = "the configuration", problems }: { file?: string; problems: ConfigProblem[] },
): PlugboardError {
  const meant = closest(agentId, ids);
  const known = ids.length === 0 ? "it defines no agents" : `its agents are ${ids.join(", ")}`;
  const message = `there is no agent '${oneLine(agentId, 100)}' in ${file}`;
  const hint = meant === undefined ? known : `did you mean '${meant}'?`;
  return new PlugboardError("CONFIG_INVALID", message, { hint, problems, permanent: true });
}

/** Everything but the servers. */
function mergeAgent(
  { defaults, root }: AgentLayers,
  agent: AgentLayer | undefined,
  baseDir: string,
  homedir: string,
): Omit<AgentConfig, "agentId" | "servers" | "warnings"> {
  const layers = agent === undefined ? [defaults] : [defaults, agent];
  const settings: AgentSettings = { ...defaults.settings, ...agent?.settings };
  const mcp = { ...defaults.settings.mcp, ...agent?.settings.mcp };
  const toPath = (path: string): string => resolve(baseDir, expandHome(path, homedir));
  return {
    toolNames: mcp.toolNames ?? DEFAULT_TOOL_NAMES,
    ...(mcp.toolNames !== undefined && { hasToolNames: true }),
    toolNameLength: mcp.toolNameLength,
    startupWait: mcp.startupWait,
    resourceTools: mcp.resourceTools,
    toolSearch: toolSearchSetting(mcp.toolSearch),
    nativeModules: nativeModules(layers, toPath),
    roots: rootsSetting(mcp.roots, baseDir),
    keepAlive: mcp.keepAlive,
    workspace: settings.workspace && toPath(settings.workspace),
    ...chosenModels(settings),
    systemPrompt: settings.systemPrompt,
    maxSteps: settings.maxSteps,
    modelNotice: settings.modelNotice,
    modelTimeout: settings.modelTimeout,
    modelProviders: modelProviders(root.models?.providers, baseDir),
    secrets: root.secrets && secretSettings(root.secrets, toPath),
    networkAllow: root.network?.allow,
    networkProxy: root.network?.proxy,
    networkInherit: root.network?.inherit,
    registry: root.registry,
    acp: root.acp,
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

/** With the directory that the path of a key's file is relative to. */
function modelProviders(
  providers: AgentConfig["modelProviders"],
  baseDir: string,
): AgentConfig["modelProviders"] {
  if (providers === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(providers).map(([name, provider]) => [
      name,
      hasFileReference(provider) ? { ...provider, baseDir } : provider,
    ]),
  );
}

function secretSettings(
  settings: SecretSettings,
  toPath: (path: string) => string,
): SecretSettings {
  const { file } = settings;
  return file?.path === undefined ? settings : { ...settings, file: { path: toPath(file.path) } };
}

/** The modules of the defaults come first; an agent adds its own. */
function nativeModules(
  layers: readonly AgentLayer[],
  toPath: (path: string) => string,
): AgentConfig["nativeModules"] {
  const modules = writtenModules(layers).map((written) => ({ written, path: toPath(written) }));
  const once = new Map(modules.map((each) => [each.path, each]));
  return once.size === 0 ? undefined : [...once.values()];
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

/** The servers of other agents: rules in the defaults may be about servers that only some agents have. */
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
    ...plaintextWarnings(
      [defaults, ...(agent === undefined ? [] : [agent])].flatMap((layer) => [
        ...layer.servers.servers.values(),
      ]),
    ),
  ];
}
