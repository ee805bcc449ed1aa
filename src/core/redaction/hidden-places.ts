// The places in a text where what is seen differs from what is written.

import { hashOf, hashWith, type Heads, NO_HASH } from "./heads.ts";
import { codeAfter, END, isPlain, isPlainUnit, TextReader } from "./text-reader.ts";

/**
 * Only those that may be inside the head of a word, or at its beginning: then a block of the head stands before the
 * place, or is seen from there on.
 */
export class HiddenPlaces {
  readonly #text: string;
  readonly #heads: Heads;
  readonly #isLiteral: boolean;
  /** Made when it is needed: most texts are short and have no such place. */
  #made: TextReader | undefined;
  /** The next place of each kind. None is looked for again before it is passed, or the search would be quadratic. */
  #code: number;
  #break = -1;
  #writtenBreak = -1;

  constructor(text: string, heads: Heads, isLiteral: boolean) {
    this.#text = text;
    this.#heads = heads;
    this.#isLiteral = isLiteral;
    this.#code = isPlain(text) ? text.length : -1;
  }

  /** The first one from `from` on; the text's length if there is none. `from` must not go back. */
  next(from: number): number {
    if (this.#code < from) this.#code = this.#nextCode(from);
    if (this.#break < from) this.#break = this.#nextBreak("\n", from);
    if (this.#writtenBreak < from) this.#writtenBreak = this.#nextBreak("\\n", from);
    return Math.min(this.#code, this.#break, this.#writtenBreak);
  }

  #nextCode(from: number): number {
    const text = this.#text;
    let after = from;
    for (;;) {
      const at = codeAfter(text, after);
      if (at === text.length || this.#isAfterBlock(at)) return at;
      this.#reader.moveTo(at);
      const first = this.#reader.next();
      after = Math.max(this.#reader.end, at + 1);
      if (this.#isBeforeBlock(first)) return at;
    }
  }

  /** The next end of a line, as `lineEnd` writes it. */
  #nextBreak(lineEnd: "\n" | "\\n", from: number): number {
    const text = this.#text;
    let after = from;
    for (;;) {
      const at = text.indexOf(lineEnd, after);
      if (at === -1) return text.length;
      let before = at;
      while (before > after && isBeforeLineEnd(text, before - 1)) before -= 1;
      if (this.#isAfterBlock(before)) return at;
      after = blanksEnd(text, at + lineEnd.length);
      const hash = this.#plainHash(after);
      if (hash !== undefined) {
        if (this.#heads.mayBeInHead(hash)) return at;
        continue;
      }
      this.#reader.moveTo(at);
      const first = this.#reader.next();
      after = Math.max(this.#reader.start, at + 1);
      if (this.#isBeforeBlock(first)) return at;
    }
  }

  /** The hash of the block from there on. Undefined unless the block is certainly seen as it is written. */
  #plainHash(from: number): number | undefined {
    let hash = NO_HASH;
    for (let at = from; at < from + this.#heads.block; at += 1) {
      const unit = this.#text.charCodeAt(at);
      if (!isPlainUnit(unit)) return undefined;
      hash = hashWith(hash, unit);
    }
    return hash;
  }

  get #reader(): TextReader {
    return (this.#made ??= new TextReader(this.#text, this.#isLiteral));
  }

  #isAfterBlock(at: number): boolean {
    const { block } = this.#heads;
    return at >= block && this.#heads.mayBeInHead(hashOf(this.#text, at - block, block));
  }

  /** Whether a block begins with the character that was read last. */
  #isBeforeBlock(first: number): boolean {
    let hash = hashWith(NO_HASH, first);
    for (let count = 1; count < this.#heads.block; count += 1) {
      const unit = this.#reader.next();
      if (unit === END) return false;
      hash = hashWith(hash, unit);
    }
    return this.#heads.mayBeInHead(hash);
  }
}

function blanksEnd(text: string, from: number): number {
  let at = from;
  for (; ; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return at;
  }
}

/** A carriage return, or one that is written as `\r`, before the end of a line. */
function isBeforeLineEnd(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit === 0x0d || unit === 0x5c || (unit === 0x72 && text.charCodeAt(at - 1) === 0x5c);
}
