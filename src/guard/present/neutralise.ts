// Takes forged markers and copies of the frame's id out of a server's text and leaves everything else as it
// is, to the byte. What a reader would take for a marker is one, in whatever letters, escapes and decoration
// it is written. The time is linear in the text.

import { FOREIGN, INVISIBLE, ORNAMENT, readingOf } from "./lookalikes.ts";
import { TextReader } from "./text-reader.ts";

const REMOVED = "[[marker removed]]";

/** The markers' name without separators, and without its first letter: it reads as a marker without that too. */
const NAME = "xternaluntrustedcontent";
const NAME_BACKWARDS = "tnetnocdetsurtnulanretxe";
/** Characters that make the letters after them run the other way. */
const RIGHT_TO_LEFT = /[\u202b\u202e\u2067\u2068]/;
/** Decoration in a row between the letters of a name that a reader still looks past. */
const LONGEST_GAP = 40;
/** How far around the name the rest of a marker is looked for. */
const REACH = 96;

/** What readings count as in a word; in a name, some are taken for another letter. */
const LITERAL = lettersFor({});
const LENIENT = lettersFor({ 0: "o", 1: "l", 3: "e", 4: "a", 5: "s", 7: "t", i: "l", v: "u" });

/** Text without coded characters, in ASCII: an id can stand in it as it is, and in no other form. */
const PLAIN = /^[\n\r\t !-$'-<>-[\]-~]*$/;

/** What stands before a name, nearest first: its first letter, the word END, brackets. */
const BEFORE =
  /^(\.*[eE3]|[^a-z0-9~<E]*[eE3](?![a-z0-9~]))?([^a-z0-9~<D]*[dD][^a-z0-9~<N]*[nN][^a-z0-9~<E]*[eE3](?![a-z0-9~]))?([^a-z0-9~\n"]*<)?/;
/** What stands behind it: attributes or decoration, then brackets. */
const BEHIND = /^(?!")([^<\n]*)<(?:[^a-z0-9~\n"]*<)?/;

/** Somebody writes about external, untrusted content, or names something after it in code. */
const PROSE = /^[Ee]xternal[ ,\n-]{0,2}[Uu]ntrusted[ ,\n-]{0,2}[Cc]ontent$/;
/** Pointed brackets, and everything beyond ASCII. */
const NOT_IN_PROSE = /[^\t -;=?-~]/;
const RULE_BEFORE = /(?:[-=_~]{3}|\[\[|\{\{) {0,4}(?:[Ee]nd )?$/;
const RULE_BEHIND = /^ {0,4}(?:[-=_~]{3}|\]\]|\}\})/;

export interface Neutralised {
  pieces: string[];
  /** How many markers and ids were taken out. */
  removed: number;
}

interface Span {
  start: number;
  end: number;
}

/**
 * Reads the pieces as one text, so that it finds a marker whose halves stand in two of them. A note replaces
 * what is taken out, in the piece where that begins.
 */
export function neutralise(pieces: readonly string[], id?: string): Neutralised {
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
  const spans: Span[] = [];
  findWord(text, NAME, LENIENT, LONGEST_GAP, (name) => {
    const marker = markerAround(text, name, spans.at(-1)?.end ?? 0);
    if (marker !== undefined) spans.push(marker);
    return marker?.end;
  });
  const note = (span: Span): void => void spans.push(span);
  if (RIGHT_TO_LEFT.test(text)) findWord(text, NAME_BACKWARDS, LENIENT, LONGEST_GAP, note);
  const word = id?.toLowerCase();
  if (word !== undefined && (text.toLowerCase().includes(word) || !PLAIN.test(text))) {
    findWord(text, word, LITERAL, 0, note);
  }
  const apart: Span[] = [];
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const last = apart.at(-1);
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end);
    else apart.push(span);
  }
  return apart;
}

/**
 * Tells of every place of a word; `onFound` may say where to read on. A soft character is a letter or
 * decoration, so several readings can be possible at once.
 */
