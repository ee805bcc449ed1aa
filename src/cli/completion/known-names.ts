// The names that can be completed: servers, agents, models and tools. Reading the configuration takes longer than a person
// wants to wait for a key, so the names are kept in a file beside it, until the configuration or a list of tools changes.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type ConfigSource, filesOf, findConfig } from "../../core/config/find.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { readJsonFileNow, writeJsonFile } from "../../core/state/json-file.ts";
import type { Environment } from "../../util/environment.ts";

export interface KnownNames {
  servers: readonly string[];
  agents: readonly string[];
  models: readonly string[];
  tools: readonly KnownTool[];
}

export interface KnownTool {
  /** `server/tool` */
  name: string;
  about: string;
  keys: readonly KnownKey[];
}

export interface KnownKey {
  name: string;
  about: string;
  /** If there is a choice. */
  values?: readonly string[];
  /** It can be given several times. */
  isList?: true;
}

/** Where a command line is typed. */
export interface Surroundings {
  env: Environment;
  cwd: string;
  homedir: string;
}

export interface Given {
  config?: string;
  agent?: string;
}

const FORMAT = 1;
const MAX_BYTES = 16 * 1024 * 1024;

/** Does not reject: without a configuration that can be read, there are no names. */
export async function knownNames(given: Given, around: Surroundings): Promise<KnownNames> {
  try {
    const { env, cwd, homedir } = around;
    const source = findConfig({ flag: given.config, env, cwd, homedir });
    const home = plugboardHome(env, homedir);
    const path = join(home, "completion.json");
    const made = madeFrom(source, given, cwd, home);
    const saved = readJsonFileNow(path, MAX_BYTES) as Saved | undefined;
    if (saved?.format === FORMAT && saved.made === made) return saved.names;
    const { loadNames } = await import("./load-names.ts");
    const names = await loadNames(source, given, around);
    const value: Saved = { format: FORMAT, made, names };
    // Whoever only presses a key does not want to find a new directory. Without the file, the next time takes as long.
    if (existsSync(home)) await writeJsonFile(path, value).catch(() => {});
    return names;
  } catch {
    return { servers: [], agents: [], models: [], tools: [] };
  }
}

interface Saved {
  format: typeof FORMAT;
  /** What the names were made from. They are out of date once it is something else. */
  made: string;
  names: KnownNames;
}

function madeFrom(source: ConfigSource, { agent }: Given, cwd: string, home: string): string {
  const files = source.kind === "file" ? filesOf(source).map(({ path }) => path) : [];
  // A file of another application may have servers for one directory only.
  const directory = source.kind === "file" && source.from === "flag" ? cwd : "";
  return JSON.stringify([
    source.kind,
    agent,
    directory,
    ...[...files, join(home, "catalog")].map((path) => [path, ...versionOf(path)]),
  ]);
}

function versionOf(path: string): number[] {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? [] : [found.mtimeMs, found.size, found.ino];
}
