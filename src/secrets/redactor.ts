// Knows the secrets of this process and removes them from everything that leaves it.

import { type Logger, silentLogger } from "../model/logger.ts";
import { SecretMatcher } from "./matcher.ts";
import { mapStrings, someString } from "./value-strings.ts";
import { variantsOf } from "./variants.ts";

const MARK = "[REDACTED]";
/** Anything shorter is part of too many words that are not secrets. */
export const SHORTEST_SECRET = 6;
/** A file of megabytes is not a credential, and every variant of it would be kept in memory. */
const LONGEST = 32 * 1024;
/** Where a text was cut inside a secret, fewer characters of the secret than this reveal nothing. */
const SHORTEST_PREFIX = 4;

const NONE: ReadonlySet<string> = new Set();

export interface RedactingStream {
  /** Returns the redacted text so far, without an end that may be the beginning of a secret. */
  push(chunk: string): string;
  /** Returns the rest. */
  end(): string;
}

export class Redactor {
  readonly #secrets = new Set<string>();
  readonly #words = new Set<string>();
  readonly #parent: Redactor | undefined;
  #matcher: SecretMatcher | undefined;
  /** How many words the matcher was built with. Words are only ever added. */
  #matched = 0;

  /** Redacts the parent's secrets too, including those the parent learns later. */
  constructor(parent?: Redactor) {
    this.#parent = parent;
  }

  /** Secrets are never forgotten: a server may still repeat one that has been rotated. */
  add(secret: string): void {
    const known = secret.trim().slice(0, LONGEST);
    if (known.length < SHORTEST_SECRET || MARK.includes(known) || this.#secrets.has(known)) return;
    this.#secrets.add(known);
    for (const word of variantsOf(known)) this.#words.add(word);
  }

  /** `isCut` says that the text was cut off: then the beginning of a secret at its end is redacted too. */
  text(text: string, isCut = false): string {
    const matcher = this.#current();
    if (matcher === undefined) return text;
    let spans = text.length < matcher.shortest ? [] : matcher.spans(text);
    if (isCut) {
      const prefix = matcher.prefixLength(text);
      if (prefix >= SHORTEST_PREFIX) spans = [...spans, text.length - prefix, text.length];
    }
    return spans.length === 0 ? text : replace(text, spans, 0, text.length).text;
  }

  /**
   * The value without secrets in its strings and keys, at any depth. Returns the same value if it has none, else
   * a copy. Errors stay errors and cycles stay cycles; binary data is not searched.
   */
  value<T>(value: T): T {
    const matcher = this.#current();
    if (matcher === undefined) return value;
    const isSecret = (text: string): boolean =>
      text.length >= matcher.shortest && matcher.spans(text).length > 0;
    return someString(value, isSecret) ? mapStrings(value, (text) => this.text(text)) : value;
  }

  stream(): RedactingStream {
    let heldBack = "";
    let covered = 0;
    const redact = (text: string, isEnd: boolean): string => {
      const matcher = this.#current();
      if (matcher === undefined) return text;
      const cut = isEnd ? text.length : text.length - matcher.prefixLength(text);
      const result = replace(text, matcher.spans(text), covered, cut);
      heldBack = text.slice(cut);
      covered = result.covered;
      return result.text;
    };
    return { push: (chunk) => redact(heldBack + chunk, false), end: () => redact(heldBack, true) };
  }

  #current(): SecretMatcher | undefined {
    const inherited = this.#parent === undefined ? NONE : this.#parent.#words;
    const count = this.#words.size + inherited.size;
    if (count !== this.#matched) {
      this.#matcher = new SecretMatcher(new Set([...inherited, ...this.#words]));
      this.#matched = count;
    }
    return this.#matcher;
  }
}

/**
 * The text up to `end` with a mark for every span. Its first `covered` characters belong to a span that was
 * marked before; the result says how many characters after `end` belong to a span that was marked now.
 */
function replace(
  text: string,
  spans: readonly number[],
  covered: number,
  end: number,
): { text: string; covered: number } {
  let result = "";
  let at = covered;
  for (let index = 0; index < spans.length; index += 2) {
    const from = spans[index] ?? end;
    if (from >= end) break;
    if (from >= at) result += text.slice(at, from) + MARK;
    at = Math.max(at, spans[index + 1] ?? end);
  }
  if (at < end) result += text.slice(at, end);
  return { text: result, covered: Math.max(0, at - end) };
}

/** A logger that redacts every message and its fields. */
export function redactingLogger(
  logger: Logger,
  redactor: Pick<Redactor, "text" | "value">,
): Logger {
  if (logger === silentLogger) return logger;
  const at =
    (level: keyof Logger): Logger["debug"] =>
    (message, fields) =>
      logger[level](redactor.text(message), fields === undefined ? fields : redactor.value(fields));
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
