// What a reader sees in a character: a plain letter or digit behind whatever shape it has, an ornament, a
// bracket, or nothing. Learned once per character and remembered.

import { BRACKETS, LETTERS, SIGNS } from "./lookalikes.ts";

// A fold is one byte: the code of an ASCII letter or digit, or one of these.
/** Visible, and no letter: a space, punctuation, a symbol. */
export const ORNAMENT = 1;
/** Nothing to see: controls, format characters, combining marks, variation selectors. */
export const INVISIBLE = 2;
/** A letter or digit that has nothing to do with ASCII. */
export const FOREIGN = 3;
export const BRACKET = 4;
export const LINE_BREAK = 5;
/** More than one letter: see `lettersOf`. */
const SEVERAL = 6;
/** Added to a letter that may as well be an ornament. */
const SOFT = 0x80;

const folds = new Uint8Array(0x110000);
const several = new Map<number, readonly number[]>();

const brackets = new Set(BRACKETS);
const lookalikes = new Map<string, number>();
for (const [letter, shapes] of Object.entries(SIGNS)) {
  for (const shape of shapes) lookalikes.set(shape, letter.charCodeAt(0) | SOFT);
}
for (const [letter, shapes] of Object.entries(LETTERS)) {
  for (const shape of shapes) lookalikes.set(shape, letter.charCodeAt(0));
}

const LINE_BREAKS = /[\n\v\f\r\u0085\u2028\u2029]/;
const NOTHING = /[\p{C}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u;
const WORD = /[\p{L}\p{N}]/u;

export function foldOf(codePoint: number): number {
  // An array of bytes has no holes, and 0 is no fold.
  return folds[codePoint] || learn(codePoint);
}

/** The letter or digit of a fold, in lower case; 0 where it is none. */
export function letterOf(fold: number): number {
  const letter = fold & ~SOFT;
  return letter > SEVERAL ? letter : 0;
}

export function isSoft(fold: number): boolean {
  return (fold & SOFT) !== 0;
}

/** The same character where it may as well not count. */
export function soften(fold: number): number {
  return letterOf(fold) === 0 ? fold : fold | SOFT;
}

/** The folds behind one character, where it is a ligature or a letter in parentheses. */
export function foldsOf(codePoint: number): readonly number[] | undefined {
  return foldOf(codePoint) === SEVERAL ? several.get(codePoint) : undefined;
}

function learn(codePoint: number): number {
  const fold = classify(codePoint);
  folds[codePoint] = fold;
  return fold;
}

function classify(codePoint: number): number {
  const char = String.fromCodePoint(codePoint);
  const whole = partOf(char);
  if (whole !== FOREIGN && whole !== ORNAMENT) return whole;
  const decomposed = char.normalize("NFKD");
  if (decomposed === char) return whole;
  const parts = Array.from(decomposed, partOf).filter((part) => part !== INVISIBLE);
  const [first = INVISIBLE, ...more] = parts;
  if (more.length === 0) return first;
  const letters = parts.filter((part) => letterOf(part) !== 0 && !isSoft(part));
  if (letters.length === 0 || parts.includes(FOREIGN)) return whole;
  several.set(codePoint, letters);
  return SEVERAL;
}

function partOf(char: string): number {
  const known = lookalikes.get(char);
  if (known !== undefined) return known;
  if (/^[A-Za-z0-9]$/.test(char)) return char.toLowerCase().charCodeAt(0);
  const enclosed = enclosedLetter(char.codePointAt(0) ?? 0);
  if (enclosed !== undefined) return enclosed;
  if (LINE_BREAKS.test(char)) return LINE_BREAK;
  if (char === "\t") return ORNAMENT;
  if (brackets.has(char)) return BRACKET;
  if (NOTHING.test(char)) return INVISIBLE;
  if (!WORD.test(char)) return ORNAMENT;
  return lookalikes.get(char.toLowerCase()) ?? FOREIGN;
}

/** Blocks that repeat the Latin alphabet and that NFKD leaves alone: white on black, flags, tags. */
function enclosedLetter(codePoint: number): number | undefined {
  for (const [from, a] of [
    [0x1f150, 0x61],
    [0x1f170, 0x61],
    [0x1f1e6, 0x61],
  ] as const) {
    if (codePoint >= from && codePoint < from + 26) return a + codePoint - from;
  }
  const tagged = codePoint - 0xe0000;
  if (tagged < 0x20 || tagged > 0x7e) return undefined;
  // A tag is not seen, yet a model may spell with tags alone: so it may count, or not.
  const part = partOf(String.fromCharCode(tagged));
  if (letterOf(part) !== 0) return soften(part);
  return part === BRACKET ? BRACKET : INVISIBLE;
}
