// Finds the configuration file that a command uses when it is not told which, and says which file it is.

import { realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Environment } from "../../util/environment.ts";
import { plugboardHome } from "./home.ts";
import { configInvalid } from "./issue.ts";

export type ConfigSource =
  | FileSource
  /** There is no file, so the servers that come with Plugboard are used. */
  | { kind: "demo" };

export interface FileSource {
  kind: "file";
  /** What a gateway that runs with it is known by, also if another file lies beneath. */
  path: string;
  /** Nobody named a file that comes from the `directory`: nothing in it may start before it is trusted. */
  from: "flag" | "environment" | "directory" | "home";
  /** The file in Plugboard's home, over which the one in the directory lies. A file that was named lies over none. */
  base?: string;
}

export interface FindOptions {
  /** The value of `--config`. */
  flag?: string;
  env: Environment;
  cwd: string;
  homedir: string;
}

export const FILE_NAME = "plugboard.json";

/** Throws CONFIG_INVALID where a named file does not exist. */
export function findConfig({ flag, env, cwd, homedir }: FindOptions): ConfigSource {
  if (flag) {
    return { kind: "file", path: named(resolve(cwd, flag), "--config"), from: "flag" };
  }
  const variable = env["PLUGBOARD_CONFIG"];
  if (variable) {
    const path = named(resolve(cwd, variable), "$PLUGBOARD_CONFIG");
    return { kind: "file", path, from: "environment" };
  }
  const home = ownFile(env, homedir);
  const local = join(resolve(cwd), FILE_NAME);
  // Whoever made the directory could have put a pipe there, on which every command would wait.
  if (placeOf(local) !== placeOf(home) && exists(local, { isFile: true })) {
    return withBase({ kind: "file", path: local, from: "directory" }, { env, homedir });
  }
  return exists(home) ? { kind: "file", path: home, from: "home" } : { kind: "demo" };
}

/** The user's own file, whether or not it is there. */
export function ownFile(env: Environment, homedir: string): string {
  return join(plugboardHome(env, homedir), FILE_NAME);
}

/** With the file that lies beneath it now. */
export function withBase(
  { kind, path, from }: FileSource,
  { env, homedir }: Pick<FindOptions, "env" | "homedir">,
): FileSource {
  const home = ownFile(env, homedir);
  const isBeneath = from === "directory" && placeOf(home) !== placeOf(path) && exists(home);
  return { kind, path, from, base: isBeneath ? home : undefined };
}

/** Each file of a configuration by itself, the one beneath first. */
export function filesOf({ base, ...source }: FileSource): FileSource[] {
  return base === undefined ? [source] : [{ kind: "file", path: base, from: "home" }, source];
}

/** Where a file would be found, best first, whether or not it is there: a gateway runs on when its file is deleted. */
export function possibleFiles({ flag, env, cwd, homedir }: FindOptions): string[] {
  const given = flag || env["PLUGBOARD_CONFIG"];
  if (given) return [resolve(cwd, given)];
  return [join(resolve(cwd), FILE_NAME), ownFile(env, homedir)];
}

/**
 * What trust and a running gateway go by: the real directory, and the file's name in it. A link at that name is not
 * followed: servers run in the directory, so a link to a trusted file must not make another directory trusted.
 */
export function placeOf(file: string): string {
  return join(realDirectory(dirname(file)), basename(file));
}

/** The same of a configuration. Undefined where there is no file. */
export function placeOfSource(source: ConfigSource): string | undefined {
  return source.kind === "file" ? placeOf(source.path) : undefined;
}

/** Without links. A directory that is gone is given back as it is: trust in it can still be revoked. */
export function realDirectory(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}

function named(path: string, by: string): string {
  if (exists(path)) return path;
  const message = `there is no such file; it was named by ${by}`;
  throw configInvalid([{ file: path, path: "", message }]);
}

/** A file that cannot be looked at counts as existing: reading it will say why it cannot be used. */
function exists(path: string, { isFile = false } = {}): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found !== undefined && (!isFile || found.isFile());
  } catch {
    return true;
  }
}
