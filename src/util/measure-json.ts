// How many values a JSON text has, and how deep they are nested, without making them: a million short keys take a
// parser a hundred times as long as one text of the same size. Texts inside are skipped, so that a large upload costs
// next to nothing. Whoever parses what a stranger has sent asks here first.

import { REFUSED_DEPTH } from "./json-depth.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** This many characters of a text are looked at one by one. In a longer text, searching for its end is faster. */
const SHORT_TEXT = 64;

export interface JsonMeasure {
  /** Roughly: an empty list or object counts as two. */
  values: number;
  depth: number;
}

/**
 * What somebody who has a line to this process may send at once: more values would hold up everybody else, and deeper ones
 * overflow the stack of who writes them.
 */
export const MOST_IN_LINE: Readonly<JsonMeasure> = { values: 250_000, depth: REFUSED_DEPTH };

/** Why a message is not parsed. Undefined for one that may be. */
export function excessIn(
  json: Buffer | string,
  most: Readonly<JsonMeasure> = MOST_IN_LINE,
): string | undefined {
  // No text has more values or levels than characters.
  if (json.length <= Math.min(most.values, most.depth)) return undefined;
  const { values, depth } = measureJson(json, most);
  if (values > most.values) {
    return `has more than ${most.values} values; send fewer at once, or all of them as one text`;
  }
  return depth > most.depth ? `is nested more than ${most.depth} levels deep` : undefined;
}

/** Stops at the first value beyond `most`, and then says that many. What it says about a text that is not JSON means nothing. */
export function measureJson(json: Buffer | string, most: Readonly<JsonMeasure>): JsonMeasure {
  const meter = new JsonMeter(most);
  meter.push(json);
  return { values: meter.values, depth: meter.depth };
}

export function hasMoreValuesThan(most: number, json: Buffer | string): boolean {
  // No text has more values than characters.
  if (json.length < most) return false;
  return measureJson(json, { values: most, depth: Infinity }).values > most;
}

function codeAt(json: Buffer | string, at: number): number | undefined {
  return typeof json === "string" ? json.charCodeAt(at) : json[at];
}

/** Measures a text that comes in pieces. */
export class JsonMeter implements JsonMeasure {
  values = 1;
  depth = 0;
  readonly #most: Readonly<JsonMeasure>;
  #level = 0;
  /** The last piece ended within a text, and there after a backslash that is not escaped itself. */
  #isInText = false;
  #isEscaped = false;

  constructor(most: Readonly<JsonMeasure>) {
    this.#most = most;
  }

  /** There is more than is allowed, so further pieces need not be measured. */
  get isBeyond(): boolean {
    return this.values > this.#most.values || this.depth > this.#most.depth;
  }

  push(json: Buffer | string): void {
    const most = this.#most;
    let { values, depth } = this;
    let level = this.#level;
    let at = this.#isInText ? this.#skipText(json, 0) + 1 : 0;
    for (; at < json.length; at += 1) {
      const code = codeAt(json, at);
      if (code === QUOTE) at = this.#skipText(json, at + 1);
      else if (code === COMMA) values += 1;
      else if (code === OPEN_LIST || code === OPEN_OBJECT) {
        values += 1;
        level += 1;
        if (level > depth) depth = level;
      } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) level -= 1;
      if (values > most.values || depth > most.depth) break;
    }
    this.values = values;
    this.depth = depth;
    this.#level = level;
  }

  /** Where the quote is that ends the text, of which the part from `start` on is here; the length if it is not here. */
  #skipText(json: Buffer | string, start: number): number {
    const { length } = json;
    let at = this.#isEscaped ? start + 1 : start;
    this.#isInText = false;
    this.#isEscaped = false;
    while (at < length) {
      const near = Math.min(at + SHORT_TEXT, length);
      for (; at < near; at += 1) {
        const code = codeAt(json, at);
        if (code === QUOTE) return at;
        if (code === BACKSLASH) at += 1;
      }
      if (at >= length) break;
      const quote = typeof json === "string" ? json.indexOf('"', at) : json.indexOf(QUOTE, at);
      const end = quote === -1 ? length : quote;
      const isEscaped = endsWithEscape(json, end, at);
      if (quote !== -1 && !isEscaped) return quote;
      at = isEscaped ? end + 1 : end;
    }
    this.#isInText = true;
    // What is escaped is the first of the next piece.
    this.#isEscaped = at > length;
    return length;
  }
}

/** Whether an odd number of backslashes precedes `end`, of which none is before `from`. */
function endsWithEscape(json: Buffer | string, end: number, from: number): boolean {
  let at = end;
  while (at > from && codeAt(json, at - 1) === BACKSLASH) at -= 1;
  return (end - at) % 2 === 1;
}
