// Cuts a byte stream into lines in linear time, whatever the chunks, and never holds more than `maxBytes` of an
// unfinished line. `LineCutter` gives their bytes, for whoever passes them on; `LineReader` gives their text.

import { HeldBytes } from "./held-bytes.ts";

const NEWLINE = 10;
/** Bytes of an unfinished line that are shown, and of one that is too long, to see whose it was. */
const PEEK_BYTES = 2000;
const HEAD_BYTES = 1024;

/** One line without its newline; of a line that is too long, only its beginning. */
export type Line = { kind: "line"; bytes: Buffer } | { kind: "too-long"; head: string };

export interface LineCutterOptions {
  maxBytes: number;
  /** Whoever pushes a chunk overwrites it afterwards. */
  areChunksBorrowed?: boolean;
}

/** A line that is too long is skipped to its end. */
export class LineCutter {
  readonly #maxBytes: number;
  readonly #held: HeldBytes;
  /** The beginning of a line that is too long, while the rest of it is skipped. */
  #head: string | undefined;

  constructor({ maxBytes, areChunksBorrowed = false }: LineCutterOptions) {
    this.#maxBytes = maxBytes;
    this.#held = new HeldBytes({ areBorrowed: areChunksBorrowed });
  }

  /** The lines that end in this chunk. Their bytes may be those of the chunk. */
  *push(chunk: Buffer): Generator<Line> {
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      yield this.#finish(chunk.subarray(start, at));
      start = at + 1;
    }
    this.#hold(chunk.subarray(start));
  }

  /** The rest of the stream after its last line break, if there is any. */
  *end(): Generator<Line> {
    if (this.isInLine) yield this.#finish(Buffer.alloc(0));
  }

  /** Whether the last line has not ended yet. */
  get isInLine(): boolean {
    return this.#held.length > 0 || this.#head !== undefined;
  }

  /** Begins anew. */
  drop(): void {
    this.#held.drop();
    this.#head = undefined;
  }

  #finish(rest: Buffer): Line {
    if (this.#head === undefined && this.#held.length + rest.length <= this.#maxBytes) {
      if (this.#held.length === 0) return { kind: "line", bytes: rest };
      this.#held.push(rest);
      return { kind: "line", bytes: this.#held.takeBytes() };
    }
    this.#hold(rest);
    const head = this.#head ?? "";
    this.#head = undefined;
    return { kind: "too-long", head };
  }

  #hold(bytes: Buffer): void {
    if (this.#head !== undefined || bytes.length === 0) return;
    this.#held.push(bytes);
    if (this.#held.length <= this.#maxBytes) return;
    this.#head = this.#held.peek(HEAD_BYTES);
    this.#held.drop();
  }
}
export interface LineReaderOptions extends LineCutterOptions {
  onLine: (line: string) => void;
  /** Called once; nothing is read afterwards. */
  onOverflow: (bytes: number) => void;
}

/** A line that is too long ends the reading. */
export class LineReader {
  readonly #options: LineReaderOptions;
  readonly #held: HeldBytes;
  #ended = false;

  constructor(options: LineReaderOptions) {
    this.#options = options;
    this.#held = new HeldBytes({ areBorrowed: options.areChunksBorrowed ?? false });
  }

  /** The size of the line that has not ended yet, and its beginning; undefined if there is none. */
  get unfinished(): { bytes: number; start: string } | undefined {
    const bytes = this.#held.length;
    return bytes === 0 ? undefined : { bytes, start: this.#held.peek(PEEK_BYTES) };
  }

  push(chunk: Buffer): void {
    if (this.#ended) return;
    // Most chunks end where a line ends.
    const end = chunk.length - 1;
    const last = chunk[end] === NEWLINE ? end : chunk.lastIndexOf(NEWLINE);
    if (last === -1) {
      this.#hold(chunk);
      return;
    }
    const first = this.#held.length === 0 ? -1 : chunk.indexOf(NEWLINE);
    let start = 0;
    if (first !== -1) {
      if (!this.#hold(chunk.subarray(0, first))) return;
      this.#emit(this.#held.take());
      start = first + 1;
    }
    if (start <= last && !this.#emitAll(chunk, start, last)) return;
    if (last + 1 < chunk.length) this.#hold(chunk.subarray(last + 1));
  }

  /** Emits the rest, which has no newline at its end. */
  end(): void {
    if (this.#ended) return;
    this.#emit(this.#held.take());
    this.#ended = true;
  }

  /** Decodes the chunk at once: decoding each line by itself costs more than the search. */
  #emitAll(chunk: Buffer, start: number, end: number): boolean {
    const tooLong = end - start > this.#options.maxBytes && longestLine(chunk, start, end);
    if (tooLong && tooLong > this.#options.maxBytes) return this.#overflow(tooLong);
    const text = chunk.toString("utf8", start, end);
    let from = 0;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
      this.#emit(text.slice(from, at));
      from = at + 1;
    }
    this.#emit(from === 0 ? text : text.slice(from));
    return true;
  }

  #emit(line: string): void {
    if (line.length > 0 && !this.#ended) this.#options.onLine(line);
  }

  #hold(bytes: Buffer): boolean {
    const needed = this.#held.length + bytes.length;
    if (needed > this.#options.maxBytes) return this.#overflow(needed);
    this.#held.push(bytes);
    return true;
  }

  #overflow(bytes: number): false {
    this.#ended = true;
    this.#held.drop();
    this.#options.onOverflow(bytes);
    return false;
  }
}

function longestLine(chunk: Buffer, start: number, end: number): number {
  let longest = 0;
  let from = start;
  while (from <= end) {
    const at = chunk.indexOf(NEWLINE, from);
    const stop = at === -1 || at > end ? end : at;
    longest = Math.max(longest, stop - from);
    from = stop + 1;
  }
  return longest;
}
