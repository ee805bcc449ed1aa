// Finds many words in a text at once. What every text pays for is the search for places where a word may begin. From
// such a place, an automaton of the few words that begin so reads on, which keeps it linear for every text. Words that only
// a reader sees, because they are encoded or have something invisible inside, are read in the same way, by a reader.

import { type Group, Heads, NO_HASH } from "./heads.ts";
import { HiddenPlaces } from "./hidden-places.ts";
import {
  codeAfter,
  END,
  hasEscapes,
  isAsWritten,
  TextReader,
  type UnitReader,
  unfinishedCode,
  WrittenReader,
} from "./text-reader.ts";

const NONE: readonly number[] = [];

/** Stands where a text was cut: see `truncate`. */
const CUT = "\u2026";
const CUT_UNIT = CUT.charCodeAt(0);
/** Where a text was cut inside a word, fewer of its characters than this reveal nothing. */
export const SHORTEST_PREFIX = 4;

/** A character that is seen may be written as two, as a quote in JSON. */
const WRITTEN_PER_SEEN = 2;

/** The beginning of a word at the end of a text: where it stands, and how many characters a reader sees of it. */
interface Opening {
  start: number;
  length: number;
}

/** What an automaton found from one place on. */
interface Walk {
  spans: readonly number[];
  /** All words that begin before this place have been found. */
  until: number;
  /** The word that was not finished when the text ended. */
  opening?: Opening;
}

export class SecretMatcher {
  /** The length of the shortest word. */
  readonly shortest: number;
  readonly #longest: number;
  readonly #heads: Heads;
  /** The last characters that a reader saw, and where they stand in the text; rings. */
  readonly #units: Uint16Array;
  readonly #places: Int32Array;

  /** Takes at least one word, and none shorter than three characters. */
  constructor(words: readonly string[]) {
    let shortest = Infinity;
    let longest = 0;
    for (const { length } of words) {
      shortest = Math.min(shortest, length);
      longest = Math.max(longest, length);
    }
    this.shortest = shortest;
    this.#longest = longest;
    this.#heads = new Heads(words, shortest);
    let ring = 1;
    while (ring < longest) ring *= 2;
    this.#units = new Uint16Array(ring);
    this.#places = new Int32Array(ring);
  }

  /** Passes over short texts at once. */
  canBeIn(text: string): boolean {
    return text.length >= this.shortest || text.includes(CUT);
  }

  /** Where the words are, as start, end, start, end …; words that overlap make one span. */
  spans(text: string): readonly number[] {
    const cut = text.includes(CUT) ? this.#cut(text) : undefined;
    const heads = this.#heads.placesIn(text);
    const starts = cut === undefined ? heads : ascending([...heads, ...cut.heads]);
    const found = cut === undefined ? [] : cut.spans;
    if (starts.length > 0) this.#collect(starts, new WrittenReader(text), found);
    this.#collectSeen(text, starts, false, found);
    // Only a word that was hidden by something else than an escape can be in a sequence.
    if (hasEscapes(text)) this.#collectSeen(text, starts, true, found);
    return joined(found);
  }

