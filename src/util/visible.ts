// Text that a person decides about: characters that a terminal would obey or hide are written out, so that
// nobody approves something they could not see.

import { jsonOfAnyDepth } from "./canonical-json.ts";

/** Control and format characters, whatever has no glyph of its own, separators other than a space, lone surrogates. */
const unseen = (): RegExp =>
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u00a0\u00ad\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Variation_Selector}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u{1d159}]/gu;

export function visible(text: string): string {
  return text.replace(unseen(), (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}

/** JSON on several lines, or on one if it is nested deeply, as `escapedJson` otherwise. */
export function escapedJsonLines(value: unknown): string {
  return jsonOfAnyDepth(value, 2).split("\n").map(escaped).join("\n");
}

/** JSON on one line with such characters written as escapes: the same value, with nothing hidden in it. */
export function escapedJson(value: unknown): string {
  return escaped(JSON.stringify(value));
}

function escaped(json: string): string {
  return json.replace(unseen(), (found) =>
    // A character beyond the first plane has two units.
    found.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}

/** A command line quoted as for a shell, so that it shows where each argument begins and ends. */
export function visibleCommand(words: readonly string[]): string {
  return words.map((word) => visible(quoted(word))).join(" ");
}

function quoted(word: string): string {
  return /^[\w@%+=:,./${}-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
