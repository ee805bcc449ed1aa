// What a deployment consists of, whichever form it is written in: the one configuration of all gateways and workers, and which
// variables each of them needs. No value of a secret is ever read.

import { isIP, isIPv6 } from "node:net";
import { isAbsolute } from "node:path";
import { undecidedServers } from "../../core/board/worker.ts";
import { variablesIn } from "../../core/config/fingerprint.ts";
import { loadGateway } from "../../core/config/gateway.ts";
import type { KeyPath } from "../../core/config/issue.ts";
import { loadConfig } from "../../core/config/load.ts";
import { plainHost } from "../../core/net/host-list.ts";
import { isLocal } from "../../core/net/policy.ts";
import { writtenOut } from "../../core/config/schema/references.ts";
import { everyReference } from "../../core/config/secret-references.ts";
import { readServerText, withServerValue, writtenServer } from "../../core/config/server-text.ts";
import { setValue, valueAt } from "../../core/config/text/edit.ts";
import { readConfigText } from "../../core/config/text/read.ts";
import { writtenSecret } from "../../core/config/written-secret.ts";
import { type AgentConfig, DEFAULT_AGENT } from "../../core/types/agent-config.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { DEFAULT_PORT, type GatewaySettings } from "../../core/types/gateway-settings.ts";
import { isRemote, type ServerDefinition } from "../../core/types/server-definition.ts";
import { shortHash } from "../../util/short-hash.ts";
import { visible } from "../../util/visible.ts";

/** Long enough for a load balancer that looks every two seconds. */
const STOP_DELAY_MS = 5000;

/** Where each gateway is, for the others: set by what runs it. */
export const OWN_ADDRESS = "PLUGBOARD_ADDRESS";

/** Variables that every process has anyway. */
const SYSTEM = new Set([OWN_ADDRESS, "PATH", "HOME", "USER", "TMPDIR", "TZ", "LANG"]);

/** Providers of secrets that are on the machine of a person. */
const PERSONAL = new Set(["keyring", "op"]);

export interface DeploymentPlan {
  /** The text of the configuration. */
  config: string;
  /** Where gateways listen. */
  port: number;
  /** What the gateways need. */
  variables: readonly string[];
  workers: readonly WorkerPlan[];
  /** Ports of other machines that gateways reach: engines, remote servers. */
  ports: readonly number[];
  /** The gateways speak TLS themselves. */
  isTls: boolean;
  /** The certificate and its key, on this machine. */
  tls?: { cert: string; key: string };
  /** What clients call the gateway. */
  publicUrl?: URL;
  /** The configuration lets others than this machine reach it. */
  isOpen: boolean;
  /** For the person: what is left to do or to look at. */
  notes: readonly string[];
}

export interface WorkerPlan {
  /** Unique, and fit for the name of a file. */
  id: string;
  server: string;
  /** Absent: the default agent. */
  agent?: string;
  /** How others reach it. */
  host: string;
  port: number;
  /** It speaks no TLS. */
  isPlain: boolean;
  /** All addresses of its machine, of IPv6 too where the gateways listen there. */
  listensAt: "0.0.0.0" | "::";
  variables: readonly string[];
  /** Directories that its program writes to, besides its home and /tmp. */
  writable: readonly string[];
}

export interface DeploymentFile {
  /** Within the directory. */
  path: string;
  text: string;
}

export interface PlanOptions {
  file: string;
  cwd: string;
  homedir: string;
  /** The address for the worker of a program whose entry names none; `index` counts these programs. */
  workerAt: (name: string, index: number) => { host: string; port: number };
  /** Where files are put that the configuration names, for people. */
  filesGo: string;
  /** A balancer in front of the gateways is a part of the deployment, and ends TLS itself. */
  hasBalancer?: boolean;
  /** Where the gateways find their certificate and its key. Absent: where the configuration says. */
  tlsAt?: { cert: string; key: string };
  /** Where each gateway listens, for the others: a number, or a variable. Default: where all do. */
  replicaPort?: string;
  /** Directories that workers write to, by server. */
  writable: readonly WritableDirectory[];
}

