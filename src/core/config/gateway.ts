// Loads the settings of the gateway, and which agents the file has. The agents themselves are loaded one by one
// (load.ts).

import { homedir as systemHome } from "node:os";
import { dirname, resolve } from "node:path";
import { DEFAULT_AGENT } from "../types/agent-config.ts";
import {
  DEFAULT_LIMITS,
  DEFAULT_PORT,
  type GatewaySettings,
  type JwtSettings,
  type PageSettings,
  type QuotaSettings,
  type SharedSettings,
} from "../types/gateway-settings.ts";
import type { TlsFiles } from "../types/server-config.ts";
import { type ConfigFile, readConfigFile } from "./config-file.ts";
import { expandHome } from "../../util/home-path.ts";
import { throwIfAny } from "./issue.ts";
import type { LoadConfigOptions } from "./load.ts";
import { looserKeys } from "./layers/stricter.ts";
import { type AgentLayers, readAgents } from "./schema/agents.ts";
import type { RootSettings } from "./schema/file-schema.ts";
import {
  claimPath,
  type GatewayBlock,
  type SharedBlock,
  textsOf,
} from "./schema/gateway-schema.ts";
import { plainHost } from "../net/host-list.ts";
import { isLocal } from "../net/policy.ts";

const MINUTE = 60_000;

export interface GatewayConfig {
  settings: GatewaySettings;
  /** The default agent, then those of the list. */
  agentIds: string[];
  /** `network.allow` and `network.proxy`, for the requests of the gateway itself. */
  networkAllow?: string[];
  networkProxy?: string;
}

/** Rejects with CONFIG_INVALID, listing what is wrong with the file. */
export async function loadGateway(
  path: string,
  options: LoadConfigOptions = {},
): Promise<GatewayConfig> {
  const { base, baseText, text } = options;
  const over = await readBlocks(path, { ...options, text });
  const under =
    base === undefined ? undefined : await readBlocks(base, { ...options, text: baseText });
  if (under !== undefined) {
    const looser = looserKeys(under.layers, over.layers, under.file);
    throwIfAny(looser.map(over.asWritten), over.source);
  }
  const allow = over.network?.allow ?? under?.network?.allow ?? [];
  return {
    settings: gatewaySettings(layBlocks(under?.gateway, over.gateway)),
    agentIds: [...new Set([DEFAULT_AGENT, ...(under?.agentIds ?? []), ...over.agentIds])],
    networkAllow: allow.length > 0 ? allow : undefined,
    networkProxy: over.network?.proxy ?? under?.network?.proxy,
  };
}

interface FileBlocks
  extends Pick<RootSettings, "gateway" | "network">, Pick<ConfigFile, "asWritten" | "source"> {
  file: string;
  layers: AgentLayers;
  agentIds: string[];
}

/** What a gateway needs of one file, with whole paths. */
async function readBlocks(
  path: string,
  { cwd = process.cwd(), homedir = systemHome(), text }: LoadConfigOptions,
): Promise<FileBlocks> {
  const file = resolve(cwd, path);
  const config = await readConfigFile(file, { cwd, text });
  const { asWritten, source } = config;
  const layers = readAgents(config.value);
  const { root, list, issues } = layers;
  throwIfAny([...config.issues, ...issues.map(asWritten)], source);
  const toPath = (given: string): string => resolve(dirname(file), expandHome(given, homedir));
  const { gateway, network } = root;
  const { tls, shared } = gateway ?? {};
  return {
    file,
    layers,
    asWritten,
    source,
    gateway: gateway && {
      ...gateway,
      ...(tls && { tls: { cert: toPath(tls.cert), key: toPath(tls.key) } }),
      ...(shared && { shared: withPaths(shared, toPath) }),
    },
    network,
    agentIds: list.flatMap(({ id }) => id ?? []),
  };
}

/** The project's keys come first, none of which is looser than yours. Of what has paths in it, yours is used. */
function layBlocks(
  under: GatewayBlock | undefined,
  over: GatewayBlock | undefined,
): GatewayBlock | undefined {
  if (under === undefined || over === undefined) return over ?? under;
  const { tls = over.tls, shared = over.shared } = under;
  const quotas = layQuotas(under.quotas, over.quotas);
  return {
    ...under,
    ...over,
    ...(tls && { tls }),
    ...(shared && { shared }),
    limits: { ...under.limits, ...over.limits },
    ...(quotas && { quotas }),
  };
}

type Quotas = NonNullable<GatewayBlock["quotas"]>;

/** A quota of an agent is in place of the general one, so it gets what that one has. */
function layQuotas(under: Quotas = {}, over: Quotas = {}): Quotas | undefined {
  const { agents: lower = {}, ...general } = under;
  const { agents: upper = {}, ...rest } = over;
  const names = [...new Set([...Object.keys(lower), ...Object.keys(upper)])];
  const agents = names.map((name) => {
    const mine = Object.hasOwn(lower, name) ? lower[name] : general;
    return [name, { ...mine, ...(Object.hasOwn(upper, name) && upper[name]) }];
  });
  const all = { ...general, ...rest };
  if (Object.keys(all).length + names.length === 0) return undefined;
  return {
    ...all,
    ...(names.length > 0 && { agents: Object.fromEntries(agents) as Quotas["agents"] }),
  };
}

