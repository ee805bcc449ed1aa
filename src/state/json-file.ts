// JSON files that several processes read and write. They are replaced as a whole and readable only by their owner.

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { makeDirectory } from "../util/make-directory.ts";

/** The file's value; `undefined` if it is missing, unreadable, not a regular file, too large or not JSON. */
export async function readJsonFile(path: string, maxBytes: number): Promise<unknown> {
  try {
    // Opening a named pipe would wait for a writer, perhaps forever.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = await file.stat();
      if (!found.isFile() || found.size > maxBytes) return undefined;
      return JSON.parse(await file.readFile("utf8"));
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** A reader sees the old file or the new one, never a part of one. */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  await makeDirectory(dirname(path));
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(JSON.stringify(value));
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
