// Reads the zip file that a bundle is, within bounds. A bundle comes from anybody, so everything in it is checked before
// anything is written, and what is written is counted as it comes, whatever the file says about its own sizes.

import { closeSync, openSync, readSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { crc32, inflateRawSync } from "node:zlib";
import yauzl, { type Entry, type ZipFile } from "yauzl";
import { PlugboardError } from "../../core/types/errors.ts";
import { errorMessage } from "../../util/error-message.ts";
import { makeDirectory } from "../../util/make-directory.ts";
import { systemProblem } from "../../util/system-problem.ts";
import { byteSize, oneLine } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";

const MEBIBYTE = 1024 * 1024;

/** A server with all its dependencies has some ten thousand files and a few hundred megabytes. */
const MOST_ENTRIES = 50_000;
/** Those that a path alone leads through count as well: 50 000 paths may lead through a million and a half. */
const MOST_DIRECTORIES = 20_000;
const LARGEST_ENTRY = 512 * MEBIBYTE;
const LARGEST_TOTAL = 2048 * MEBIBYTE;
/** Names, extra fields and comments of all entries are in memory at the same time. */
const LARGEST_DIRECTORY = 16 * MEBIBYTE;
/** Real bundles grow by a factor of 3 to 10. Small ones may hold one file that is mostly zeros. */
const LARGEST_RATIO = 100;
const RATIO_ALLOWANCE = 16 * MEBIBYTE;

/**
 * A bundle has thousands of small files. Handing each to other threads, and setting up streams for it, takes thirty times
 * as long as reading and writing it at once.
 */
const SMALL_FILE = MEBIBYTE;
const FILES_PER_TURN = 32;

const LONGEST_PATH = 1024;
const LONGEST_NAME = 255;
const DEEPEST_PATH = 32;

const LOCAL_HEADER = 0x04034b50;
const LOCAL_HEADER_SIZE = 30;
const STORED = 0;
const DEFLATED = 8;

/** Systems that write Unix modes into a zip file: Unix and macOS. */
const UNIX_SYSTEMS = new Set([3, 19]);
const FILE_TYPE = 0o170000;
const REGULAR_FILE = 0o100000;
const DIRECTORY = 0o040000;
const SYMBOLIC_LINK = 0o120000;

/** The bytes that may still be unpacked. The reader of a stream can be at most one chunk ahead of this count. */
interface Budget {
  left: number;
}

export interface Archive {
  /** The paths of the files in it, with `/` between the names. */
  files: ReadonlySet<string>;
  /** Undefined if there is no such file. Rejects if it is larger than `most`. */
  read: (path: string, most: number) => Promise<Buffer | undefined>;
  /** `executables` are made executable, whatever their modes in the archive. The directory must be empty. */
  unpack: (directory: string, executables: ReadonlySet<string>) => Promise<void>;
  close: () => void;
}

/** `size` is that of the file. Rejects with INVALID_ARGUMENTS for a file that is not a zip file, or breaks a rule. */
export async function openArchive(
  path: string,
  size: number,
  signal: AbortSignal,
): Promise<Archive> {
  const file = openSync(path, "r");
  let zip: ZipFile;
  try {
    // Names stay bytes, so that yauzl leaves the judgement of them to us.
    zip = await yauzl.fromFdPromise(file, { autoClose: false, decodeStrings: false });
  } catch (error) {
    closeSync(file);
    throw asFault(error);
  }
  try {
    const entries = await checkedEntries(zip, allowedTotal(size), signal);
    return new ZipArchive(zip, file, entries, size, signal);
  } catch (error) {
    zip.close();
    throw asFault(error);
  }
}

/** How large everything in it may be together, once it is unpacked. */
function allowedTotal(size: number): number {
  return Math.min(LARGEST_TOTAL, RATIO_ALLOWANCE + LARGEST_RATIO * size);
}

class ZipArchive implements Archive {
  readonly #zip: ZipFile;
  /** The zip file, which `#zip` closes. */
  readonly #file: number;
  readonly #entries: ReadonlyMap<string, Checked>;
  readonly #size: number;
  readonly #signal: AbortSignal;

  constructor(
    zip: ZipFile,
    file: number,
    entries: ReadonlyMap<string, Checked>,
    size: number,
    signal: AbortSignal,
  ) {
    this.#zip = zip;
    this.#file = file;
    this.#entries = entries;
    this.#size = size;
    this.#signal = signal;
  }

  get files(): ReadonlySet<string> {
    const files = [...this.#entries].filter(([, { kind }]) => kind === "file");
    return new Set(files.map(([path]) => path));
  }

  async read(path: string, most: number): Promise<Buffer | undefined> {
    const checked = this.#entries.get(path);
    if (checked?.kind !== "file") return undefined;
    if (checked.entry.uncompressedSize > most) {
      throw fault(`its ${path} is larger than ${byteSize(most)}`);
    }
    const budget = { left: most };
    if (isSmall(checked.entry)) return this.#small(path, checked.entry, budget);
    const chunks: Buffer[] = [];
    for await (const chunk of this.#content(path, checked.entry, budget)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  async unpack(directory: string, executables: ReadonlySet<string>): Promise<void> {
    const budget: Budget = { left: allowedTotal(this.#size) };
    const made = new Set<string>();
    let count = 0;
    const make = async (path: string): Promise<void> => {
      if (made.has(path)) return;
      await makeDirectory(path);
      made.add(path);
    };
    for (const [path, { kind, entry, isExecutable }] of this.#entries) {
      const target = join(directory, path);
      if (kind === "directory") {
        await make(target);
        continue;
      }
      await make(dirname(target));
      const mode = isExecutable || executables.has(path) ? 0o700 : 0o600;
      // Both ways fail if anything is there.
      if (isSmall(entry)) {
        writeFileSync(target, this.#small(path, entry, budget), { flag: "wx", mode });
        count += 1;
        if (count % FILES_PER_TURN === 0) await nextTurn();
        continue;
      }
      const file = await open(target, "wx", mode);
      try {
        for await (const chunk of this.#content(path, entry, budget)) await file.writeFile(chunk);
      } finally {
        await file.close();
      }
    }
  }

  close(): void {
    this.#zip.close();
  }

  /** What a small file holds. */
  #small(path: string, entry: Entry, budget: Budget): Buffer {
    requireRunning(this.#signal);
    const { compressedSize, compressionMethod, uncompressedSize: size } = entry;
    try {
      const packed = this.#bytes(this.#startOf(entry), compressedSize);
      const content =
        compressionMethod === STORED
          ? packed
          : inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
      if (content.length !== size) throw new Error(`it has ${content.length} bytes, not ${size}`);
      budget.left -= size;
      if (budget.left < 0) throw tooLarge(this.#size);
      requireSum(path, crc32(content), entry);
      return content;
    } catch (error) {
      throw asFault(error, path);
    }
  }

  /** Before the content its name stands again, and other fields, which nobody needs. */
  #startOf({ relativeOffsetOfLocalHeader: offset }: Entry): number {
    const header = this.#bytes(offset, LOCAL_HEADER_SIZE);
    if (header.readUInt32LE(0) !== LOCAL_HEADER) throw new Error("its header is not there");
    return offset + LOCAL_HEADER_SIZE + header.readUInt16LE(26) + header.readUInt16LE(28);
  }

  #bytes(start: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    const isInside = start >= 0 && start + length <= this.#size;
    if (!isInside || readSync(this.#file, bytes, 0, length, start) !== length) {
      throw new Error("it goes on beyond the end of the file");
    }
    return bytes;
  }

  /** What the file holds, checked against its checksum once all of it is read. */
  async *#content(path: string, entry: Entry, budget: Budget): AsyncGenerator<Buffer, void> {
    let size = 0;
    let sum = 0;
    try {
      const stream: Readable = await this.#zip.openReadStreamPromise(entry);
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        requireRunning(this.#signal);
        size += chunk.length;
        budget.left -= chunk.length;
        if (size > LARGEST_ENTRY || budget.left < 0) throw tooLarge(this.#size);
        sum = crc32(chunk, sum);
        yield chunk;
      }
    } catch (error) {
      throw asFault(error, path);
    }
    requireSum(path, sum, entry);
  }
}

function isSmall({ compressedSize, uncompressedSize }: Entry): boolean {
  return compressedSize <= SMALL_FILE && uncompressedSize <= SMALL_FILE;
}

function requireSum(path: string, sum: number, entry: Entry): void {
  if (sum !== entry.crc32) throw fault(`${shown(path)} in it is damaged: its checksum is wrong`);
}

interface Checked {
  kind: "file" | "directory";
  entry: Entry;
  isExecutable: boolean;
}

async function checkedEntries(
  zip: ZipFile,
  allowed: number,
  signal: AbortSignal,
): Promise<Map<string, Checked>> {
  if (zip.entryCount > MOST_ENTRIES) {
    throw fault(`it has ${zip.entryCount} entries, and Plugboard unpacks at most ${MOST_ENTRIES}`);
  }
  const found = new Map<string, Checked>();
  const places = new Places();
  let [total, headers] = [0, 0];
  for await (const entry of zip.eachEntry()) {
    requireRunning(signal);
    headers += entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength;
    if (headers > LARGEST_DIRECTORY) {
      throw fault(`its list of files is larger than ${byteSize(LARGEST_DIRECTORY)}`);
    }
    const name = nameOf(entry);
    const problem = nameProblem(name) ?? entryProblem(entry);
    if (problem !== undefined) throw fault(`${shown(name)} in it ${problem}`);
    const isDirectory = name.endsWith("/");
    const path = isDirectory ? name.slice(0, -1) : name;
    const clash = places.take(path, isDirectory ? "directory" : "file");
    if (clash !== undefined) throw fault(`${shown(path)} ${clash}`);
    if (places.directories > MOST_DIRECTORIES) {
      throw fault(`it has more than ${MOST_DIRECTORIES} directories`);
    }
    total += isDirectory ? 0 : entry.uncompressedSize;
    if (entry.uncompressedSize > LARGEST_ENTRY || total > allowed) throw tooLarge(zip.fileSize);
    const mode = modeOf(entry);
    found.set(path, {
      kind: isDirectory ? "directory" : "file",
      entry,
      isExecutable: mode !== undefined && (mode & 0o111) !== 0,
    });
  }
  return found;
}

/** Names that are UTF-8 although nothing says so are common; those of old DOS tools are not. */
function nameOf({ fileNameRaw }: Entry): string {
  return fileNameRaw.toString("utf8");
}

function nameProblem(name: string): string | undefined {
  if (name === "" || Buffer.byteLength(name) > LONGEST_PATH) {
    return `has a name of ${Buffer.byteLength(name)} bytes; expected 1 to ${LONGEST_PATH}`;
  }
  if (name.includes("\uFFFD")) return "has a name that is not UTF-8";
  if (/\p{Cc}/u.test(name)) return "has a control character in its name";
  if (name.includes("\\")) return "has a backslash in its name";
  if (name.startsWith("/") || /^[A-Za-z]:/.test(name)) return "has an absolute path";
  const names = (name.endsWith("/") ? name.slice(0, -1) : name).split("/");
  if (names.includes("..")) return 'has ".." in its path, which leads out of the bundle';
  if (names.some((each) => each === "" || each === ".")) return "has an empty name in its path";
  if (names.length > DEEPEST_PATH) return `is more than ${DEEPEST_PATH} directories deep`;
  if (names.some((each) => Buffer.byteLength(each) > LONGEST_NAME)) {
    return `has a name of more than ${LONGEST_NAME} bytes in its path`;
  }
  // Windows takes these for other files, devices and streams. A bundle is for everybody.
  if (names.some((each) => /[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|:/i.test(each))) {
    return "has a name that means something else on Windows";
  }
  return undefined;
}

function entryProblem(entry: Entry): string | undefined {
  if (entry.isEncrypted()) return "is encrypted, and Plugboard has no password for it";
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED) {
    return `is compressed by a method (${entry.compressionMethod}) that Plugboard does not know`;
  }
  const mode = modeOf(entry);
  const type = mode === undefined ? 0 : mode & FILE_TYPE;
  if (type === SYMBOLIC_LINK) return "is a symbolic link, which may lead out of the bundle";
  if (![0, REGULAR_FILE, DIRECTORY].includes(type)) return "is neither a file nor a directory";
  const isDirectory = entry.fileNameRaw.at(-1) === "/".charCodeAt(0);
  if (type !== 0 && isDirectory !== (type === DIRECTORY)) {
    return "is a directory by its name or by its mode, but not by both";
  }
  return undefined;
}

/** Undefined where it was made on a system without them. */
function modeOf({ versionMadeBy, externalFileAttributes }: Entry): number | undefined {
  return UNIX_SYSTEMS.has(versionMadeBy >>> 8) ? externalFileAttributes >>> 16 : undefined;
}

/** Which paths are taken. Some disks do not tell upper and lower case apart, or two ways to write an accent. */
class Places {
  readonly #own = new Set<string>();
  readonly #files = new Set<string>();
  readonly #directories = new Set<string>();

  get directories(): number {
    return this.#directories.size;
  }

  /** Takes the path. Returns a sentence instead if the path cannot be used. */
  take(path: string, kind: "file" | "directory"): string | undefined {
    const folded = path.normalize("NFC").toUpperCase().toLowerCase();
    if (this.#own.has(folded)) return "is in it twice, or in two spellings that are one file";
    this.#own.add(folded);
    for (let end = folded.indexOf("/"); end !== -1; end = folded.indexOf("/", end + 1)) {
      const parent = folded.slice(0, end);
      if (this.#files.has(parent)) return "lies in a directory that is also a file in it";
      this.#directories.add(parent);
    }
    if (kind === "directory") this.#directories.add(folded);
    else if (this.#directories.has(folded)) return "is a file and also a directory in it";
    else this.#files.add(folded);
    return undefined;
  }
}

function tooLarge(size: number): PlugboardError {
  return fault(
    `it is too large unpacked: a file of ${byteSize(size)} may grow to ${byteSize(allowedTotal(size))}, and each file in it to ${byteSize(LARGEST_ENTRY)}`,
  );
}

export function fault(message: string, cause?: unknown): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", message, { cause, permanent: true });
}

/** What yauzl and zlib complain about is the file. */
function asFault(error: unknown, path?: string): unknown {
  if (error instanceof PlugboardError || systemProblem(error) !== undefined) return error;
  const what =
    path === undefined ? "it cannot be read as a zip file" : `${shown(path)} in it is damaged`;
  return fault(`${what}: ${oneLine(errorMessage(error), 200)}`, error);
}

/** Throws CANCELLED. */
export function requireRunning({ aborted }: AbortSignal): void {
  if (aborted) throw new PlugboardError("CANCELLED", "the bundle was cancelled");
}

export function shown(name: string): string {
  return `'${oneLine(visible(name), 120)}'`;
}
