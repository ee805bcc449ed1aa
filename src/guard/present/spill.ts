// Saves what is too large for a model to files in one private directory, up to a total size, and tells the
// model where. The directory is created when it is first needed and removed with the board.

import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ContentBlock } from "../../model/content.ts";
import { byteSize, oneLine } from "../../util/text.ts";
import { makeDirectory } from "../../util/make-directory.ts";
import { type CutText, type Fitted, type OversizedMedia, wholeText } from "./fit.ts";

const MAX_TOTAL_BYTES = 256 * 1024 ** 2;
const LONGEST_STEM = 64;
const MEDIA_TYPE = /^[a-z]+\/[a-z0-9.+-]{1,64}$/;

/** A failure is a value, because the call goes on. */
export type Spilled = { kind: "saved"; path: string } | { kind: "failed"; reason: string };

export interface SpillOptions {
  /** The oldest files are deleted before the total grows beyond this. */
  maxTotalBytes?: number;
  /** The part of a file's name that nobody can guess. */
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
  /** Writes run one at a time, so that the total is right. Never rejects. */
  #last: Promise<unknown> = Promise.resolve();

  /** The directory gets a name of its own in `parent`. */
  constructor(parent: string, options: SpillOptions = {}) {
    this.#parent = parent;
    this.#maxTotalBytes = options.maxTotalBytes ?? MAX_TOTAL_BYTES;
    this.#randomName = options.randomName ?? (() => randomBytes(6).toString("hex"));
  }

  /** Never rejects. The file is named after `name`; `extension` has no dot. */
  write(name: string, extension: string, data: string | Uint8Array): Promise<Spilled> {
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    const spilled = this.#last.then(() => this.#write(name, extension, bytes));
    this.#last = spilled;
    return spilled;
  }

  /** Deletes everything; nothing is written afterwards. Idempotent. Never rejects. */
  async remove(): Promise<void> {
    this.#removed = true;
    await this.#last;
    const directory = this.#directory;
    this.#directory = undefined;
    if (directory !== undefined) await tryDelete(directory);
  }

  async #write(name: string, extension: string, bytes: Uint8Array): Promise<Spilled> {
    if (this.#removed) return { kind: "failed", reason: "the board is closed" };
    if (bytes.length > this.#maxTotalBytes) {
      return { kind: "failed", reason: "it is larger than the total that may be kept" };
    }
    let path: string | undefined;
    try {
      await this.#makeRoom(bytes.length);
      this.#directory ??= await makeResultsDirectory(this.#parent);
      path = join(this.#directory, `${stemOf(name)}-${this.#randomName()}.${extension}`);
      await writeFile(path, bytes, { flag: "wx", mode: 0o600 });
    } catch (error) {
      // Half a file is useless. A file that was there before must stay.
      if (path !== undefined && codeOf(error) !== "EEXIST") await tryDelete(path);
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
      await tryDelete(oldest.path);
    }
  }
}

/** mkdtemp creates it for this user only, under a new name. */
async function makeResultsDirectory(parent: string): Promise<string> {
  await makeDirectory(parent);
  return mkdtemp(join(parent, "results-"));
}

/** A file that cannot be deleted stays; there is nobody to report it to. */
async function tryDelete(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => {});
}

function stemOf(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, LONGEST_STEM) || "result";
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

/** Saves what did not fit. One note for all of it; undefined at once if everything fitted. */
export function saveRest(
  content: readonly ContentBlock[],
  { cut, media }: Fitted,
  name: string,
  directory: Pick<SpillDirectory, "write"> | undefined,
): string | undefined | Promise<string> {
  if (cut === undefined && media.length === 0) return undefined;
  const write = (
    extension: string,
    data: () => string | Uint8Array,
  ): Promise<Spilled | undefined> =>
    directory === undefined ? Promise.resolve(undefined) : directory.write(name, extension, data());
  const notes = media.map(async (each) => {
    const saved = await write(extensionOf(each), () => Buffer.from(each.data, "base64"));
    return mediaNote(each, saved);
  });
  if (cut !== undefined) {
    notes.push(write("txt", () => wholeText(content)).then((saved) => cutNote(cut, saved)));
  }
  return Promise.all(notes).then((lines) => lines.join("\n"));
}

function mediaNote(media: OversizedMedia, saved: Spilled | undefined): string {
  const what = `${typeOf(media)}, ${byteSize(media.bytes)}`;
  if (saved === undefined) return `[${what}: too large, left out]`;
  if (saved.kind === "saved") return `[${what}: saved to ${saved.path}]`;
  return `[${what}: too large, and could not be saved (${oneLine(saved.reason, 100)})]`;
}

function cutNote({ shownBytes, totalBytes }: CutText, saved: Spilled | undefined): string {
  const what = `cut: ${byteSize(shownBytes)} of ${byteSize(totalBytes)} of text are shown`;
  if (saved === undefined) return `[${what}, the rest was left out]`;
  if (saved.kind === "saved") return `[${what}, the whole text is in ${saved.path}]`;
  return `[${what}, the rest could not be saved (${oneLine(saved.reason, 100)})]`;
}

/** The note is outside the frame, so the server's media type is used only if it is well-formed. */
function typeOf({ mimeType }: OversizedMedia): string {
  const type = (mimeType.slice(0, 200).toLowerCase().split(";")[0] ?? "").trim();
  return MEDIA_TYPE.test(type) ? type : "application/octet-stream";
}

function extensionOf(media: OversizedMedia): string {
  return /\/(?:x-)?([a-z0-9]{1,8})$/.exec(typeOf(media))?.[1] ?? "bin";
}
