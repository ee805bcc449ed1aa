// Checks a file and takes it apart by agent: the defaults and the entries of `agents.list`, each checked by
// itself.

import { DEFAULT_AGENT } from "../../types/agent-config.ts";
import { isJsonObject, objectIn } from "../../types/json.ts";
import { atValue, type Issue, type KeyPath } from "../issue.ts";
import {
  type AgentSettings,
  agentSchema,
  defaultsSchema,
  type RootSettings,
  rootSchema,
} from "./file-schema.ts";
import { gatewayIssues } from "./gateway-schema.ts";
import { check } from "./schema.ts";
import { readServers, type ServerLayer } from "./servers.ts";

export interface AgentLayer {
  id: string | undefined;
  path: KeyPath;
  /** Empty where the schema refused it. */
  settings: AgentSettings;
  servers: ServerLayer;
  /** What is wrong with the settings and the servers. */
  issues: Issue[];
}

export interface AgentLayers {
  defaults: AgentLayer;
  list: AgentLayer[];
  /** Has its type only if there are no issues. */
  root: RootSettings;
  issues: Issue[];
}

export function readAgents(value: unknown): AgentLayers {
  const root = objectIn(value);
  const agents = objectIn(root["agents"]);
  const defaults = readLayer(agents["defaults"], ["agents", "defaults"], defaultsSchema);
  const entries: unknown[] = Array.isArray(agents["list"]) ? agents["list"] : [];
  const list = entries.flatMap((entry, index) =>
    isJsonObject(entry) ? readLayer(entry, ["agents", "list", index], agentSchema) : [],
  );
  const issues = [
    ...check(rootSchema, value, []).issues,
    ...[defaults, ...list].flatMap((layer) => layer.issues),
    ...repeatedIds(list),
    ...gatewayIssues(root["gateway"], [DEFAULT_AGENT, ...list.flatMap(({ id }) => id ?? [])]),
  ];
  return { defaults, list, root, issues };
}

/** The modules that these layers name together, as they are written. */
export function writtenModules(layers: readonly AgentLayer[]): string[] {
  return layers.flatMap(({ settings }) => settings.tools?.native ?? []);
}

function readLayer(
  value: unknown,
  path: KeyPath,
  schema: typeof defaultsSchema | typeof agentSchema,
): AgentLayer {
  const block = objectIn(value);
  const checked = check<AgentSettings>(schema, block, path);
  const servers = readServers(objectIn(block["mcp"])["servers"], [...path, "mcp", "servers"]);
  const id = typeof block["id"] === "string" ? block["id"] : undefined;
  const issues = [...checked.issues, ...servers.issues];
  return { id, path, settings: checked.data ?? {}, servers, issues };
}

function repeatedIds(list: readonly AgentLayer[]): Issue[] {
  const seen = new Set<string>();
  return list.flatMap(({ path, id }) => {
    if (id === undefined) return [];
    if (seen.has(id)) return [atValue([...path, "id"], "is the id of another agent too")];
    seen.add(id);
    return [];
  });
}
