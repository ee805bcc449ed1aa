// Lets one process at a time do something that several may want to: a file that only one can create.

import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { PlugboardError } from "../model/errors.ts";
import { type Clock, pause } from "../util/clock.ts";

/** Whoever holds the lock says so this often; without a word for longer it counts as dead. */
const BEAT_MS = 2000;
const STALE_MS = 15_000;
const POLL_MS = 50;
const PATIENCE_MS = 60_000;

const never = new AbortController().signal;

/**
 * Runs `task` while no other process or task holds the lock at `path`. Rejects with TIMEOUT where it is
 * not to be had within `patienceMs`.
 */
export async function withLock<Result>(
  path: string,
  clock: Clock,
  task: () => Promise<Result>,
  patienceMs = PATIENCE_MS,
): Promise<Result> {
  const deadline = clock.monotonic() + patienceMs;
  let unlock = await tryLock(path);
  while (unlock === undefined) {
    if (clock.monotonic() > deadline) {
      throw new PlugboardError("TIMEOUT", `another process keeps the lock ${path}`, {
        hint: "if no other plugboard runs, remove the file",
      });
    }
    await pause(clock, POLL_MS, never);
    unlock = await tryLock(path);
  }
  try {
    return await task();
  } finally {
    await unlock();
  }
}

/** What takes the lock off again, or undefined where somebody else holds it. */
export async function tryLock(path: string): Promise<(() => Promise<void>) | undefined> {
  const token = randomBytes(8).toString("hex");
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  if (!(await create(path, token))) {
    const isFree = (await isStale(path)) && (await breakOpen(path));
    if (!isFree || !(await create(path, token))) return undefined;
  }
  const beat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, BEAT_MS).unref();
  return async () => {
    clearInterval(beat);
    // Another may have broken a lock that was held too quietly: theirs is not ours to remove.
    if ((await holder(path)) === token) await rm(path, { force: true });
  };
}

async function create(path: string, token: string): Promise<boolean> {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(token);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > STALE_MS;
  } catch {
    return false;
  }
}

/**
 * True when the lock is free to be tried for again. Only one breaks at a time and looks once more before:
 * the lock that another has taken since must not go with the old one.
 */
async function breakOpen(path: string): Promise<boolean> {
  const breaker = `${path}.break`;
  if (!(await create(breaker, ""))) {
    // Whoever began this may have died of it.
    if (await isStale(breaker)) await rm(breaker, { force: true });
    return false;
  }
  try {
    if (await isStale(path)) await rm(path, { force: true });
    return true;
  } finally {
    await rm(breaker, { force: true });
  }
}

async function holder(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return undefined;
  }
}
