// Porter's stemmer (M. F. Porter, "An algorithm for suffix stripping", 1980): forms of one English word become one
// term, as in "searching", "searches" and "searched". Words with other letters than a to z stay as they are.

/** Longer words are no words, and stay as they are. */
const LONGEST = 40;

const VOWEL = "[aeiouy]";
const C = "[^aeiou][^aeiouy]*";
const V = "[aeiouy][aeiou]*";
const HAS_ONE = new RegExp(`^(?:${C})?${V}${C}`);
const HAS_EXACTLY_ONE = new RegExp(`^(?:${C})?${V}${C}(?:${V})?$`);
const HAS_MORE = new RegExp(`^(?:${C})?${V}${C}${V}${C}`);
const HAS_VOWEL = new RegExp(`^(?:${C})?${VOWEL}`);
const ENDS_SHORT = new RegExp(`^${C}${VOWEL}[^aeiouwxy]$`);
const DOUBLE = /([^aeiouylsz])\1$/;

type Suffixes = readonly (readonly [suffix: string, becomes: string])[];

const STEP_2: Suffixes = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["bli", "ble"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"],
  ["logi", "log"],
];

const STEP_3: Suffixes = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
];

const STEP_4: readonly string[] =
  "al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize".split(" ");

/** `word` is in lower case. */
export function stem(word: string): string {
  if (word.length < 3 || word.length > LONGEST || !/^[a-z]+$/.test(word)) return word;
  if (word === "news") return word; // Else it would be "new".
  // A "y" at the start is a consonant, and is marked as one.
  let stemmed = word.startsWith("y") ? `Y${word.slice(1)}` : word;
  stemmed = plural(stemmed);
  stemmed = pastOrGerund(stemmed);
  if (stemmed.endsWith("y") && HAS_VOWEL.test(stemmed.slice(0, -1))) {
    stemmed = `${stemmed.slice(0, -1)}i`;
  }
  stemmed = replaceSuffix(stemmed, STEP_2);
  stemmed = replaceSuffix(stemmed, STEP_3);
  stemmed = dropSuffix(stemmed);
  return dropEnd(stemmed).toLowerCase();
}

function plural(word: string): string {
  if (word.endsWith("sses") || word.endsWith("ies")) return word.slice(0, -2);
  return word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

function pastOrGerund(word: string): string {
  if (word.endsWith("eed")) return HAS_ONE.test(word.slice(0, -3)) ? word.slice(0, -1) : word;
  const suffix = word.endsWith("ed") ? 2 : word.endsWith("ing") ? 3 : 0;
  const rest = word.slice(0, word.length - suffix);
  if (suffix === 0 || !HAS_VOWEL.test(rest)) return word;
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (DOUBLE.test(rest)) return rest.slice(0, -1);
  return HAS_EXACTLY_ONE.test(rest) && ENDS_SHORT.test(rest) ? `${rest}e` : rest;
}

function replaceSuffix(word: string, suffixes: Suffixes): string {
  const found = suffixes.find(([suffix]) => word.endsWith(suffix));
  if (found === undefined) return word;
  const rest = word.slice(0, word.length - found[0].length);
  return HAS_ONE.test(rest) ? rest + found[1] : word;
}

function dropSuffix(word: string): string {
  if (/[st]ion$/.test(word)) {
    const rest = word.slice(0, -3);
    return HAS_MORE.test(rest) ? rest : word;
  }
  const longest = STEP_4.filter((suffix) => word.endsWith(suffix)).sort(
    (a, b) => b.length - a.length,
  )[0];
  if (longest === undefined) return word;
  const rest = word.slice(0, word.length - longest.length);
  return HAS_MORE.test(rest) ? rest : word;
}

function dropEnd(word: string): string {
  let rest = word;
  if (rest.endsWith("e")) {
    const before = rest.slice(0, -1);
    const isShort = HAS_EXACTLY_ONE.test(before) && ENDS_SHORT.test(before);
    if (HAS_MORE.test(before) || (HAS_EXACTLY_ONE.test(before) && !isShort)) rest = before;
  }
  return rest.endsWith("ll") && HAS_MORE.test(rest) ? rest.slice(0, -1) : rest;
}
