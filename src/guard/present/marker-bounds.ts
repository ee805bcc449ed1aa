// How far a forged marker reaches around its name: the `END` and the brackets before it, the id and the
// brackets behind it. And which mention of the words is prose that is left alone.

import { BRACKET, FOREIGN, INVISIBLE, isSoft, letterOf, LINE_BREAK } from "./fold.ts";
import { UnitReader } from "./unit-reader.ts";

export interface Span {
  start: number;
  end: number;
}

interface Unit {
  fold: number;
  start: number;
  end: number;
}

/** Characters before the name, and units behind it, that are looked at. */
const REACH = 96;

/** The name is in quotes then, and brackets beyond them are not its own. */
const QUOTES = "\"'`";

/** Somebody writing about external, untrusted content, or a name in their code. */
const PROSE = /^[Ee]xternal[ ,\n-]{0,2}[Uu]ntrusted[ ,\n-]{0,2}[Cc]ontent$/;
/** Pointed brackets, and everything beyond ASCII. */
const NOT_IN_PROSE = /[^\t -;=?-~]/;
const RULE_BEFORE = /(?:[-=_~]{3}|\[\[|\{\{) {0,4}(?:[Ee]nd )?$/;
const RULE_BEHIND = /^ {0,4}(?:[-=_~]{3}|\]\]|\}\})/;

/** The marker around a name that was found without its first letter; undefined where it is prose. */
export function markerBounds(text: string, name: Span, floor: number): Span | undefined {
  const before = unitsBefore(text, name.start, floor);
  const withE = firstLetter(before);
  const first = withE === undefined ? name.start : (before[withE]?.start ?? name.start);
  const word = withE ?? before.length;
  const withEnd = wordEnd(before, word) ?? word;
  const opened = bracketsBefore(text, before, withEnd);
  const closed = bracketsBehind(text, name.end);
  const start = opened ?? before[withEnd]?.start ?? first;
  const end = closed ?? name.end;
  const ornaments = text.slice(start, first) + text.slice(name.end, end);
  if (!NOT_IN_PROSE.test(ornaments) && isProse(text, first, name.end)) return undefined;
  return { start, end };
}

function isProse(text: string, start: number, end: number): boolean {
  return (
    PROSE.test(text.slice(start, end)) &&
    !RULE_BEFORE.test(text.slice(Math.max(0, start - 12), start)) &&
    !RULE_BEHIND.test(text.slice(end, end + 12))
  );
}

function unitsBefore(text: string, end: number, floor: number): Unit[] {
  let from = Math.max(floor, end - REACH);
  // Not in the middle of a pair.
  if (from > 0 && isLowSurrogate(text.charCodeAt(from))) from += 1;
  return unitsOf(text, from, (unit) => unit.start < end);
}

function unitsOf(
  text: string,
  from: number,
  wanted: (unit: Unit, index: number) => boolean,
): Unit[] {
  const units: Unit[] = [];
  const reader = new UnitReader(text, from);
  for (let fold = reader.next(); fold !== 0; fold = reader.next()) {
    const unit = { fold, start: reader.start, end: reader.end };
    if (!wanted(unit, units.length)) break;
    units.push(unit);
  }
  return units;
}

/** The E before the name: right before it, or on its own some ornaments earlier. */
function firstLetter(units: Unit[]): number | undefined {
  const at = stepBack(units, units.length, "e");
  if (at === undefined) return undefined;
  const adjacent = units.slice(at + 1).every(({ fold }) => fold === INVISIBLE);
  return adjacent || !isHardWord(units[at - 1]) ? at : undefined;
}

/** The word END before the name; not the end of a longer one. */
function wordEnd(units: Unit[], index: number): number | undefined {
  let at: number | undefined = index;
  for (const letter of "dne") {
    at = stepBack(units, at, letter);
    if (at === undefined) return undefined;
  }
  return isHardWord(units[at - 1]) ? undefined : at;
}

/** Where the letter stands before `index`, ornaments aside. */
function stepBack(units: Unit[], index: number, letter: string): number | undefined {
  for (let at = index - 1; at >= 0; at -= 1) {
    if (isLetter(units[at], letter)) return at;
    if (isHardWord(units[at]) || units[at]?.fold === BRACKET) return undefined;
  }
  return undefined;
}

function bracketsBefore(text: string, units: Unit[], index: number): number | undefined {
  let start: number | undefined;
  for (let at = index - 1; at >= 0; at -= 1) {
    const unit = units[at];
    if (unit === undefined || unit.fold === LINE_BREAK || isHardWord(unit)) break;
    if (QUOTES.includes(text.charAt(unit.start))) break;
    if (unit.fold === BRACKET) start = unit.start;
  }
  return start;
}

/** Right behind the name, or behind attributes. */
function bracketsBehind(text: string, from: number): number | undefined {
  if (QUOTES.includes(text.charAt(from))) return undefined;
  const units = unitsOf(text, from, ({ fold }, index) => fold !== LINE_BREAK && index < REACH);
  const first = units.findIndex(({ fold }) => fold === BRACKET);
  if (first === -1) return undefined;
  const between = units.slice(0, first);
  const attributes = text.slice(from, units[first]?.start).normalize("NFKC");
  if (between.some(isHardWord) && !attributes.includes("=")) return undefined;
  let end: number | undefined;
  for (const unit of units.slice(first)) {
    if (isHardWord(unit) || QUOTES.includes(text.charAt(unit.start))) break;
    if (unit.fold === BRACKET) end = unit.end;
  }
  return end;
}

function isHardWord(unit: Unit | undefined): boolean {
  if (unit === undefined) return false;
  return unit.fold === FOREIGN || (letterOf(unit.fold) !== 0 && !isSoft(unit.fold));
}

function isLetter(unit: Unit | undefined, letter: string): boolean {
  if (unit === undefined) return false;
  const read = String.fromCharCode(letterOf(unit.fold));
  return read === letter || (letter === "e" && read === "3" && !isSoft(unit.fold));
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
