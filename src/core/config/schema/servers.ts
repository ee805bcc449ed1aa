// Checks the servers of one layer of configuration, each by itself, and finds out how each is reached.

import { plainHost } from "../../net/host-list.ts";
import { isLocal } from "../../net/policy.ts";
import { objectIn } from "../../types/json.ts";
import type { ServerConfig, ServerTransport } from "../../types/server-config.ts";
import { atKey, atValue, type Issue, type KeyPath } from "../issue.ts";
import { check } from "./schema.ts";
import { serverSchema } from "./server-schema.ts";
import { serverNameProblem } from "./values.ts";

/** A server as written, with one name per key: no `type`, no `workingDir`, no `streamable-http`. */
export interface PlainServer extends Omit<ServerConfig, "transport" | "type" | "workingDir"> {
  transport?: ServerTransport;
}

export interface CheckedServer {
  name: string;
  path: KeyPath;
  /** As written, for warnings about its keys. */
  config: ServerConfig;
  plain: PlainServer;
}

export interface ServerLayer {
  /** By name, in the order of the file. */
  servers: ReadonlyMap<string, CheckedServer>;
  /** Names of servers that did not pass. An agent's settings for such a server cannot be checked. */
  broken: ReadonlySet<string>;
  issues: Issue[];
}

export type ServerKind = "stdio" | "remote";

export const STDIO_KEYS = ["command", "args", "env", "cwd"] as const;

export const REMOTE_KEYS = [
  "url",
  "headers",
  "auth",
  "oauth",
  "tls",
  "allowInsecure",
  "allowPrivate",
] as const;

/** Where a program runs if there are several gateways. */
export const FLEET_KEYS = ["replicas", "worker"] as const;

/** `value` is the `servers` object; anything else counts as empty here, and another schema refuses it. */
export function readServers(value: unknown, path: KeyPath): ServerLayer {
  const servers = new Map<string, CheckedServer>();
  const broken = new Set<string>();
  const issues: Issue[][] = [];
  for (const [name, raw] of Object.entries(objectIn(value))) {
    const serverPath = [...path, name];
    const wrongName = serverNameProblem(name);
    if (wrongName !== undefined) issues.push([atKey(serverPath, wrongName)]);
    const checked = check(serverSchema, raw, serverPath);
    const config = checked.data;
    const conflicts =
      config === undefined
        ? ambiguityIssues(objectIn(raw), serverPath)
        : aliasConflicts(config, serverPath);
    issues.push(checked.issues, conflicts);
    if (config === undefined || conflicts.length > 0 || wrongName !== undefined) broken.add(name);
    else servers.set(name, { name, path: serverPath, config, plain: withoutAliases(config) });
  }
  return { servers, broken, issues: issues.flat() };
}

function aliasConflicts(config: ServerConfig, path: KeyPath): Issue[] {
  const { transport, type, cwd, workingDir } = config;
  const issues: Issue[] = [];
  if (
    type !== undefined &&
    transport !== undefined &&
    toTransport(type) !== toTransport(transport)
  ) {
    issues.push(atValue([...path, "type"], 'contradicts "transport"; expected only one of them'));
  }
  if (cwd !== undefined && workingDir !== undefined && cwd !== workingDir) {
    issues.push(atValue([...path, "workingDir"], 'contradicts "cwd"; expected only one of them'));
  }
  return issues;
}

/** Drops keys whose value is undefined, which code may have: they must not replace those of a lower layer. */
function withoutAliases(config: ServerConfig): PlainServer {
  const { transport, type, cwd, workingDir, ...rest } = config;
  const plain: PlainServer = {
    ...rest,
    transport: toTransport(transport ?? type),
    cwd: cwd ?? workingDir,
  };
  return Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined));
}

function toTransport(transport: ServerConfig["transport"]): ServerTransport | undefined {
  return transport === "streamable-http" ? "http" : transport;
}

/** Undefined where the keys do not tell, as in an override that leaves the connection alone. */
export function kindOf({ transport, command, url }: PlainServer): ServerKind | undefined {
  if (transport !== undefined) return transport === "stdio" ? "stdio" : "remote";
  if (command !== undefined) return url === undefined ? "stdio" : undefined;
  return url === undefined ? undefined : "remote";
}

