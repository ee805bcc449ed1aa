// Knows the secrets of this process and removes them from everything that leaves it.

import type { RedactedPart } from "../types/call-timeline.ts";
import { requireKind, TEXT } from "../types/kinds.ts";
import { type LogFields, type Logger, silentLogger } from "../types/logger.ts";
import type {
  BoardRedactor,
  RedactedBeginning,
  RedactingStream,
  RedactorElsewhere,
} from "../types/redactor.ts";
import { MARK } from "./hide.ts";
import { SecretMatcher, SHORTEST_PREFIX } from "./matcher.ts";
import { partsWithSecrets, type SourcedSecret } from "./secret-sources.ts";
import { tell } from "../../util/tell.ts";
import { mapStrings, someString } from "../../util/value-strings.ts";
import { variantsOf } from "./variants.ts";

/** Anything shorter is part of too many words that are not secrets. */
export const SHORTEST_SECRET = 8;
/** Shorter than this, even a value with what stands around it is ordinary text. */
const SHORTEST_PHRASE = 5;
/**
 * Passwords that everybody knows, and words of the protocol: to redact them would hide ordinary text, and change the
 * shape of a result.
 */
const ORDINARY = new Set(
  (
    "password passwort postgres changeme administrator username database localhost anonymous undefined " +
    "resource resources resource_link mimetype assistant progress structuredcontent annotations arguments description"
  ).split(" "),
);
/** A file of megabytes is not a credential, and every variant of it would be kept in memory. */
const LONGEST = 32 * 1024;
/** A token that is renewed all the time is searched for until it has been replaced so many times. */
const REPLACED = 3;

export class Redactor implements BoardRedactor {
  elsewhere: RedactorElsewhere | undefined;
  /** Each secret with its variants. */
  readonly #secrets = new Map<string, ReadonlySet<string>>();
  /** Secrets that are redacted even if they equal a configured name. */
  readonly #certain = new Set<string>();
  /** Secrets that are never forgotten. */
  readonly #lasting = new Set<string>();
  /** The secrets at each place over time, the newest last. */
  readonly #replaced = new Map<string, (readonly string[])[]>();
  readonly #phrases = new Set<string>();
  /** In lower case. */
  readonly #names = new Set<string>();
  readonly #parent: Redactor | undefined;
  /** Counts the changes. */
  #version = 0;
  #matcher: SecretMatcher | undefined;
  #matched = 0;

  /** Redacts the parent's secrets too, including those the parent learns later. */
  constructor(parent?: Redactor) {
    this.#parent = parent;
  }

  /** Never forgotten. */
  add(secret: string): void {
    const known = this.#learn(secret);
    if (known !== undefined) this.#lasting.add(known);
  }

