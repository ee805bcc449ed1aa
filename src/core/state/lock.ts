// A lock between processes: a file that only one of them can create, with the holder's name in it. The holder is
// looked up. The clock decides only about holders that cannot be looked up, such as those on another machine.

import { randomBytes } from "node:crypto";
import { lstat, rm, utimes } from "node:fs/promises";
import { PlugboardError } from "../types/errors.ts";
import { type Clock, pause } from "../../util/clock.ts";
import { hasErrorCode } from "../../util/error-code.ts";
import { createFile, removeFile } from "../../util/own-file.ts";
import { readRegularFile } from "../../util/regular-file.ts";
import { ownerName, ownerState } from "./process-owner.ts";

interface Holder {
  token: string;
  /** The process, as process-owner.ts names it. */
  owner: string;
}

/** The holder touches the file this often, for processes that cannot look it up. */
const HEARTBEAT_MS = 2000;
const STALE_MS = 15_000;
const POLL_MS = 50;
const TIMEOUT_MS = 60_000;

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
    await pause(clock, POLL_MS);
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
  if (!(await create(path, token))) {
    const isFree = (await isStaleLock(path)) && (await removeStaleLock(path));
    if (!isFree || !(await create(path, token))) return undefined;
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, HEARTBEAT_MS).unref();
  return async () => {
    clearInterval(heartbeat);
    // If another process took this lock for stale, the file is now its own and must stay.
    if ((await readHolder(path))?.token === token) await removeFile(path);
  };
}

async function create(path: string, token: string): Promise<boolean> {
  const file = await createFile(path).catch((error: unknown) => {
    if (hasErrorCode(error, "EEXIST")) return undefined;
    throw error;
  });
  if (file === undefined) return false;
  const holder: Holder = { token, owner: ownerName() };
  try {
    await file.writeFile(JSON.stringify(holder));
  } catch (error) {
    // On a full disk an empty lock would outlive everybody.
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return true;
}

/** Whether its holder has ended without removing it. */
async function isStaleLock(path: string): Promise<boolean> {
  try {
    const holder = await readHolder(path);
    const state = ownerState(holder?.owner ?? "");
    if (state !== "unknown") return state === "gone";
    // A clock that was set back leaves files from the future; those are not touched any more either.
    return Math.abs(Date.now() - (await lstat(path)).mtimeMs) > STALE_MS;
  } catch {
    return false;
  }
}

/**
 * Whether it is certain that it is a lock of ours whose holder has ended. A file that only has such a name, as those of
 * package managers do, is not.
 */
export async function isAbandonedLock(path: string): Promise<boolean> {
  const holder = await readHolder(path);
  return typeof holder?.owner === "string" && ownerState(holder.owner) === "gone";
}

/**
 * True if the lock can be tried again. Only one process at a time removes a stale lock, and it checks once more
 * before: otherwise it could remove the lock that another process has just taken.
 */
export async function removeStaleLock(path: string): Promise<boolean> {
  const breaker = `${path}.break`;
  if (!(await create(breaker, ""))) {
    // The process that began to remove the lock may have died.
    if (await isStaleLock(breaker)) await rm(breaker, { force: true });
    return false;
  }
  try {
    if (await isStaleLock(path)) await rm(path, { force: true });
    return true;
  } finally {
    await rm(breaker, { force: true });
  }
}

/** Undefined while its creator has not written it yet, and for a file of something else. */
async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const { token, owner } = JSON.parse(await readRegularFile(path));
    return { token, owner };
  } catch {
    return undefined;
  }
}
