// What a gateway was started with, so that another command can tell whether it would start the same servers itself. The
// command compares the file's bytes, its own variables and its directory; it does not read the configuration for that.

import { createHash, createHmac } from "node:crypto";
import { delimiter } from "node:path";
import { type AgentConfig, templateFor } from "../types/agent-config.ts";
import type { Environment } from "../../util/environment.ts";
import { differsIn, type DirectoryUse, directoryUse, type StartPlace } from "./directory-use.ts";
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

interface AgentFingerprint extends DirectoryUse {
  /** How a command names its tools. */
  toolNames: { template: string; length?: number };
  workspace?: string;
  /** The agent has servers of `scope: "session"`, which run in the process that has the session. */
  hasSessionServers?: true;
  /** The variables that its servers use. */
  variables: string[];
}

/** Every program gets these, and they decide which program it is and what it finds. */
const OF_PROGRAMS = ["PATH", "HOME", "TZ"];
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

/** The hashes of the configuration file, and of the file that it lies over. */
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
  const names = new Set(known.flatMap(([, { variables }]) => variables));
  return {
    file,
    ...(base !== undefined && { base }),
    cwd: realDirectory(cwd),
    salt,
    values: Object.fromEntries([...names].map((name) => [name, hashOfValue(salt, name, env)])),
    agents: Object.fromEntries(known),
    ...(agents.some(({ untrusted }) => untrusted) && { untrusted: true }),
  };
}

/** What keeps a command from using the gateway's servers. */
export type Difference =
  | { kind: "file" | "untrusted" }
  /** The file beneath: only one of the two has it, or it is another text. */
  | { kind: "base"; has: "gateway" | "command" | "both" }
  | { kind: "agent"; agent: string }
  | { kind: "variable"; name: string }
  /** `what` means something else there than in `cwd`, where the gateway runs. */
  | { kind: "directory"; what: string; cwd: string };

/** Undefined if a command that runs there would start the same servers for the agent. */
export function difference(
  { salt, values, agents, cwd, ...gateway }: Fingerprint,
  { agent, file, base, ...here }: StartPlace & FileHashes & { agent: string },
): Difference | undefined {
  if (gateway.file !== file) return { kind: "file" };
  if (gateway.base !== base) {
    const both = base !== undefined && gateway.base !== undefined;
    return { kind: "base", has: both ? "both" : base === undefined ? "gateway" : "command" };
  }
  if (gateway.untrusted) return { kind: "untrusted" };
  const known = Object.hasOwn(agents, agent) ? agents[agent] : undefined;
  if (known === undefined) return { kind: "agent", agent };
  const name = known.variables.find((each) => values[each] !== hashOfValue(salt, each, here.env));
  if (name !== undefined) return { kind: "variable", name };
  if (cwd === realDirectory(here.cwd)) return undefined;
  const what = differsIn(here.cwd, known, salt);
  return what === undefined ? undefined : { kind: "directory", what, cwd };
}

/** Undefined if the value is no fingerprint, or one of another version. */
export function readFingerprint(value: unknown): Fingerprint | undefined {
  const found = (value ?? {}) as Partial<Fingerprint>;
  const texts = [found.file, found.cwd, found.salt];
  const maps = [found.values, found.agents];
  const isOne =
    texts.every((each) => typeof each === "string") &&
    maps.every((each) => typeof each === "object" && each !== null);
  return isOne ? (found as Fingerprint) : undefined;
}

/** A missing variable is not an empty one. A directory that is in PATH twice is looked into once. */
function hashOfValue(salt: string, name: string, env: Environment): string {
  const found = Object.hasOwn(env, name) ? env[name] : undefined;
  const value = name === "PATH" ? found && [...new Set(found.split(delimiter))] : found;
  return createHmac("sha256", salt)
    .update(JSON.stringify([name, value ?? null]))
    .digest("hex");
}

function agentFingerprint(
  agent: AgentConfig,
  place: StartPlace & { salt: string },
): AgentFingerprint {
  const { workspace, roots, networkProxy } = agent;
  // Servers of `scope: "session"` run in the process that has the session.
  const shared = agent.servers.filter(({ enabled, scope }) => enabled && scope !== "session");
  const programs = shared.filter(({ target }) => target.kind === "stdio");
  const variables = new Set([
    ...(programs.length > 0 ? OF_PROGRAMS : []),
    ...(shared.length > programs.length ? OF_URLS : []),
    ...namesIn([shared.map(({ target, roots: own }) => [target, own]), roots, networkProxy]),
  ]);
  const { toolNameLength: length } = agent;
  const count = agent.servers.filter(({ enabled }) => enabled).length;
  const template = templateFor(agent.toolNames, count);
  const found: AgentFingerprint = {
    toolNames: { template, ...(length !== undefined && { length }) },
    ...(workspace !== undefined && { workspace }),
    ...(agent.servers.some(({ enabled, scope }) => enabled && scope === "session") && {
      hasSessionServers: true,
    }),
    variables: [...variables].toSorted(),
  };
  return { ...found, ...directoryUse(agent, shared, place) };
}

/** The variables that any text in a value refers to, as `${NAME}` or `secret://env/NAME`. */
function namesIn(value: unknown): string[] {
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
  return Object.values(value).flatMap(namesIn);
}
