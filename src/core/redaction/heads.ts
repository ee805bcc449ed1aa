// Finds where words may begin in a text, at about the same cost for one word and for a hundred thousand. A word's head is
// its first characters; all heads have the same length. Of the text, only some blocks of characters are looked up, as in
// the algorithm of Wu and Manber: the others cannot be at the beginning of a word.

import { Automaton } from "./automaton.ts";

const LONGEST_HEAD = 64;
const SHORTEST_BLOCK = 3;
const FEWEST_BITS = 1 << 12;
/** A table of a megabyte still fits into the cache of most processors. */
const MOST_BITS = 1 << 23;
/** With so many, hardly any other hash is found. */
const BITS_PER_HASH = 32;

/** The words with the same head. */
export class Group {
  readonly words: string[] = [];
  #automaton: Automaton | undefined;

  /** Made when the head is first found: most are never in a text, and to make the automata of all takes long. */
  get automaton(): Automaton {
    return (this.#automaton ??= new Automaton(this.words));
  }
}

export class Heads {
  readonly length: number;
  /** This many characters are looked up together. A head that is split in two has a whole block on one side. */
  readonly block: number;
  /** A block of the text is looked up every so many characters. */
  readonly #stride: number;
  readonly #groups = new Map<string, Group>();
  /** All blocks of all heads: one of them is looked up wherever a head stands. */
  readonly #blocks: HashSet;
  readonly #heads: HashSet;
  /** What the first character of a head counts in its hash. */
  readonly #power: number;
  #automaton: Automaton | undefined;
  /** The last head that was looked up. In a text made to be hard, the next one is often the same. */
  #last: { head: string; group: Group | undefined } = { head: "", group: undefined };

  /** No word is shorter than `shortest`. */
  constructor(words: readonly string[], shortest: number) {
    const block = blockFor(words.length);
    this.length = Math.min(block + strideFor(words.length, block) - 1, shortest, LONGEST_HEAD);
    this.block = Math.min(block, Math.ceil(this.length / 2));
    this.#stride = this.length - this.block + 1;
    this.#power = hashOf("\u0001".padEnd(this.length, "\0"), 0, this.length);
    for (const word of words) this.#groupFor(word).words.push(word);
    this.#heads = new HashSet(this.#groups.size);
    this.#blocks = new HashSet(this.#groups.size * this.#stride);
    for (const head of this.#groups.keys()) {
      this.#heads.add(hashOf(head, 0, this.length));
      for (let at = 0; at < this.#stride; at += 1) this.#blocks.add(hashOf(head, at, this.block));
    }
  }

  #groupFor(word: string): Group {
    const head = word.slice(0, this.length);
    const known = this.#groups.get(head);
    if (known !== undefined) return known;
    const group = new Group();
    this.#groups.set(head, group);
    return group;
  }

  /** The places in the text where a word may begin. Hardly any of them is wrong. */
  placesIn(text: string): number[] {
    const { length, block } = this;
    const stride = this.#stride;
    const last = text.length - block;
    const places: number[] = [];
    for (let at = stride - 1; at <= last; at += stride) {
      if (!this.#blocks.has(hashOf(text, at, block))) continue;
      let start = at - stride + 1;
      let hash = hashOf(text, start, length);
      for (; start <= at; start += 1) {
        if (this.#heads.has(hash)) places.push(start);
        hash = this.roll(hash, text.charCodeAt(start), text.charCodeAt(start + length));
      }
    }
    return places;
  }

  /** The hash of the characters after the oldest one, and of the newest. */
  roll(hash: number, oldest: number, newest: number): number {
    return hashWith(hash - Math.imul(oldest, this.#power), newest);
  }

  /** The words that begin with these characters, as many as a head has. */
  group(head: string): Group | undefined {
    if (head !== this.#last.head) this.#last = { head, group: this.#groups.get(head) };
    return this.#last.group;
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

/**
 * The more words there are, the more characters have to be looked at together, or every text would have some block of
 * theirs. In hexadecimal text, a character is four bits.
 */
function blockFor(words: number): number {
  return Math.max(Math.ceil(Math.log2(64 * words) / 4), SHORTEST_BLOCK);
}

/**
 * The longer it is, the fewer blocks of a text are looked up, and the more of them are found that are not at the
 * beginning of a word. Then every place is looked at where one might begin.
 */
function strideFor(words: number, block: number): number {
  return Math.ceil(Math.sqrt((block * MOST_BITS) / (8 * words)));
}

/** A set of hashes that may seem to have others too: a Bloom filter that looks at one word of its memory. */
class HashSet {
  readonly #words: Int32Array;
  readonly #unused: number;

  constructor(size: number) {
    let bits = FEWEST_BITS;
    while (bits < size * BITS_PER_HASH && bits < MOST_BITS) bits *= 2;
    this.#words = new Int32Array(bits / 32);
    this.#unused = Math.clz32(bits / 32) + 1;
  }

  add(hash: number): void {
    const index = this.#indexOf(hash);
    this.#words[index] = (this.#words[index] ?? 0) | threeBits(hash);
  }

  has(hash: number): boolean {
    const bits = threeBits(hash);
    return ((this.#words[this.#indexOf(hash)] ?? 0) & bits) === bits;
  }

  /** The golden ratio spreads a hash over all bits, as in Knuth's multiplicative hashing. */
  #indexOf(hash: number): number {
    return Math.imul(hash, 0x9e3779b1) >>> this.#unused;
  }
}

function threeBits(hash: number): number {
  const mixed = Math.imul(hash, 0x85ebca6b) >>> 17;
  return (1 << (mixed & 31)) | (1 << ((mixed >>> 5) & 31)) | (1 << (mixed >>> 10));
}

export const NO_HASH = 0;

/** The hash of the characters so far and one more. */
export function hashWith(hash: number, unit: number): number {
  return (Math.imul(hash, 0x5bd1e995) + unit) | 0;
}

export function hashOf(text: string, from: number, length: number): number {
  let hash = NO_HASH;
  for (let at = from; at < from + length; at += 1) hash = hashWith(hash, text.charCodeAt(at));
  return hash;
}
