// Paths in the user's home directory, and where Plugboard keeps its files in it.

import { join, resolve } from "node:path";
import type { Environment } from "../util/environment.ts";

/** Expands a leading `~`; anything else passes unchanged. */
export function expandHome(path: string, homedir: string): string {
  if (path === "~") return homedir;
  return path.startsWith("~/") ? join(homedir, path.slice(2)) : path;
}

/** Where Plugboard keeps its files: `$PLUGBOARD_HOME`, else `~/.plugboard`. */
export function plugboardHome(env: Environment, homedir: string): string {
  const configured = env["PLUGBOARD_HOME"];
  return configured ? resolve(expandHome(configured, homedir)) : join(homedir, ".plugboard");
}
