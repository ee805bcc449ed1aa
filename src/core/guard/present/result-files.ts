// Saves what is too large for a model to files in one private directory, up to a total size, tells the model
// where, and reads parts of them again. The directory is created when it is first needed and removed with the board.
// It is named after this process: if that is killed, the next one removes it.

import { randomBytes } from "node:crypto";
import { open, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { ContentBlock } from "../../types/content.ts";
import type { Subject } from "../../types/guard.ts";
import type { FramingMode } from "../../types/guard-settings.ts";
import { makeOwnedDirectory, removeLeftBehind, tryRemove } from "../../state/owned-directory.ts";
import { errorCode, hasErrorCode } from "../../../util/error-code.ts";
import { byteSize, oneLine } from "../../../util/text.ts";
import { type CutText, type Fitted, type OversizedMedia, wholeText } from "./fit.ts";

const PREFIX = "results-";
const MAX_TOTAL_BYTES = 256 * 1024 ** 2;
const LONGEST_STEM = 64;
const MEDIA_TYPE = /^[a-z]+\/[a-z0-9.+-]{1,64}$/;

/** A failure is a value, because the call goes on. */
export type Saving = { kind: "saved"; path: string } | { kind: "failed"; reason: string };

export interface ResultFilesOptions {
  /** The oldest files are deleted before the total grows beyond this. */
  maxTotalBytes?: number;
  /** The part of a file's name that nobody can guess. */
  randomName?: () => string;
}

/** Whose result it is, and how its words are framed. */
export interface SavedTool extends Pick<Subject, "canonical" | "source"> {
  framing: FramingMode;
}

interface KeptFile {
  path: string;
  bytes: number;
  tool: SavedTool;
  isText: boolean;
}

/** A part of a saved text. */
export interface SavedPart {
  text: string;
  tool: SavedTool;
  /** Where the part ends, in bytes. */
  end: number;
  totalBytes: number;
}

/** Removes the directories of processes that have ended without doing so. Never rejects. */
export function removeLeftResults(parent: string): Promise<void> {
  return removeLeftBehind(parent, PREFIX);
}

export class ResultFiles {
  readonly #parent: string;
  readonly #maxTotalBytes: number;
  readonly #randomName: () => string;
  #directory: string | undefined;
  /** Oldest first. */
  readonly #files: KeptFile[] = [];
  #total = 0;
  #removed = false;
  /** Writes run one at a time, so that the total is right. Never rejects. */
  #last: Promise<unknown> = Promise.resolve();

  /** The directory gets a name of its own in `parent`. */
  constructor(parent: string, options: ResultFilesOptions = {}) {
    this.#parent = parent;
    this.#maxTotalBytes = options.maxTotalBytes ?? MAX_TOTAL_BYTES;
    this.#randomName = options.randomName ?? (() => randomBytes(6).toString("hex"));
  }

  /** Never rejects. The file is named after the tool; `extension` has no dot. */
  write(tool: SavedTool, extension: string, data: string | Uint8Array): Promise<Saving> {
    const isText = typeof data === "string";
    const bytes = isText ? Buffer.from(data) : data;
    const saving = this.#last.then(() => this.#write({ tool, isText }, extension, bytes));
    this.#last = saving;
    return saving;
  }

  /** Whether there is a text that can be read. */
  get hasText(): boolean {
    return this.#files.some(({ isText }) => isText);
  }

  /** The names of the texts that can be read, newest first. */
  get texts(): string[] {
    return this.#files
      .filter(({ isText }) => isText)
      .map(({ path }) => basename(path))
      .reverse();
  }

  /**
   * Reads a part of a text that this directory has saved, by its name or path. Undefined if there is no such text.
   * `offset` and `bytes` are in UTF-8; the part does not split a character. Rejects if the file cannot be read.
   */
  async read(file: string, offset: number, bytes: number): Promise<SavedPart | undefined> {
    const kept = this.#files.find(
      (each) => each.isText && (each.path === file || basename(each.path) === file),
    );
    if (kept === undefined) return undefined;
    const { path, tool, bytes: totalBytes } = kept;
    const from = Math.min(offset, totalBytes);
    const handle = await open(path, "r");
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, from);
      const part = wholeCharacters(buffer.subarray(0, bytesRead), from + bytesRead >= totalBytes);
      const text = part.bytes.toString("utf8");
      return { text, tool, end: from + part.skipped + part.bytes.length, totalBytes };
    } finally {
      await handle.close();
    }
  }

  /** Deletes everything; nothing is written afterwards. Idempotent. Never rejects. */
  async remove(): Promise<void> {
    this.#removed = true;
    await this.#last;
    const directory = this.#directory;
    this.#directory = undefined;
    this.#files.length = 0;
    if (directory !== undefined) await tryRemove(directory);
  }

  async #write(
    about: Pick<KeptFile, "tool" | "isText">,
    extension: string,
    bytes: Uint8Array,
  ): Promise<Saving> {
    if (this.#removed) return { kind: "failed", reason: "the board is closed" };
    if (bytes.length > this.#maxTotalBytes) {
      return { kind: "failed", reason: "it is larger than the total that may be kept" };
    }
    let path: string | undefined;
    try {
      await this.#makeRoom(bytes.length);
      this.#directory ??= await makeOwnedDirectory(this.#parent, PREFIX);
      path = join(
        this.#directory,
        `${stemOf(about.tool.canonical)}-${this.#randomName()}.${extension}`,
      );
      await writeFile(path, bytes, { flag: "wx", mode: 0o600 });
    } catch (error) {
      // Half a file is useless. A file that was there before must stay.
      if (path !== undefined && !hasErrorCode(error, "EEXIST")) await tryRemove(path);
      return { kind: "failed", reason: errorCode(error) ?? String(error) };
    }
    this.#files.push({ path, bytes: bytes.length, ...about });
    this.#total += bytes.length;
    return { kind: "saved", path };
  }

  async #makeRoom(bytes: number): Promise<void> {
    while (this.#total + bytes > this.#maxTotalBytes) {
      const oldest = this.#files.shift();
      if (oldest === undefined) return;
      this.#total -= oldest.bytes;
      await tryRemove(oldest.path);
    }
  }
}

