// Finds the locks in a state directory whose holders were killed. Whoever needs such a lock takes it anyway; until then it
// only looks as if something were going on.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isAbandonedLock } from "./lock.ts";

/** How deep below the state directory locks are. */
const DEPTH = 2;
/** Bounds the search in a directory that is not only ours. */
const MOST_LOCKS = 1000;

export async function findStaleLocks(stateDir: string): Promise<string[]> {
  const stale: string[] = [];
  const locks = await locksIn(stateDir, DEPTH);
  for (const path of locks.slice(0, MOST_LOCKS)) if (await isAbandonedLock(path)) stale.push(path);
  return stale;
}

async function locksIn(directory: string, depth: number): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(directory, entry.name);
      if (entry.isFile()) return entry.name.endsWith(".lock") ? [path] : [];
      return entry.isDirectory() && depth > 0 ? locksIn(path, depth - 1) : [];
    }),
  );
  return found.flat();
}
