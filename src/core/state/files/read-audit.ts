// Reads an audit, its oldest file first, and can follow it: then it goes on with what is written later. Of the lines
// that are there already, one about a call that started is left out if there is one about its end.

import { type FileHandle, stat } from "node:fs/promises";
import { extname } from "node:path";
import type { AuditLine } from "../../types/audit-entry.ts";
import { PlugboardError } from "../../types/errors.ts";
import type { ReadAuditOptions } from "../../types/shared-state.ts";
import { type Clock, pause } from "../../../util/clock.ts";
import { hasErrorCode } from "../../../util/error-code.ts";
import { openRegularFile } from "../../../util/regular-file.ts";
import { LineCutter } from "../../../util/line-reader.ts";
import { lastLines, LONGEST_AUDIT_LINE, parseAuditLine } from "../audit-lines.ts";

/** Rotated files that are kept. */
const KEEP = 5;
const POLL_MS = 200;
const CHUNK = 64 * 1024;

/** A call that starts while the audit is followed is given twice: when it starts and when it ends. Rejects if a file cannot be read. */
export async function* readAudit(
  file: string,
  clock: Clock,
  options: ReadAuditOptions,
): AsyncGenerator<AuditLine> {
  const { follow = false, last = Infinity, signal = new AbortController().signal } = options;
  // The oldest first, the current one last. A renamed file stays open until no process writes to it any more.
  let tails: Tail[] = [];
  try {
    tails = await openNew(file, tails);
    yield* lastLines(read(tails, options), last);
    if (!follow) {
      // Lines are written whole, so half a line at the end is what a full disk or a crash has left.
      for (const tail of tails) if (tail.hasRest) options.onDamage?.();
      return;
    }
    while (!signal.aborted) {
      await pause(clock, POLL_MS, signal);
      const isRotated = tails.length === 0 || (await inodeOf(file)) !== tails.at(-1)?.inode;
      yield* read(tails, options);
      // A process that had not noticed the rotation may have written to the renamed file until now.
      for (const done of tails.splice(0, tails.length - 1)) await done.close();
      if (!isRotated) continue;
      const fresh = await openNew(file, tails);
      tails = [...tails, ...fresh];
      yield* read(fresh, options);
    }
  } finally {
    for (const tail of tails) await tail.close();
  }
}

async function* read(
  tails: readonly Tail[],
  { filter = () => true, signal, onDamage = () => {} }: ReadAuditOptions,
): AsyncGenerator<AuditLine> {
  for (const tail of tails) {
    for await (const text of tail.lines()) {
      if (signal?.aborted) return;
      // An empty line follows half a line, which counts already.
      if (text === "") continue;
      const line = text === undefined ? undefined : parseAuditLine(text);
      if (line === undefined) onDamage();
      else if (filter(line)) yield line;
    }
  }
}

/**
 * Opens files from the newest back to one that is open already. If they are rotated meanwhile, this order can
 * make a file appear twice, which its inode shows, but never hides one.
 */
async function openNew(file: string, known: readonly Tail[]): Promise<Tail[]> {
  const found: Tail[] = [];
  for (const path of [file, ...rotatedFiles(file)]) {
    const tail = await Tail.open(path);
    if (tail === undefined) continue;
    const isKnown = known.some(({ inode }) => inode === tail.inode);
    const isTwice = found.some(({ inode }) => inode === tail.inode);
    if (isKnown || isTwice) await tail.close();
    else found.unshift(tail);
    if (isKnown) break;
  }
  return found;
}

/** `audit.1.jsonl` … for `audit.jsonl`, the newest first. */
export function rotatedFiles(file: string): string[] {
  const extension = extname(file);
  const stem = file.slice(0, file.length - extension.length);
  return Array.from({ length: KEEP }, (_, at) => `${stem}.${at + 1}${extension}`);
}

async function inodeOf(file: string): Promise<number | undefined> {
  return stat(file).then(
    ({ ino }) => ino,
    () => undefined,
  );
}

/** One file, read line by line to its end, and later from there on if it has grown. */
class Tail {
  readonly inode: number;
  readonly #handle: FileHandle;
  readonly #chunk = Buffer.allocUnsafe(CHUNK);
  #position = 0;
  readonly #cutter = new LineCutter({ maxBytes: LONGEST_AUDIT_LINE, areChunksBorrowed: true });

  private constructor(handle: FileHandle, inode: number) {
    this.#handle = handle;
    this.inode = inode;
  }

  /** Undefined if there is no such file. */
  static async open(path: string): Promise<Tail | undefined> {
    let handle: FileHandle;
    try {
      if (!(await stat(path)).isFile()) {
        throw new PlugboardError("CONFIG_INVALID", `${path} is not a regular file`, {
          hint: "no calls can be recorded there: remove it, or name another file in audit.file",
        });
      }
      handle = await openRegularFile(path);
    } catch (error) {
      if (hasErrorCode(error, "ENOENT")) return undefined;
      throw error;
    }
    return new Tail(handle, (await handle.stat()).ino);
  }

  /** Complete lines, undefined for one that is too long. The beginning of an incomplete one is kept for the next time. */
  async *lines(): AsyncGenerator<string | undefined> {
    // The file was truncated: everything in it now is new.
    if ((await this.#handle.stat()).size < this.#position) {
      this.#position = 0;
      this.#cutter.drop();
    }
    for (;;) {
      const { bytesRead } = await this.#handle.read(this.#chunk, 0, CHUNK, this.#position);
      if (bytesRead === 0) return;
      this.#position += bytesRead;
      for (const line of this.#cutter.push(this.#chunk.subarray(0, bytesRead))) {
        yield line.kind === "line" ? line.bytes.toString("utf8") : undefined;
      }
    }
  }

  /** It ends in the middle of a line. */
  get hasRest(): boolean {
    return this.#cutter.isInLine;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
