// Finds where words may begin in a text, at about the same cost for one word and for a hundred thousand. A word's head is
// its first characters; all heads have the same length. Of the text, only some blocks of characters are looked up, as in
// the algorithm of Wu and Manber: the others cannot be at the beginning of a word.

import { Automaton } from "./automaton.ts";

const LONGEST_HEAD = 16;
/** A block of the text is looked up every so many characters, at most. */
const LONGEST_STRIDE = 64;
const FEWEST_BITS = 1 << 12;
/** A table of a megabyte still fits into the cache of most processors. */
const MOST_BITS = 1 << 23;
/** One bit in so many is set, so that most blocks of another text are not found. */
const BITS_PER_BLOCK = 16;
const BITS_PER_HEAD = 64;

/** The words with the same head. */
export class Group {
  readonly #words: string[] = [];
  #automaton: Automaton | undefined;

  add(word: string): void {
    this.#words.push(word);
  }

  /** Made when the head is first found: most are never in a text, and to make the automata of all takes long. */
  get automaton(): Automaton {
    return (this.#automaton ??= new Automaton(this.#words));
  }
}

export class Heads {
  readonly length: number;
  /** A head that is split in two has a block of so many characters on one side. */
  readonly block: number;
  readonly #stride: number;
  readonly #groups = new Map<string, Group>();
  /** The blocks at the beginning of each word: one of them is looked up wherever a word stands. */
  readonly #blocks: HashSet;
  readonly #heads: HashSet;
  #automaton: Automaton | undefined;

  /** No word is shorter than `shortest`. */
  constructor(words: readonly string[], shortest: number) {
    this.length = Math.min(shortest, LONGEST_HEAD);
    this.block = Math.ceil(this.length / 2);
    for (const word of words) {
      const head = word.slice(0, this.length);
      const group = this.#groups.get(head) ?? new Group();
      group.add(word);
      this.#groups.set(head, group);
    }
    this.#heads = new HashSet(this.#groups.size * BITS_PER_HEAD);
    for (const head of this.#groups.keys()) this.#heads.add(hashOf(head, 0, this.length));

    const rare = Math.floor(MOST_BITS / BITS_PER_BLOCK / this.#groups.size);
    const longest = Math.min(shortest - this.block + 1, LONGEST_STRIDE, rare);
    this.#stride = Math.max(longest, this.length - this.block + 1);
    this.#blocks = new HashSet(this.#groups.size * this.#stride * BITS_PER_BLOCK);
    for (const word of words) {
      for (let at = 0; at < this.#stride; at += 1) this.#blocks.add(hashOf(word, at, this.block));
    }
  }

  /** The places in the text where a word may begin. Few of them are wrong. */
  placesIn(text: string): number[] {
    const { length, block } = this;
    const stride = this.#stride;
    const last = text.length - block;
    const places: number[] = [];
    for (let at = stride - 1; at <= last; at += stride) {
      if (!this.#blocks.has(hashOf(text, at, block))) continue;
      for (let start = at - stride + 1; start <= at; start += 1) {
        if (this.#heads.has(hashOf(text, start, length))) places.push(start);
      }
    }
    return places;
  }

  /** The words that begin with these characters, as many as a head has. */
  group(head: string): Group | undefined {
    return this.#groups.get(head);
  }

  /** By the hash of as many characters as a head has. */
  mayBeHead(hash: number): boolean {
    return this.#heads.has(hash);
  }

  /** By the hash of a block: whether a head may have it. */
  mayBeInHead(hash: number): boolean {
    return this.#blocks.has(hash);
  }

  /** Finds heads only. Made when it is needed: for texts that were cut, and for streams. */
  get automaton(): Automaton {
    return (this.#automaton ??= new Automaton([...this.#groups.keys()]));
  }
}

/** A set of hashes that may also have others: each is one bit. */
class HashSet {
  readonly #bits: Uint8Array;
  readonly #unused: number;

  constructor(atLeast: number) {
    let bits = FEWEST_BITS;
    while (bits < atLeast && bits < MOST_BITS) bits *= 2;
    this.#bits = new Uint8Array(bits / 8);
    this.#unused = Math.clz32(bits) + 1;
  }

  add(hash: number): void {
    const bit = this.#bitOf(hash);
    this.#bits[bit >>> 3] = (this.#bits[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  has(hash: number): boolean {
    const bit = this.#bitOf(hash);
    return ((this.#bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }

  /** The golden ratio spreads a hash over all bits, as in Knuth's multiplicative hashing. */
  #bitOf(hash: number): number {
    return Math.imul(hash, 0x9e3779b1) >>> this.#unused;
  }
}

export const NO_HASH = 0;

/** The hash of the characters so far and one more. */
export function hashWith(hash: number, unit: number): number {
  return Math.imul(hash, 0x01000193) ^ unit;
}

export function hashOf(text: string, from: number, length: number): number {
  let hash = NO_HASH;
  for (let at = from; at < from + length; at += 1) hash = hashWith(hash, text.charCodeAt(at));
  return hash;
}
