// Knows the secrets of this process and takes them out of whatever leaves it.

import { holds, rebuild } from "./deep.ts";
import { Matcher } from "./matcher.ts";
import { variantsOf } from "./variants.ts";

const MARK = "[REDACTED]";
/** Anything shorter is in too many words that are no secret. */
export const SHORTEST_SECRET = 6;
/** A file of megabytes is no credential, and every form of it would be kept in memory. */
const LONGEST = 32 * 1024;
/** Fewer characters of a secret than this, at the place where a text was cut, tell nothing. */
const TELLING = 4;

const NONE: ReadonlySet<string> = new Set();

export interface RedactingStream {
  /** What can be told of the text so far; the beginning of what may be a secret is held back. */
  push(chunk: string): string;
  end(): string;
}

export class Redactor {
  readonly #secrets = new Set<string>();
  readonly #words = new Set<string>();
  readonly #parent: Redactor | undefined;
  #matcher: Matcher | undefined;
  /** How many words the matcher knows: they only ever become more. */
  #matched = 0;

  /** What the parent knows, now and later, is known here too. */
  constructor(parent?: Redactor) {
    this.#parent = parent;
  }

  /** How many secrets are known. */
  get size(): number {
    return this.#secrets.size;
  }

  /** Known from now on, and for good: what was rotated away may still be told. */
  add(secret: string): void {
    const known = secret.trim().slice(0, LONGEST);
    if (known.length < SHORTEST_SECRET || MARK.includes(known) || this.#secrets.has(known)) return;
    this.#secrets.add(known);
    for (const word of variantsOf(known)) this.#words.add(word);
  }

  /** `isCut` says that the text went on: then the beginning of a secret at its end counts as one. */
  text(text: string, isCut = false): string {
    const matcher = this.#current();
    if (matcher === undefined) return text;
    let spans = text.length < matcher.shortest ? [] : matcher.spans(text);
    if (isCut) {
      const dangling = matcher.dangling(text);
      if (dangling >= TELLING) spans = [...spans, text.length - dangling, text.length];
    }
    return spans.length === 0 ? text : replace(text, spans, 0, text.length).told;
  }

  /**
   * The value without secrets in its strings and keys, at any depth: the same one where there are none,
   * else a copy. Errors stay errors, cycles stay cycles; binary data is not looked into.
   */
  value<T>(value: T): T {
    const matcher = this.#current();
    if (matcher === undefined) return value;
    const hides = (text: string): boolean =>
      text.length >= matcher.shortest && matcher.spans(text).length > 0;
    return holds(value, hides) ? rebuild(value, (text) => this.text(text)) : value;
  }

  stream(): RedactingStream {
    let held = "";
    let covered = 0;
    const tell = (text: string, isEnd: boolean): string => {
      const matcher = this.#current();
      if (matcher === undefined) return text;
      const cut = isEnd ? text.length : text.length - matcher.dangling(text);
      const result = replace(text, matcher.spans(text), covered, cut);
      held = text.slice(cut);
      covered = result.covered;
      return result.told;
    };
    return { push: (chunk) => tell(held + chunk, false), end: () => tell(held, true) };
  }

  #current(): Matcher | undefined {
    const inherited = this.#parent === undefined ? NONE : this.#parent.#words;
    const count = this.#words.size + inherited.size;
    if (count !== this.#matched) {
      this.#matcher = new Matcher(new Set([...inherited, ...this.#words]));
      this.#matched = count;
    }
    return this.#matcher;
  }
}

/**
 * The text up to `end` with a mark for every span. Its first `covered` characters belong to one that has
 * been told before; the result says how many of those after `end` belong to one that has been told now.
 */
function replace(
  text: string,
  spans: readonly number[],
  covered: number,
  end: number,
): { told: string; covered: number } {
  let told = "";
  let at = covered;
  for (let index = 0; index < spans.length; index += 2) {
    const from = spans[index] ?? end;
    if (from >= end) break;
    if (from >= at) told += text.slice(at, from) + MARK;
    at = Math.max(at, spans[index + 1] ?? end);
  }
  if (at < end) told += text.slice(at, end);
  return { told, covered: Math.max(0, at - end) };
}
