// Lists what a configuration file would start and where it would send credentials, so that a person can approve
// it once and be asked again when it changes. Values are unresolved: what a `${VAR}` holds is the person's own.

import { createHash } from "node:crypto";
import type { ServerConfig } from "../../types/server-config.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { readConfigFile } from "../config-file.ts";
import { mergeServers } from "../layers/merge.ts";
import { type AgentLayer, type AgentLayers, readAgents } from "../schema/agents.ts";
import { REMOTE_KEYS, STDIO_KEYS } from "../schema/servers.ts";

/** One thing to approve: a server that would start, or a setting that decides what runs. */
export type Launch = {
  /** Unique within a file: `server docs`, `server research/docs`, `setting secrets`. */
  label: string;
  hash: string;
} & (
  | { kind: "server"; name: string; server: ServerConfig }
  | { kind: "setting"; name: string; value: unknown }
);

export interface Launches {
  all: Launch[];
  /** What decides which calls are allowed and asked about: hashes by label. It needs no approval. */
  guards: ReadonlyMap<string, string>;
  /** The file says nothing at all: it has no servers, not even disabled ones, and no settings. */
  isEmpty: boolean;
}

export type Trust =
  | { kind: "trusted" }
  | { kind: "new" }
  | { kind: "changed"; added: string[]; changed: string[]; removed: string[] };

/** The other keys start nothing and send nothing: timeouts, rules, names of tools. */
const SERVER_KEYS = ["transport", ...STDIO_KEYS, ...REMOTE_KEYS] as const;

const GUARD_KEYS = ["tools", "approval", "trusted", "sampling", "pins", "framing"] as const;

/** Blocks of the root that need no approval of their own. */
const PLAIN_BLOCKS = new Set(["$schema", "agents"]);

/**
 * Lists the launches of every agent, since any agent may be used next. The file must have passed `loadConfig`. A caller
 * that has read the file passes its content as `text`.
 */
export async function readLaunches(file: string, text?: string): Promise<Launches> {
  const layers = readAgents((await readConfigFile(file, { text })).value);
  return { all: launchesOf(layers), guards: guardsOf(layers), isEmpty: isEmpty(layers) };
}

function isEmpty({ defaults, list, root }: AgentLayers): boolean {
  const { mcp = {}, ...settings } = defaults.settings;
  const { servers: _, ...others } = mcp;
  return (
    list.length === 0 &&
    defaults.servers.servers.size === 0 &&
    Object.keys({ ...settings, ...others }).length === 0 &&
    Object.keys(root).every((key) => PLAIN_BLOCKS.has(key))
  );
}

/** `approved` has the hashes by label, as they were when somebody approved them. */
export function judgeTrust(
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

function guardsOf({ defaults, list }: AgentLayers): Map<string, string> {
  const known = [defaults, ...list].flatMap((layer): [string, string][] => {
    const agent = layer.id === undefined ? undefined : layer;
    const { tools, pins, framing } = layer.settings;
    const servers = Array.from(layer.servers.servers.values(), ({ name, plain }) => {
      const keys = GUARD_KEYS.map((key) => plain[key]);
      return [`server ${within(agent, name)}`, hashOf(keys)] as [string, string];
    });
    return [
      [`setting ${within(agent, "tools")}`, hashOf(tools ?? null)],
      [`setting ${within(agent, "pins")}`, hashOf([pins, framing])],
      ...servers,
    ];
  });
  return new Map(known);
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
      // Roots can decide which directories a server works in, and keepAlive lets it run on unseen. A server without
      // them keeps the hash it always had.
      const roots = server.roots ? [server.roots] : [];
      const keepAlive = server.keepAlive ? [{ keepAlive: true }] : [];
      // The registry that it is from decides what an update writes in its place.
      const { provenance } = server;
      const origin = provenance?.kind === "registry" ? [{ provenance }] : [];
      const settings = [
        ...SERVER_KEYS.map((key) => server[key]),
        ...roots,
        ...keepAlive,
        ...origin,
      ];
      const hash = hashOf([name, ...settings]);
      const path = within(agent, name);
      return { kind: "server", label: `server ${path}`, name: path, hash, server };
    });
}

/**
 * The directories that servers run in and get as roots, and the modules that are loaded. Also what steers the agent's model or
 * skips a question: the model has tools of its own even where no server starts.
 */
function settingsOf(layer: AgentLayer): Launch[] {
  const { workspace, tools, systemPrompt, mcp } = layer.settings;
  const agent = layer.id === undefined ? undefined : layer;
  const settings: Record<string, unknown> = {
    workspace,
    "tools.native": tools?.native,
    "tools.approval": tools?.approval,
    "mcp.session": mcp?.session,
    "mcp.roots": mcp?.roots || undefined,
    "mcp.keepAlive": mcp?.keepAlive || undefined,
    systemPrompt,
  };
  return Object.entries(settings).flatMap(([name, value]) =>
    value === undefined ? [] : [setting(within(agent, name), value)],
  );
}

function setting(name: string, value: unknown): Launch {
  return { kind: "setting", label: `setting ${name}`, name, value, hash: hashOf(value) };
}

/** Unambiguous, since no name has a slash in it. */
function within(agent: AgentLayer | undefined, name: string): string {
  return agent === undefined ? name : `${agent.id}/${name}`;
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}
