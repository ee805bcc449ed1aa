// A trie of words with the links of Aho and Corasick: one step for each character of a text says which word ends there,
// and how much of a word the text ends with.

export class Automaton {
  /** The children of the root by their character, for those below 128: most texts have few others. */
  readonly #first = new Int32Array(128);
  // The trie, one entry per node. Node 0 is the root; 0 as a child or sibling means that there is none.
  readonly #character: Uint16Array;
  readonly #child: Int32Array;
  readonly #sibling: Int32Array;
  readonly #fail: Int32Array;
  readonly #depth: Int32Array;
  readonly #word: Int32Array;
  #nodes = 1;

  constructor(words: readonly string[]) {
    const size = words.reduce((sum, { length }) => sum + length, 1);
    this.#character = new Uint16Array(size);
    this.#child = new Int32Array(size);
    this.#sibling = new Int32Array(size);
    this.#fail = new Int32Array(size);
    this.#depth = new Int32Array(size);
    this.#word = new Int32Array(size);
    for (const word of words) this.#insert(word);
    this.#link();
  }

  /** The state after one more character. State 0 is the beginning. */
  step(from: number, character: number): number {
    let state = from;
    for (;;) {
      const child = this.#find(state, character);
      if (child !== 0 || state === 0) return child;
      state = this.#fail[state] ?? 0;
    }
  }

  /** How many characters of a word have been read. */
  depth(state: number): number {
    return this.#depth[state] ?? 0;
  }

  /** The length of the longest word that ends here; 0 if none does. */
  word(state: number): number {
    return this.#word[state] ?? 0;
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
          parent === 0 ? 0 : this.step(this.#fail[parent] ?? 0, this.#character[node] ?? 0);
        this.#fail[node] = fallback;
        if (this.#word[node] === 0) this.#word[node] = this.#word[fallback] ?? 0;
        queue[tail] = node;
        tail += 1;
      }
    }
  }
}
