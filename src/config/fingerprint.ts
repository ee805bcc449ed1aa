// What a gateway was started with, so that another command can tell whether it would start the same servers itself. The
// command compares the file's bytes, its own variables and its directory; it does not read the configuration for that.

import { createHash, createHmac } from "node:crypto";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { type AgentConfig, templateFor } from "../model/agent-config.ts";
import type { Environment } from "../util/environment.ts";
import { parseTemplate, referencesIn } from "./schema/references.ts";

export interface Fingerprint {
  /** The hash of the configuration file. */
  file: string;
  /** The real path of the working directory. */
  cwd: string;
  /** The key of the hashes in `values`: they are worth nothing without this note, which only its owner can read. */
  salt: string;
  /** A keyed hash of each variable that any agent's servers use. */
  values: Record<string, string>;
  agents: Record<string, AgentFingerprint>;
  /** The hash of the trust record that approves exactly this file. Absent if there is none. */
  trust?: string;
  /** Nobody has trusted the file, so none of its servers run. */
  untrusted?: true;
}

interface AgentFingerprint {
  /** How a command names its tools. */
  toolNames: { template: string; length?: number };
  workspace?: string;
  /** It has servers that run in the process of whoever has the session. */
  hasSessionServers?: true;
  /** The variables that its servers use. */
  variables: string[];
  /** What means something else in another working directory. */
  inDirectory?: string;
  /** Words that do so where a file of that name exists, each with what it is a part of. */
  words?: [word: string, of: string][];
  /** The same for the first names of paths that may be anything else, as keyed hashes, each with the server. */
  entries?: [hash: string, server: string][];
  /** Files by which programs find a project, the directory where they find it here, and what looks for them. */
  projects?: [files: string[], directory: string, what: string][];
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

/** More words than this are not looked up: then the agent counts as depending on the directory. */
const MOST_WORDS = 1000;

export interface Surroundings {
  env: Environment;
  cwd: string;
}

export function hashOfFile(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** `file` is the hash of the bytes that all `agents` were read from. */
export function takeFingerprint(
  agents: readonly AgentConfig[],
  { file, salt, env, cwd }: Surroundings & { file: string; salt: string },
): Fingerprint {
  const taker = { env, cwd, salt };
  const known = agents.map((agent) => [agent.agentId, agentFingerprint(agent, taker)] as const);
  const names = new Set(known.flatMap(([, { variables }]) => variables));
  return {
    file,
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
  | { kind: "agent"; agent: string }
  | { kind: "variable"; name: string }
  /** `what` means something else there than in `cwd`, where the gateway runs. */
  | { kind: "directory"; what: string; cwd: string };

/** Undefined if a command in these surroundings would start the same servers for the agent. */
export function difference(
  { salt, values, agents, cwd, ...gateway }: Fingerprint,
  { agent, file, ...here }: Surroundings & { agent: string; file: string },
): Difference | undefined {
  if (gateway.file !== file) return { kind: "file" };
  if (gateway.untrusted) return { kind: "untrusted" };
  const known = Object.hasOwn(agents, agent) ? agents[agent] : undefined;
  if (known === undefined) return { kind: "agent", agent };
  const name = known.variables.find((each) => values[each] !== hashOfValue(salt, each, here.env));
  if (name !== undefined) return { kind: "variable", name };
  const { inDirectory, words = [], entries = [], projects = [] } = known;
  const count = words.length + entries.length + projects.length;
  if (inDirectory === undefined && count === 0) return undefined;
  if (cwd === realDirectory(here.cwd)) return undefined;
  const exists = (word: string): boolean => existsSync(resolve(here.cwd, word));
  const what =
    inDirectory ??
    words.find(([word]) => exists(word))?.[1] ??
    projects.find(([files, directory]) => nearest(files, here.cwd) !== directory)?.[2] ??
    entryIn(here.cwd, new Map(entries), salt);
  return what === undefined ? undefined : { kind: "directory", what, cwd };
}

/** Which of the hashed words is the name of something in the directory. */
function entryIn(
  directory: string,
  servers: ReadonlyMap<string, string>,
  salt: string,
): string | undefined {
  if (servers.size === 0) return undefined;
  for (const name of namesOf(directory)) {
    const server = servers.get(hashOfWord(salt, name));
    if (server !== undefined) return relativePath(server, name);
  }
  return undefined;
}

function namesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function relativePath(server: string, path: string): string {
  return `server '${server}' has the relative path ${path}`;
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

/** A missing variable is not an empty one. A directory that is in PATH twice is looked into once. */
function hashOfValue(salt: string, name: string, env: Environment): string {
  const found = Object.hasOwn(env, name) ? env[name] : undefined;
  const value = name === "PATH" ? found && [...new Set(found.split(delimiter))] : found;
  return createHmac("sha256", salt)
    .update(JSON.stringify([name, value ?? null]))
    .digest("hex");
}

function hashOfWord(salt: string, word: string): string {
  return createHmac("sha256", salt).update(`word ${word}`).digest("base64url");
}

function realDirectory(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}

function agentFingerprint(
  agent: AgentConfig,
  { env, cwd, salt }: Surroundings & { salt: string },
): AgentFingerprint {
  const { workspace, roots, networkProxy, nativeModules = [] } = agent;
  // Those of a session run in the process of whoever has the session.
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
  if (agent.isOfDirectory) {
    return { ...found, inDirectory: "the file has servers of its own for each project" };
  }
  if (workspace !== undefined) return found;
  if (nativeModules.length > 0) {
    return { ...found, inDirectory: "the modules in tools.native run in it" };
  }
  const words: [string, string][] = [];
  const entries: [string, string][] = [];
  const projects: [string[], string, string][] = [];
  for (const { name, target, roots: own = roots } of shared) {
    if (own === true) return { ...found, inDirectory: `server '${name}' gets it as a root` };
    if (target.kind !== "stdio" || target.cwd !== undefined) continue;
    const { command, args } = target;
    if (hasRelativeDirectory(env)) {
      return { ...found, inDirectory: "PATH has a directory that is relative to it" };
    }
    const files = projectFiles(command, args);
    if (files.length > 0) {
      const what = `server '${name}' is started with ${basename(command)}, which looks for files of the project`;
      projects.push([files, nearest(files, cwd), what]);
    }
    // A command without a slash is looked up on PATH.
    const written = [...(/[/\\]/.test(command) ? [command] : []), ...args];
    for (const [index, each] of [...written, ...Object.values(target.env)].entries()) {
      const value = expanded(each, env);
      const path = possiblePath(value);
      const paths = [...(path === undefined ? [] : [path]), ...pathsWithin(value, path)];
      if (written[index - 1] === "-m") paths.push(...pythonFiles(value));
      if (paths.some((part) => isRelative(part) || existsSync(resolve(cwd, part)))) {
        return { ...found, inDirectory: relativePath(name, each) };
      }
      for (const part of paths) {
        const isLiteral = part === path && part === possiblePath(each) && PLAIN_PATH.test(part);
        if (isLiteral) words.push([part, relativePath(name, each)]);
        else entries.push([hashOfWord(salt, part.split(/[/\\]/)[0] ?? part), name]);
      }
    }
  }
  if (words.length + entries.length > MOST_WORDS) {
    return { ...found, inDirectory: "its servers have very many arguments" };
  }
  return {
    ...found,
    ...(words.length > 0 && { words }),
    ...(entries.length > 0 && { entries }),
    ...(projects.length > 0 && { projects }),
  };
}

/** The system looks there for the program, as seen from where it starts it. */
function hasRelativeDirectory({ PATH }: Environment): boolean {
  return PATH?.split(delimiter).some((directory) => !isAbsolute(directory)) ?? false;
}

/** These run a package, and take the one that the project has, or get it from where the project says. */
const RUN_PACKAGES = new Set(["npx", "pnpx", "bunx"]);
/** These run something of the project, which they find by such a file in the directory or above it. */
const RUN_PROJECTS: Readonly<Record<string, readonly string[]>> = {
  npm: ["package.json"],
  pnpm: ["package.json"],
  yarn: ["package.json"],
  bun: ["package.json"],
  deno: ["deno.json", "deno.jsonc", "package.json"],
  uv: ["pyproject.toml", "uv.toml", ".venv"],
  poetry: ["pyproject.toml"],
  pdm: ["pyproject.toml"],
  hatch: ["pyproject.toml"],
  rye: ["pyproject.toml"],
  pipenv: ["Pipfile"],
  cargo: ["Cargo.toml"],
  go: ["go.mod", "go.work"],
  make: ["Makefile"],
  just: ["justfile"],
};
/** The definition itself says where the project is, or that none counts. */
const NAMES_PROJECT =
  /^(?:-C|--(?:directory|project|no-project|prefix|cwd|dir|manifest-path|config|justfile))(?:=|$)/;
const MOST_PACKAGES = 8;
const PACKAGE = /^((?:@[a-z0-9._-]{1,60}\/)?[a-z0-9][a-z0-9._-]{0,60})(?:@[^@]*)?$/;

/** The files by which a program finds the project that it works in. Empty for most programs. */
function projectFiles(command: string, args: readonly string[]): string[] {
  const program = basename(command).replace(/\.(?:cmd|exe)$/i, "");
  if (args.some((each) => NAMES_PROJECT.test(each))) return [];
  if (!RUN_PACKAGES.has(program)) {
    return Object.hasOwn(RUN_PROJECTS, program) ? [...(RUN_PROJECTS[program] ?? [])] : [];
  }
  const options = args.flatMap((each) => /^--package=(.*)$/s.exec(each)?.[1] ?? []);
  const first = args.find((each) => !each.startsWith("-")) ?? "";
  // Nothing else: an argument may be a token.
  const packages = [first, ...options]
    .flatMap((each) => PACKAGE.exec(each)?.[1] ?? [])
    .slice(0, MOST_PACKAGES);
  return [".npmrc", ...packages.map((each) => `node_modules/${each}`)];
}

/** The directory with one of the files: this one, or the nearest above it. Empty if there is none. */
function nearest(files: readonly string[], directory: string): string {
  for (let at = realDirectory(directory); ; at = dirname(at)) {
    if (files.some((file) => existsSync(join(at, file)))) return at;
    if (at === dirname(at)) return "";
  }
}

/** What Python runs as the module. */
function pythonFiles(module: string): string[] {
  const [first = ""] = module.split(".");
  return /^\w+$/.test(first) ? [first, `${first}.py`] : [];
}

/** How much of a value is searched for paths. */
const MOST_SEARCHED = 20_000;

/** What may be a path in a script, a list or `type=bind,src=./x`, without the one that the whole is. */
function pathsWithin(value: string, whole: string | undefined): string[] {
  if (/^(?:-{1,2}[^=\s]+=)?[a-z][a-z0-9+.-]+:\/\/\S*$/i.test(value)) return [];
  const parts = value.slice(0, MOST_SEARCHED).split(/[\s=,;|&<>()"'`]+/);
  const paths = parts.flatMap((part) => {
    // `-I./include`
    const [, attached] = /^-[A-Za-z](\.{1,2}(?:[/\\].*)?)$/.exec(part) ?? [];
    return attached ?? possiblePath(part) ?? [];
  });
  return [...new Set(paths)].filter((path) => path !== whole);
}

/**
 * `src/server.js`, and the image `mcp/playwright`. Such words are noted as they are, so that an image is not taken for a
 * path; hence this must not match what may be a token.
 */
const PLAIN_PATH = /^(?=.{1,200}$)[a-z0-9][a-z0-9._-]{0,30}(?:\/[a-z0-9][a-z0-9._:-]{0,40}){1,10}$/;

/** The word itself, or what is behind the `=` of an option. Undefined for an absolute path, a URL and an option. */
function possiblePath(written: string): string | undefined {
  const [, behind] = /^-{1,2}[^=\s]+=(.*)$/s.exec(written) ?? [];
  const word = behind ?? written;
  const isOther =
    word === "" ||
    word.length > 1000 ||
    /^[-~]/.test(word) ||
    isAbsolute(word) ||
    /^[a-z][a-z0-9+.-]+:/i.test(word) ||
    /[\n\0]/.test(word);
  return isOther ? undefined : word;
}

/** Nothing but a path looks like this. Behind the colon of `.:/data` is where a container has it. */
function isRelative(word: string): boolean {
  return /^\.{1,2}(?:[/\\:]|$)/.test(word);
}

/** With the variables filled in that are set, and without secrets: those are the gateway's to get. */
function expanded(value: string, env: Environment): string {
  const template = parseTemplate(value);
  if (template.kind === "malformed") return value;
  return template.parts
    .map((part) => {
      if (part.kind === "text") return part.text;
      if (part.kind === "secret") return "";
      return (Object.hasOwn(env, part.name) && env[part.name]) || (part.fallback ?? "");
    })
    .join("");
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
