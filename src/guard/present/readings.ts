// One word looked for in a stream of folds. All readings that are still possible are the bits of one number,
// so a unit costs the same however many there are.

import { FOREIGN, INVISIBLE, isSoft, letterOf } from "./fold.ts";

/** At most 31 letters. */
export class Word {
  readonly length: number;
  /** For every letter, the places where it stands. */
  readonly #places = new Int32Array(128);

  /** `readAs` names letters and digits that are taken for another. */
  constructor(letters: string, readAs: Readonly<Record<string, string>> = {}) {
    this.length = letters.length;
    for (let place = 0; place < letters.length; place += 1) {
      this.#add(letters.charCodeAt(place), 1 << place);
    }
    for (const [shape, letter] of Object.entries(readAs)) {
      this.#add(shape.charCodeAt(0), this.places(letter.charCodeAt(0)));
    }
  }

  places(letter: number): number {
    return this.#places[letter] ?? 0;
  }

  #add(letter: number, places: number): void {
    this.#places[letter] = this.places(letter) | places;
  }
}

export class Readings {
  readonly #word: Word;
  readonly #longestGap: number;
  readonly #starts: Int32Array;
  #bits = 0;
  #gap = 0;

  /** `longestGap` ornaments in a row are looked past. */
  constructor(word: Word, longestGap: number) {
    this.#word = word;
    this.#longestGap = longestGap;
    this.#starts = new Int32Array(word.length);
  }

  get none(): boolean {
    return this.#bits === 0;
  }

  clear(): void {
    this.#bits = 0;
    this.#gap = 0;
  }

  /** Where the word began if it ends with this unit; else -1. */
  take(fold: number, at: number): number {
    if (fold === INVISIBLE) return -1;
    const letter = letterOf(fold);
    if (letter === 0) {
      if (fold === FOREIGN) this.clear();
      else this.#lookPast();
      return -1;
    }
    const advanced = ((this.#bits << 1) | 1) & this.#word.places(letter);
    if (isSoft(fold)) {
      if (advanced === 0) {
        this.#lookPast();
        return -1;
      }
      this.#bits |= advanced;
    } else this.#bits = advanced;
    this.#gap = 0;
    return advanced === 0 ? -1 : this.#move(advanced, at);
  }

  /** From the last place to the first: each takes over from the one before it. */
  #move(advanced: number, at: number): number {
    for (let bits = advanced; bits !== 0;) {
      const place = 31 - Math.clz32(bits);
      this.#starts[place] = place === 0 ? at : (this.#starts[place - 1] ?? at);
      bits &= ~(1 << place);
    }
    const last = this.#word.length - 1;
    return (advanced >>> last) & 1 ? (this.#starts[last] ?? at) : -1;
  }

  #lookPast(): void {
    this.#gap += 1;
    if (this.#gap > this.#longestGap) this.clear();
  }
}
