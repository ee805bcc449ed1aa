// Takes forged markers and copies of the frame's id out of a server's text and leaves everything else as it
// is, to the byte. What a reader would take for a marker is one, in whatever letters, escapes and decoration
// it is written. The time is linear in the text.

import { isHard, ligatures, PADDING, skeletonOf, SOFT, UNSEEN } from "./skeleton.ts";

const REMOVED = "[[marker removed]]";

/** The markers' name without separators, and without its first letter: it reads as a marker without that too. */
const NAME = "xternaluntrustedcontent";
const NAME_BACKWARDS = "tnetnocdetsurtnulanretxe";
/** Other ASCII characters that a reader takes for a letter of the name. */
const NAME_SHAPES = { a: "4@", c: "(", e: "3", l: "1Ii|!", o: "0", s: "5$", t: "7+", u: "Vv" };
/** After an X, letters that are not the name's: most of a text need not be looked at any further. */
const OTHER_WORD = ["t", "e", "r", "n", "a", "li", "uv"].reduceRight(
  (rest, letters) => String.raw`[\s,.;:_/-]{0,9}(?:(?![${letters}])[a-z]|[${letters}]${rest})`,
  "(?!)",
);
/** A text without any of these has no name in it: an X, characters that may be coded or are not ASCII. */
const MAY_HIDE = new RegExp(
  String.raw`x(?!${OTHER_WORD})|[^\t-\r -~]|&[#a-z]|\\[\\xu0-7]|[%=][0-9a-fu]`,
  "i",
);
/** Characters that make the letters after them run the other way. */
const RIGHT_TO_LEFT = /[\u202b\u202e\u2067\u2068]/;
/** Decoration in a row between the letters of a name that a reader still looks past. */
const LONGEST_GAP = 40;

// Of the skeleton around a name.
const HARD = String.raw`A-Za-z0-9\xff-\uffff`;
const BRACKETS = String.raw`<>[\]{}`;
const INSIDE = `[^${HARD}\\n-\\r"'\`]{0,96}`;
const GAP = `[^${HARD}${BRACKETS}]{0,96}`;
const E = String.raw`[Ee3\xb3\xc5\xe5]`;
const END = String.raw`(?<![${HARD}])${E}${GAP}[Nn\xce\xee]${GAP}[Dd\xc4\xe4]${GAP}`;
/** Brackets, the word END, and the first letter of the name. */
const BEFORE = new RegExp(
  String.raw`(?<=([${BRACKETS}]${INSIDE})?(${END})?(${E}[\x7f\x80]*|(?<![${HARD}])${E}${GAP})?)`,
  "y",
);
/** Attributes or decoration, then brackets. */
const BEHIND = new RegExp(
  String.raw`([\x7f\x80]*(?!["'\`])(?:[^${BRACKETS}\n-\r\x7f\x80][\x7f\x80]*){0,96})[${BRACKETS}]\x7f*(?:${INSIDE}[${BRACKETS}]\x7f*)?`,
  "y",
);

/** Somebody writes about external, untrusted content, or names something after it in code. */
const PROSE = /^[Ee]xternal[ ,\n-]{0,2}[Uu]ntrusted[ ,\n-]{0,2}[Cc]ontent$/;
/** Pointed brackets, and everything beyond ASCII. */
const NOT_IN_PROSE = /[^\t -;=?-~]/;
const RULE_BEFORE = /(?:[-=_~]{3}|\[\[|\{\{) {0,4}(?:[Ee]nd )?$/;
const RULE_BEHIND = /^ {0,4}(?:[-=_~]{3}|\]\]|\}\})/;

interface Span {
  start: number;
  end: number;
}

/**
 * Reads the pieces as one text, so that it finds a marker whose halves stand in two of them. A note replaces
 * what is taken out, in the piece where that begins; `removed` counts markers and ids.
 */
export function neutralise(
  pieces: readonly string[],
  id?: string,
): { pieces: string[]; removed: number } {
  const [only = ""] = pieces;
  const text = pieces.length === 1 ? only : pieces.join("\n");
  const spans = findForged(text, id);
  if (spans.length === 0) return { pieces: [...pieces], removed: 0 };
  let from = 0;
  let next = 0;
  const cleaned = pieces.map((piece) => {
    const to = from + piece.length;
    const kept: string[] = [];
    let at = from;
    for (let span = spans[next]; span !== undefined && span.start < to; span = spans[next]) {
      if (span.start >= from) kept.push(text.slice(at, span.start), REMOVED);
      at = Math.max(at, Math.min(span.end, to));
      if (span.end > to) break;
      next += 1;
    }
    kept.push(text.slice(at, to));
    from = to + 1;
    return kept.join("");
  });
  return { pieces: cleaned, removed: spans.length };
}

