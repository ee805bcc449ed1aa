// The file an audit is appended to, by several processes if need be: opened once, and again when somebody
// has renamed or removed it.

import type { Stats } from "node:fs";
import { type FileHandle, mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { PlugboardError } from "../../model/errors.ts";
import type { Clock } from "../../util/clock.ts";
import { tryLock } from "../../state/lock.ts";
import { rotate } from "./rotation.ts";

export interface AuditFileOptions {
  path: string;
  clock: Clock;
  /** A file that would grow beyond it is put aside. */
  maxBytes: number;
  /** It goes on growing then. */
  onRotateFailed: (error: unknown) => void;
}

const NEWLINE = Buffer.from("\n");

interface OpenFile {
  handle: FileHandle;
  inode: number;
}

export class AuditFile {
  readonly #options: AuditFileOptions;
  #open: OpenFile | undefined;
  /** The last append may have ended in the middle of a line. */
  #isTorn = false;

  constructor(options: AuditFileOptions) {
    this.#options = options;
  }

  /** Whole lines. Rejects where they could not be written, all or some. */
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
    return this.#open;
  }

  /** Only the file that was found full: another process may have put it aside by now. */
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
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, "a", 0o600);
  try {
    return { handle, inode: (await handle.stat()).ino };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function look(path: string): Promise<Stats | undefined> {
  let found: Stats;
  try {
    found = await stat(path);
  } catch {
    return undefined;
  }
  // Opening a pipe would wait for its reader, perhaps for ever.
  if (found.isFile()) return found;
  throw new PlugboardError("CONFIG_INVALID", `${path} is not a regular file`);
}
