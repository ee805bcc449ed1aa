// How many values a JSON text has, and how deep they are nested, without making them: a million short keys take a
// parser a hundred times as long as one text of the same size. Texts inside are skipped, so that a large upload costs
// next to nothing. Whoever parses what a stranger has sent asks here first.

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** So much of a text is looked at one by one; for the rest of a longer one, the search for its end is faster. */
const SHORT_TEXT = 64;

export interface JsonMeasure {
  /** Roughly: an empty list or object counts as two. */
  values: number;
  depth: number;
}

/** Stops at the first value beyond `most`, and then says that many. What it says about a text that is not JSON means nothing. */
export function measureJson(json: Buffer | string, most: Readonly<JsonMeasure>): JsonMeasure {
  let values = 1;
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = codeAt(json, at);
    if (code === QUOTE) at = endOfText(json, at + 1);
    else if (code === COMMA) values += 1;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      values += 1;
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
    if (values > most.values || deepest > most.depth) break;
  }
  return { values, depth: deepest };
}

export function hasMoreValuesThan(most: number, json: Buffer | string): boolean {
  // No text has more values than characters.
  if (json.length < most) return false;
  return measureJson(json, { values: most, depth: Infinity }).values > most;
}

function codeAt(json: Buffer | string, at: number): number | undefined {
  return typeof json === "string" ? json.charCodeAt(at) : json[at];
}

/** Where the quote is that ends the text which begins at `start`. */
function endOfText(json: Buffer | string, start: number): number {
  let at = start;
  while (at < json.length) {
    const near = Math.min(at + SHORT_TEXT, json.length);
    for (; at < near; at += 1) {
      const code = codeAt(json, at);
      if (code === QUOTE) return at;
      if (code === BACKSLASH) at += 1;
    }
    const quote = typeof json === "string" ? json.indexOf('"', at) : json.indexOf(QUOTE, at);
    if (quote === -1) return json.length;
    if (!isEscaped(json, quote, at)) return quote;
    at = quote + 1;
  }
  return json.length;
}

/** Whether an odd number of backslashes precedes it, of which none is before `from`. */
function isEscaped(json: Buffer | string, quote: number, from: number): boolean {
  let at = quote;
  while (at > from && codeAt(json, at - 1) === BACKSLASH) at -= 1;
  return (quote - at) % 2 === 1;
}