  /**
   * Sets the secrets at a place. A server may still repeat the secrets that were there before, so the last few stay.
   * Older ones are forgotten: with a token that is new at each start, the list to search for would grow without end.
   */
  replace(place: string, secrets: Iterable<string>): void {
    const now = [...new Set([...secrets].flatMap((each) => this.#learn(each) ?? []))].sort();
    if (now.length === 0) return;
    const before = this.#replaced.get(place) ?? [];
    const others = before.filter((each) => each.join("\0") !== now.join("\0"));
    const kept = [...others, now];
    const gone = kept.splice(0, Math.max(0, kept.length - REPLACED - 1)).flat();
    this.#replaced.set(place, kept);
    if (gone.length > 0) this.#forget(gone);
  }

  /** For the value of a reference, which is a secret even if it equals an ordinary word or a name. */
  addCertain(secret: string, place?: string): void {
    const known = this.#learn(secret);
    if (known === undefined) return;
    if (!this.#certain.has(known)) this.#version += 1;
    this.#certain.add(known);
    if (place === undefined) this.#lasting.add(known);
    else this.replace(place, [known]);
  }

  /** Undefined for a value that is not searched for. */
  #learn(secret: string): string | undefined {
    const known = secret.trim().slice(0, LONGEST);
    if (known.length < SHORTEST_SECRET || MARK.includes(known)) return undefined;
    if (!this.#secrets.has(known)) {
      this.#secrets.set(known, variantsOf(known));
      this.#version += 1;
    }
    return known;
  }

  #forget(gone: readonly string[]): void {
    const kept = new Set([...this.#replaced.values()].flat(2));
    for (const secret of gone) {
      if (kept.has(secret) || this.#lasting.has(secret)) continue;
      this.#secrets.delete(secret);
      this.#certain.delete(secret);
      this.#version += 1;
    }
  }

  isCertain(secret: string): boolean {
    return this.#certain.has(secret) || this.#parent?.isCertain(secret) === true;
  }

  /** Redacts this text, for a credential that cannot be redacted by itself: `:value@`, `password=value`. */
  addPhrase(phrase: string): void {
    if (phrase.length < SHORTEST_PHRASE || this.#phrases.has(phrase)) return;
    this.#phrases.add(phrase);
    this.#version += 1;
  }

  /** A secret that equals one of these names is not searched for: every text with the name would be redacted. */
  addNames(names: Iterable<string>): void {
    for (const name of names) {
      const known = name.toLowerCase();
      if (this.#names.has(known)) continue;
      this.#names.add(known);
      this.#version += 1;
    }
  }

  /** Whether this secret is searched for, if it is added. */
  canProtect(secret: string): boolean {
    const known = secret.trim();
    return known.length >= SHORTEST_SECRET && !this.#isOrdinary(known);
  }

  /** `isCut` says that the text was cut off: then the beginning of a secret at its end is redacted too. */
  text(text: string, isCut = false): string {
    if (typeof text !== "string") requireKind("the text", text, TEXT);
    const matcher = this.#current();
    if (matcher === undefined) return text;
    let spans = matcher.canBeIn(text) ? matcher.spans(text) : [];
    if (isCut) {
      const { start, length } = matcher.opening(text);
      if (length >= SHORTEST_PREFIX) spans = [...spans, start, text.length];
    }
    return spans.length === 0 ? text : replace(text, spans, 0, text.length).text;
  }

  /** The parts of one text. A secret that goes over several of them is marked where it begins. */
  parts(parts: readonly string[]): readonly string[] {
    const whole = parts.join("");
    const spans = this.#current()?.spans(whole) ?? [];
    if (spans.length === 0) return parts;
    let from = 0;
    let index = 0;
    return parts.map((part) => {
      const to = from + part.length;
      let told = "";
      let at = from;
      for (; (spans[index] ?? to) < to; index += 2) {
        const [start = to, end = to] = spans.slice(index, index + 2);
        if (start >= from) told += whole.slice(at, start) + MARK;
        at = Math.min(end, to);
        if (end > to) break;
      }
      told += whole.slice(at, to);
      from = to;
      return told;
    });
  }

  /**
   * The value without secrets in its strings and keys, at any depth. Returns the same value if it has none, else
   * a copy. Errors stay errors and cycles stay cycles; binary data is not searched.
   */
  value<T>(value: T): T {
    const matcher = this.#current();
    if (matcher === undefined) return value;
    const isSecret = (text: string): boolean =>
      matcher.canBeIn(text) && matcher.spans(text).length > 0;
    return someString(value, isSecret) ? mapStrings(value, (text) => this.text(text)) : value;
  }

  /** Which texts of a value have secrets, and where these are from. It is slow: only people who look need it. */
  partsWithSecrets(value: unknown): RedactedPart[] {
    const matcher = this.#current();
    if (matcher === undefined) return [];
    const spansIn = (text: string): readonly number[] =>
      matcher.canBeIn(text) ? matcher.spans(text) : [];
    let secrets: readonly SourcedSecret[] | undefined;
    return partsWithSecrets(value, spansIn, () => (secrets ??= this.#sourced()));
  }

  #sourced(): SourcedSecret[] {
    const own = [...this.#secrets].map(([secret, variants]) => ({
      variants,
      places: [...this.#replaced].flatMap(([place, lists]) =>
        lists.some((list) => list.includes(secret)) ? [place] : [],
      ),
    }));
    const parent = this.#parent;
    return parent === undefined ? own : [...own, ...parent.#sourced()];
  }

  stream(): RedactingStream {
    let heldBack = "";
    let covered = 0;
    const redact = (given: string, isEnd: boolean): string => {
      const { text, held, covered: next } = this.beginning(given, covered, isEnd);
      heldBack = given.slice(given.length - held);
      covered = next;
      return text;
    };
    const push = (chunk: string): string => {
      requireKind("the text", chunk, TEXT);
      return redact(heldBack + chunk, false);
    };
    return { push, end: () => redact(heldBack, true) };
  }

  /** What a stream makes of `text`, with what it has held back before it. At the end, nothing is held back. */
  beginning(text: string, covered: number, isEnd: boolean): RedactedBeginning {
    const matcher = this.#current();
    if (matcher === undefined) return { text: text.slice(covered), held: 0, covered: 0 };
    const cut = isEnd ? text.length : matcher.opening(text).start;
    const result = replace(text, matcher.spans(text), covered, cut);
    return { ...result, held: text.length - cut };
  }

  #current(): SecretMatcher | undefined {
    const parent = this.#parent;
    const version = this.#version + (parent === undefined ? 0 : parent.#version);
    if (version !== this.#matched) {
      const words = parent === undefined ? this.#words() : [...parent.#words(), ...this.#words()];
      this.#matcher = words.length === 0 ? undefined : new SecretMatcher(words);
      this.#matched = version;
    }
    return this.#matcher;
  }

  #words(): string[] {
    const words = [...this.#phrases];
    for (const [secret, variants] of this.#secrets) {
      if (!this.#isOrdinary(secret)) words.push(...variants);
    }
    return words;
  }

  #isOrdinary(secret: string): boolean {
    if (this.isCertain(secret)) return false;
    const word = secret.toLowerCase();
    const parent = this.#parent;
    return (
      ORDINARY.has(word) ||
      this.#names.has(word) ||
      (parent !== undefined && parent.#names.has(word))
    );
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

/**
 * A logger that redacts every message and its fields, except the server's name, which is the configuration's. One that throws
 * harms nothing: there is nobody to tell.
 */
export function redactingLogger(
  logger: Logger,
  redactor: Pick<Redactor, "text" | "value">,
): Logger {
  if (logger === silentLogger) return logger;
  const at =
    (level: keyof Logger): Logger["debug"] =>
    (message, fields) =>
      tell(
        () => logger[level](redactor.text(message), fields && redactFields(fields, redactor)),
        () => {},
      );
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function redactFields(fields: LogFields, redactor: Pick<Redactor, "value">): LogFields {
  const { server } = fields;
  const told = redactor.value(fields);
  return told === fields || server === undefined ? told : { ...told, server };
}
