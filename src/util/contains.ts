// Whether a path is in a directory. Compares only the paths and does not follow links.

import { isAbsolute, relative, sep } from "node:path";

/** Both paths are absolute. A directory contains itself. */
export function contains(directory: string, path: string): boolean {
  const route = relative(directory, path);
  return route !== ".." && !route.startsWith(`..${sep}`) && !isAbsolute(route);
}
