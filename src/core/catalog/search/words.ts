// How texts and names are cut into the terms that searches compare: `listPullRequests`, "list_pull_requests" and "listing
// pull requests" give the same ones.

import { stem } from "./stem.ts";

/** Words that say nothing about what somebody is looking for. */
const STOP_WORDS = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can
could did do does doing down during each few for from further had has have having he her here hers him his how i if in
into is it its itself just let like me more most my no nor not now of off on once only or other our out over own please
same she should so some such than that the their them then there these they this those through to too under until up us
very was we were what when where which while who whom why will with would you your yours
able assist give going hello help hey hi know looking need needs tell thank thanks try trying want wants wish
wondering
d don doesn isn ll m re s t ve`.split(/\s+/),
);

/** Texts without spaces between words, of which two characters at a time are a term. */
const WITHOUT_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Cut where a small letter meets a capital one, and between letters and digits. */
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lt}\p{Lm}\p{Lo}]+|\p{N}+/gu;
/** `PART` for a text in ASCII, as most are: it takes a fraction of the time. */
const ASCII_PART = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;

/**
 * The words of a text in lower case, of at most its first `most` characters. An identifier is cut into its parts; one of
 * two parts is also a word as a whole, since people write "github" for "GitHub".
 */
export function wordsOf(text: string, most: number): string[] {
  const cut = text.slice(0, most);
  if (!/[^ -~\s]/.test(cut)) return partsOf(cut.match(/[A-Za-z0-9]+/g), ASCII_PART);
  const plain = cut.normalize("NFKD").replace(/\p{M}+/gu, "");
  const words = partsOf(plain.match(/[\p{L}\p{N}]+/gu), PART);
  return words.flatMap((word) => (WITHOUT_SPACES.test(word) ? pairs(word) : word));
}

function partsOf(words: readonly string[] | null, part: RegExp): string[] {
  const found: string[] = [];
  for (const word of words ?? []) {
    const parts = word.match(part) ?? [];
    if (parts.length === 2) found.push(word.toLowerCase());
    for (const each of parts) found.push(each.toLowerCase());
  }
  return found;
}

export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** Remembers the terms of words: stemming is most of the work, and the words of tools repeat. */
export class Stems {
  readonly #known = new Map<string, string>();
  readonly #most: number;

  constructor(most = 20_000) {
    this.#most = most;
  }

  of(word: string): string {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    const term = stem(word);
    if (this.#known.size >= this.#most) this.#known.clear();
    this.#known.set(word, term);
    return term;
  }
}

function pairs(word: string): string[] {
  const characters = Array.from(word);
  if (characters.length < 3) return [word];
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}
