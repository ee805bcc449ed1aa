// Where the lines of an audit go first: files on this machine, which are written like those of an audit without engines. A
// line's id is made of its time and its place there, so that PostgreSQL stores it once, even if it is sent twice.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, lstat, readdir, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { AuditSink } from "../../types/shared-state.ts";
import { auditIn } from "../files/audit-file.ts";
import { hasErrorCode } from "../../../util/error-code.ts";
import { openRegularFile } from "../../../util/regular-file.ts";
import { reasonOf } from "../../../util/system-problem.ts";
import { ownerName, ownerState } from "../process-owner.ts";
import { LONGEST_AUDIT_LINE } from "../audit-lines.ts";

/** A file that is this long is not written to any more. */
const FULL = 4 * 1024 * 1024;
const CHUNK = 2 * LONGEST_AUDIT_LINE;
const SUFFIX = ".jsonl";
/** When a process that cannot be looked up from here has written nothing for this long, it is gone. */
const SURELY_GONE_MS = 60 * 60_000;
const MOST_FILES = 64;
const NEWLINE = 0x0a;
const TIME = /"time":"([^"]+)"/;

export interface SpooledLine {
  /** A UUID of version 7: those of later lines are greater. */
  id: string;
  line: string;
}

/** One file. Lines are taken from its beginning. */
export class SpoolFile {
  readonly path: string;
  /** The part of the file's name in the id of each line: 42 bits of a hash. */
  readonly #nameHigh: number;
  readonly #nameLow: string;
  #position = 0;
  /** Of the last line, with its hexadecimal digits: lines that follow each other are often of the same millisecond. */
  #time = { text: "", digits: hex(0, 12) };
  /** Somebody may still write to it. */
  isOpen: boolean;

  constructor(directory: string, name: string, isOpen: boolean) {
    this.path = join(directory, name);
    const hash = createHash("sha256").update(name).digest();
    this.#nameHigh = hash.readUInt16BE(0) >>> 6;
    this.#nameLow = hex((hash.readUIntBE(1, 5) / 64) >>> 0, 8);
    this.isOpen = isOpen;
  }

