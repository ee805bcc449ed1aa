// A lock between processes: a file that only one of them can create.

import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { PlugboardError } from "../model/errors.ts";
import { type Clock, pause } from "../util/clock.ts";

/** The holder touches the file this often. A file that is older than `STALE_MS` belongs to a dead process. */
const HEARTBEAT_MS = 2000;
const STALE_MS = 15_000;
const POLL_MS = 50;
const TIMEOUT_MS = 60_000;

const never = new AbortController().signal;

/**
 * Runs `task` while no other process or task holds the lock at `path`. Rejects with TIMEOUT if the lock is not
 * free within `timeoutMs`.
 */
export async function withLock<Result>(
  path: string,
  clock: Clock,
  task: () => Promise<Result>,
  timeoutMs = TIMEOUT_MS,
): Promise<Result> {
  const deadline = clock.monotonic() + timeoutMs;
  let unlock = await tryLock(path);
  while (unlock === undefined) {
    if (clock.monotonic() > deadline) {
      throw new PlugboardError("TIMEOUT", `another process holds the lock ${path}`, {
        hint: "if no other plugboard is running, remove the file",
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

/** Returns the function that releases the lock, or undefined if somebody else holds it. */
export async function tryLock(path: string): Promise<(() => Promise<void>) | undefined> {
  const token = randomBytes(8).toString("hex");
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  if (!(await create(path, token))) {
    const isFree = (await isStale(path)) && (await removeStale(path));
    if (!isFree || !(await create(path, token))) return undefined;
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, HEARTBEAT_MS).unref();
  return async () => {
    clearInterval(heartbeat);
    // If another process took this lock for stale, the file is now its own and must stay.
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
 * True if the lock can be tried again. Only one process at a time removes a stale lock, and it checks once more
 * before: otherwise it could remove the lock that another process has just taken.
 */
async function removeStale(path: string): Promise<boolean> {
  const breaker = `${path}.break`;
  if (!(await create(breaker, ""))) {
    // The process that began to remove the lock may have died.
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