/** Without a block: the settings of a gateway that nobody has configured. */
export function gatewaySettings(block: GatewayBlock = {}): GatewaySettings {
  const { host, port, tls, behindProxy, publicUrl, jwt, limits = {} } = block;
  const { sessionTimeout, idleTimeout, approvalWait } = block;
  return {
    host: host ?? "127.0.0.1",
    port: port ?? DEFAULT_PORT,
    tls,
    behindProxy: behindProxy ?? false,
    publicUrl: publicUrl && new URL(publicUrl).href.replace(/\/+$/, ""),
    allowedHosts: block.allowedHosts ?? [],
    allowedOrigins: block.allowedOrigins ?? [],
    jwt: jwt && jwtSettings(jwt),
    ui: pageSettings(block),
    limits: { ...DEFAULT_LIMITS, ...limits },
    ...(block.quotas && { quotas: quotaSettings(block.quotas) }),
    sessionTimeout: sessionTimeout ?? 30 * MINUTE,
    idleTimeout: idleTimeout ?? 5 * MINUTE,
    approvalWait: approvalWait ?? 5 * MINUTE,
    stopDelay: block.stopDelay ?? 0,
    ...(block.shared?.postgres && { shared: sharedSettings(block.shared, block.shared.postgres) }),
  };
}

function quotaSettings({
  agents = {},
  ...all
}: NonNullable<GatewayBlock["quotas"]>): QuotaSettings {
  return { ...(Object.keys(all).length > 0 && { all }), agents };
}

function sharedSettings(
  { valkey, keys = [], replica, differing, maxStale = 15 * MINUTE }: SharedBlock,
  postgres: NonNullable<SharedBlock["postgres"]>,
): SharedSettings {
  return {
    postgres: withTls(asObject(postgres)),
    ...(valkey && { valkey: { primary: "mymaster", ...withTls(asObject(valkey)) } }),
    keys,
    ...(replica && { replica }),
    ...(differing && { differing }),
    maxStale,
  };
}

/** An engine may be only its URL. */
function asObject<Engine extends object>(engine: string | Engine): Engine | { url: string } {
  return typeof engine === "string" ? { url: engine } : engine;
}

/** Nobody but this machine sees what is sent to it. */
function withTls<Engine extends { url: string; tls?: TlsFiles | false; sentinels?: string[] }>(
  engine: Engine,
): Engine & { tls?: TlsFiles } {
  const { tls, ...rest } = engine;
  const { protocol, hostname, searchParams } = new URL(engine.url);
  const isSocket = searchParams.get("host")?.startsWith("/") ?? false;
  const hosts = engine.sentinels?.length
    ? engine.sentinels.map((each) => each.replace(/:\d+$/, ""))
    : [plainHost(hostname) || "localhost"];
  const isHere = isSocket || hosts.every(isLocal);
  const isWanted =
    tls !== false && (tls !== undefined || !isHere || /^(?:rediss|valkeys):/.test(protocol));
  return { ...rest, ...(isWanted && { tls: tls ?? {} }) } as Engine & { tls?: TlsFiles };
}

function withPaths(shared: SharedBlock, toPath: (given: string) => string): SharedBlock {
  const inEngine = <Engine extends { tls?: TlsFiles | false }>(
    engine: string | Engine,
  ): string | Engine =>
    typeof engine === "object" && engine.tls
      ? {
          ...engine,
          tls: Object.fromEntries(
            Object.entries(engine.tls).map(([name, file]) => [name, file && toPath(file)]),
          ),
        }
      : engine;
  return {
    ...shared,
    ...(shared.postgres && { postgres: inEngine(shared.postgres) }),
    ...(shared.valkey && { valkey: inEngine(shared.valkey) }),
  };
}

function pageSettings({ ui, jwt }: GatewayBlock): PageSettings | undefined {
  const issuer = ui?.issuer ?? jwt?.issuers[0]?.issuer;
  if (ui === undefined || issuer === undefined) return undefined;
  return { clientId: ui.clientId, issuer, scopes: ui.scopes ?? [] };
}

function jwtSettings({ issuers, rights }: NonNullable<GatewayBlock["jwt"]>): JwtSettings {
  const [only] = issuers;
  return {
    issuers: issuers.map(({ audience, ...issuer }) => ({
      ...issuer,
      ...(audience !== undefined && { audiences: textsOf(audience) }),
    })),
    ...(rights && {
      rights: rights.map(({ issuer, claim, has, agent, quotas, ...right }) => ({
        ...right,
        // Several issuers: the schema wants it to be named.
        issuer: issuer ?? only?.issuer ?? "",
        claim: claimPath(claim),
        has: textsOf(has),
        ...(agent !== undefined && { agents: textsOf(agent) }),
        ...(quotas && { quota: quotas }),
      })),
    }),
  };
}
