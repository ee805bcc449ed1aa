// Servers that npx or uvx starts: which package that is, and whether it has to be downloaded first.

import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { StdioTarget } from "../../../core/types/server-definition.ts";
import { isJsonObject, tryParseJson, valueIn } from "../../../core/types/json.ts";
import { expandHome } from "../../../util/home-path.ts";
import { pathExists } from "../../../util/path-exists.ts";
import { readRegularFile } from "../../../util/regular-file.ts";

export interface PackageRun {
  runner: "npx" | "uvx";
  /** As it is written: `@scope/server@1.2.0`. */
  spec: string;
  /** Without its version. */
  name: string;
}

/** A cache that has more is not searched to its end. */
const MOST_ENTRIES = 500;

/** Options of a runner that name the package, and options that take another word. */
const NAMES_PACKAGE = /^(?:-p|--package|--from)$/;
const TAKES_WORD =
  /^(?:-c|--call|-w|--workspace|--registry|--cache|--with|--python|--index|--index-url)$/;

/** Undefined for a server that is no package, or one that is not from a registry. */
export function packageRunOf({
  command,
  args,
}: Pick<StdioTarget, "command" | "args">): PackageRun | undefined {
  const [, program] = /(?:^|[/\\])(npx|uvx|uv)(?:\.cmd|\.exe)?$/i.exec(command) ?? [];
  if (program === undefined) return undefined;
  const isUv = program.toLowerCase() === "uv";
  if (isUv && !(args[0] === "tool" && args[1] === "run")) return undefined;
  const runner = program.toLowerCase() === "npx" ? "npx" : "uvx";
  const spec = packageIn(isUv ? args.slice(2) : args);
  if (spec === undefined || /:\/\/|^[./~]|^git\+|\$\{/.test(spec)) return undefined;
  return { runner, spec, name: nameOf(runner, spec) };
}

function packageIn(args: readonly string[]): string | undefined {
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? "";
    if (NAMES_PACKAGE.test(word)) return args[at + 1];
    const [, given] = /^(?:--package|--from)=(.+)$/.exec(word) ?? [];
    if (given !== undefined) return given;
    if (TAKES_WORD.test(word)) at += 1;
    else if (!word.startsWith("-")) return word;
  }
  return undefined;
}

function nameOf(runner: PackageRun["runner"], spec: string): string {
  if (runner === "npx") return /^(?:@[^/]+\/)?[^@]+/.exec(spec)?.[0] ?? spec;
  const [name = spec] = spec.split(/[@=<>~![\s]/, 1);
  return name.toLowerCase().replace(/[-_.]+/g, "-");
}

export interface PackagePlaces {
  homedir: string;
  /** Where the server runs. */
  cwd: string;
  /** What the server gets, as far as it decides where the cache is. */
  env: Readonly<Record<string, string>>;
}

/** Whether the package is on this machine. Does not reject. */
export function isCached(run: PackageRun, places: PackagePlaces): Promise<boolean> {
  return run.runner === "npx" ? isInNpxCache(run, places) : isInUvCache(run, places);
}

async function isInNpxCache({ name }: PackageRun, places: PackagePlaces): Promise<boolean> {
  const { cwd } = places;
  if (await pathExists(join(cwd, "node_modules", name, "package.json"))) return true;
  const directory = join(await npmCache(places), "_npx");
  for (const entry of (await names(directory)).slice(0, MOST_ENTRIES)) {
    const text = await readRegularFile(join(directory, entry, "package.json")).catch(() => "");
    const dependencies = valueIn(tryParseJson(text), ["dependencies"]);
    if (isJsonObject(dependencies) && Object.hasOwn(dependencies, name)) return true;
  }
  return false;
}

async function npmCache({ homedir, env }: PackagePlaces): Promise<string> {
  const given = env["npm_config_cache"] ?? env["NPM_CONFIG_CACHE"];
  if (given !== undefined) return given;
  const settings = await readRegularFile(join(homedir, ".npmrc")).catch(() => "");
  const [, written] = /^cache[ \t]*=[ \t]*(\S.*)$/m.exec(settings) ?? [];
  if (written !== undefined) return resolve(homedir, expandHome(written.trim(), homedir));
  return process.platform === "win32"
    ? join(homedir, "AppData", "Local", "npm-cache")
    : join(homedir, ".npm");
}

async function isInUvCache({ name }: PackageRun, places: PackagePlaces): Promise<boolean> {
  const { homedir, env } = places;
  const isWindows = process.platform === "win32";
  const usual = isWindows
    ? join(homedir, "AppData", "Local", "uv", "cache")
    : join(homedir, ".cache", "uv");
  const cache = env["UV_CACHE_DIR"] ?? usual;
  const kept = (await names(cache)).filter((each) => each.startsWith("wheels-"));
  const found = await Promise.all([
    ...kept.map((each) => pathExists(join(cache, each, "pypi", name))),
    pathExists(join(homedir, ".local", "share", "uv", "tools", name)),
  ]);
  return found.includes(true);
}

async function names(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}
