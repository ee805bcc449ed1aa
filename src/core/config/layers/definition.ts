// Turns a merged server into a definition, with every default filled in.

import { isAbsolute } from "node:path";
import type { RootsSetting } from "../../types/roots.ts";
import type { ServerAuth, WorkerConfig } from "../../types/server-config.ts";
import {
  DEFAULT_TOOL_TIMEOUT_MS,
  type ResourceSettings,
  type RemoteTarget,
  type ServerDefinition,
  type ServerTarget,
} from "../../types/server-definition.ts";
import { kindOf, type PlainServer } from "../schema/servers.ts";
import { inText } from "../../types/secret-reference.ts";
import { hasFileReference } from "../schema/references.ts";
import { serverGuard, toPerTool } from "./guard.ts";
import type { MergedServer } from "./merge.ts";

const SERVER_DEFAULTS = {
  enabled: true,
  timeout: 30_000,
  toolTimeout: DEFAULT_TOOL_TIMEOUT_MS,
  restartOnCrash: true,
  maxRestarts: 5,
  lazy: false,
  idleTimeout: 0,
  protocol: "auto",
  maxMessageBytes: 64 * 1024 * 1024,
} as const;

/** For servers of a single session: not every client ends its sessions. */
export const SESSION_IDLE_MS = 3_600_000;

const RESOURCE_REFRESH_MS = 300_000;

/** The server must have passed `connectionIssues`. `baseDir` is what a relative `cwd` is relative to. */
export function toDefinition(
  { name, origin, server, rules }: MergedServer,
  baseDir: string | undefined,
): ServerDefinition {
  const { sampling } = server;
  const idleTimeout = server.scope === "session" ? SESSION_IDLE_MS : SERVER_DEFAULTS.idleTimeout;
  return {
    name,
    origin,
    enabled: server.enabled ?? SERVER_DEFAULTS.enabled,
    ...toTargets(server, baseDir),
    timeout: server.timeout ?? SERVER_DEFAULTS.timeout,
    ...(server.timeout !== undefined && { hasTimeout: true }),
    toolTimeout: server.toolTimeout ?? SERVER_DEFAULTS.toolTimeout,
    ...(server.toolTimeout !== undefined && { hasToolTimeout: true }),
    restartOnCrash: server.restartOnCrash ?? SERVER_DEFAULTS.restartOnCrash,
    maxRestarts: server.maxRestarts ?? SERVER_DEFAULTS.maxRestarts,
    lazy: server.lazy ?? SERVER_DEFAULTS.lazy,
    idleTimeout: server.idleTimeout ?? idleTimeout,
    keepAlive: server.keepAlive,
    maxMessageBytes: server.maxMessageBytes ?? SERVER_DEFAULTS.maxMessageBytes,
    ...(server.scope === "session" && origin !== "session" && { scope: "session" }),
    toolPrefix: server.toolPrefix,
    include: toPerTool(server.include),
    resources: resourceSettings(server),
    roots: rootsSetting(server.roots, baseDir),
    sampling: sampling === "deny" ? undefined : sampling,
    guard: serverGuard(server, rules),
  };
}

/** `baseDir` is what relative directories are relative to. */
export function rootsSetting(
  roots: boolean | readonly string[] | undefined,
  baseDir: string | undefined,
): RootsSetting | undefined {
  return typeof roots === "object" ? { directories: [...roots], baseDir } : roots;
}

function resourceSettings(server: PlainServer): ResourceSettings | undefined {
  const { resources, resourceFilter, resourceRefreshMs } = server;
  if ([resources, resourceFilter, resourceRefreshMs].every((key) => key === undefined)) {
    return undefined;
  }
  return {
    enabled: resources !== false,
    ...(resources === "list" && { listOnly: true }),
    filter: [...(resourceFilter ?? [])],
    refreshMs: resourceRefreshMs ?? RESOURCE_REFRESH_MS,
  };
}

/** How the server is reached. One with a worker is reached there, by everybody but the worker. */
function toTargets(
  server: PlainServer,
  baseDir: string | undefined,
): Pick<ServerDefinition, "target" | "authHeader" | "protocol" | "replicas" | "worker"> {
  const { worker, replicas, protocol = SERVER_DEFAULTS.protocol, auth } = server;
  const target = toTarget(server, baseDir);
  if (target.kind !== "stdio") {
    return { target, authHeader: Object.keys(authHeaders(auth))[0], protocol };
  }
  if (worker === undefined) {
    return { target, authHeader: undefined, protocol, ...(replicas && { replicas }) };
  }
  return {
    target: workerTarget(worker, baseDir),
    authHeader: "Authorization",
    // A gateway speaks it, whatever the program does.
    protocol: "2026-07-28",
    worker: { process: target, token: worker.token, protocol },
  };
}

function workerTarget(
  { url, token, tls, allowInsecure = false }: WorkerConfig,
  baseDir: string | undefined,
): RemoteTarget {
  return {
    kind: "http",
    url,
    headers: { ...copy({}), ...authHeaders({ type: "bearer", token }) },
    allowInsecure,
    // Whoever runs the gateways runs the worker beside them.
    allowPrivate: true,
    oauth: false,
    tls: tls && { ...tls },
    baseDir: tls !== undefined || hasFileReference([url, token]) ? baseDir : undefined,
  };
}

function toTarget(server: PlainServer, baseDir: string | undefined): ServerTarget {
  const { transport, command = "", args = [], env = {}, cwd, url = "", headers = {} } = server;
  const { allowInsecure = false, allowPrivate = false, tls, oauth, auth } = server;
  const hasFile = hasFileReference([args, env, url, headers, oauth, auth]);
  if (kindOf(server) === "stdio") {
    return {
      kind: "stdio",
      command,
      args: [...args],
      env: copy(env),
      cwd,
      baseDir: hasFile || (cwd !== undefined && !isAbsolute(cwd)) ? baseDir : undefined,
    };
  }
  return {
    kind: transport === "http" || transport === "sse" ? transport : "remote",
    url,
    headers: { ...copy(headers), ...authHeaders(auth) },
    allowInsecure,
    allowPrivate,
    oauth: oauth === true ? undefined : oauth && { ...oauth },
    tls: tls && { ...tls },
    baseDir: hasFile || tls !== undefined || hasKeyFile(oauth) ? baseDir : undefined,
  };
}

function hasKeyFile(oauth: PlainServer["oauth"]): boolean {
  return typeof oauth === "object" && oauth.privateKey !== undefined;
}

function authHeaders(auth: ServerAuth | undefined): Record<string, string> {
  switch (auth?.type) {
    case "bearer":
      return { Authorization: `Bearer ${inText(auth.token)}` };
    case "api-key":
      return { [auth.header ?? "X-API-Key"]: auth.key };
    default:
      return {};
  }
}

/** A copy without a prototype: the caller may go on changing its own object. */
function copy(map: Record<string, string>): Record<string, string> {
  return Object.assign(Object.create(null) as Record<string, string>, map);
}
