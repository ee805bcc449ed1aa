// Finds what reads as one of the frame's markers, in whatever letters and with whatever between them, and
// copies of a frame's id. The text is read once, whatever is in it.

import { readEscape } from "./escapes.ts";
import { foldOf, foldsOf, letterOf } from "./fold.ts";
import { markerBounds, type Span } from "./marker-bounds.ts";
import { Readings, Word } from "./readings.ts";
import { isEscapeSign, UnitReader } from "./unit-reader.ts";

const READ_AS: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "l",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  i: "l",
  v: "u",
};

/**
 * The markers' name without its separators and its first letter: `x` is rare, so most of a text is passed
 * over quickly, and a marker that lacks the letter reads as one still.
 */
const NAME = new Word("xternaluntrustedcontent", READ_AS);
const BACKWARDS = new Word("tnetnocdetsurtnulanretxe", READ_AS);

/** Ornaments in a row that a reader still looks past. */
const LONGEST_GAP = 40;

const X = 0x78;

/**
 * Where an x may stand, found at the speed of a search: the letter, unless letters follow that are plainly
 * not T and E; what may begin an escape for it; first halves of pairs; every other character that folds to it.
 */
const MAYBE_X =
  /[xX](?![\s,.;:'"_*/-]{0,9}(?:[a-su-wyzA-SU-WYZ]|[tT][\s,.;:'"_*/-]{0,9}[a-df-wyzA-DF-WYZ]))|[%=](?=[57c-fuC-FU]|25)|&(?=[#aA])|\\(?=[\\xuU01])|[\ud800-\udbff]|[×ˣΧχХхҲҳӼӽӾӿᕁᕽᚷᵡᵪẊẋẌẍₓ℻ⅨⅩⅪⅫⅸⅹⅺⅻ⒳ⓍⓧⲬⲭⵝ╳✕✖✗✘❌❎⤫⤬⨯㏓乂ꓫꞳꭓꭔꭕＸｘ]/g;

/** Overrides that show letters in the other order. */
const RIGHT_TO_LEFT = /[\u202b\u202e\u2067\u2068]/;

/** Other alphabets with the digits of an id, and unseen characters that can stand between them. */
const OBSCURING =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2460-\u24ff\u3164\ufe00-\ufe0f\ufeff\uff10-\uff5a\ud835\ud83c\udb40]/;
const ESCAPING = ["&#", "%3", "%6", "\\x", "\\u"];

/** In order, and apart from each other. */
export function findForged(text: string): Span[] {
  const found = findMarkers(text);
  if (!RIGHT_TO_LEFT.test(text)) return found;
  return merge([...found, ...findWord(text, BACKWARDS, LONGEST_GAP)]);
}

/** Every copy of the id; letter case, invisible characters and escapes aside. */
export function findId(text: string, id: string): Span[] {
  const wanted = id.toLowerCase();
  const possible =
    text.toLowerCase().includes(wanted) ||
    ESCAPING.some((sign) => text.includes(sign)) ||
    OBSCURING.test(text);
  if (!possible) return [];
  return findWord(text, new Word(wanted), 0);
}

function findMarkers(text: string): Span[] {
  const found: Span[] = [];
  let at = nextX(text, 0);
  if (at === -1) return found;
  const reader = new UnitReader(text);
  const readings = new Readings(NAME, LONGEST_GAP);
  for (; at !== -1; at = nextX(text, reader.end)) {
    reader.seek(at);
    const start = readName(reader, readings);
    if (start === -1) continue;
    const bounds = markerBounds(text, { start, end: reader.end }, found.at(-1)?.end ?? 0);
    if (bounds === undefined) continue;
    found.push(bounds);
    reader.seek(bounds.end);
  }
  return found;
}

function merge(spans: Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end);
    else merged.push(span);
  }
  return merged;
}

/** Where the next thing stands that may be read as an x; -1 where there is none. */
function nextX(text: string, from: number): number {
  MAYBE_X.lastIndex = from;
  while (MAYBE_X.test(text)) {
    const at = MAYBE_X.lastIndex - 1;
    const code = text.charCodeAt(at);
    if (isEscapeSign(code)) {
      const escape = readEscape(text, at);
      if (escape !== undefined && isX(escape.codePoint)) return at;
    } else if (code < 0xd800 || isX(text.codePointAt(at) ?? code)) return at;
  }
  return -1;
}

function isX(codePoint: number): boolean {
  const folds = foldsOf(codePoint);
  if (folds !== undefined) return folds.some((fold) => letterOf(fold) === X);
  return letterOf(foldOf(codePoint)) === X;
}

/** Reads on from an x while the name is possible: where it began, or -1. */
function readName(reader: UnitReader, readings: Readings): number {
  const from = reader.end;
  readings.clear();
  for (let fold = reader.next(); fold !== 0; fold = reader.next()) {
    const start = readings.take(fold, reader.start);
    if (start !== -1) return start;
    // A reading begins with an x alone, so where none is left nothing has to be read again.
    if (readings.none && reader.start > from) return -1;
  }
  return -1;
}

function findWord(text: string, word: Word, longestGap: number): Span[] {
  const found: Span[] = [];
  const reader = new UnitReader(text);
  const readings = new Readings(word, longestGap);
  for (let fold = reader.next(); fold !== 0; fold = reader.next()) {
    const start = readings.take(fold, reader.start);
    if (start === -1) continue;
    found.push({ start, end: reader.end });
    readings.clear();
  }
  return found;
}