export interface WritableDirectory {
  server: string;
  /** Absolute. */
  directory: string;
}

/** What runs the worker, after `plugboard`. */
export function workerArguments({ server, agent, port, listensAt }: WorkerPlan): string[] {
  const of = agent === undefined ? [] : ["--agent", agent];
  return ["up", "--only", server, "--host", listensAt, "--port", String(port), ...of];
}

/**
 * Throws CONFIG_INVALID where a worker's container would not be found by `worker.url`, or would have the name of another one.
 * `others` are names of what runs besides.
 */
export function checkHosts(
  { workers }: DeploymentPlan,
  nameOf: (worker: WorkerPlan) => string,
  others: readonly string[],
): void {
  const taken = new Map(others.map((name) => [name, "another container"]));
  for (const worker of workers) {
    const { host, server, id } = worker;
    const hint = `a container is found by its name, so give it one of its own, such as http://plugboard-worker-${id}:7584/mcp`;
    if (isIP(host.replace(/^\[(.*)\]$/, "$1")) !== 0 || host === "localhost") {
      const message = `worker.url of ${visible(server)} names the machine ${host}, where its container is not`;
      throw new PlugboardError("CONFIG_INVALID", message, { hint });
    }
    const name = nameOf(worker);
    const before = taken.get(name);
    if (before !== undefined) {
      const message = `worker.url of ${visible(server)} names the host ${name}, which is that of ${before}`;
      throw new PlugboardError("CONFIG_INVALID", message, { hint });
    }
    taken.set(name, visible(server));
  }
}

/** Rejects with CONFIG_INVALID if the file cannot be deployed, and says why. */
export async function planDeployment(options: PlanOptions): Promise<DeploymentPlan> {
  const { file, cwd, homedir } = options;
  const place = { cwd, homedir };
  const given = await loadGateway(file, place);
  const { agentIds } = given;
  if (given.settings.shared === undefined) {
    throw new PlugboardError(
      "CONFIG_INVALID",
      `${visible(file)} has no gateway.shared, and without it gateways know nothing of each other`,
      { hint: "docs/fleet.md says what it needs; one gateway alone: docs/gateway.md" },
    );
  }
  const text = asDeployed(await withWorkers(options, agentIds), given.settings, options);
  const { settings } = await loadGateway(file, { ...place, text });
  const agents = await Promise.all(agentIds.map((id) => loadConfig(file, id, { ...place, text })));
  // As it is written, for the line; and as it is deployed, since that is what others read.
  const inText = writtenSecret(await readConfigText(file)) ?? writtenSecret(text);
  refuseCredentials(file, settings, agents, inText);
  const listensAt = isIPv6(plainHost(settings.host)) ? "::" : "0.0.0.0";
  const workers = workersOf(agents, listensAt, options.writable);
  const ofWorkers = new Set(workers.flatMap((each) => each.variables));
  return {
    config: text,
    port: portOf(settings),
    variables: needed([settings.shared, ...agents.flatMap(usedBy)]),
    workers,
    ports: portsOf(settings, agents),
    isTls: settings.tls !== undefined,
    ...(given.settings.tls && { tls: given.settings.tls }),
    ...(settings.publicUrl !== undefined && { publicUrl: new URL(settings.publicUrl) }),
    isOpen: !isLocal(plainHost(given.settings.host)),
    notes: [
      ...notesOf(
        options.tlsAt === undefined ? settings : { ...settings, tls: undefined },
        agents,
        ofWorkers,
        options.filesGo,
      ),
      ...(settings.tls !== undefined && given.settings.shared.replica === undefined
        ? [
            `the gateways reach each other as ${settings.shared?.replica?.url}: their certificate has to be for these names or addresses too`,
          ]
        : []),
    ],
  };
}

