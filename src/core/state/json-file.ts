// JSON files that several processes read and write. They are replaced as a whole and readable only by their owner.

import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fstatSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { jsonOfAnyDepth } from "../../util/canonical-json.ts";
import { createFile } from "../../util/own-file.ts";
import { openRegularFile, openRegularFileNow } from "../../util/regular-file.ts";
import { replaceFile } from "../../util/replace-file.ts";

/** The file's value; `undefined` if it is missing, unreadable, not a regular file, too large or not JSON. */
export async function readJsonFile(path: string, maxBytes: number): Promise<unknown> {
  // Most servers have no file of most kinds, and an attempt to open one costs many times as much as this.
  if (!existsSync(path)) return undefined;
  try {
    const file = await openRegularFile(path);
    try {
      if ((await file.stat()).size > maxBytes) return undefined;
      return JSON.parse(await file.readFile("utf8"));
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** As `readJsonFile`, for a small file that a command waits for before it does anything else. */
export function readJsonFileNow(path: string, maxBytes: number): unknown {
  try {
    const file = openRegularFileNow(path);
    try {
      if (fstatSync(file).size > maxBytes) return undefined;
      return JSON.parse(readFileSync(file, "utf8"));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** A reader sees the old file or the new one, never a part of one. */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const file = await createFile(temporary);
    try {
      await file.writeFile(jsonOfAnyDepth(value));
    } finally {
      await file.close();
    }
    await replaceFile(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
