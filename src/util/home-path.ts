// Paths that begin with `~`, as people write them.

import { join } from "node:path";

/** Expands a leading `~`; anything else passes unchanged. */
export function expandHome(
  path: string,
  homedir: string,
  platform: NodeJS.Platform = process.platform,
): string {
  if (path === "~") return homedir;
  const isInside = path.startsWith("~/") || (platform === "win32" && path.startsWith("~\\"));
  return isInside ? join(homedir, path.slice(2)) : path;
}
