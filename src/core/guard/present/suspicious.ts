// Names what in a text looks like an attempt to steer a model, for the log and the audit. It blocks nothing,
// because it misses attempts that use other words, and also matches honest text about such attempts.
//
// The time is linear in the text. A phrase is only tried where four characters of the text are the first four of its
// beginning (in some scripts two), so ordinary text costs one walk over it.

import { PHRASES } from "./steering-phrases.ts";

/** An image whose address carries data away: a badge has a query too, but with short and fixed values. */
const IMAGE_BEACON =
  /!\[[^[\]\n]{0,100}\]\(https?:[^)\s?]{1,200}\?[^)\s]{0,80}(?:(?:data|secret|token|key|content|payload|leak|exfil|prompt|context|conversation|history|env|cookie|session|password|passwd|credentials?|d|q|c|x|msg|message|info|user|text|summary)=(?:[a-z0-9+/%_=.-]{24}|[^)\s]{0,80}(?:[{[<$]|secret|prompt|token|key|data|password|here))|[{<$])/;
// oxlint-disable-next-line no-control-regex
const TERMINAL_ESCAPE = /\x1b[[\]p^_]|\x9b/;

/** Characters that look like Latin letters, or that are invisible between them. */
interface Disguise {
  name: string;
  /** Searched only if the text has a character whose code has this upper byte. */
  block: number;
  pattern: RegExp;
}

const DISGUISES: readonly Disguise[] = [
  {
    name: "invisible-text",
    block: 0x20,
    pattern:
      /[\u202a-\u202e\u2066-\u2069]|[\u200b\u200c\u2060\u2062-\u2064]{4}|[a-z][\u200b\u2060][a-z]/,
  },
  { name: "invisible-text", block: 0xdb, pattern: /\udb40[\udc20-\udc7e]/ },
  { name: "invisible-text", block: 0xfe, pattern: /\ufeff{4}/ },
  {
    name: "lookalike-letters",
    block: 0x03,
    pattern: /(?:[a-z][\u0300-\u036f]{1,3}){4}|[a-z][αενορτυχ][a-z]{2}/,
  },
  { name: "lookalike-letters", block: 0x04, pattern: /[a-z][аеорсухіѕјԁӏ][a-z]/ },
  { name: "lookalike-letters", block: 0xd8, pattern: /(?:\ud835[\udc00-\udfcb]){6}/ },
  { name: "lookalike-letters", block: 0xff, pattern: /[\uff41-\uff5a]{5}/ },
];

/** Every name, in the order in which a text's names are given. */
const NAMES = [
  ...new Set([
    ...PHRASES.map(({ name }) => name),
    "image-beacon",
    "terminal-escape",
    ...DISGUISES.map(({ name }) => name),
  ]),
];

/** The phrases that begin with the same four characters, together and one by one. */
interface Trial {
  any: RegExp;
  each: { name: string; pattern: RegExp }[];
}

/** Whether a phrase begins with three characters of which the first is ASCII, by `keyOf` of them. */
const isBeginning = new Uint8Array(2 ** 15);
/** Whether a phrase begins with two characters of which the first is not ASCII, by `foreignKeyOf` of them. */
const isForeignBeginning = new Uint8Array(2 ** 15);
/** Made with the first text: most commands never look for phrases. */
let sources: ReadonlyMap<string, ReadonlyMap<string, string[]>> | undefined;
const trials = new Map<string, Trial>();

/** Different for any three letters. Other characters share their keys with letters, which only costs a look. */
function keyOf(first: number, second: number, third: number): number {
  return (first & 31) | ((second & 31) << 5) | ((third & 31) << 10);
}

function foreignKeyOf(first: number, second: number): number {
  return (first ^ (second << 6)) & 0x7fff;
}

/** The sources of the patterns, by beginning and name. */
function index(): Map<string, Map<string, string[]>> {
  const found = new Map<string, Map<string, string[]>>();
  for (const { name, starts, rest } of PHRASES) {
    const alike = new Map<string, string[]>();
    for (const start of starts) {
      for (const beginning of beginningsOf(start)) {
        const others = alike.get(beginning);
        if (others === undefined) alike.set(beginning, [escaped(start)]);
        else others.push(escaped(start));
      }
    }
    for (const [beginning, all] of alike) {
      const byName = found.get(beginning) ?? new Map<string, string[]>();
      byName.set(name, [...(byName.get(name) ?? []), `(?:${all.join("|")})${rest}`]);
      found.set(beginning, byName);
      const first = beginning.charCodeAt(0);
      const second = beginning.charCodeAt(1);
      if (first > 0x7f) isForeignBeginning[foreignKeyOf(first, second)] = 1;
      else isBeginning[keyOf(first, second, beginning.charCodeAt(2))] = 1;
    }
  }
  return found;
}

/** Made when a text has such a beginning: a short text has few of them, and making all takes longer than a call. */
function trialOf(beginning: string): Trial | undefined {
  const known = trials.get(beginning);
  const byName = known === undefined ? sources?.get(beginning) : undefined;
  if (byName === undefined) return known;
  const each = Array.from(byName, ([name, all]) => ({
    name,
    pattern: new RegExp(all.join("|"), "y"),
  }));
  const trial = { any: new RegExp([...byName.values()].flat().join("|"), "y"), each };
  trials.set(beginning, trial);
  return trial;
}

/** Two characters where each is a syllable or a word, otherwise four. */
function beginningsOf(start: string): string[] {
  if (isIdeograph(start.charCodeAt(0))) return [start.slice(0, 2)];
  return start.length < 4 ? [`${start} `, `${start}\n`, `${start}\t`] : [start.slice(0, 4)];
}

function isIdeograph(unit: number): boolean {
  return unit >= 0x3000;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

export function suspiciousPatterns(text: string): string[] {
  sources ??= index();
  // With a newline in front, the beginning of the text is the beginning of a line.
  const lower = `\n${text.toLowerCase()}`;
  const found = new Set<string>();
  const blocks = walk(lower, found);
  if (IMAGE_BEACON.test(lower)) found.add("image-beacon");
  if (TERMINAL_ESCAPE.test(lower)) found.add("terminal-escape");
  for (const { name, block, pattern } of DISGUISES) {
    if (blocks[block] === 1 && pattern.test(lower)) found.add(name);
  }
  return NAMES.filter((name) => found.has(name));
}

/** Tries each phrase where its beginning may stand, and notes the upper bytes of the characters of the text. */
function walk(lower: string, found: Set<string>): Uint8Array {
  const blocks = new Uint8Array(256);
  let first = 0;
  let second = 0;
  for (let at = 0; at < lower.length; at += 1) {
    const third = lower.charCodeAt(at);
    if (first < 0x80 && isBeginning[keyOf(first, second, third)] === 1) tryAt(lower, at - 2, found);
    if (second > 0x7f) {
      blocks[second >> 8] = 1;
      if (isForeignBeginning[foreignKeyOf(second, third)] === 1) tryAt(lower, at - 1, found);
    }
    first = second;
    second = third;
  }
  blocks[second >> 8] = 1;
  return blocks;
}

function tryAt(lower: string, start: number, found: Set<string>): void {
  if (start < 0 || isInsideWord(lower, start)) return;
  const length = isIdeograph(lower.charCodeAt(start)) ? 2 : 4;
  const trial = trialOf(lower.slice(start, start + length));
  if (trial === undefined) return;
  trial.any.lastIndex = start;
  if (!trial.any.test(lower)) return;
  for (const { name, pattern } of trial.each) {
    pattern.lastIndex = start;
    if (!found.has(name) && pattern.test(lower)) found.add(name);
  }
}

/** The letter of an escape such as `\n` does not belong to the word behind it. */
function isInsideWord(lower: string, start: number): boolean {
  return (
    isLetter(lower.charCodeAt(start)) &&
    isLetter(lower.charCodeAt(start - 1)) &&
    lower[start - 2] !== "\\"
  );
}

/** A letter of a script that has words, as far as phrases begin with one. */
function isLetter(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x430 && unit <= 0x44f);
}