/** Without the characters that are cut off at the beginning and, unless it is the last part, at the end. */
function wholeCharacters(bytes: Buffer, isLast: boolean): { bytes: Buffer; skipped: number } {
  let start = 0;
  while (start < bytes.length && start < 3 && isContinuation(bytes[start])) start += 1;
  let end = bytes.length;
  if (!isLast) {
    let lead = end - 1;
    while (lead > start && end - lead < 4 && isContinuation(bytes[lead])) lead -= 1;
    if (lead >= start && end - lead < lengthOf(bytes[lead] ?? 0)) end = lead;
  }
  return { bytes: bytes.subarray(start, end), skipped: start };
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** How many bytes a character takes that starts with this one. */
function lengthOf(byte: number): number {
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc0 ? 2 : 1;
}

function stemOf(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, LONGEST_STEM) || "result";
}

interface SaveOptions {
  /** Without it, nothing is saved. */
  directory?: Pick<ResultFiles, "write"> | undefined;
  /** The name of the tool with which the model can read a saved text, if it has one. */
  readTool?: () => string | undefined;
}

/** Saves what did not fit. One note for all of it; undefined at once if everything fitted. */
export function saveRest(
  content: readonly ContentBlock[],
  { cut, media }: Fitted,
  tool: SavedTool,
  { directory, readTool = () => undefined }: SaveOptions,
): string | undefined | Promise<string> {
  if (cut === undefined && media.length === 0) return undefined;
  const write = (extension: string, data: () => string | Uint8Array): Promise<Saving | undefined> =>
    directory === undefined ? Promise.resolve(undefined) : directory.write(tool, extension, data());
  const notes = media.map(async (each) => {
    const saved = await write(extensionOf(each), () => Buffer.from(each.data, "base64"));
    return mediaNote(each, saved);
  });
  if (cut !== undefined) {
    const saving = write("txt", () => wholeText(content));
    notes.push(saving.then((saved) => cutNote(cut, saved, readTool())));
  }
  return Promise.all(notes).then((lines) => lines.join("\n"));
}

function mediaNote(media: OversizedMedia, saved: Saving | undefined): string {
  const what = `${typeOf(media)}, ${byteSize(media.bytes)}`;
  if (saved === undefined) return `[${what}: too large, left out]`;
  if (saved.kind === "saved") return `[${what}: too large to show, saved to ${saved.path}]`;
  return `[${what}: too large, and could not be saved (${oneLine(saved.reason, 100)})]`;
}

/** Promises only what the model can do: without the tool, the path is for the user. */
function cutNote(
  { shownBytes, totalBytes }: CutText,
  saved: Saving | undefined,
  readTool: string | undefined,
): string {
  const what = `cut: ${byteSize(shownBytes)} of ${byteSize(totalBytes)} of text are shown`;
  if (saved === undefined) return `[${what}, the rest was left out]`;
  if (saved.kind === "failed") {
    return `[${what}, the rest could not be saved (${oneLine(saved.reason, 100)})]`;
  }
  return readTool === undefined
    ? `[${what}, the whole text was saved for the user in ${saved.path}]`
    : `[${what}, ${readTool} reads the whole text in parts: ${saved.path}]`;
}

/** The note is outside the frame, so the server's media type is used only if it is well-formed. */
function typeOf({ mimeType }: OversizedMedia): string {
  const type = (mimeType.slice(0, 200).toLowerCase().split(";")[0] ?? "").trim();
  return MEDIA_TYPE.test(type) ? type : "application/octet-stream";
}

function extensionOf(media: OversizedMedia): string {
  return /\/(?:x-)?([a-z0-9]{1,8})$/.exec(typeOf(media))?.[1] ?? "bin";
}
