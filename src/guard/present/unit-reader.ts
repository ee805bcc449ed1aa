// Text as a reader takes it in: one fold after the other, escapes read as what they stand for, and the
// place in the original at hand.

import { readEscape, seenThrough } from "./escapes.ts";
import { BRACKET, FOREIGN, foldOf, foldsOf, ORNAMENT, soften } from "./fold.ts";

const ESC = 0x1b;
const CSI = 0x9b;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const LESS = 0x3c;
const EQUALS = 0x3d;
const SQUARE = 0x5b;
const BACKSLASH = 0x5c;

export class UnitReader {
  readonly #text: string;
  /** Where the unit last read begins in the text, and where it ends. */
  start: number;
  end: number;
  /** Up to here everything may as well not count. */
  #softUntil = 0;
  #rest: readonly number[] = [];

  constructor(text: string, from = 0) {
    this.#text = text;
    this.start = from;
    this.end = from;
  }

  seek(at: number): void {
    this.start = at;
    this.end = at;
    this.#softUntil = 0;
    this.#rest = [];
  }

  /** The next fold; 0 at the end of the text. */
  next(): number {
    if (this.#rest.length > 0) return this.#nextOfSeveral();
    const at = this.end;
    if (at >= this.#text.length) return 0;
    this.start = at;
    const code = this.#text.charCodeAt(at);
    if (code === ESC || code === CSI || code === LESS || code === SQUARE) {
      this.#softUntil = Math.max(this.#softUntil, at + seenThrough(this.#text, at));
    } else if (isEscapeSign(code)) {
      const escape = readEscape(this.#text, at);
      if (escape !== undefined) {
        this.end = at + escape.length;
        return soften(this.#read(escape.codePoint));
      }
      if (code === BACKSLASH) {
        // `\n` between letters is a line break, and before `AL` it is the letter.
        this.end = at + 1;
        this.#softUntil = Math.max(this.#softUntil, at + 2);
        return ORNAMENT;
      }
    }
    const codePoint = code < 0xd800 ? code : (this.#text.codePointAt(at) ?? code);
    this.end = at + (codePoint > 0xffff ? 2 : 1);
    const fold = this.#read(codePoint);
    if (at >= this.#softUntil) return fold;
    return fold === FOREIGN || fold === BRACKET ? ORNAMENT : soften(fold);
  }

  #read(codePoint: number): number {
    const folds = foldsOf(codePoint);
    if (folds === undefined) return foldOf(codePoint);
    this.#rest = folds;
    return this.#nextOfSeveral();
  }

  #nextOfSeveral(): number {
    const [first = ORNAMENT, ...rest] = this.#rest;
    this.#rest = rest;
    return first;
  }
}

/** Whether a character of ASCII may begin another way to write one. */
export function isEscapeSign(code: number): boolean {
  return code === PERCENT || code === AMPERSAND || code === EQUALS || code === BACKSLASH;
}
