// Finds many words in a text at once. Aho-Corasick keeps it linear for every text; a skip table in front of it
// passes over most of the text unread, as in the algorithm of Wu and Manber. Words that only a reader sees, because
// they are encoded or have something invisible inside, are found in a second pass over the places that have such.

import { codeAfter, END, hasEscapes, isPlain, TextReader, unfinishedCode } from "./text-reader.ts";

/** How many characters are looked up together in the skip table. */
const BLOCK = 3;
const LONGEST_WINDOW = 64;
const SMALLEST_TABLE = 1 << 12;
const LARGEST_TABLE = 1 << 18;

const INSIDE_TABLE = 1 << 18;

const NONE: readonly number[] = [];

/** Stands where a text was cut: see `truncate`. */
const CUT = "\u2026";
const CUT_UNIT = CUT.charCodeAt(0);
/** Where a text was cut inside a word, fewer of its characters than this reveal nothing. */
export const SHORTEST_PREFIX = 4;

export class SecretMatcher {
  /** The length of the shortest word. */
  readonly shortest: number;
  readonly #longest: number;
  /** The skip table covers the first `window` characters of every word. */
  readonly #window: number;
  readonly #skips: Uint8Array;
  /** By the hash of three characters: 1 if a word has them. */
  readonly #inside = new Uint8Array(INSIDE_TABLE);
  /** The children of the root by their character, for those below 128: most texts have few others. */
  readonly #first = new Int32Array(128);
  /** Where the last characters that a reader saw stand in the text; a ring. */
  readonly #places: Int32Array;
  // The trie, one entry per node. Node 0 is the root; 0 as a child or sibling means that there is none.
  readonly #character: Uint16Array;
  readonly #child: Int32Array;
  readonly #sibling: Int32Array;
  readonly #fail: Int32Array;
  readonly #depth: Int32Array;
  /** The length of the longest word that ends at a node. */
  readonly #word: Int32Array;
  #nodes = 1;

  /** Takes at least one word, and none shorter than three characters. */
  constructor(words: Iterable<string>) {
    const list = [...words];
    let total = 1;
    let shortest = Infinity;
    let longest = 0;
    for (const { length } of list) {
      total += length;
      shortest = Math.min(shortest, length);
      longest = Math.max(longest, length);
    }
    this.shortest = shortest;
    this.#longest = longest;
    this.#window = Math.min(shortest, LONGEST_WINDOW);
    this.#character = new Uint16Array(total);
    this.#child = new Int32Array(total);
    this.#sibling = new Int32Array(total);
    this.#fail = new Int32Array(total);
    this.#depth = new Int32Array(total);
    this.#word = new Int32Array(total);
    let ring = 1;
    while (ring < longest) ring *= 2;
    this.#places = new Int32Array(ring);
    for (const word of list) this.#insert(word);
    this.#link();
    this.#skips = this.#skipTable(list);
  }

  /** Passes over short texts at once. */
  canBeIn(text: string): boolean {
    return text.length >= this.shortest || text.endsWith(CUT);
  }

