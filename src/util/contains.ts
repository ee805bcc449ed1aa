// Whether a path is in a directory, by the paths alone: links are not followed.

import { isAbsolute, relative, sep } from "node:path";

/** Both are absolute. The directory itself is in it. */
export function contains(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
