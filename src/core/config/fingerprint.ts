// What a gateway was started with, so that another command can tell which of its servers it would start in the same way.
// The command compares the file's bytes, and for each server its variables, its program and its directory; it does not
// read the configuration for that.

import { createHash, createHmac } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { type AgentConfig, templateFor } from "../types/agent-config.ts";
import { isRemote, type ServerDefinition } from "../types/server-definition.ts";
import type { Environment } from "../../util/environment.ts";
import { networkVariables } from "../process/environment.ts";
import { findOnPath } from "../../util/on-path.ts";
import {
  differsIn,
  type DirectoryUse,
  directoryUse,
  expanded,
  type StartPlace,
} from "./directory-use.ts";
import { realDirectory } from "./find.ts";
import { parseTemplate, referencesIn } from "./schema/references.ts";

export interface Fingerprint {
  /** The hash of the configuration file. */
  file: string;
  /** The hash of the file that it lies over. Absent if there is none. */
  base?: string;
  /** The real path of the working directory. */
  cwd: string;
  /** The key of the hashes in `values`: they are worth nothing without this note, which only its owner can read. */
  salt: string;
  /** A keyed hash of each variable that any agent's servers use. */
  values: Record<string, string>;
  agents: Record<string, AgentFingerprint>;
  /** The hash of the trust record that approves exactly this file. Absent if there is none. */
  trust?: string;
  /** Nobody has trusted one of the files, so none of its servers run. */
  untrusted?: true;
}

export interface AgentFingerprint {
  /** How a command names its tools. */
  toolNames: { template: string; length?: number };
  workspace?: string;
  /** It has servers that run in the process of whoever has the session. */
  hasSessionServers?: true;
  /** The servers that it shares, by name. `native` stands for the modules in tools.native. */
  servers: Record<string, ServerFingerprint>;
}

/** What decides what a server is when it is started, apart from its definition. */
interface ServerFingerprint extends DirectoryUse {
  /** The variables that it uses. */
  variables?: string[];
  /** It also gets the variables of the network that are set. Those of the gateway are among `variables`. */
  ofNetwork?: true;
  /** A program that is looked up on PATH, and where it was found; null if nowhere. */
  program?: readonly [name: string, path: string | null];
}

/** The modules in tools.native, in place of a server: no server has this name. */
export const NATIVE_MODULES = "native";

/** Every program gets these. PATH does not count: what counts is the program that is found with it. */
const OF_PROGRAMS = ["HOME", "TZ"];
/** Which program these run in turn, only PATH tells. */
const RUNS_OTHERS =
  /^(?:(?:ba|da|fi|k|z)?sh|env|cmd|powershell|pwsh|sudo|nice|timeout)(?:\.exe)?$/i;
/** They decide how a URL is reached. */
const OF_URLS = [
  ...["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [
    name,
    name.toLowerCase(),
  ]),
  "NODE_EXTRA_CA_CERTS",
];

