// Finds what processes that were killed have left in a state directory: locks, and files that were being written. Such a file is
// beside the one whose place it was to take, under a name that nobody else uses, and nobody reads it any more. Whoever needs
// such a lock takes it anyway; until then it only looks as if something were going on.

import { lstat, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isAbandonedLock } from "./lock.ts";

/** As `writeJsonFile`, `writeText` and records of gateways name them. */
const TEMPORARY = /\.[0-9a-f]{12}\.tmp$/;
/** How deep below the state directory our files are. */
const DEPTH = 2;
/** What is below it was written by others. */
const OTHERS = "bundles";
/** Nothing takes as long to write. */
const OLD_MS = 3_600_000;
/** Bounds the search in a directory that is not only ours. */
const MOST = 1000;

export interface TemporariesOptions {
  /** What is below it is ours, but for what others have put into it. */
  stateDir: string;
  /** Files elsewhere that are replaced: only what was to take the place of one of these is ours there. */
  beside: readonly string[];
  /** Milliseconds since the epoch. */
  now: number;
}

export async function findStaleLocks(stateDir: string): Promise<string[]> {
  const locks = (await filesIn(stateDir, DEPTH)).filter((path) => path.endsWith(".lock"));
  const stale: string[] = [];
  for (const path of locks.slice(0, MOST)) if (await isAbandonedLock(path)) stale.push(path);
  return stale;
}

export async function findStaleTemporaries(options: TemporariesOptions): Promise<string[]> {
  const { stateDir, beside, now } = options;
  const own = filesIn(stateDir, DEPTH, join(stateDir, OTHERS));
  const named = await Promise.all([own, ...beside.map(besideFile)]);
  const candidates = [...new Set(named.flat())].filter((path) => TEMPORARY.test(path));
  const stale = await Promise.all(
    candidates.slice(0, MOST).map(async (path) => ((await isStale(path, now)) ? [path] : [])),
  );
  return stale.flat();
}

/** Removes them. Returns those that are gone now; never rejects. */
export async function removeStaleTemporaries(options: TemporariesOptions): Promise<string[]> {
  const found = await findStaleTemporaries(options);
  const removed = await Promise.all(
    found.map((path) =>
      rm(path).then(
        () => [path],
        () => [],
      ),
    ),
  );
  return removed.flat();
}

async function isStale(path: string, now: number): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFile() !== true) return false;
  const isOwn = process.geteuid === undefined || found.uid === process.geteuid();
  return isOwn && now - found.mtimeMs > OLD_MS;
}

async function filesIn(directory: string, depth: number, except?: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(directory, entry.name);
      if (entry.isFile()) return [path];
      const isSearched = entry.isDirectory() && depth > 0 && path !== except;
      return isSearched ? filesIn(path, depth - 1) : [];
    }),
  );
  return found.flat();
}

async function besideFile(file: string): Promise<string[]> {
  const names = await readdir(dirname(file)).catch(() => []);
  const begins = `${basename(file)}.`;
  return names
    .filter((name) => name.startsWith(begins) && name.length === begins.length + 16)
    .map((name) => join(dirname(file), name));
}
