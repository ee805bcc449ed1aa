// The file that an audit is appended to, by several processes at once. It is opened once, and again after it
// was renamed or removed. A full file is rotated: renamed, and the oldest one is deleted.

import { fstatSync, readSync, type Stats, writeSync } from "node:fs";
import { type FileHandle, lstat, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { PlugboardError } from "../../types/errors.ts";
import type { AuditSink, AuditTrail } from "../../types/shared-state.ts";
import { type Clock, systemClock } from "../../../util/clock.ts";
import { hasErrorCode } from "../../../util/error-code.ts";
import { makeDirectory } from "../../../util/make-directory.ts";
import { replaceFile } from "../../../util/replace-file.ts";
import { tryLock } from "../lock.ts";
import { readAudit, rotatedFiles } from "./read-audit.ts";

const MAX_BYTES = 10 * 1024 * 1024;

export interface AuditFileOptions {
  /** The file is rotated before it grows beyond this. */
  maxBytes?: number;
  clock?: Clock;
}

/** The audit in a file and those it was rotated to. */
export function auditIn(file: string, options: AuditFileOptions = {}): AuditTrail {
  const { maxBytes = MAX_BYTES, clock = systemClock } = options;
  return {
    where: file,
    open: (onRotateFailed) => new AuditFile({ path: file, maxBytes, onRotateFailed }),
    read: (given) => readAudit(file, clock, given),
    async obstacle() {
      if (!(await lstat(file).catch(() => undefined))?.isSymbolicLink()) return undefined;
      return {
        message: `${file} is a symbolic link, so new calls are not recorded in it`,
        hint: "remove the link, or name the file that it leads to in audit.file",
      };
    },
  };
}

interface OpenAuditFileOptions {
  path: string;
  maxBytes: number;
  /** The file then keeps growing. */
  onRotateFailed: (error: unknown) => void;
}

/** Reading it too, to see how it ends. */
const APPEND = "a+";
const NEWLINE = Buffer.from("\n");

interface OpenFile {
  handle: FileHandle;
  fd: number;
  inode: number;
  /** It ends in the middle of a line: a process was killed, or the disk was full. */
  isTorn: boolean;
}

class AuditFile implements AuditSink {
  readonly #options: OpenAuditFileOptions;
  #open: OpenFile | undefined;
  /** The last append may have ended in the middle of a line. */
  #isTorn = false;

  constructor(options: OpenAuditFileOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Takes whole lines. Rejects if not all of them could be written. */
  async append(lines: Buffer): Promise<void> {
    try {
      const { handle } = await this.#current(lines.length);
      await handle.writeFile(this.#isTorn ? Buffer.concat([NEWLINE, lines]) : lines);
      this.#isTorn = false;
    } catch (error) {
      this.#isTorn = true;
      await this.close();
      throw error;
    }
  }

  /**
   * Appends the first `length` bytes to the file that is open, and blocks until it is done. The file may have been renamed since: the next
   * `append` notices that, and whoever reads the audit reads the renamed file too.
   */
  appendNow(bytes: Buffer, length: number): undefined {
    const file = this.#open?.fd;
    if (file === undefined) throw new Error("the audit is not open");
    try {
      if (this.#isTorn) writeNow(file, NEWLINE, NEWLINE.length);
      writeNow(file, bytes, length);
      this.#isTorn = false;
    } catch (error) {
      this.#isTorn = true;
      throw error;
    }
  }

  async close(): Promise<void> {
    const handle = this.#open?.handle;
    this.#open = undefined;
    await handle?.close().catch(() => {});
  }

  async #current(size: number): Promise<OpenFile> {
    const { path, maxBytes } = this.#options;
    const there = await look(path);
    const isFull = there !== undefined && there.size > 0 && there.size + size > maxBytes;
    const isRotated = isFull && (await this.#rotate(there.ino));
    if (this.#open !== undefined && !isRotated && there?.ino === this.#open.inode) {
      return this.#open;
    }
    await this.close();
    this.#open = await openFile(path);
    this.#isTorn ||= this.#open.isTorn;
    return this.#open;
  }

  /** Rotates only the file that was found full: another process may have rotated it by now. */
  async #rotate(inode: number): Promise<boolean> {
    const { path, onRotateFailed } = this.#options;
    try {
      const unlock = await tryLock(`${path}.lock`);
      if (unlock === undefined) return false;
      try {
        if ((await look(path))?.ino === inode) await rotate(path);
        return true;
      } finally {
        await unlock();
      }
    } catch (error) {
      onRotateFailed(error);
      return false;
    }
  }
}

async function openFile(path: string): Promise<OpenFile> {
  await makeDirectory(dirname(path));
  const handle = await open(path, APPEND, 0o600);
  try {
    const { fd } = handle;
    return { handle, fd, inode: (await handle.stat()).ino, isTorn: !endsInLine(fd) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A line that was appended to half of another one would be lost with it. */
function endsInLine(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  return readSync(file, last, 0, 1, size - 1) === 1 && last.equals(NEWLINE);
}

function writeNow(file: number, bytes: Buffer, length: number): void {
  for (let at = 0; at < length;) at += writeSync(file, bytes, at, length - at);
}

async function look(path: string): Promise<Stats | undefined> {
  let found: Stats;
  try {
    found = await lstat(path);
  } catch {
    return undefined;
  }
  // Opening a named pipe would wait for a reader, perhaps forever; a link could lead to a file of somebody else.
  if (found.isFile()) return found;
  const kind = found.isSymbolicLink() ? "a symbolic link" : "not a regular file";
  const message = `${path} is ${kind}; remove it, or name another file in audit.file`;
  throw new PlugboardError("CONFIG_INVALID", message);
}

async function rotate(file: string): Promise<void> {
  const files = [file, ...rotatedFiles(file)];
  const oldest = files.pop();
  if (oldest !== undefined) await rm(oldest, { force: true });
  let to = oldest;
  for (const from of files.reverse()) {
    if (to !== undefined) await renameIfThere(from, to);
    to = from;
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await replaceFile(from, to);
  } catch (error) {
    if (!hasErrorCode(error, "ENOENT")) throw error;
  }
}
