// What a server takes from the working directory: relative paths, files of the project, roots. It is noted where
// the servers run, and compared in the directory of a command that would start them too.

import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import type { AgentConfig } from "../types/agent-config.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import type { Environment } from "../../util/environment.ts";
import { namesIn } from "../../util/names-in.ts";
import { realDirectory } from "./find.ts";
import { parseTemplate } from "./schema/references.ts";

export interface DirectoryUse {
  /** What means something else in every other directory. */
  inDirectory?: string;
  /** Words that mean something else where a file of that name exists, each with its place in the configuration. */
  words?: [word: string, of: string][];
  /** The same for the first names of paths that may be anything else, as keyed hashes. */
  entries?: string[];
  /** Files by which programs find a project, the directory where they find it here, and what looks for them. */
  projects?: [files: string[], directory: string, what: string][];
}

/** Where servers would be started. */
export interface StartPlace {
  env: Environment;
  cwd: string;
}

/** More words than this are not looked up: then the server counts as depending on the directory. */
const MOST_WORDS = 1000;

/** The salt is the key of the hashes. */
export function directoryUse(
  agent: Pick<AgentConfig, "isOfDirectory" | "workspace">,
  server: ServerDefinition,
  place: StartPlace & { salt: string },
): DirectoryUse {
  if (agent.isOfDirectory) {
    return { inDirectory: "the file has servers of its own for each project" };
  }
  if (agent.workspace !== undefined) return {};
  const use = serverUse(server, place);
  const { words = [], entries = [], projects = [] } = use;
  if (use.inDirectory !== undefined) return use;
  if (words.length + entries.length > MOST_WORDS) {
    return { inDirectory: "it has very many arguments" };
  }
  return {
    ...(words.length > 0 && { words }),
    ...(entries.length > 0 && { entries }),
    ...(projects.length > 0 && { projects }),
  };
}

/** What means something else in this directory than in the one where the use was noted. */
export function differsIn(
  directory: string,
  { inDirectory, words = [], entries = [], projects = [] }: DirectoryUse,
  salt: string,
): string | undefined {
  return (
    inDirectory ??
    words.find(([word]) => existsSync(resolve(directory, word)))?.[1] ??
    projects.find(([files, found]) => nearest(files, directory) !== found)?.[2] ??
    entryIn(directory, new Set(entries), salt)
  );
}

/** Which of the hashed words is the name of something in the directory. */
function entryIn(directory: string, hashes: ReadonlySet<string>, salt: string): string | undefined {
  if (hashes.size === 0) return undefined;
  const name = namesIn(directory).find((each) => hashes.has(hashOfWord(salt, each)));
  return name === undefined ? undefined : relativePath(name);
}

function relativePath(path: string): string {
  return `it has the relative path ${path}`;
}

function hashOfWord(salt: string, word: string): string {
  return createHmac("sha256", salt).update(`word ${word}`).digest("base64url");
}

function serverUse(
  { target, roots }: ServerDefinition,
  { env, cwd, salt }: StartPlace & { salt: string },
): DirectoryUse {
  if (roots === true) return { inDirectory: "it gets the directory as a root" };
  if (target.kind !== "stdio" || target.cwd !== undefined) return {};
  if (hasRelativeDirectory(env)) {
    return { inDirectory: "PATH has a directory that is relative to it" };
  }
  const { command, args } = target;
  const words: [string, string][] = [];
  const entries: string[] = [];
  // A command without a slash is looked up on PATH.
  const written = [...(/[/\\]/.test(command) ? [command] : []), ...args];
  for (const [index, each] of [...written, ...Object.values(target.env)].entries()) {
    const value = expanded(each, env);
    const path = possiblePath(value);
    const paths = [...(path === undefined ? [] : [path]), ...pathsWithin(value, path)];
    if (written[index - 1] === "-m") paths.push(...pythonFiles(value));
    if (paths.some((part) => isRelative(part) || existsSync(resolve(cwd, part)))) {
      return { inDirectory: relativePath(each) };
    }
    for (const part of paths) {
      const isLiteral = part === path && part === possiblePath(each) && PLAIN_PATH.test(part);
      if (isLiteral) words.push([part, relativePath(each)]);
      else entries.push(hashOfWord(salt, part.split(/[/\\]/)[0] ?? part));
    }
  }
  return { words, entries, projects: projectUse(command, args, cwd) };
}

function projectUse(
  command: string,
  args: readonly string[],
  cwd: string,
): DirectoryUse["projects"] {
  const files = projectFiles(command, args);
  if (files.length === 0) return [];
  const what = `it is started with ${basename(command)}, which looks for files of the project`;
  return [[files, nearest(files, cwd), what]];
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
  // Only what looks like a package is kept: any other argument may be a token.
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

/** The word itself, or the value of an option (`--root=./data`). Undefined for an absolute path, a URL and an option. */
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
export function expanded(value: string, env: Environment): string {
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
