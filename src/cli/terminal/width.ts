// Text measured in terminal cells: East Asian wide characters and emoji take two, also those of several characters that are
// joined to one; combining marks take none. `string-width` counts the same, but it would make `plugboard tools` a seventh
// slower, and its time grows with the square of a text's length.

import { eastAsianWidth } from "get-east-asian-width";

const ASCII = /^[\x20-\x7e]*$/;
const NO_CELL = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { cells } of measured(text)) width += cells;
  return width;
}

/** Cut to `width` cells, with an ellipsis where something is missing. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  const [start] = split(text, Math.max(0, width - 1));
  return `${start.trimEnd()}…`;
}

/** Broken between words into lines of at most `wanted` cells; a longer word is broken inside. */
export function wrap(text: string, wanted = Infinity): string[] {
  // A wide character must fit, or the loop would never end.
  const width = Math.max(2, wanted);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`;
    if (displayWidth(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== "") lines.push(line);
    // Measured a line at a time: measuring all that is left would take the square of a long word's length.
    let [start, rest] = split(word, width);
    while (rest !== "") {
      lines.push(start);
      [start, rest] = split(rest, width);
    }
    line = start;
  }
  return [...lines, line];
}

/** As `wrap`, with the indentation of the line before every part of it, and a little more before the later ones. */
export function wrapIndented(line: string, width = Infinity): string[] {
  const text = line.trimStart();
  const margin = line.slice(0, line.length - text.length);
  const room = Math.max(20, width - margin.length - 2);
  return wrap(text, room).map((part, at) => margin + (at === 0 ? "" : "  ") + part);
}

/**
 * A line for a person, broken between words. A longer word stays whole, and so does a line after `$ ` and an indented one that
 * may be an address, a command or JSON: it would no longer work when it is copied with a break inside. Other indented lines
 * are broken with a little more before the later parts.
 */
export function wrapLine(line: string, width = Infinity): string[] {
  const plain = line.replace(COLORS, "");
  if (displayWidth(plain) <= width || plain.startsWith("$ ") || isCopied(plain)) return [line];
  const [margin = ""] = /^\s*/.exec(line) ?? [];
  const lines: string[] = [];
  let start = "";
  let used = 0;
  for (const word of line.slice(margin.length).split(" ")) {
    const cells = visibleWidth(word);
    const [indent, room] = indentFor(margin, lines.length, width);
    if (start !== "" && used + 1 + cells > room) {
      lines.push(indent + start);
      [start, used] = [word, cells];
    } else {
      [start, used] = start === "" ? [word, cells] : [`${start} ${word}`, used + 1 + cells];
    }
  }
  return [...lines, indentFor(margin, lines.length, width)[0] + start];
}

function indentFor(margin: string, at: number, width: number): [indent: string, room: number] {
  const indent = margin === "" || at === 0 ? margin : `${margin}  `;
  return [indent, width - indent.length];
}

/**
 * Whether an indented line may be something to copy: prose has a comma, a colon or a full stop between its words. A command
 * has them between quotation marks alone, as in `--header "Authorization: Bearer …"`.
 */
function isCopied(plain: string): boolean {
  const isMarked = /^\s+(?:plugboard |https?:|["{}[\]])/.test(plain);
  return isMarked || !/^\S|[,.:;] /.test(plain.replace(QUOTED, "$1"));
}

/** An apostrophe inside a word begins nothing. */
const QUOTED = /(^|[\s=])(?:"[^"]*"|'[^']*')/g;

// oxlint-disable-next-line no-control-regex
const COLORS = /\u001b\[\d+m/g;

function visibleWidth(text: string): number {
  return displayWidth(text.replace(COLORS, ""));
}

function split(text: string, width: number): [start: string, end: string] {
  let used = 0;
  let at = 0;
  for (const { part, cells } of measured(text)) {
    used += cells;
    if (used > width) break;
    at += part.length;
  }
  return [text.slice(0, at), text.slice(at)];
}

/** The characters of a text, those that make one emoji together. */
function* measured(text: string): Generator<{ part: string; cells: number }> {
  let at = 0;
  while (at < text.length) {
    EMOJI.lastIndex = at;
    const [emoji] = EMOJI.exec(text) ?? [];
    const part = emoji ?? String.fromCodePoint(text.codePointAt(at) ?? 0);
    yield { part, cells: emoji === undefined ? cellsOf(part) : 2 };
    at += part.length;
  }
}

/** One emoji of several characters: coloured, joined, a flag. A single one is measured by its code. */
const EMOJI =
  /\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?(?:\u200d\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)+|\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})|\p{RI}\p{RI}|[0-9#*]\ufe0f\u20e3/uy;

function cellsOf(character: string): number {
  return NO_CELL.test(character) ? 0 : eastAsianWidth(character.codePointAt(0) ?? 0);
}
