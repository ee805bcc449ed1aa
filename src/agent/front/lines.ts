// Lines of bytes, read and written: a line is passed on exactly as it came, so it is never decoded for that. Reading
// waits until what was read is taken, and writing tells when the other side has had enough.

import type { Readable, Writable } from "node:stream";
import { type Line, LineCutter } from "../../util/line-reader.ts";

/** Bytes that a reader may leave unread before its writer waits. */
const ENOUGH_BYTES = 1 << 20;

/** Calls `take` for every line, in order, and reads on when it has resolved. Resolves at the end; never rejects. */
export async function readLines(
  input: Readable,
  maxBytes: number,
  take: (line: Line) => Promise<void> | undefined,
): Promise<void> {
  const cutter = new LineCutter({ maxBytes });
  try {
    for await (const chunk of input) {
      for (const line of cutter.push(chunk as Buffer)) {
        const taken = take(line);
        if (taken !== undefined) await taken;
      }
    }
    for (const line of cutter.end()) await take(line);
  } catch {
    // The other side is gone, and the stream with it. Its last line is incomplete, so nobody gets it.
  }
}

const LINE_END = Buffer.from("\n");

/** Writes whole lines in the order of the calls. */
export class LineWriter {
  readonly #write: Writable["write"];
  readonly #onGone: () => void;
  readonly #enough: number;
  #unread = 0;
  #isGone = false;
  #waiting: (() => void)[] = [];

  /** `onGone` is called once, when nobody reads any more. */
  constructor(write: Writable["write"], onGone: () => void, enough = ENOUGH_BYTES) {
    this.#write = write;
    this.#onGone = onGone;
    this.#enough = enough;
  }

  send(line: Buffer): void {
    if (this.#isGone) return;
    // One write for each line, so that nothing can come between it and its end.
    const bytes = Buffer.concat([line, LINE_END]);
    this.#unread += bytes.length;
    this.#write(bytes, (error) => {
      this.#unread -= bytes.length;
      if (error) this.#gone();
      if (this.#unread <= this.#enough) this.#release();
    });
  }

  /** Undefined while there is room for more; otherwise resolves when there is, or when nobody reads any more. */
  room(): Promise<void> | undefined {
    if (this.#isGone || this.#unread <= this.#enough) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#release();
    this.#onGone();
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
