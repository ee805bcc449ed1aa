// What a configuration makes run and where it lets credentials go, as something to show, to approve and to
// recognise again. Values are unresolved: what a `${VAR}` holds is the reader's own.

import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { AgentConfig } from "../../model/agent-config.ts";
import { isJsonObject } from "../../model/json.ts";
import { toDefinition } from "../layers/definition.ts";
import { mergeServers } from "../layers/merge.ts";
import { type AgentLayer, type AgentLayers, readAgents } from "../schema/agents.ts";
import { type PlainServer, REMOTE_KEYS, STDIO_KEYS } from "../schema/servers.ts";
import { readDocument } from "../text/read.ts";

/** One thing to approve. */
export type Launch = {
  /** Unique within a file: `server docs`, `server research/docs`, `setting secrets`. */
  label: string;
  hash: string;
} & (
  | { kind: "server"; name: string; server: PlainServer }
  /** What decides about more than one server, or about code that is loaded. */
  | { kind: "setting"; name: string; value: unknown }
);

export interface Launches {
  all: Launch[];
  /** Whether an agent that was loaded from the file is what is listed here: the file is read twice. */
  isSource: (agent: AgentConfig) => boolean;
}

export type Trust =
  | { kind: "trusted" }
  | { kind: "new" }
  | { kind: "changed"; added: string[]; changed: string[]; removed: string[] };

/** All others do not matter here: timeouts, rules, names of tools. */
const SERVER_KEYS = ["transport", ...STDIO_KEYS, ...REMOTE_KEYS] as const;

/** Every other block of the root counts. */
const PLAIN_BLOCKS = new Set(["$schema", "agents"]);

/** Of every agent, since any may be asked for next. The file must have passed `loadConfig`. */
export async function readLaunches(file: string): Promise<Launches> {
  const layers = readAgents((await readDocument(file)).value);
  return {
    all: launchesOf(layers),
    isSource: ({ agentId, servers }) => {
      const agent = layers.list.find(({ id }) => id === agentId);
      const merged = mergeServers(layers.defaults.servers, agent?.servers);
      const read = merged.map((server) => toDefinition(server, dirname(file)));
      return isDeepStrictEqual(read.map(startOf), servers.map(startOf));
    },
  };
}

/** `approved` has the hashes by label, as they were when somebody looked. */
export function judge(
  approved: ReadonlyMap<string, string> | undefined,
  launches: readonly Launch[],
): Trust {
  if (launches.length === 0) return { kind: "trusted" };
  if (approved === undefined) return { kind: "new" };
  const now = new Map(launches.map(({ label, hash }) => [label, hash]));
  const labels = [...now.keys()];
  const added = labels.filter((label) => !approved.has(label));
  const changed = labels.filter(
    (label) => approved.has(label) && approved.get(label) !== now.get(label),
  );
  const removed = [...approved.keys()].filter((label) => !now.has(label));
  return added.length + changed.length + removed.length === 0
    ? { kind: "trusted" }
    : { kind: "changed", added, changed, removed };
}

function launchesOf(layers: AgentLayers): Launch[] {
  const shared = serversOf(layers, undefined);
  const known = new Set(shared.map(({ hash }) => hash));
  return [
    ...shared,
    ...settingsOf(layers.defaults),
    ...layers.list.flatMap((agent) => [
      ...serversOf(layers, agent).filter(({ hash }) => !known.has(hash)),
      ...settingsOf(agent),
    ]),
    ...Object.entries(layers.root)
      .filter(([key]) => !PLAIN_BLOCKS.has(key))
      .map(([key, value]) => setting(key, value)),
  ];
}

function serversOf({ defaults }: AgentLayers, agent: AgentLayer | undefined): Launch[] {
  return mergeServers(defaults.servers, agent?.servers)
    .filter(({ server }) => server.enabled !== false)
    .map(({ name, server }) => {
      const hash = hashOf([name, ...SERVER_KEYS.map((key) => server[key])]);
      const path = within(agent, name);
      return { kind: "server", label: `server ${path}`, name: path, hash, server };
    });
}

/**
 * The directory that servers run in, modules that are loaded; and what steers the agent's model or spares it a
 * question, since it has tools of its own even where nothing is started.
 */
function settingsOf(layer: AgentLayer): Launch[] {
  const { workspace, tools, systemPrompt, mcp } = layer.settings;
  const agent = layer.id === undefined ? undefined : layer;
  const settings: Record<string, unknown> = {
    workspace,
    "tools.native": tools?.native,
    "tools.approval": tools?.approval,
    "mcp.session": mcp?.session,
    systemPrompt,
  };
  return Object.entries(settings).flatMap(([name, value]) =>
    value === undefined ? [] : [setting(within(agent, name), value)],
  );
}

function setting(name: string, value: unknown): Launch {
  return { kind: "setting", label: `setting ${name}`, name, value, hash: hashOf(value) };
}

/** No name has a slash of its own. */
function within(agent: AgentLayer | undefined, name: string): string {
  return agent === undefined ? name : `${agent.id}/${name}`;
}

function startOf({ name, enabled, endpoint }: AgentConfig["servers"][number]): unknown {
  return { name, enabled, endpoint };
}

/** The same for the same content, whatever the order of keys. */
function hashOf(value: unknown): string {
  const text = JSON.stringify(value, (_, each: unknown) =>
    isJsonObject(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
  return createHash("sha256").update(text).digest("hex");
}
