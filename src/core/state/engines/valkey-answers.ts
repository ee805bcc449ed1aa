// What Valkey may answer. The driver parses whatever comes, in a listener whose errors nobody catches: an answer that is nested
// deeply, or that has no end, would end the process. So the bytes are measured before it gets them, and a connection on which
// something else comes is ended, as one that breaks.

import type { Socket } from "node:net";

/** The deepest answer that is asked for is a list of numbers, or of lists that Sentinel gives. */
const MOST_DEPTH = 16;
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_ITEMS = 1024 * 1024;
const [CR, MINUS, ZERO, NINE] = [13, 45, 48, 57];
const [TEXT, FAULT, NUMBER, BYTES, LIST] = ["+", "-", ":", "$", "*"].map((each) =>
  each.charCodeAt(0),
);
const KINDS: ReadonlySet<number | undefined> = new Set([TEXT, FAULT, NUMBER, BYTES, LIST]);

/** Measures answers as they come, in the protocol that the driver speaks (RESP2). */
export class AnswerMeter {
  /** How many items are still to come, of each list that has begun. */
  readonly #lists: number[] = [];
  /** Of the answer that has begun. */
  #bytes = 0;
  /** The first byte of the line that has begun. */
  #kind: number | undefined;
  #isAtEnd = false;
  /** The length that the line says, and whether it says that there is nothing. */
  #length = 0;
  #isNothing = false;
  /** Bytes of a text that are still to come. */
  #rest = 0;

  /** What is wrong, if something is. Nothing may be given to it then any more. */
  take(chunk: Uint8Array): string | undefined {
    for (let at = 0; at < chunk.length;) {
      if (this.#rest > 0) {
        const taken = Math.min(this.#rest, chunk.length - at);
        this.#rest -= taken;
        at += taken;
        if (this.#rest === 0) this.#itemEnds();
        continue;
      }
      const fault = this.#byte(chunk[at] ?? 0);
      if (fault !== undefined) return fault;
      at += 1;
    }
    return undefined;
  }

  #byte(byte: number): string | undefined {
    this.#bytes += 1;
    if (this.#bytes > MOST_BYTES) return TOO_LARGE;
    if (this.#kind === undefined) {
      this.#kind = byte;
      return KINDS.has(byte) ? undefined : "it does not speak Valkey's protocol";
    }
    if (this.#isAtEnd) return this.#lineEnds();
    if (byte === CR) this.#isAtEnd = true;
    else if (this.#kind === BYTES || this.#kind === LIST) return this.#digit(byte);
    return undefined;
  }

  #digit(byte: number): string | undefined {
    // The driver counts on behind a sign in the middle, and would take `1-0` for 70.
    if (byte === MINUS && this.#length === 0) this.#isNothing = true;
    else if (byte < ZERO || byte > NINE) return "it does not speak Valkey's protocol";
    else this.#length = this.#length * 10 + byte - ZERO;
    return this.#length > MOST_BYTES ? TOO_LARGE : undefined;
  }

  #lineEnds(): string | undefined {
    const [kind, length] = [this.#kind, this.#isNothing ? -1 : this.#length];
    this.#kind = undefined;
    this.#isAtEnd = false;
    this.#length = 0;
    this.#isNothing = false;
    if (kind === BYTES && length >= 0) {
      this.#bytes += length;
      // The text ends as a line does.
      this.#rest = length + 2;
      return this.#bytes > MOST_BYTES ? TOO_LARGE : undefined;
    }
    if (kind === LIST && length > 0) {
      this.#lists.push(length);
      if (length > MOST_ITEMS) return TOO_LARGE;
      return this.#lists.length > MOST_DEPTH ? "its answer is nested too deeply" : undefined;
    }
    this.#itemEnds();
    return undefined;
  }

  #itemEnds(): void {
    for (let last = this.#lists.length - 1; last >= 0; last -= 1) {
      const left = (this.#lists[last] ?? 1) - 1;
      this.#lists[last] = left;
      if (left > 0) return;
      this.#lists.pop();
    }
    this.#bytes = 0;
  }
}

const TOO_LARGE = "its answer is too large";

/** Ends the connection for what the driver must not get, and for what it fails on. */
export function guardAnswers(socket: Socket): void {
  const meter = new AnswerMeter();
  const emit = socket.emit.bind(socket) as (event: string | symbol, ...given: unknown[]) => boolean;
  socket.emit = (event: string | symbol, ...given: unknown[]): boolean => {
    if (event !== "data") return emit(event, ...given);
    if (socket.destroyed) return false;
    const [chunk] = given;
    const fault = chunk instanceof Uint8Array ? meter.take(chunk) : undefined;
    try {
      if (fault === undefined) return emit(event, ...given);
      socket.destroy(new Error(fault));
    } catch (error) {
      socket.destroy(new Error("it answers what was not asked", { cause: error }));
    }
    return true;
  };
}
