// Splits a line that a person typed into words, with quotes as in a shell. Nothing is expanded, a backslash stays where
// it protects nothing (`C:\Users`), and JSON needs no quotes of its own.

import { invalidArguments } from "./invalid.ts";

/** Throws INVALID_ARGUMENTS for a quote that is never closed. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  let at = 0;
  while (at < line.length) {
    if (/\s/.test(line[at] ?? "")) {
      at += 1;
      continue;
    }
    const { word, end } = readWord(line, at);
    words.push(word);
    at = end;
  }
  return words;
}

function readWord(line: string, start: number): { word: string; end: number } {
  let word = "";
  let at = start;
  while (at < line.length) {
    const character = line[at] ?? "";
    if (/\s/.test(character)) break;
    if (/[{[]/.test(character) && (word === "" || /^[^=]*:=$/.test(word))) {
      const end = jsonEnd(line, at);
      word += line.slice(at, end);
      at = end;
    } else if (character === "'" || character === '"') {
      const quoted = readQuoted(line, at);
      word += quoted.text;
      at = quoted.end;
    } else if (character === "\\" && /[\s'"\\]/.test(line[at + 1] ?? "")) {
      word += line[at + 1] ?? "";
      at += 2;
    } else {
      word += character;
      at += 1;
    }
  }
  return { word, end: at };
}

function readQuoted(line: string, start: number): { text: string; end: number } {
  const quote = line[start] ?? "";
  let text = "";
  for (let at = start + 1; at < line.length; at += 1) {
    const character = line[at] ?? "";
    if (character === quote) return { text, end: at + 1 };
    const isEscape = quote === '"' && character === "\\" && /["\\$`]/.test(line[at + 1] ?? "");
    if (isEscape) at += 1;
    text += isEscape ? (line[at] ?? "") : character;
  }
  throw invalidArguments(
    [`the quote ${quote} at column ${start + 1} is never closed`],
    `put a text with ${quote} in it between ${quote === '"' ? "'" : '"'}`,
  );
}

/** Where the JSON that begins at `start` ends; the end of the line for JSON that is not complete. */
function jsonEnd(line: string, start: number): number {
  let depth = 0;
  let isText = false;
  for (let at = start; at < line.length; at += 1) {
    const character = line[at] ?? "";
    if (isText) {
      if (character === "\\") at += 1;
      else if (character === '"') isText = false;
    } else if (character === '"') isText = true;
    else if (/[{[]/.test(character)) depth += 1;
    else if (/[}\]]/.test(character)) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return line.length;
}
