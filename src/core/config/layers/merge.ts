// Lays one agent's servers over the defaults: by name, then key by key. The settings for all servers of sessions
// are merged the same way.

import type { AgentConfig } from "../../types/agent-config.ts";
import type { PlacedRules } from "../../types/guard-settings.ts";
import type { SessionDefaults } from "../../types/server-config.ts";
import type { ServerScope } from "../../types/server-definition.ts";
import { closest } from "../../../util/closest.ts";
import { atKey, type Issue, type KeyPath } from "../issue.ts";
import {
  type CheckedServer,
  connectionIssues,
  FLEET_KEYS,
  kindOf,
  type PlainServer,
  REMOTE_KEYS,
  type ServerLayer,
  STDIO_KEYS,
} from "../schema/servers.ts";
import { mergePerTool, placedRules } from "./guard.ts";

/** Bounds the search for what a mistyped name may have meant. */
const MOST_NAMES = 1000;

export interface MergedServer {
  name: string;
  origin: ServerScope;
  server: PlainServer;
  /** The rules of every layer: an override adds rules and takes none away. */
  rules: PlacedRules[];
}

/** The servers of the defaults in their order, then the agent's own. */
export function mergeServers(
  defaults: ServerLayer,
  agent: ServerLayer | undefined,
): MergedServer[] {
  const inherited = plainServers(defaults, "defaults").map((base): MergedServer => {
    const override = agent?.servers.get(base.name);
    if (override === undefined) return base;
    const { plain, path } = override;
    return {
      ...base,
      origin: "agent",
      server: overlay(base.server, plain),
      rules: [...base.rules, ...placedRules(plain.tools, path)],
    };
  });
  const own = agent === undefined ? [] : plainServers(agent, "agent");
  return [...inherited, ...own.filter(({ name }) => !defaults.servers.has(name))];
}

/** The servers of one layer, with nothing laid over them. */
export function plainServers(layer: ServerLayer, origin: ServerScope): MergedServer[] {
  return Array.from(layer.servers.values(), ({ name, plain, path }) => ({
    name,
    origin,
    server: plain,
    rules: placedRules(plain.tools, path),
  }));
}

/** A layer that stands alone must be complete. */
export function layerIssues(layer: ServerLayer): Issue[] {
  return [...layer.servers.values()].flatMap(({ plain, path }) => connectionIssues(plain, path));
}

/** An override need not be complete, but the merged server must be. */
export function overrideIssues(defaults: ServerLayer, agent: ServerLayer): Issue[] {
  return [...agent.servers.values()].flatMap((override) => {
    const { name, path, plain } = override;
    const base = defaults.servers.get(name)?.plain;
    if (base === undefined) {
      return defaults.broken.has(name) ? [] : ownIssues(override, defaults);
    }
    const isReported = connectionIssues(base, []).length > 0;
    return isReported ? [] : connectionIssues(overlay(base, plain), path);
  });
}

/** A server without command or url that matches nothing in the defaults is most likely a typo. */
function ownIssues({ name, path, plain }: CheckedServer, defaults: ServerLayer): Issue[] {
  const isPartial = [plain.transport, plain.command, plain.url].every((key) => key === undefined);
  if (!isPartial) return connectionIssues(plain, path);
  const names = [...defaults.servers.keys(), ...defaults.broken].slice(0, MOST_NAMES);
  const message =
    'has neither "command" nor "url", and the defaults have no server of this name to complete it';
  return [atKey(path, message, closest(name, names))];
}

/** Merges `mcp.session` of the layers, later ones over earlier ones; undefined where no layer has it. */
export function mergeSessionDefaults(
  layers: readonly { settings: SessionDefaults | undefined; path: KeyPath }[],
): AgentConfig["session"] {
  const given = layers.flatMap(({ settings, path }) =>
    settings === undefined ? [] : [{ settings, path }],
  );
  if (given.length === 0) return undefined;
  return {
    settings: given.reduce<SessionDefaults>((base, { settings }) => overlay(base, settings), {}),
    rules: given.flatMap(({ settings, path }) => placedRules(settings.tools, path)),
  };
}

/** `over` key by key, and map by map, on top of `base`. */
export function overlay(base: PlainServer, over: PlainServer): PlainServer {
  const overKind = kindOf(over);
  const keepsConnection = overKind === undefined || overKind === kindOf(base);
  const lower = keepsConnection ? base : withoutConnection(base);
  const merged: PlainServer = { ...lower, ...over };
  if (lower.env && over.env) merged.env = mergeMaps(lower.env, over.env, (name) => name);
  if (lower.headers && over.headers) {
    merged.headers = mergeMaps(lower.headers, over.headers, (name) => name.toLowerCase());
  }
  merged.include = mergePerTool(lower.include, over.include);
  merged.approval = mergePerTool(lower.approval, over.approval);
  merged.rateLimit = mergePerTool(lower.rateLimit, over.rateLimit);
  merged.concurrency = mergePerTool(lower.concurrency, over.concurrency);
  return merged;
}

function withoutConnection(server: PlainServer): PlainServer {
  const kept = { ...server };
  const keys = ["transport", ...STDIO_KEYS, ...REMOTE_KEYS, ...FLEET_KEYS] as const;
  for (const key of keys) delete kept[key];
  return kept;
}

/** `identity` tells which names are the same one: header names are, whatever their case. */
function mergeMaps(
  base: Record<string, string>,
  over: Record<string, string>,
  identity: (name: string) => string,
): Record<string, string> {
  const replaced = new Set(Object.keys(over).map(identity));
  const merged: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(base)) {
    if (!replaced.has(identity(name))) merged[name] = value;
  }
  return Object.assign(merged, over);
}