/** The text with a worker for each program whose entry does not say where it runs. */
async function withWorkers(
  { file, cwd, homedir, workerAt }: PlanOptions,
  agentIds: readonly string[],
): Promise<string> {
  let text: string | undefined;
  let made = 0;
  const names = new WorkerNames();
  for (const id of agentIds) {
    const servers = await readServerText(file, id === DEFAULT_AGENT ? undefined : id, {
      cwd,
      homedir,
    });
    text ??= servers.text;
    const agent = await loadConfig(file, id, { cwd, homedir, text });
    for (const name of undecidedServers(agent)) {
      const current = { ...servers, text };
      if (writtenServer(current, name) === undefined) continue;
      const ownName = names.next(name, id);
      const { host, port } = workerAt(ownName, made);
      text = withServerValue(current, name, ["worker"], {
        url: `http://${isIPv6(host) ? `[${host}]` : host}:${port}/mcp`,
        token: `secret://env/PLUGBOARD_WORKER_${ownName.toUpperCase().replaceAll("-", "_")}`,
        allowInsecure: true,
      });
      made += 1;
    }
  }
  return text ?? "";
}

/**
 * Names for workers that are also names of hosts. Two servers whose names differ only in characters that a host's name cannot
 * have would share a worker, and calls of one would reach the other. So all but the first of them get a hash.
 */
class WorkerNames {
  readonly #taken = new Set<string>();

  next(server: string, agent: string): string {
    const name = agent === DEFAULT_AGENT ? server : `${agent}-${server}`;
    const folded = name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    const plain = folded.replace(/^-+|-+$/g, "").slice(0, 40) || "server";
    const isFree = !this.#taken.has(plain);
    const own = isFree ? plain : `${plain}-${shortHash(`${agent}/${server}`).slice(0, 8)}`;
    this.#taken.add(own);
    return own;
  }
}

/** The text with what several gateways need, unless it has that: where they listen, how the others reach each, `stopDelay`. */
function asDeployed(
  text: string,
  settings: GatewaySettings,
  { hasBalancer = false, tlsAt, replicaPort = String(portOf(settings)) }: PlanOptions,
): string {
  const { host, tls, behindProxy, shared } = settings;
  const changes: [KeyPath, unknown][] = [
    ...(isLocal(plainHost(host)) ? [[["host"], "0.0.0.0"] as [KeyPath, unknown]] : []),
    ...(behindProxy || (tls && !hasBalancer)
      ? []
      : [[["behindProxy"], true] as [KeyPath, unknown]]),
    ...(tls && tlsAt ? [[["tls"], tlsAt] as [KeyPath, unknown]] : []),
    ...(valueAt(text, ["gateway", "stopDelay"]) === undefined
      ? [[["stopDelay"], STOP_DELAY_MS] as [KeyPath, unknown]]
      : []),
    ...(shared?.replica === undefined
      ? [
          [
            ["shared", "replica"],
            { url: `${tls ? "https" : "http"}://\${${OWN_ADDRESS}}:${replicaPort}` },
          ] as [KeyPath, unknown],
        ]
      : []),
  ];
  return changes.reduce((now, [key, value]) => setValue(now, ["gateway", ...key], value), text);
}

function portOf({ port }: GatewaySettings): number {
  return port === 0 ? DEFAULT_PORT : port;
}

