// A text from elsewhere as a person can judge it: what is invisible is spelled out, what is long is cut
// around the place that matters.

import { plainText } from "../../util/text.ts";

/** What `plainText` would drop, and halves of characters. A change of nothing but these must not look like no change. */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\p{Cf}\p{Cs}\p{Variation_Selector}\u2028\u2029]/gu;

/** How much of what is the same on both sides is shown before the change. */
const LEAD = 40;

export interface Excerpt {
  before: string;
  after: string;
}

/** Both texts from just before their first difference to just after their last, each cut to `max`. */
export function excerpt(before: string, after: string, max: number): Excerpt {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const from = start <= LEAD ? 0 : wordStart(before, start - LEAD, start);
  const to = Math.max(0, end - LEAD);
  return {
    before: cutOut(before, from, before.length - to, max),
    after: cutOut(after, from, after.length - to, max),
  };
}

/** At most `max` characters, and a note of how many are missing. */
export function legible(text: string, max: number): string {
  const spelled = plainText(spell(text.slice(0, max)));
  const shown = spelled.length <= max ? spelled : spelled.slice(0, max);
  const missing = text.length - max;
  return missing > 0 ? `${shown}… (${missing} more characters)` : shown;
}

function cutOut(text: string, from: number, to: number, max: number): string {
  const shown = legible(text.slice(from, to), max);
  return `${from > 0 ? "…" : ""}${shown}${to < text.length ? "…" : ""}`;
}

/** The first beginning of a word in a range that ends at `limit`; the range's own start where there is none. */
function wordStart(text: string, from: number, limit: number): number {
  const space = text.slice(from, limit).search(/\s/);
  return space === -1 ? from : from + space + 1;
}

function spell(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
