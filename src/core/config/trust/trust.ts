// Lists what a configuration file would start and where it would send credentials, so that a person can approve
// it once and be asked again when it changes. Values are unresolved: what a `${VAR}` holds is the person's own.

import { createHash } from "node:crypto";
import { objectIn } from "../../types/json.ts";
import type { ServerConfig } from "../../types/server-config.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { readConfigFile } from "../config-file.ts";
import { formatPath } from "../issue.ts";
import { mergeServers } from "../layers/merge.ts";
import { looserKeys } from "../layers/stricter.ts";
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

/** A key that is no part of a launch, such as `research/pins` or, of a server, `docs.sampling`. */
export interface OtherSetting {
  name: string;
  value: unknown;
}

export interface Launches {
  all: Launch[];
  /** What decides which calls are allowed and asked about: hashes by label. It needs no approval. */
  guards: ReadonlyMap<string, string>;
  /** What else the file says. It starts nothing, so an edit of it needs no approval of its own. */
  others: readonly OtherSetting[];
  /** The keys of it, and of the launches, that are looser than what holds where no file says anything. */
  looser: readonly string[];
  /** The file says nothing at all: it has no servers, not even disabled ones, and no settings. */
  isEmpty: boolean;
}

/** If a file has changed: the labels of what has. `waitingServers` tells which servers may still be used. */
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
  const { value, asWritten } = await readConfigFile(file, { text });
  const layers = readAgents(value);
  return {
    all: launchesOf(layers),
    guards: guardsOf(layers),
    others: othersOf(layers),
    looser: looserKeys(readAgents({}), layers, file).map((each) =>
      formatPath(asWritten(each).path),
    ),
    isEmpty: isEmpty(layers),
  };
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

/**
 * `approved` has the hashes by label, as they were when somebody approved them. A server that is gone needs no approval,
 * unless the agent now gets the one that all agents have. A setting that is gone does: it may have been a limit.
 */
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
  const matters = removed.filter((label) => {
    const { kind, agent, name } = partsOf(label);
    return kind === "setting" || (agent !== undefined && now.has(`server ${name}`));
  });
  return added.length + changed.length + matters.length === 0
    ? { kind: "trusted" }
    : { kind: "changed", added, changed, removed };
}

/**
 * The names of the agent's servers that wait for approval, or "all" where nothing of the file may be used for it: nobody
 * has approved the file, or a setting has changed, which every server of its layer may depend on.
 */
export function waitingServers(
  trust: Trust,
  launches: readonly Launch[],
  agentId: string,
): "all" | ReadonlySet<string> {
  if (trust.kind === "new") return "all";
  const labels =
    trust.kind === "trusted" ? [] : [...trust.added, ...trust.changed, ...trust.removed];
  const parts = labels.map(partsOf).filter(({ agent }) => agent === undefined || agent === agentId);
  if (parts.some(({ kind }) => kind === "setting")) return "all";
  const waiting = new Set(labels);
  const known = new Set(launches.map(({ label }) => label));
  const waits = (name: string): boolean => {
    const own = `server ${agentId}/${name}`;
    return waiting.has(own) || (!known.has(own) && waiting.has(`server ${name}`));
  };
  return new Set(parts.map(({ name }) => name).filter(waits));
}

/** Whether more than servers has changed. */
export function changesSettings(trust: Trust): boolean {
  if (trust.kind !== "changed") return trust.kind === "new";
  const labels = [...trust.added, ...trust.changed, ...trust.removed];
  return labels.some((label) => partsOf(label).kind === "setting");
}

/** Whether two lists have the same settings, whatever their servers are. */
export function hasSameSettings(one: readonly Launch[], other: readonly Launch[]): boolean {
  const settings = (launches: readonly Launch[]): string =>
    canonicalJson(
      Object.fromEntries(
        launches.flatMap(({ kind, label, hash }) => (kind === "setting" ? [[label, hash]] : [])),
      ),
    );
  return settings(one) === settings(other);
}

/** `server research/docs` has a kind, an agent and a name. */
function partsOf(label: string): { kind: string; agent: string | undefined; name: string } {
  const [kind, path] = splitAt(label, label.indexOf(" "));
  const slash = path.indexOf("/");
  if (slash < 0) return { kind, agent: undefined, name: path };
  const [agent, name] = splitAt(path, slash);
  return { kind, agent, name };
}

function splitAt(text: string, index: number): [string, string] {
  return [text.slice(0, index), text.slice(index + 1)];
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
      // Where calls go in place of the program, and with which credential.
      const worker = server.worker ? [{ worker: server.worker }] : [];
      // The registry that it is from decides what an update writes in its place.
      const { provenance } = server;
      const origin = provenance?.kind === "registry" ? [{ provenance }] : [];
      const settings = [
        ...SERVER_KEYS.map((key) => server[key]),
        ...roots,
        ...keepAlive,
        ...worker,
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

/** Of a server: what its launch shows, or says by being there. */
const SHOWN_KEYS: ReadonlySet<string> = new Set([
  ...SERVER_KEYS,
  "enabled",
  "roots",
  "keepAlive",
  "worker",
  "provenance",
]);

/** The same of an agent. */
const SHOWN_SETTINGS = new Set([
  "id",
  "workspace",
  "systemPrompt",
  "tools.native",
  "tools.approval",
  "mcp.servers",
  "mcp.session",
  "mcp.roots",
  "mcp.keepAlive",
]);

function othersOf({ defaults, list }: AgentLayers): OtherSetting[] {
  return [defaults, ...list].flatMap((layer) => {
    const agent = layer.id === undefined ? undefined : layer;
    const settings = Object.entries(layer.settings).flatMap(([key, value]): [string, unknown][] =>
      key === "mcp" || key === "tools"
        ? Object.entries(objectIn(value)).map(([inner, each]) => [`${key}.${inner}`, each])
        : [[key, value]],
    );
    const ofServers = [...layer.servers.servers.values()].flatMap(({ name, plain }) =>
      Object.entries(plain).flatMap(([key, value]): [string, unknown][] =>
        SHOWN_KEYS.has(key) ? [] : [[`${name}.${key}`, value]],
      ),
    );
    return [...settings.filter(([key]) => !SHOWN_SETTINGS.has(key)), ...ofServers].map(
      ([name, value]) => ({ name: within(agent, name), value }),
    );
  });
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
