// Keeps what is too long for a model in files of one private directory, up to a total size. The directory
// is made when it is first needed and goes away with the board.

import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const MAX_TOTAL_BYTES = 256 * 1024 ** 2;
const LONGEST_STEM = 64;

/** A failure is a value: the call that wanted to save goes on. */
export type Spilled = { kind: "saved"; path: string } | { kind: "failed"; reason: string };

export interface SpillOptions {
  /** When more would be kept, the oldest files go. */
  maxTotalBytes?: number;
  /** Part of a file's name that nobody can guess. */
  randomName?: () => string;
}

interface KeptFile {
  path: string;
  bytes: number;
}

export class SpillDirectory {
  readonly #parent: string;
  readonly #maxTotalBytes: number;
  readonly #randomName: () => string;
  #directory: string | undefined;
  /** Oldest first. */
  readonly #files: KeptFile[] = [];
  #total = 0;
  #removed = false;
  /** One write at a time, so that the total is right. Never rejects. */
  #last: Promise<unknown> = Promise.resolve();

  /** `parent` holds the directory, which gets a name of its own there. */
  constructor(parent: string, options: SpillOptions = {}) {
    this.#parent = parent;
    this.#maxTotalBytes = options.maxTotalBytes ?? MAX_TOTAL_BYTES;
    this.#randomName = options.randomName ?? (() => randomBytes(6).toString("hex"));
  }

  /** Never rejects. `name` is what the file is called after, `extension` has no dot. */
  write(name: string, extension: string, data: string | Uint8Array): Promise<Spilled> {
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    const spilled = this.#last.then(() => this.#write(name, extension, bytes));
    this.#last = spilled;
    return spilled;
  }

  /** Deletes all of it. Idempotent; nothing is written afterwards. Never rejects. */
  async remove(): Promise<void> {
    this.#removed = true;
    await this.#last;
    const directory = this.#directory;
    this.#directory = undefined;
    if (directory !== undefined) await deleted(directory);
  }

  async #write(name: string, extension: string, bytes: Uint8Array): Promise<Spilled> {
    if (this.#removed) return { kind: "failed", reason: "the board is closed" };
    if (bytes.length > this.#maxTotalBytes) {
      return { kind: "failed", reason: "it is larger than all that may be kept" };
    }
    let path: string | undefined;
    try {
      await this.#makeRoom(bytes.length);
      this.#directory ??= await makeDirectory(this.#parent);
      path = join(this.#directory, `${stemOf(name)}-${this.#randomName()}.${extension}`);
      await writeFile(path, bytes, { flag: "wx", mode: 0o600 });
    } catch (error) {
      // Half a file is of no use; one that was there before is not this one's to delete.
      if (path !== undefined && codeOf(error) !== "EEXIST") await deleted(path);
      return { kind: "failed", reason: codeOf(error) };
    }
    this.#files.push({ path, bytes: bytes.length });
    this.#total += bytes.length;
    return { kind: "saved", path };
  }

  async #makeRoom(bytes: number): Promise<void> {
    while (this.#total + bytes > this.#maxTotalBytes) {
      const oldest = this.#files.shift();
      if (oldest === undefined) return;
      this.#total -= oldest.bytes;
      await deleted(oldest.path);
    }
  }
}

/** mkdtemp makes it for the owner alone, under a name that nobody can have taken before. */
async function makeDirectory(parent: string): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  return mkdtemp(join(parent, "results-"));
}

/** What cannot be deleted stays: there is nobody to tell who could do more. */
async function deleted(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => {});
}

function stemOf(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, LONGEST_STEM) || "result";
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