export function hashOfFile(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The hashes of what is read: of the file, and of the one that it lies over. */
export interface FileHashes {
  file: string;
  base?: string | undefined;
}

/** The hashes are of the bytes that all `agents` were read from. */
export function takeFingerprint(
  agents: readonly AgentConfig[],
  { file, base, salt, env, cwd }: StartPlace & FileHashes & { salt: string },
): Fingerprint {
  const place = { env, cwd, salt };
  const known = agents.map((agent) => [agent.agentId, agentFingerprint(agent, place)] as const);
  const names = new Set(
    known.flatMap(([, { servers }]) =>
      Object.values(servers).flatMap(({ variables = [] }) => variables),
    ),
  );
  return {
    file,
    base,
    cwd: realDirectory(cwd),
    salt,
    values: Object.fromEntries([...names].map((name) => [name, hashOfValue(salt, name, env)])),
    agents: Object.fromEntries(known),
    ...(agents.some(({ untrusted = [] }) => untrusted.some(({ inUse }) => !inUse)) && {
      untrusted: true,
    }),
  };
}

/** What keeps a command from using any server of the gateway. */
export type Difference =
  | { kind: "file" | "untrusted" }
  /** The file beneath: only one of the two has it, or it is another text. */
  | { kind: "base"; has: "gateway" | "command" | "both" }
  | { kind: "agent"; agent: string };

/** What keeps a command from using one server of the gateway. */
export type ServerDifference =
  | { kind: "unknown" }
  | { kind: "variable"; name: string; isSetHere: boolean }
  | { kind: "program"; name: string; there: string | null }
  /** `what` means something else there than in `cwd`, where the gateway runs. */
  | { kind: "directory"; what: string; cwd: string };

/** Undefined if the gateway runs what a command with these files would run. */
export function difference(
  { agents, ...gateway }: Fingerprint,
  { agent, file, base }: FileHashes & { agent: string },
): Difference | undefined {
  if (gateway.file !== file) return { kind: "file" };
  if (gateway.base !== base) {
    const both = base !== undefined && gateway.base !== undefined;
    return { kind: "base", has: both ? "both" : base === undefined ? "gateway" : "command" };
  }
  if (gateway.untrusted) return { kind: "untrusted" };
  return Object.hasOwn(agents, agent) ? undefined : { kind: "agent", agent };
}

/** The names of the servers that a gateway shares, NATIVE_MODULES among them if there are any. */
export function sharedNames({ agents }: Fingerprint, agent: string): string[] {
  return Object.keys(agents[agent]?.servers ?? {});
}

/** Undefined if a command that runs here would start the same server. */
export function serverDifference(
  { salt, values, agents, cwd }: Fingerprint,
  { agent, server, env, cwd: here }: StartPlace & { agent: string; server: string },
): ServerDifference | undefined {
  const servers = agents[agent]?.servers ?? {};
  const known = Object.hasOwn(servers, server) ? servers[server] : undefined;
  if (known === undefined) return { kind: "unknown" };
  const { variables = [], program, ofNetwork } = known;
  const name =
    variables.find((each) => values[each] !== hashOfValue(salt, each, env)) ??
    (ofNetwork && networkVariables(env).find((each) => !variables.includes(each)));
  if (name !== undefined) return { kind: "variable", name, isSetHere: env[name] !== undefined };
  if (program !== undefined && program[1] !== pathOf(program[0], env)) {
    return { kind: "program", name: program[0], there: program[1] };
  }
  if (cwd === realDirectory(here)) return undefined;
  const what = differsIn(here, known, salt);
  return what === undefined ? undefined : { kind: "directory", what, cwd };
}

/** Undefined for what is not one, such as that of another version. */
export function readFingerprint(value: unknown): Fingerprint | undefined {
  const found = (value ?? {}) as Partial<Fingerprint>;
  const texts = [found.file, found.cwd, found.salt];
  const maps = [found.values, found.agents];
  const isOne =
    texts.every((each) => typeof each === "string") &&
    maps.every((each) => typeof each === "object" && each !== null);
  return isOne ? (found as Fingerprint) : undefined;
}

/** A missing variable is not an empty one. */
function hashOfValue(salt: string, name: string, env: Environment): string {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  return createHmac("sha256", salt)
    .update(JSON.stringify([name, value ?? null]))
    .digest("hex");
}

function agentFingerprint(
  agent: AgentConfig,
  place: StartPlace & { salt: string },
): AgentFingerprint {
  const { workspace, nativeModules = [], toolNameLength: length } = agent;
  const enabled = agent.servers.filter((each) => each.enabled);
  // A server of `scope: "session"` runs in the process that has the session.
  const shared = enabled.filter(({ scope }) => scope !== "session");
  const servers = Object.fromEntries(
    shared.map((server) => [server.name, serverFingerprint(server, agent, place)]),
  );
  if (nativeModules.length > 0) {
    const inDirectory = "they run in the working directory";
    servers[NATIVE_MODULES] = workspace === undefined ? { inDirectory } : {};
  }
  return {
    toolNames: { template: templateFor(agent.toolNames, enabled.length), length },
    workspace,
    ...(enabled.length > shared.length && { hasSessionServers: true }),
    servers,
  };
}

function serverFingerprint(
  server: ServerDefinition,
  agent: AgentConfig,
  place: StartPlace & { salt: string },
): ServerFingerprint {
  const { target, roots = agent.roots } = server;
  const named = variablesIn([target, roots]);
  const command = target.kind === "stdio" ? expanded(target.command, place.env) : "";
  const ofNetwork = !isRemote(target) && agent.networkInherit !== false;
  const variables = isRemote(target)
    ? [...OF_URLS, ...named, ...variablesIn(agent.networkProxy)]
    : [
        ...OF_PROGRAMS,
        ...(RUNS_OTHERS.test(basename(command)) ? ["PATH"] : []),
        ...(ofNetwork ? networkVariables(place.env) : []),
        ...named,
      ];
  const isLookedUp = command !== "" && !/[/\\]/.test(command);
  return {
    variables: [...new Set(variables)].toSorted(),
    ...(ofNetwork && { ofNetwork: true as const }),
    ...(isLookedUp && { program: [command, pathOf(command, place.env)] as const }),
    ...directoryUse(agent, { ...server, roots }, place),
  };
}

/** The name is kept as it is: by a link's name, a program may tell which environment it is in. */
function pathOf(program: string, env: Environment): string | null {
  const path = findOnPath(program, env, process.platform);
  return path === undefined ? null : join(realDirectory(dirname(path)), basename(path));
}

/** The variables that any text in a value refers to, as `${NAME}` or `secret://env/NAME`. */
export function variablesIn(value: unknown): string[] {
  if (typeof value === "string") {
    const template = parseTemplate(value);
    if (template.kind === "malformed") return [];
    const variables = template.parts.flatMap((part) =>
      part.kind === "variable" ? [part.name] : [],
    );
    const secrets = referencesIn(value).filter(({ provider }) => provider === "env");
    return [...variables, ...secrets.map(({ path }) => path)];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(variablesIn);
}
