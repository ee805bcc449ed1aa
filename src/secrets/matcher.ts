// Finds many words in a text at once. Aho-Corasick keeps it linear for every text; a skip table in front of it
// passes over most of the text unread, as in the algorithm of Wu and Manber.

/** How many characters are looked up together in the skip table. */
const BLOCK = 3;
const LONGEST_WINDOW = 64;
const SMALLEST_TABLE = 1 << 12;
const LARGEST_TABLE = 1 << 18;

const NONE: readonly number[] = [];

export class SecretMatcher {
  /** The length of the shortest word. */
  readonly shortest: number;
  readonly #longest: number;
  /** The skip table covers the first `window` characters of every word. */
  readonly #window: number;
  readonly #skips: Uint8Array;
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
    for (const word of list) this.#insert(word);
    this.#link();
    this.#skips = this.#skipTable(list);
  }

  /** Where the words are, as start, end, start, end …; words that overlap make one span. */
  spans(text: string): readonly number[] {
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

  /** How many characters at the end of the text may be the beginning of a word. */
  prefixLength(text: string): number {
    let state = 0;
    for (let at = Math.max(0, text.length - this.#longest); at < text.length; at += 1) {
      state = this.#step(state, text.charCodeAt(at));
    }
    return this.#depth[state] ?? 0;
  }

  /** The next position where a word may begin, or one past the last possible if there is none. */
  #skip(text: string, from: number): number {
    const skips = this.#skips;
    const mask = skips.length - 1;
    const { length } = text;
    let end = from + this.#window;
    while (end <= length) {
      const block = blockHash(
        text.charCodeAt(end - 3),
        text.charCodeAt(end - 2),
        text.charCodeAt(end - 1),
      );
      const skip = skips[block & mask] ?? 0;
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
      for (let end = BLOCK; end <= this.#window; end += 1) {
        const block = blockHash(
          word.charCodeAt(end - 3),
          word.charCodeAt(end - 2),
          word.charCodeAt(end - 1),
        );
        const index = block & (size - 1);
        skips[index] = Math.min(skips[index] ?? 0, this.#window - end);
      }
    }
    return skips;
  }
}

function blockHash(first: number, second: number, third: number): number {
  return Math.imul(first, 0x1e35) + Math.imul(second, 0x61) + third;
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
