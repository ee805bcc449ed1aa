// How many values a JSON text has, and how deep they are nested, without making them: a million short keys take a
// parser a hundred times as long as one text of the same size. Texts inside are skipped, so that a large upload costs
// next to nothing.

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** So many bytes of a text are looked at one by one; for the rest of a longer one, the search for its end is faster. */
const SHORT_TEXT = 64;

export interface JsonMeasure {
  /** Roughly: an empty list or object counts as two. */
  values: number;
  depth: number;
}

/** Stops at the first value beyond `most`, and then says that many. What it says about bytes that are not JSON means nothing. */
export function measureJson(bytes: Buffer, most: Readonly<JsonMeasure>): JsonMeasure {
  let values = 1;
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at + 1);
    else if (byte === COMMA) values += 1;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values += 1;
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    if (values > most.values || deepest > most.depth) break;
  }
  return { values, depth: deepest };
}

/** Where the quote is that ends the text which begins at `start`. */
function endOfText(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length) {
    const near = Math.min(at + SHORT_TEXT, bytes.length);
    for (; at < near; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) at += 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return bytes.length;
    if (!isEscaped(bytes, quote, at)) return quote;
    at = quote + 1;
  }
  return bytes.length;
}

/** Whether an odd number of backslashes precedes it, of which none is before `from`. */
function isEscaped(bytes: Buffer, quote: number, from: number): boolean {
  let at = quote;
  while (at > from && bytes[at - 1] === BACKSLASH) at -= 1;
  return (quote - at) % 2 === 1;
}
