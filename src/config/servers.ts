// The servers of one layer of configuration: each checked by itself, its aliases resolved.

import { isJsonObject } from "../model/json.ts";
import { ambiguityIssues } from "./connection.ts";
import { check } from "./kit.ts";
import { atKey, atValue } from "./issue.ts";
import type { Issue, KeyPath } from "./issue.ts";
import { nameProblem } from "./names.ts";
import type { ServerConfig, Transport } from "./server-config.ts";
import { serverSchema } from "./server-schema.ts";

/** A server as written, under one name per key. */
export interface PlainServer extends Omit<ServerConfig, "transport" | "type" | "workingDir"> {
  transport?: Transport;
}

export interface LayerServer {
  name: string;
  path: KeyPath;
  /** As written, for what is to be said about its keys. */
  config: ServerConfig;
  plain: PlainServer;
}

export interface ServerLayer {
  /** By name, in the order of the file. */
  servers: ReadonlyMap<string, LayerServer>;
  /** Names of servers that did not pass; what builds on them cannot be judged. */
  broken: ReadonlySet<string>;
  issues: Issue[];
}

/** `value` is the `servers` object; anything else counts as empty here and is the schema's to refuse. */
export function readServers(value: unknown, path: KeyPath): ServerLayer {
  const servers = new Map<string, LayerServer>();
  const broken = new Set<string>();
  const issues: Issue[][] = [];
  for (const [name, raw] of Object.entries(isJsonObject(value) ? value : {})) {
    const place = [...path, name];
    const wrongName = nameProblem(name, "native");
    if (wrongName !== undefined) issues.push([atKey(place, wrongName)]);
    const checked = check(serverSchema, raw, place);
    const config = checked.data;
    const conflicts =
      config === undefined
        ? ambiguityIssues(isJsonObject(raw) ? raw : {}, place)
        : aliasConflicts(config, place);
    issues.push(checked.issues, conflicts);
    if (config === undefined || conflicts.length > 0 || wrongName !== undefined) broken.add(name);
    else servers.set(name, { name, path: place, config, plain: withoutAliases(config) });
  }
  return { servers, broken, issues: issues.flat() };
}

function aliasConflicts(config: ServerConfig, path: KeyPath): Issue[] {
  const issues: Issue[] = [];
  if (config.type !== undefined && config.transport !== undefined) {
    if (toTransport(config.type) !== toTransport(config.transport)) {
      issues.push(atValue([...path, "type"], 'contradicts "transport"; expected only one of them'));
    }
  }
  const { cwd, workingDir } = config;
  if (cwd !== undefined && workingDir !== undefined && cwd !== workingDir) {
    issues.push(atValue([...path, "workingDir"], 'contradicts "cwd"; expected only one of them'));
  }
  return issues;
}

/** Keys that are there with the value undefined, as code may have them, are left out. */
function withoutAliases(config: ServerConfig): PlainServer {
  const { transport, type, cwd, workingDir, ...rest } = config;
  const plain: PlainServer = {
    ...rest,
    transport: toTransport(transport ?? type),
    cwd: cwd ?? workingDir,
  };
  return Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined));
}

function toTransport(transport: ServerConfig["transport"]): Transport | undefined {
  return transport === "streamable-http" ? "http" : transport;
}
