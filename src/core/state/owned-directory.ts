// Private directories that are named after the process that made them: if that is killed, the next one removes them.

import { lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../../util/make-directory.ts";
import { ownerName, ownerState } from "./process-owner.ts";

/** mkdtemp creates it for this user only, under a new name. The prefix says what it is for. */
export async function makeOwnedDirectory(parent: string, prefix: string): Promise<string> {
  await makeDirectory(parent);
  return mkdtemp(join(parent, `${prefix}${ownerName()}.`));
}

/** Removes the directories of processes that have ended without doing so. Never rejects. */
export async function removeLeftBehind(parent: string, prefix: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const end = name.lastIndexOf(".");
    if (!name.startsWith(prefix) || end === -1) continue;
    const path = join(parent, name);
    const isGone = ownerState(name.slice(prefix.length, end)) === "gone";
    if (isGone && (await isOwn(path))) await tryRemove(path);
  }
}

/**
 * Everybody can make a directory of such a name where all users have their temporary files. Whoever it belongs to could put
 * a link into it while it is being removed, and have somebody else's files removed behind the link.
 */
async function isOwn(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isDirectory() !== true) return false;
  return found.uid === (process.getuid?.() ?? found.uid);
}

/** What cannot be removed stays; there is nobody to report it to. */
export async function tryRemove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => {});
}