/** What keeps a merged server from being started at all. */
export function connectionIssues(server: PlainServer, path: KeyPath): Issue[] {
  const { transport, command, url } = server;
  if (transport === undefined) {
    if (command === undefined && url === undefined) {
      return [atKey(path, 'has neither "command" nor "url"; expected one of them')];
    }
    return [...ambiguityIssues({ ...server }, path), ...placeIssues(server, path)];
  }
  if (transport === "stdio" && command === undefined) {
    return [atKey(path, 'has the transport stdio and no "command"; expected one')];
  }
  if (transport !== "stdio" && url === undefined) {
    return [atKey(path, `has the transport ${transport} and no "url"; expected one`)];
  }
  return placeIssues(server, path);
}

/** What contradicts itself in a server that could be started. */
function placeIssues(server: PlainServer, path: KeyPath): Issue[] {
  return [
    ...perUserIssues(server, path),
    ...exchangeIssues(server, path),
    ...fleetIssues(server, path),
  ];
}

/** A server to which people sign in for themselves must not have credentials that all of them would share. */
function perUserIssues({ oauth, auth, headers = {} }: PlainServer, path: KeyPath): Issue[] {
  if (typeof oauth !== "object") return [];
  const isExchanged = oauth.grant === "token_exchange";
  if (oauth.per !== "user" && !isExchanged) return [];
  const shared =
    auth !== undefined
      ? '"auth"'
      : Object.keys(headers).some((name) => name.toLowerCase() === "authorization")
        ? 'an Authorization header in "headers"'
        : oauth.grant === "client_credentials"
          ? 'the grant "client_credentials"'
          : undefined;
  if (shared === undefined) return [];
  const problem = `contradicts ${shared}, which everybody would use; expected only one of them`;
  return [atValue([...path, "oauth", isExchanged ? "grant" : "per"], problem)];
}

/** What only an exchange needs. */
const OF_EXCHANGE = [
  "tokenEndpoint",
  "audience",
  "resource",
  "subjectTokenType",
  "requestedTokenType",
  "clientAuth",
] as const;
/** Nobody signs in where tokens are exchanged. */
const OF_SIGN_IN = ["redirectUri", "clientMetadataUrl"] as const;

function exchangeIssues({ oauth }: PlainServer, path: KeyPath): Issue[] {
  if (typeof oauth !== "object") return [];
  const place = [...path, "oauth"];
  if (oauth.grant !== "token_exchange") {
    return OF_EXCHANGE.flatMap((key) =>
      oauth[key] === undefined
        ? []
        : [atKey([...place, key], 'is only for "grant": "token_exchange"')],
    );
  }
  const { clientId, issuer, tokenEndpoint, clientSecret, privateKey } = oauth;
  return [
    ...(clientId === undefined ? [atKey(place, "needs clientId: who exchanges the tokens")] : []),
    ...(issuer === undefined && tokenEndpoint === undefined
      ? [
          atKey(
            place,
            "needs issuer or tokenEndpoint: where callers' tokens are sent is not for the server to say",
          ),
        ]
      : []),
    ...(clientSecret !== undefined && privateKey !== undefined
      ? [atKey([...place, "clientSecret"], 'contradicts "privateKey"; expected only one of them')]
      : []),
    ...OF_SIGN_IN.flatMap((key) =>
      oauth[key] === undefined
        ? []
        : [atKey([...place, key], 'contradicts "grant": "token_exchange": nobody signs in')],
    ),
    ...(["issuer", "tokenEndpoint"] as const).flatMap((key) => {
      const problem = plainProblem(oauth[key]);
      return problem === undefined ? [] : [atValue([...place, key], problem)];
    }),
  ];
}

/** Callers' tokens and the client's secret go there. */
function plainProblem(url: string | undefined): string | undefined {
  // One with a variable in it is looked at when it is used.
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { protocol, hostname } = new URL(url);
  const isSafe = protocol !== "http:" || isLocal(plainHost(hostname));
  return isSafe ? undefined : "is plain http; expected https, or http on this machine";
}

function fleetIssues({ replicas, worker, scope }: PlainServer, path: KeyPath): Issue[] {
  if (worker === undefined) return [];
  const place = [...path, "worker"];
  if (replicas !== undefined) {
    return [atKey(place, 'contradicts "replicas"; expected only one of them')];
  }
  if (scope !== "session") return [];
  return [
    atKey(
      place,
      'contradicts "scope": "session": such a server runs in the gateway where its session began',
    ),
  ];
}

/** Takes a server as written, even one that is wrong in other ways too. */
function ambiguityIssues(
  { command, url, transport, type }: Readonly<Record<string, unknown>>,
  path: KeyPath,
): Issue[] {
  if (command === undefined || url === undefined) return [];
  if (transport !== undefined || type !== undefined) return [];
  return [atKey(path, 'has both "command" and "url"; expected one of them, or a "transport"')];
}
