// Which configuration a command uses when it is asked to find one.

import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Environment } from "./environment.ts";
import { plugboardHome } from "./home.ts";
import { configInvalid } from "./report.ts";

export type ConfigSource = (
  | { kind: "file"; path: string; from: "flag" | "environment" | "home" }
  /** There is no file: the servers that come with Plugboard. */
  | { kind: "demo" }
) & {
  /** A file in the working directory that was passed over, since nobody named it. */
  ignored?: string;
};

export interface FindOptions {
  /** The value of `--config`. */
  flag?: string;
  env: Environment;
  cwd: string;
  homedir: string;
}

const FILE_NAME = "plugboard.json";

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
  const home = join(plugboardHome(env, homedir), FILE_NAME);
  // Anyone can put a file into a directory that somebody then works in, and a configuration runs
  // commands: being found there is no permission.
  const local = join(resolve(cwd), FILE_NAME);
  const ignored = local !== home && exists(local) ? { ignored: local } : {};
  if (exists(home)) return { kind: "file", path: home, from: "home", ...ignored };
  return { kind: "demo", ...ignored };
}

function named(path: string, by: string): string {
  if (exists(path)) return path;
  const message = `there is no such file; it was named by ${by}`;
  throw configInvalid([{ file: path, path: "", message }]);
}

/** What cannot be looked at counts as there: reading it will say why it cannot be used. */
function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
