// Paths that begin with `~`, as people write them.

import { join } from "node:path";

/** Expands a leading `~`; anything else passes unchanged. */
export function expandHome(path: string, homedir: string): string {
  if (path === "~") return homedir;
  return path.startsWith("~/") ? join(homedir, path.slice(2)) : path;
}