/** Throws CONFIG_INVALID for a secret that is written out: many people read the files of a deployment. */
function refuseCredentials(
  file: string,
  { shared }: GatewaySettings,
  agents: readonly AgentConfig[],
  inText: string | undefined,
): void {
  const engines = [
    ["postgres.password", shared?.postgres.password],
    ["valkey.password", shared?.valkey?.password],
    ...(shared?.keys ?? []).map((key, at) => [`keys[${at}]`, key] as const),
  ] as const;
  const tokens = agents.flatMap(({ servers }) =>
    servers.flatMap(({ name, worker }) =>
      worker === undefined ? [] : [[`${name}.worker.token`, worker.token] as const],
    ),
  );
  const models = agents.flatMap(({ modelProviders = {} }) =>
    Object.entries(modelProviders).map(
      ([name, { apiKey }]) => [`models.providers.${name}.apiKey`, apiKey] as const,
    ),
  );
  const written = [
    ...models,
    ...engines.map(([key, value]) => [`gateway.shared.${key}`, value] as const),
    ...tokens,
  ].flatMap(([key, value]) =>
    value !== undefined && writtenOut(value) !== undefined ? [key] : [],
  );
  const plain = agents.flatMap(({ warnings }) =>
    warnings.flatMap(({ path, isCredential }) => (isCredential ? [path] : [])),
  );
  const [first = inText] = [...written, ...plain];
  if (first === undefined) return;
  throw new PlugboardError(
    "CONFIG_INVALID",
    `${visible(file)} has a secret written out, at ${visible(first)}, and it would be in the files of the deployment`,
    { hint: 'refer to it, such as "secret://env/NAME"; docs/secrets.md says how' },
  );
}

/** What a gateway uses of an agent: not the programs that only workers start. */
function usedBy({ servers, secrets, networkProxy, roots }: AgentConfig): unknown[] {
  const targets = servers.filter(({ enabled }) => enabled).map(({ target }) => target);
  return [targets, secrets, networkProxy, roots];
}

/** Throws CONFIG_INVALID for what no shell and no file of variables takes: it would be read as something else there. */
function needed(values: readonly unknown[]): string[] {
  const names = new Set(variablesIn(values).filter((name) => !SYSTEM.has(name)));
  const odd = [...names].find((name) => !/^[A-Za-z_]\w*$/.test(name));
  if (odd === undefined) return [...names].toSorted();
  throw new PlugboardError("CONFIG_INVALID", `${visible(odd)} is no name for a variable`, {
    hint: "expected letters, digits and _, and no digit first",
  });
}

function workersOf(
  agents: readonly AgentConfig[],
  listensAt: WorkerPlan["listensAt"],
  writable: readonly WritableDirectory[],
): WorkerPlan[] {
  const plans = new Map<string, WorkerPlan>();
  const names = new WorkerNames();
  for (const { agentId, servers, secrets, networkProxy } of agents) {
    for (const server of servers) {
      const { worker, target, enabled, name } = server;
      if (worker === undefined || !enabled || !isRemote(target)) continue;
      const known = plans.get(target.url);
      if (known !== undefined && known.server !== name) throw oneForTwo(known.server, name);
      // Agents with the same worker.url share that worker.
      if (known !== undefined) continue;
      const at = addressOf(target.url);
      plans.set(target.url, {
        id: names.next(name, agentId),
        server: name,
        ...(agentId !== DEFAULT_AGENT && { agent: agentId }),
        ...at,
        listensAt,
        variables: needed([worker.process, worker.token, secrets, networkProxy]),
        writable: writableOf(name, worker.process?.cwd, writable),
      });
    }
  }
  const all = [...plans.values()];
  const odd = writable.find(({ server }) => all.every((each) => each.server !== server));
  if (odd === undefined) return all;
  const message = `--writable ${visible(odd.server)}=${visible(odd.directory)} names no server that a worker runs`;
  throw new PlugboardError("INVALID_ARGUMENTS", message, {
    hint:
      all.length === 0
        ? "no server needs a worker"
        : `those with a worker are ${all.map(({ server }) => visible(server)).join(", ")}`,
  });
}

/** A program writes to its working directory as a rule, and to what it was given. */
function writableOf(
  server: string,
  cwd: string | undefined,
  given: readonly WritableDirectory[],
): string[] {
  const own = given.flatMap((each) => (each.server === server ? [each.directory] : []));
  // What is relative to the file or to a home directory is elsewhere where the worker runs.
  return [...new Set([...(cwd !== undefined && isAbsolute(cwd) ? [cwd] : []), ...own])];
}