  /** The next whole lines, what says that they are safe elsewhere, and whether there may be more after them. */
  async next(most: number): Promise<{ lines: SpooledLine[]; isMore: boolean; done: () => void }> {
    const bytes = await this.#read();
    const lines: SpooledLine[] = [];
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0 && lines.length < most;) {
      // A disk that failed may have left zeros, which PostgreSQL does not take.
      const line = bytes.toString("utf8", from, end).replaceAll("\0", "");
      if (line !== "") lines.push({ id: this.#idOf(line, this.#position + from), line });
      from = end + 1;
      end = bytes.indexOf(NEWLINE, from);
    }
    // No line is this long: it is damaged, and what follows it is not.
    if (from === 0 && bytes.length === CHUNK) from = CHUNK;
    const position = this.#position + from;
    return {
      lines,
      // As many lines as were wanted, or as many as there was room for: long ones are fewer.
      isMore: lines.length === most || bytes.length === CHUNK,
      done: () => {
        this.#position = position;
      },
    };
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }

  async #read(): Promise<Buffer> {
    // A link would have lines of another file sent; a pipe would never end.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);
    const file = await openRegularFile(this.path, flags).catch(() => undefined);
    if (file === undefined) return Buffer.alloc(0);
    try {
      const { size } = await file.stat();
      const length = Math.max(0, Math.min(CHUNK, size - this.#position));
      const { buffer, bytesRead } = await file.read(
        Buffer.allocUnsafe(length),
        0,
        length,
        this.#position,
      );
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /** The time of the line, its place, and a part of the file's name. Every line that is sent pays for this. */
  #idOf(line: string, offset: number): string {
    const [, text = ""] = TIME.exec(line) ?? [];
    if (text !== this.#time.text) this.#time = { text, digits: timeDigits(text) };
    const { digits } = this.#time;
    const place = hex((((2 << 20) | (offset & 0xf_ffff)) << 10) | this.#nameHigh, 8);
    const start = `${digits.slice(0, 8)}-${digits.slice(8)}-7${hex(offset >>> 20, 3)}`;
    return `${start}-${place.slice(0, 4)}-${place.slice(4)}${this.#nameLow}`;
  }
}

function timeDigits(text: string): string {
  // A line that was damaged may tell of a year that has no room in an id.
  return hex(Math.min(Math.max(0, Date.parse(text) || 0), 2 ** 48 - 1), 12);
}

/** The last bits of a number, as so many digits. */
function hex(number: number, digits: number): string {
  return (number < 0 ? number >>> 0 : number).toString(16).padStart(digits, "0");
}

export interface SpoolOptions {
  directory: string;
  random: (bytes: number) => Buffer;
  now: () => number;
}

/** The files of this process, and those that others have left. */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #own = new Set<SpoolFile>();
  #failure: string | undefined;

  constructor(options: SpoolOptions) {
    this.#options = options;
  }

  /** `onAppended` is called after every write; `onCrowded` when many files wait. */
  sink(onAppended: () => void, onCrowded: (error: unknown) => void): AuditSink {
    const onWritten = (error?: unknown): void => {
      this.#failure = error === undefined ? undefined : reasonOf(error);
      if (error === undefined) onAppended();
    };
    return new SpoolSink(() => {
      if (this.#own.size > MOST_FILES) {
        onCrowded(new Error(`PostgreSQL has not taken the last ${this.#own.size} files`));
      }
      const id = this.#options.random(8).toString("hex");
      const file = new SpoolFile(this.#options.directory, `${ownerName()}.${id}${SUFFIX}`, true);
      this.#own.add(file);
      return file;
    }, onWritten);
  }

  /** Why lines could not be written here the last time. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Why none could be written, if that shows before somebody tries. */
  async obstacle(): Promise<string | undefined> {
    const { directory } = this.#options;
    try {
      // The dot has a file in place of the directory refused.
      await access(`${directory}/.`, constants.W_OK);
      const { bavail, blocks } = await statfs(directory);
      return blocks > 0 && bavail === 0 ? `the disk of ${directory} is full` : undefined;
    } catch (error) {
      // It is made with the first line.
      return hasErrorCode(error, "ENOENT") ? undefined : reasonOf(error);
    }
  }

  get own(): readonly SpoolFile[] {
    return [...this.#own];
  }

  async remove(file: SpoolFile): Promise<void> {
    await file.remove();
    this.#own.delete(file);
  }

  /** Files of processes that have ended, or may have. */
  async left(): Promise<SpoolFile[]> {
    const { directory, now } = this.#options;
    const names = await readdir(directory).catch(() => []);
    const left = await Promise.all(
      names.map(async (name): Promise<SpoolFile[]> => {
        const state = ownerState(name.split(".")[0] ?? "");
        if (!name.endsWith(SUFFIX) || state === "running") return [];
        const found = await lstat(join(directory, name)).catch(() => undefined);
        if (found?.isFile() !== true) return [];
        const isOpen = state === "unknown" && now() - found.mtimeMs < SURELY_GONE_MS;
        return [new SpoolFile(directory, name, isOpen)];
      }),
    );
    return left.flat();
  }
}

/** Goes on in a new file when one is full. */
class SpoolSink implements AuditSink {
  readonly #newFile: () => SpoolFile;
  /** With an error if that has failed. */
  readonly #onWritten: (error?: unknown) => void;
  #current: { file: SpoolFile; sink: AuditSink; size: number } | undefined;

  constructor(newFile: () => SpoolFile, onWritten: (error?: unknown) => void) {
    this.#newFile = newFile;
    this.#onWritten = onWritten;
  }

  get isOpen(): boolean {
    return this.#current?.sink.isOpen ?? false;
  }

  async append(lines: Buffer): Promise<void> {
    if ((this.#current?.size ?? 0) >= FULL) await this.close();
    if (this.#current === undefined) {
      const file = this.#newFile();
      const sink = auditIn(file.path, { maxBytes: Infinity }).open(() => {});
      this.#current = { file, sink, size: 0 };
    }
    this.#current.size += lines.length;
    await this.#current.sink.append(lines).catch((error: unknown) => {
      this.#onWritten(error);
      throw error;
    });
    this.#onWritten();
  }

  appendNow(bytes: Buffer, length: number): undefined | Promise<void> {
    if (this.#current === undefined) throw new Error("the audit is not open");
    this.#current.size += length;
    const writing = this.#current.sink.appendNow(bytes, length);
    this.#onWritten();
    return writing;
  }

  async close(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.sink.close();
    if (current !== undefined) current.file.isOpen = false;
    this.#onWritten();
  }
}