/** Where forged markers and copies of the id stand, in order and apart from each other. */
export function findForged(text: string, id?: string): Span[] {
  const word = id?.toLowerCase();
  const isCopied = word !== undefined && text.toLowerCase().includes(word);
  if (!isCopied && !MAY_HIDE.test(text)) return [];
  const skeleton = skeletonOf(text);
  let spans = markersAround(text, skeleton, findWord(skeleton, NAME, NAME_SHAPES, LONGEST_GAP));
  if (RIGHT_TO_LEFT.test(text)) {
    spans = [...spans, ...findWord(skeleton, NAME_BACKWARDS, NAME_SHAPES, LONGEST_GAP)];
  }
  if (word !== undefined) spans = [...spans, ...findWord(skeleton, word, {}, 0)];
  const apart: Span[] = [];
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const last = apart.at(-1);
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end);
    else apart.push(span);
  }
  return apart;
}

/**
 * Every place of a word of at most 30 letters. A soft letter may be decoration, so several readings are possible
 * at once: bit n of `readings` says that one of them has come to letter n of the word.
 */
function findWord(
  skeleton: Uint16Array,
  word: string,
  otherShapes: Readonly<Record<string, string>>,
  longestGap: number,
): Span[] {
  const spans: Span[] = [];
  /** For each unit, at which letters of the word it may stand. */
  const places = new Int32Array(256);
  Array.from(word).forEach((letter, at) => {
    for (const shape of letter + letter.toUpperCase() + (otherShapes[letter] ?? "")) {
      const unit = shape.charCodeAt(0);
      places[unit] = (places[unit] ?? 0) | (1 << at);
      places[unit | SOFT] = places[unit] ?? 0;
    }
  });
  let readings = 0;
  let start = 0;
  let gap = 0;
  for (let at = 0; at < skeleton.length; at += 1) {
    const unit = skeleton[at] ?? 0;
    if (readings === 0 && unit <= 0xff && ((places[unit] ?? 0) & 1) === 0) continue;
    if (unit === PADDING || unit === UNSEEN) continue;
    const ligature = unit > 0xff ? ligatures.get(unit) : undefined;
    /** A ligature may be decoration too. */
    const unread = ligature === undefined ? 0 : readings;
    for (let part = 0; part < (ligature?.length ?? 1); part += 1) {
      const letter = ligature?.[part] ?? unit;
      const reached = ((readings << 1) | 1) & (places[letter] ?? 0);
      gap = reached === 0 ? gap + 1 : 0;
      readings = isHard(letter) || gap > longestGap ? reached : readings | reached;
      if (reached === 1 && readings === 1) start = at;
      if (readings >> (word.length - 1) !== 0) break;
    }
    readings |= unread;
    if (readings >> (word.length - 1) === 0) continue;
    readings = 0;
    while (skeleton[at + 1] === PADDING) at += 1;
    spans.push({ start, end: at + 1 });
  }
  return spans;
}

/** The markers around names that were found without their first letter. Those in prose are not markers. */
function markersAround(text: string, skeleton: Uint16Array, names: readonly Span[]): Span[] {
  if (names.length === 0) return [];
  const seen = Buffer.from(skeleton.buffer).toString("utf16le");
  let floor = 0;
  return names.flatMap((name) => {
    BEFORE.lastIndex = name.start;
    const [, open = "", endWord = "", letter = ""] = BEFORE.exec(seen) ?? [];
    const first = name.start - letter.length;
    const start = Math.max(floor, first - endWord.length - open.length);
    BEHIND.lastIndex = name.end;
    const [behind = "", between = ""] = BEHIND.exec(seen) ?? [];
    const isApart = /[A-Za-z0-9\xff-\uffff]/.test(between) && !between.includes("=");
    const end = isApart ? name.end : name.end + behind.length;
    const isProse =
      PROSE.test(text.slice(first, name.end)) &&
      !NOT_IN_PROSE.test(text.slice(start, first) + text.slice(name.end, end)) &&
      !RULE_BEFORE.test(text.slice(Math.max(0, first - 12), first)) &&
      !RULE_BEHIND.test(text.slice(name.end, name.end + 12));
    if (isProse) return [];
    floor = end;
    return [{ start, end }];
  });
}