  /** Where the words are, as start, end, start, end …; words that overlap make one span. */
  spans(text: string): readonly number[] {
    const written = text.includes(CUT)
      ? union(this.#written(text), this.#cut(text))
      : this.#written(text);
    const hidden = this.#hidden(text);
    if (hidden.length === 0) return written;
    return written.length === 0 ? hidden : union(written, hidden);
  }

  /** The beginnings of words that were cut off. A text may have been cut before anybody looked for words in it. */
  #cut(text: string): readonly number[] {
    const found: number[] = [];
    let state = 0;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      const length = this.#depth[state] ?? 0;
      if (unit === CUT_UNIT && length >= SHORTEST_PREFIX) addSpan(found, at - length, at);
      state = this.#step(state, unit);
    }
    return found;
  }

  /**
   * Where a word begins at the end of the text that the text may not have to its end, and how many characters a
   * reader sees of it. The text's length if there is none.
   */
  opening(text: string): { start: number; length: number } {
    let state = 0;
    for (let at = Math.max(0, text.length - this.#longest); at < text.length; at += 1) {
      state = this.#step(state, text.charCodeAt(at));
    }
    const length = this.#depth[state] ?? 0;
    const written = { start: text.length - length, length };
    const hidden = this.#hiddenOpening(text);
    return hidden.start < written.start ? hidden : written;
  }

  #written(text: string): readonly number[] {
    let found: number[] | undefined;
    const last = text.length - this.#window;
    for (let from = this.#skip(text, 0); from <= last;) {
      let state = 0;
      let at = from;
      do {
        state = this.#step(state, text.charCodeAt(at));
        at += 1;
        const length = this.#word[state] ?? 0;
        if (length > 0) addSpan((found ??= []), at - length, at);
      } while (state !== 0 && at < text.length);
      from = this.#skip(text, at);
    }
    return found ?? NONE;
  }

  #hidden(text: string): readonly number[] {
    const seen = this.#seen(text, false);
    // Only a word that was hidden by something else than an escape can be in a sequence.
    return hasEscapes(text) ? union(seen, this.#seen(text, true)) : seen;
  }

  /** Reads from a little before each hidden place, and until no word goes on. */
  #seen(text: string, isLiteral: boolean): readonly number[] {
    const hidden = new HiddenPlaces(text, this.#inside, isLiteral);
    const first = hidden.next(0);
    if (first === text.length) return NONE;
    const places = this.#places;
    const mask = places.length - 1;
    const found: number[] = [];
    const reader = new TextReader(text, isLiteral);
    for (let at = first; at < text.length; at = hidden.next(Math.max(reader.end, at + 1))) {
      reader.moveTo(this.#before(at, reader.end));
      let state = 0;
      let count = 0;
      for (let unit = reader.next(); unit !== END; unit = reader.next()) {
        state = this.#step(state, unit);
        places[count & mask] = reader.start;
        count += 1;
        const length = this.#word[state] ?? 0;
        if (length > 0) addSpan(found, places[(count - length) & mask] ?? 0, reader.end);
        if (state === 0 && reader.end > at) break;
      }
    }
    return found;
  }

  #hiddenOpening(text: string): { start: number; length: number } {
    const from = Math.max(0, text.length - 8 * this.#longest);
    const end = unfinishedCode(text);
    const isAsWritten =
      end === text.length &&
      codeAfter(text, from) === text.length &&
      text.indexOf("\n", from) === -1 &&
      text.indexOf("\\n", from) === -1;
    if (isAsWritten) return { start: end, length: 0 };
    const places = this.#places;
    const mask = places.length - 1;
    const reader = new TextReader(text.slice(0, end));
    reader.moveTo(from);
    let state = 0;
    let count = 0;
    for (let unit = reader.next(); unit !== END; unit = reader.next()) {
      state = this.#step(state, unit);
      places[count & mask] = reader.start;
      count += 1;
    }
    const length = this.#depth[state] ?? 0;
    return { start: length === 0 ? end : (places[(count - length) & mask] ?? end), length };
  }

  /** Where a word can begin that goes on at `at`. Twice the length of a word, because a quote may be escaped in it. */
  #before(at: number, from: number): number {
    return Math.max(from, at - 2 * this.#longest);
  }

  /** The next position where a word may begin, or one past the last possible if there is none. */
  #skip(text: string, from: number): number {
    const skips = this.#skips;
    const mask = skips.length - 1;
    const { length } = text;
    let end = from + this.#window;
    while (end <= length) {
      const skip = skips[hashBefore(text, end) & mask] ?? 0;
      if (skip === 0) break;
      end += skip;
    }
    return end - this.#window;
  }

  #step(from: number, character: number): number {
    let state = from;
    for (;;) {
      const child = this.#find(state, character);
      if (child !== 0 || state === 0) return child;
      state = this.#fail[state] ?? 0;
    }
  }

  #find(state: number, character: number): number {
    if (state === 0 && character < 128) return this.#first[character] ?? 0;
    let child = this.#child[state] ?? 0;
    while (child !== 0 && this.#character[child] !== character) child = this.#sibling[child] ?? 0;
    return child;
  }

  #insert(word: string): void {
    let state = 0;
    for (let at = 0; at < word.length; at += 1) {
      const character = word.charCodeAt(at);
      let child = this.#find(state, character);
      if (child === 0) {
        child = this.#nodes;
        this.#nodes += 1;
        this.#character[child] = character;
        this.#sibling[child] = this.#child[state] ?? 0;
        this.#child[state] = child;
        if (state === 0 && character < 128) this.#first[character] = child;
        this.#depth[child] = at + 1;
      }
      state = child;
    }
    this.#word[state] = word.length;
  }

  /** Sets, level by level, the node to continue from when the next character does not fit. */
  #link(): void {
    const queue = new Int32Array(this.#nodes);
    for (let head = 0, tail = 1; head < tail; head += 1) {
      const parent = queue[head] ?? 0;
      for (let node = this.#child[parent] ?? 0; node !== 0; node = this.#sibling[node] ?? 0) {
        const fallback =
          parent === 0 ? 0 : this.#step(this.#fail[parent] ?? 0, this.#character[node] ?? 0);
        this.#fail[node] = fallback;
        if (this.#word[node] === 0) this.#word[node] = this.#word[fallback] ?? 0;
        queue[tail] = node;
        tail += 1;
      }
    }
  }

  #skipTable(words: readonly string[]): Uint8Array {
    const blocks = words.length * (this.#window - BLOCK + 1);
    let size = SMALLEST_TABLE;
    while (size < blocks * 8 && size < LARGEST_TABLE) size *= 2;
    const skips = new Uint8Array(size).fill(this.#window - BLOCK + 1);
    for (const word of words) {
      for (let end = BLOCK; end <= word.length; end += 1) {
        const block = hashBefore(word, end);
        this.#inside[block & (INSIDE_TABLE - 1)] = 1;
        if (end > this.#window) continue;
        const index = block & (size - 1);
        skips[index] = Math.min(skips[index] ?? 0, this.#window - end);
      }
    }
    return skips;
  }
}

/**
 * The places in a text where what is seen differs from what is written, as far as they may be inside a word: then
 * a word has the three characters before the place, or the three that are seen from there on.
 */
class HiddenPlaces {
  readonly #text: string;
  readonly #inside: Uint8Array;
  readonly #isLiteral: boolean;
  /** Made when it is needed: most texts are short and have no such place. */
  #reader: TextReader | undefined;
  /** The next place of each kind. None is looked for again before it is passed, or the search would be quadratic. */
  #code: number;
  #break = -1;
  #writtenBreak = -1;

  constructor(text: string, inside: Uint8Array, isLiteral: boolean) {
    this.#text = text;
    this.#inside = inside;
    this.#isLiteral = isLiteral;
    this.#code = isPlain(text) ? text.length : -1;
  }

  /** The first one from `from` on; the text's length if there is none. `from` must not go back. */
  next(from: number): number {
    if (this.#code < from) this.#code = this.#nextCode(from);
    if (this.#break < from) this.#break = this.#nextBreak("\n", from);
    if (this.#writtenBreak < from) this.#writtenBreak = this.#nextBreak("\\n", from);
    return Math.min(this.#code, this.#break, this.#writtenBreak);
  }

  #nextCode(from: number): number {
    const text = this.#text;
    let at = codeAfter(text, from);
    if (at === text.length) return at;
    const reader = (this.#reader ??= new TextReader(text, this.#isLiteral));
    for (; at < text.length; at = codeAfter(text, reader.end)) {
      if (this.#isInside(hashBefore(text, at))) return at;
      reader.moveTo(at);
      const first = reader.next();
      const { end } = reader;
      if (this.#isInside(hash(first, reader.next(), reader.next()))) return at;
      reader.moveTo(Math.max(end, at + 1));
    }
    return text.length;
  }

  /** The next end of a line, as `lineEnd` writes it. */
  #nextBreak(lineEnd: "\n" | "\\n", from: number): number {
    const text = this.#text;
    let after = from;
    for (;;) {
      const at = text.indexOf(lineEnd, after);
      if (at === -1) return text.length;
      let before = at;
      while (before > after && isBeforeLineEnd(text, before - 1)) before -= 1;
      if (this.#isInside(hashBefore(text, before))) return at;
      after = at + lineEnd.length;
      while (isBlank(text.charCodeAt(after))) after += 1;
      if (this.#isInside(hashBefore(text, after + BLOCK))) return at;
    }
  }

  #isInside(block: number): boolean {
    return this.#inside[block & (INSIDE_TABLE - 1)] === 1;
  }
}

function hash(first: number, second: number, third: number): number {
  return Math.imul(first, 0x1e35) + Math.imul(second, 0x61) + third;
}

function hashBefore(text: string, end: number): number {
  return hash(text.charCodeAt(end - 3), text.charCodeAt(end - 2), text.charCodeAt(end - 1));
}

/** A carriage return, or one that is written as `\r`, before the end of a line. */
function isBeforeLineEnd(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit === 0x0d || unit === 0x5c || (unit === 0x72 && text.charCodeAt(at - 1) === 0x5c);
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0a || unit === 0x0d;
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

function union(a: readonly number[], b: readonly number[]): readonly number[] {
  const all: number[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const isFirst = (a[i + 1] ?? Infinity) <= (b[j + 1] ?? Infinity);
    const from = isFirst ? a : b;
    const at = isFirst ? i : j;
    addSpan(all, from[at] ?? 0, from[at + 1] ?? 0);
    if (isFirst) i += 2;
    else j += 2;
  }
  return all;
}
