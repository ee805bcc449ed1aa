// Reads a text file that is about to be edited, and writes it back: as a whole, with its mode, through a symbolic link,
// and only if nobody else has changed it meanwhile.

import { randomBytes } from "node:crypto";
import { type FileHandle, lstat, open, readlink, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { PlugboardError } from "../../types/errors.ts";
import { errorCode, hasErrorCode } from "../../../util/error-code.ts";
import { makeDirectory } from "../../../util/make-directory.ts";
import { replaceFile } from "../../../util/replace-file.ts";
import { reasonOf } from "../../../util/system-problem.ts";
import { shellQuoted } from "../../../util/text.ts";
import { decodeText, readConfigBytes } from "./read.ts";

/** A file as it was when it was read. */
export interface TextFile {
  file: string;
  /** Where it is, behind symbolic links. */
  target: string;
  /** With its byte order mark; undefined where there is no file. */
  text: string | undefined;
}

export interface WriteOptions {
  /** For a file that does not exist yet. By default what the umask leaves. */
  mode?: number;
}

const EVERYONE = 0o666;
const ANY_WRITE = 0o222;

/** Rejects with CONFIG_INVALID for a file that is there and cannot be read. */
export async function readTextFile(file: string): Promise<TextFile> {
  const target = await targetOf(file);
  return { file, target, text: await currentText(target) };
}

/**
 * Rejects with SYSTEM_ERROR, and leaves the file as it was, if it cannot be written or is not what was read. Makes the
 * directories of a new file, but none behind a link to nowhere.
 */
export async function writeTextFile(
  read: TextFile,
  text: string,
  { mode = EVERYONE }: WriteOptions = {},
): Promise<void> {
  const { target } = read;
  try {
    await requireUnchanged(read);
    if (read.text === undefined) {
      await requirePlace(read);
      await makeDirectory(dirname(target));
    }
    const place = read.text === undefined ? { mode, isShared: false } : await placeOf(read);
    await (place.isShared ? overwrite(read, text) : replace(read, text, place.mode));
  } catch (error) {
    throw error instanceof PlugboardError ? error : toRefusal(error, read);
  }
}

/** Rejects with SYSTEM_ERROR for a new file behind a link to nowhere: whoever made the link decides what is behind it. */
export async function requirePlace(read: TextFile): Promise<void> {
  if (read.text !== undefined || !(await leadsNowhere(read))) return;
  const hint = `make the directory ${shellQuoted(dirname(read.target))}, or remove the link`;
  throw refuse(read.file, `is behind a link to ${read.target}, where there is no directory`, hint);
}

/** Where a link leads to, of the file or of a directory above it: the same whether the file is there already or not. */
async function targetOf(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    const parent = dirname(file);
    if (!hasErrorCode(error, "ENOENT") || parent === file) return file;
    const link = await readlink(file).catch(() => undefined);
    if (link !== undefined) return targetOf(resolve(parent, link));
    return join(await targetOf(parent), basename(file));
  }
}

/** Whether a link on the way to it leads to a directory that is not there. */
async function leadsNowhere({ file }: TextFile): Promise<boolean> {
  for (let path = file; ; path = dirname(path)) {
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined && dirname(path) !== path) continue;
    if (found?.isSymbolicLink() !== true) return false;
    // The file itself may be new behind a link, if its directory is there.
    const behind = path === file ? dirname(await targetOf(file)) : path;
    return (await stat(behind).catch(() => undefined)) === undefined;
  }
}

async function currentText(target: string): Promise<string | undefined> {
  try {
    const bytes = await readConfigBytes(target, { mayBePipe: false });
    return decodeText(bytes, target, { ignoreBOM: true });
  } catch (error) {
    if (error instanceof PlugboardError && hasErrorCode(error.cause, "ENOENT")) return undefined;
    throw error;
  }
}

interface Place {
  mode: number;
  /** Another file in its place would have another owner, or leave the other names of this one behind. */
  isShared: boolean;
}

async function placeOf({ file, target }: TextFile): Promise<Place> {
  const { mode, uid, nlink } = await stat(target);
  if ((mode & ANY_WRITE) === 0) {
    throw refuse(file, "is read-only", `to make it writable: chmod u+w ${shellQuoted(target)}`);
  }
  return { mode: mode & 0o7777, isShared: nlink > 1 || (process.getuid?.() ?? uid) !== uid };
}

/** A reader sees the old file or the new one, never a part of one. */
async function replace(read: TextFile, text: string, mode: number): Promise<void> {
  const { target } = read;
  const temporary = `${target}.${randomBytes(6).toString("hex")}.tmp`;
  let handle: FileHandle | undefined;
  try {
    if (read.text !== undefined) await (await open(target, "r+")).close();
    handle = await open(temporary, "wx", mode);
    // The mode of an existing file is kept, whatever the umask says.
    if (read.text !== undefined) await handle.chmod(mode);
    await handle.writeFile(text);
    await handle.sync();
    await handle.close();
    await requireUnchanged(read);
    await replaceFile(temporary, target);
  } catch (error) {
    await handle?.close().catch(() => undefined);
    await rm(temporary, { force: true });
    // A directory that takes no new files, or a file that is mounted by itself.
    if (
      handle === undefined
        ? isForbidden(error) && (await isWritable(target))
        : hasErrorCode(error, "EBUSY")
    ) {
      return overwrite(read, text);
    }
    throw error;
  }
}

async function overwrite(read: TextFile, text: string): Promise<void> {
  await requireUnchanged(read);
  const handle = await open(read.target, "r+");
  try {
    await fill(handle, text);
  } catch (error) {
    // The old text had room on the disk before, so it can be put back.
    await fill(handle, read.text ?? "");
    throw error;
  } finally {
    await handle.close();
  }
}

async function fill(handle: FileHandle, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) {
    at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten;
  }
  await handle.truncate(bytes.length);
  await handle.sync();
}

async function requireUnchanged({ file, target, text }: TextFile): Promise<void> {
  if ((await currentText(target)) === text) return;
  const what = text === undefined ? "has been made meanwhile" : "has changed meanwhile";
  throw refuse(file, `${what}, so it was not written`, "try again");
}

function isForbidden(error: unknown): boolean {
  return hasErrorCode(error, "EACCES", "EPERM", "EROFS");
}

async function isWritable(target: string): Promise<boolean> {
  try {
    await (await open(target, "r+")).close();
    return true;
  } catch {
    return false;
  }
}

function toRefusal(error: unknown, { file, target }: TextFile): PlugboardError {
  switch (errorCode(error)) {
    case "EACCES":
    case "EPERM":
      return refuse(
        file,
        "may not be written",
        `check the owner and the mode of ${target} and of its directory`,
        error,
      );
    case "EROFS":
      return refuse(file, "is on a disk that is read-only", undefined, error);
    case "ENOSPC":
    case "EDQUOT":
      return refuse(file, "was not written, because the disk is full", "free some space", error);
    default:
      return refuse(file, `cannot be written: ${reasonOf(error)}`, undefined, error);
  }
}

function refuse(file: string, message: string, hint?: string, cause?: unknown): PlugboardError {
  return new PlugboardError("SYSTEM_ERROR", `${file} ${message}`, { hint, cause });
}
