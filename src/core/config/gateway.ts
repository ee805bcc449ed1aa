// Loads the settings of the gateway, and which agents the file has. The agents themselves are loaded one by one
// (load.ts).

import { homedir as systemHome } from "node:os";
import { dirname, resolve } from "node:path";
import { DEFAULT_AGENT } from "../types/agent-config.ts";
import {
  DEFAULT_PORT,
  type GatewaySettings,
  type PageSettings,
} from "../types/gateway-settings.ts";
import { readConfigFile } from "./config-file.ts";
import { expandHome } from "../../util/home-path.ts";
import { throwIfAny } from "./issue.ts";
import type { LoadConfigOptions } from "./load.ts";
import { readAgents } from "./schema/agents.ts";
import type { RootSettings } from "./schema/file-schema.ts";
import type { GatewayBlock } from "./schema/gateway-schema.ts";

const MEBIBYTE = 1024 * 1024;
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
  const allow = [under, over].flatMap((each) => each?.network?.allow ?? []);
  return {
    settings: gatewaySettings(layBlocks(under?.gateway, over.gateway)),
    agentIds: [...new Set([DEFAULT_AGENT, ...(under?.agentIds ?? []), ...over.agentIds])],
    networkAllow: allow.length > 0 ? [...new Set(allow)] : undefined,
    networkProxy: over.network?.proxy ?? under?.network?.proxy,
  };
}

/** What a gateway needs of one file, with whole paths. */
async function readBlocks(
  path: string,
  { cwd = process.cwd(), homedir = systemHome(), text }: LoadConfigOptions,
): Promise<Pick<RootSettings, "gateway" | "network"> & { agentIds: string[] }> {
  const file = resolve(cwd, path);
  const config = await readConfigFile(file, { cwd, text });
  const { root, list, issues } = readAgents(config.value);
  throwIfAny([...config.issues, ...issues.map(config.asWritten)], config.source);
  const toPath = (given: string): string => resolve(dirname(file), expandHome(given, homedir));
  const { gateway, network } = root;
  const { tls } = gateway ?? {};
  return {
    gateway: tls ? { ...gateway, tls: { cert: toPath(tls.cert), key: toPath(tls.key) } } : gateway,
    network,
    agentIds: list.flatMap(({ id }) => id ?? []),
  };
}

function layBlocks(
  under: GatewayBlock | undefined,
  over: GatewayBlock | undefined,
): GatewayBlock | undefined {
  if (under === undefined || over === undefined) return over ?? under;
  return { ...under, ...over, limits: { ...under.limits, ...over.limits } };
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
    jwt,
    ui: pageSettings(block),
    limits: {
      bodyBytes: limits.bodyBytes ?? 16 * MEBIBYTE,
      bodyValues: limits.bodyValues ?? 50_000,
      headerBytes: limits.headerBytes ?? 32 * 1024,
      requestsPerMinute: limits.requestsPerMinute ?? 60_000,
      bytesPerMinute: limits.bytesPerMinute ?? 256 * MEBIBYTE,
      connections: limits.connections ?? 2000,
      sessions: limits.sessions ?? 10_000,
      sessionServers: limits.sessionServers ?? 200,
    },
    sessionTimeout: sessionTimeout ?? 30 * MINUTE,
    idleTimeout: idleTimeout ?? 5 * MINUTE,
    approvalWait: approvalWait ?? 5 * MINUTE,
  };
}

function pageSettings({ ui, jwt }: GatewayBlock): PageSettings | undefined {
  const issuer = ui?.issuer ?? jwt?.issuers[0]?.issuer;
  if (ui === undefined || issuer === undefined) return undefined;
  const { clientId, scopes, claim, owners, viewers } = ui;
  return {
    clientId,
    issuer,
    scopes: scopes ?? [],
    claim: claim ?? "groups",
    owners: owners ?? [],
    viewers: viewers ?? [],
  };
}
