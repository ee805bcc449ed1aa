// One file, read line by line as far as it goes, and further when it has grown.

import { type FileHandle, open, stat } from "node:fs/promises";
import { PlugboardError } from "../../model/errors.ts";

const CHUNK = 64 * 1024;
/** No line of an audit is this long: what is, is skipped. */
const LONGEST_LINE = 1024 * 1024;
const NEWLINE = 0x0a;

export class Tail {
  readonly inode: number;
  readonly #handle: FileHandle;
  readonly #chunk = Buffer.allocUnsafe(CHUNK);
  #position = 0;
  #rest: Buffer[] = [];
  #restLength = 0;

  private constructor(handle: FileHandle, inode: number) {
    this.#handle = handle;
    this.inode = inode;
  }

  /** Undefined where there is no file. */
  static async open(path: string): Promise<Tail | undefined> {
    let handle: FileHandle;
    try {
      // Opening a pipe would wait for its writer, perhaps for ever.
      if (!(await stat(path)).isFile()) {
        throw new PlugboardError("CONFIG_INVALID", `${path} is not a regular file`);
      }
      handle = await open(path, "r");
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
    return new Tail(handle, (await handle.stat()).ino);
  }

  /** Lines that have ended; the beginning of one is kept for the next time. */
  async *lines(): AsyncGenerator<string> {
    // Emptied by somebody: what it holds now is new.
    if ((await this.#handle.stat()).size < this.#position) this.#restart();
    for (;;) {
      const { bytesRead } = await this.#handle.read(this.#chunk, 0, CHUNK, this.#position);
      if (bytesRead === 0) return;
      this.#position += bytesRead;
      yield* this.#take(Buffer.from(this.#chunk.subarray(0, bytesRead)));
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  *#take(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      if (this.#restLength <= LONGEST_LINE) yield Buffer.concat(this.#rest).toString("utf8");
      this.#drop();
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(part: Buffer): void {
    this.#restLength += part.length;
    if (this.#restLength <= LONGEST_LINE) this.#rest.push(part);
    else this.#rest = [];
  }

  #drop(): void {
    this.#rest = [];
    this.#restLength = 0;
  }

  #restart(): void {
    this.#position = 0;
    this.#drop();
  }
}