function findWord(
  text: string,
  word: string,
  letters: Uint8Array,
  longestGap: number,
  onFound: (span: Span) => number | undefined | void,
): void {
  const beginning = beginningOf(word.charAt(0));
  /** For each letter of the word, where the reading began that has just come to it; -1 where there is none. */
  const begun = new Int32Array(word.length);
  /** How many letters the longest reading has; `begun` is out of date beyond them. */
  let longest = 0;
  let gap = 0;
  const reader = new TextReader(text);
  for (;;) {
    if (longest === 0) {
      let at = reader.end;
      while (readingOf(text.charCodeAt(at) || 0) === FOREIGN) at += 1;
      beginning.lastIndex = at;
      if (!beginning.test(text)) return;
      reader.seek(beginning.lastIndex - 1);
    }
    if (!reader.next()) return;
    const { reading, start, end } = reader;
    if (reading === INVISIBLE) continue;
    for (let part = 0; part < reading.length; part += 1) {
      const code = reading.charCodeAt(part);
      const letter = letters[code];
      const isSoft = reader.isSoft || !isHard(code);
      let reached = 0;
      for (let at = longest; at >= 0; at -= 1) {
        const from = at === 0 ? start : (begun[at - 1] ?? -1);
        if (from !== -1 && word.charCodeAt(at) === letter) {
          begun[at] = from;
          reached = Math.max(reached, at + 1);
        } else if (!isSoft) begun[at] = -1;
      }
      gap = reached > 0 ? 0 : gap + 1;
      longest = isSoft && gap <= longestGap ? Math.max(longest, reached) : reached;
      if (longest < word.length) continue;
      longest = 0;
      const readOn = onFound({ start: begun[word.length - 1] ?? start, end });
      if (readOn !== undefined) reader.seek(readOn);
      break;
    }
  }
}

const beginnings = new Map<string, RegExp>();

/** Finds the next character that can begin a word with this letter, at the speed of a search. */
function beginningOf(letter: string): RegExp {
  const known = beginnings.get(letter);
  if (known !== undefined) return known;
  const shapes = [...LENIENT.keys()].filter((code) => {
    const reading = readingOf(code).charCodeAt(0);
    return [LITERAL[reading], LENIENT[reading]].includes(letter.charCodeAt(0));
  });
  // Most letters x in a text are followed by other letters than the T and E of the name.
  const second =
    letter === "x"
      ? String.raw`(?![\s,.;:_/-]{0,9}(?:[a-su-zA-SU-Z]|[Tt][\s,.;:_/-]{0,9}[a-df-zA-DF-Z]))`
      : "";
  const pattern = new RegExp(
    String.raw`[${String.fromCharCode(...shapes)}]${second}|[\x80-\uffff]|&(?=[#A-Za-z])|\\(?=[\\xuU0-7])|[%=](?=[0-9A-Fa-fu])`,
    "g",
  );
  beginnings.set(letter, pattern);
  return pattern;
}

function lettersFor(readAs: Readonly<Record<string, string>>): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => {
    const char = String.fromCharCode(code).toLowerCase();
    return (readAs[char] ?? char).charCodeAt(0);
  });
}

/** A letter or digit that is nothing else. */
function isHard(reading: number): boolean {
  return reading > 0x60 || (reading >= 0x30 && reading <= 0x39);
}

/** The marker around a name that was found without its first letter; undefined where it is prose. */
function markerAround(text: string, name: Span, floor: number): Span | undefined {
  const from = Math.max(floor, name.start - REACH);
  // Not from the middle of a surrogate pair.
  const isHalf = from > 0 && /[\udc00-\udfff]/.test(text.charAt(from));
  const before = readAll(text, isHalf ? from + 1 : from, name.start, Infinity).reverse();
  const [whole = "", letter = ""] = BEFORE.exec(joined(before)) ?? [];
  const first = before[letter.length - 1]?.start ?? name.start;
  const start = before[whole.length - 1]?.start ?? name.start;
  const end = markerEnd(text, name.end);
  const isProse =
    PROSE.test(text.slice(first, name.end)) &&
    !NOT_IN_PROSE.test(text.slice(start, first) + text.slice(name.end, end)) &&
    !RULE_BEFORE.test(text.slice(Math.max(0, first - 12), first)) &&
    !RULE_BEHIND.test(text.slice(name.end, name.end + 12));
  return isProse ? undefined : { start, end };
}

/** The end of the brackets behind a name, or of the name where none close it. */
function markerEnd(text: string, from: number): number {
  const behind = readAll(text, from, text.length, REACH);
  const [whole = "", between = ""] = BEHIND.exec(joined(behind)) ?? [];
  const attributes = text.slice(from, behind[between.length]?.start).normalize("NFKC");
  if (/[a-z0-9~]/.test(between) && !attributes.includes("=")) return from;
  return behind[whole.length - 1]?.end ?? from;
}

interface ReadCharacter extends Span {
  reading: string;
}

/** The readings from `from` to `to`, at most `most` or a few more. What is soft has one that is not hard. */
function readAll(text: string, from: number, to: number, most: number): ReadCharacter[] {
  const all: ReadCharacter[] = [];
  const reader = new TextReader(text, from);
  while (all.length < most && reader.next() && reader.start < to) {
    const { start, end, isSoft } = reader;
    for (const char of reader.reading) {
      const reading = isSoft ? char.toUpperCase().replace(/[0-9~]/, ORNAMENT) : char;
      all.push({ start, end, reading });
    }
  }
  return all;
}

function joined(characters: readonly ReadCharacter[]): string {
  return characters.map(({ reading }) => reading).join("");
}