  /** What a reader sees of the words. They may begin as written, or where something is hidden. */
  #collectSeen(
    text: string,
    written: readonly number[],
    isLiteral: boolean,
    found: number[],
  ): void {
    const hidden = this.#hiddenHeads(text, isLiteral);
    if (hidden.length === 0 && (written.length === 0 || isAsWritten(text))) return;
    const starts = hidden.length === 0 ? written : ascending([...written, ...hidden]);
    this.#collect(starts, new TextReader(text, isLiteral), found);
  }

  /** Adds the words that begin at these places, which must ascend. */
  #collect(starts: readonly number[], reader: UnitReader, found: number[]): void {
    for (const { spans } of this.#walks(starts, reader)) {
      for (const each of spans) found.push(each);
    }
  }

  *#walks(starts: readonly number[], reader: UnitReader): Generator<Walk> {
    const done = new Map<Group, number>();
    for (const start of starts) {
      const group = this.#heads.group(reader.read(start, this.#heads.length));
      if (group === undefined || start < (done.get(group) ?? 0)) continue;
      const walk = this.#walk(group, start, reader);
      done.set(group, walk.until);
      yield walk;
    }
  }

  /** Reads on until no word of the group goes on. */
  #walk({ automaton }: Group, start: number, reader: UnitReader): Walk {
    const places = this.#places;
    const mask = places.length - 1;
    const spans: number[] = [];
    let state = 0;
    let depth = 0;
    let count = 0;
    reader.moveTo(start);
    for (let unit = reader.next(); unit !== END; unit = reader.next()) {
      if (unit === CUT_UNIT && depth >= SHORTEST_PREFIX) {
        addSpan(spans, places[(count - depth) & mask] ?? 0, reader.start);
      }
      state = automaton.step(state, unit);
      places[count & mask] = reader.start;
      count += 1;
      const length = automaton.word(state);
      if (length > 0) addSpan(spans, places[(count - length) & mask] ?? 0, reader.end);
      depth = automaton.depth(state);
      // A match shorter than a head can be dropped: the search for heads finds its beginning again.
      if (depth < this.#heads.length && count >= this.#heads.length) {
        return { spans, until: depth === 0 ? reader.end : (places[(count - depth) & mask] ?? 0) };
      }
    }
    const opening = { start: places[(count - depth) & mask] ?? 0, length: depth };
    return { spans, until: Infinity, opening };
  }

  /** Where a head is seen around the hidden places. */
  #hiddenHeads(text: string, isLiteral: boolean): readonly number[] {
    const heads = this.#heads;
    const { length } = heads;
    const hidden = new HiddenPlaces(text, heads, isLiteral);
    const first = hidden.next(0);
    if (first === text.length) return NONE;
    const places = this.#places;
    const units = this.#units;
    const mask = places.length - 1;
    const reader = new TextReader(text, isLiteral);
    const found: number[] = [];
    let count = 0;
    let hash = NO_HASH;
    for (let at = first; at < text.length;) {
      const from = at - WRITTEN_PER_SEEN * length;
      if (from > reader.end) {
        reader.moveTo(from);
        count = 0;
        hash = NO_HASH;
      }
      for (let after = 0; after < length;) {
        const unit = reader.next();
        if (unit === END) return found;
        const oldest = count < length ? 0 : (units[(count - length) & mask] ?? 0);
        hash = heads.roll(hash, oldest, unit);
        units[count & mask] = unit;
        places[count & mask] = reader.start;
        count += 1;
        if (reader.start >= at) after += 1;
        if (count < length || !heads.mayBeHead(hash)) continue;
        found.push(places[(count - length) & mask] ?? 0);
      }
      // A head that is not read to its end begins after the first of the last characters.
      at = hidden.next(Math.max(at + 1, places[(count - length + 1) & mask] ?? 0));
    }
    return found;
  }

  /**
   * The beginnings of words that were cut off: those that are shorter than a head, and the places of heads. A text may
   * have been cut before anybody looked for words in it.
   */
  #cut(text: string): { spans: number[]; heads: readonly number[] } {
    const { automaton, length } = this.#heads;
    const spans: number[] = [];
    const heads: number[] = [];
    let state = 0;
    let at = 0;
    for (let end = text.indexOf(CUT); end !== -1; end = text.indexOf(CUT, end + 1)) {
      if (at < end - this.#longest) {
        at = end - this.#longest;
        state = 0;
      }
      for (; at < end; at += 1) {
        state = automaton.step(state, text.charCodeAt(at));
        if (automaton.word(state) > 0) heads.push(at + 1 - length);
      }
      const depth = automaton.depth(state);
      if (depth >= SHORTEST_PREFIX) addSpan(spans, end - depth, end);
    }
    return { spans, heads };
  }

  /**
   * Where a word begins at the end of the text that the text may not have to its end, and how many characters a
   * reader sees of it. The text's length if there is none.
   */
  opening(text: string): Opening {
    const from = Math.max(0, text.length - this.#longest);
    const written = this.#opening(new WrittenReader(text), from, text.length);
    const hidden = this.#hiddenOpening(text);
    return hidden.start < written.start ? hidden : written;
  }

  #hiddenOpening(text: string): Opening {
    const from = Math.max(0, text.length - 8 * this.#longest);
    const end = unfinishedCode(text);
    const isTheSame =
      end === text.length &&
      codeAfter(text, from) === text.length &&
      text.indexOf("\n", from) === -1 &&
      text.indexOf("\\n", from) === -1;
    if (isTheSame) return { start: end, length: 0 };
    const finished = text.slice(0, end);
    const seen = this.#opening(new TextReader(finished), from, end);
    if (!hasEscapes(text)) return seen;
    const literal = this.#opening(new TextReader(finished, true), from, end);
    return literal.start < seen.start ? literal : seen;
  }

  /** The longest beginning of a word at the end of what is read. */
  #opening(reader: UnitReader, from: number, end: number): Opening {
    const { automaton, length } = this.#heads;
    const places = this.#places;
    const mask = places.length - 1;
    const heads: number[] = [];
    let state = 0;
    let count = 0;
    reader.moveTo(from);
    for (let unit = reader.next(); unit !== END; unit = reader.next()) {
      state = automaton.step(state, unit);
      places[count & mask] = reader.start;
      count += 1;
      if (automaton.word(state) > 0) heads.push(places[(count - length) & mask] ?? 0);
    }
    const depth = automaton.depth(state);
    let longest = {
      start: depth === 0 ? end : (places[(count - depth) & mask] ?? end),
      length: depth,
    };
    for (const { opening } of this.#walks(heads, reader)) {
      if (opening !== undefined && opening.length > longest.length) longest = opening;
    }
    return longest;
  }
}

/** Spans arrive in the order of their ends; a longer word may begin before the words found inside it. */
function addSpan(spans: number[], start: number, end: number): void {
  let from = start;
  for (let top = spans.length; top > 0 && (spans[top - 1] ?? 0) > from; top = spans.length) {
    from = Math.min(from, spans[top - 2] ?? from);
    spans.length = top - 2;
  }
  spans.push(from, end);
}

/** In the order of their starts; those that overlap become one. */
function joined(spans: readonly number[]): readonly number[] {
  if (spans.length <= 2) return spans;
  const pairs: { start: number; end: number }[] = [];
  for (let index = 0; index < spans.length; index += 2) {
    pairs.push({ start: spans[index] ?? 0, end: spans[index + 1] ?? 0 });
  }
  pairs.sort((a, b) => a.start - b.start);
  const all: number[] = [];
  for (const { start, end } of pairs) {
    const last = all.length - 1;
    if (start < (all[last] ?? 0)) all[last] = Math.max(all[last] ?? 0, end);
    else all.push(start, end);
  }
  return all;
}

function ascending(places: readonly number[]): readonly number[] {
  return [...new Set(places)].sort((a, b) => a - b);
}