function oneForTwo(first: string, second: string): PlugboardError {
  return new PlugboardError(
    "CONFIG_INVALID",
    `${visible(first)} and ${visible(second)} have the same worker.url, and a worker runs one server`,
    { hint: "give each an address of its own" },
  );
}

function addressOf(url: string): Pick<WorkerPlan, "host" | "port" | "isPlain"> {
  if (!URL.canParse(url)) {
    throw new PlugboardError(
      "CONFIG_INVALID",
      `the URL of a worker is ${visible(url)}, which is known only when it runs`,
      { hint: "write the address itself: every gateway has the same configuration" },
    );
  }
  const { hostname, port, protocol } = new URL(url);
  const isPlain = protocol === "http:";
  return { host: hostname, port: Number(port) || (isPlain ? 80 : 443), isPlain };
}

function portsOf({ shared }: GatewaySettings, agents: readonly AgentConfig[]): number[] {
  const portIn = (url: string, fallback: number): number =>
    URL.canParse(url) ? Number(new URL(url).port) || fallback : fallback;
  const { postgres, valkey } = shared ?? {};
  const sentinels = valkey?.sentinels ?? [];
  const remote = agents.flatMap(({ servers }) =>
    servers.flatMap(({ target, enabled, worker }: ServerDefinition) =>
      enabled && isRemote(target) && worker === undefined
        ? [portIn(target.url, target.url.startsWith("http:") ? 80 : 443)]
        : [],
    ),
  );
  const ports = [
    ...(postgres === undefined ? [] : [portIn(postgres.url, 5432)]),
    ...(valkey === undefined ? [] : [portIn(valkey.url, 6379)]),
    ...sentinels.map((each) => Number(/:(\d+)$/.exec(each)?.[1] ?? 26_379)),
    // npx, and where people sign in.
    443,
    ...remote,
  ];
  return [...new Set(ports)].toSorted((a, b) => a - b);
}

function notesOf(
  { shared, tls }: GatewaySettings,
  agents: readonly AgentConfig[],
  ofWorkers: ReadonlySet<string>,
  filesGo: string,
): string[] {
  const files = [tls, shared?.postgres.tls, shared?.valkey?.tls].flatMap((each) =>
    Object.values(each ?? {}),
  );
  const servers = agents.flatMap((agent) => agent.servers);
  const ofServers = servers.flatMap(({ target, worker }) => {
    const process = worker?.process ?? (target.kind === "stdio" ? target : undefined);
    return [
      ...(isRemote(target) ? Object.values(target.tls ?? {}) : []),
      ...(process?.cwd === undefined ? [] : [process.cwd]),
      ...(process !== undefined && /^[./~]/.test(process.command) ? [process.command] : []),
    ];
  });
  const personal = everyReference([
    shared,
    ...servers.map(({ target, worker }) => [target, worker]),
  ]).filter(({ provider }) => PERSONAL.has(provider));
  const paths = new Set([...files, ...ofServers]);
  const urls = [
    shared?.postgres.url,
    shared?.valkey?.url,
    ...servers.flatMap(({ target }) => (isRemote(target) ? [target.url] : [])),
  ];
  const near = urls.filter(
    (url = "") => URL.canParse(url) && isLocal(plainHost(new URL(url).hostname)),
  );
  return [
    ...(near.length > 0
      ? [
          `each machine or container has a localhost of its own: give ${near.map((url = "") => visible(new URL(url).host)).join(" and ")} an address that all of them reach`,
        ]
      : []),
    ...(paths.size > 0
      ? [`these files have to be there as well, ${filesGo}: ${[...paths].map(visible).join(", ")}`]
      : []),
    ...(personal.length > 0
      ? [
          `${personal.map(({ text }) => visible(text)).join(", ")} is on your machine; there, refer to a variable: secret://env/NAME`,
        ]
      : []),
    ...(ofWorkers.size > 0
      ? ["a worker gets only the variables of its own program, and its token"]
      : []),
  ];
}
