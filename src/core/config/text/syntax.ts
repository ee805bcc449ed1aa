// Explains why a text is not JSON5, in words that point at the cause. The parser names tokens, blames the
// last one it saw when the text just ends, and takes a line break inside quotes for content, so that it
// would blame a forgotten quote on some later line.

import { parse } from "@humanwhocodes/momoa";
import { type Position, quote } from "../issue.ts";

export interface SyntaxProblem {
  position: Position;
  message: string;
}

/** What starts in a text and does not end, as offsets. */
export interface OpenParts {
  /** The first string that does not end on its line. */
  string?: number;
  /** The innermost bracket that is not closed. */
  bracket?: number;
  /** A block comment that is not closed. */
  comment?: number;
}

/**
 * The same text for the parser, which never ends where a backslash is the last character of what it takes for a string.
 * Looking for open strings is not enough: the parser skips what follows a point without digits, so that it finds strings
 * where there are none.
 */
export function forParser(text: string): string {
  return text.endsWith("\\") ? `${text}\n` : text;
}

/** Takes any text, whether it is JSON5 or not. */
export function findOpenParts(text: string): OpenParts {
  const brackets: number[] = [];
  let position = 0;
  while (position < text.length) {
    const character = text[position];
    if (character === '"' || character === "'") {
      const end = endOfString(text, position);
      if (end === undefined) return { string: position, bracket: brackets.at(-1) };
      position = end;
    } else if (text.startsWith("//", position)) {
      position = endOfLine(text, position);
    } else if (text.startsWith("/*", position)) {
      const end = text.indexOf("*/", position + 2);
      if (end === -1) return { comment: position, bracket: brackets.at(-1) };
      position = end + 2;
    } else {
      if (character === "{" || character === "[") brackets.push(position);
      else if (character === "}" || character === "]") brackets.pop();
      position++;
    }
  }
  return { bracket: brackets.at(-1) };
}

function endOfLine(text: string, start: number): number {
  const lineEnd = /[\n\r\u2028\u2029]/g;
  lineEnd.lastIndex = start;
  return lineEnd.exec(text)?.index ?? text.length;
}

/** The offset behind the closing quote. A backslash carries a string over the end of its line. */
function endOfString(text: string, start: number): number | undefined {
  const opening = text[start];
  for (let position = start + 1; position < text.length; position++) {
    const character = text[position];
    if (character === opening) return position + 1;
    if (character === "\n" || character === "\r") return undefined;
    if (character === "\\") position += text.startsWith("\r\n", position + 1) ? 2 : 1;
  }
  return undefined;
}

/** For a text that the parser refused, or that has an open string. */
export function explainSyntax(text: string, open: OpenParts): SyntaxProblem {
  const failure = failureOffset(text);
  if (failure === "too deep") {
    return problem(text, 0, "is nested too deeply, or has too many comments in a row, to be read");
  }
  if (open.string !== undefined && open.string <= failure) {
    return problem(text, open.string, "a string starts here and is not closed on the same line");
  }
  if (failure < text.length) return unexpected(text, failure);
  const end = text.trimEnd().length;
  if (open.comment !== undefined) {
    return problem(text, open.comment, "a comment starts here and is not closed; expected */");
  }
  if (open.bracket === undefined) {
    return problem(text, end, "the file holds no value; expected an object { … }");
  }
  const { line, column } = positionAt(text, open.bracket);
  const bracket = quote(text.charAt(open.bracket));
  return problem(
    text,
    end,
    `the file ends here; the ${bracket} of ${line}:${column} is not closed`,
  );
}

/**
 * With a character at the end that nothing allows, the parser fails there exactly when all before it
 * could have been the beginning of a document.
 */
function failureOffset(text: string): number | "too deep" {
  try {
    parse(`${text}\n\u0000`, { mode: "json5" });
  } catch (error) {
    if (hasOffset(error)) return error.offset;
  }
  return "too deep";
}

function hasOffset(error: unknown): error is { offset: number } {
  return typeof error === "object" && error !== null && "offset" in error;
}

function unexpected(text: string, offset: number): SyntaxProblem {
  const before = text.slice(0, offset).trimEnd().at(-1) ?? "";
  const isValueAfterValue = /[\w$"'[{+-]/.test(text.charAt(offset)) && /[\w$"'\]}]/.test(before);
  const guess = isValueAfterValue ? "; is a comma or a colon missing before it?" : "";
  return problem(text, offset, `unexpected ${nameToken(text, offset)}${guess}`);
}

/** Strings, numbers and odd words are not quoted: they may be a secret that lost its quotes. */
function nameToken(text: string, offset: number): string {
  const token = /[\w$.+-]+|[^]/uy;
  token.lastIndex = offset;
  const found = token.exec(text)?.[0] ?? "";
  if (found === '"' || found === "'") return "string";
  if (/^[\d.+-]/.test(found)) return "number";
  return found.length > 1 && !/^[A-Za-z]{1,10}$/.test(found) ? "word" : quote(found);
}

function problem(text: string, offset: number, message: string): SyntaxProblem {
  return { position: positionAt(text, offset), message };
}

function positionAt(text: string, offset: number): Position {
  let line = 1;
  let start = 0;
  for (const newline of text.matchAll(/\r\n|\r|\n/g)) {
    const next = newline.index + newline[0].length;
    if (next > offset) break;
    line++;
    start = next;
  }
  return { line, column: offset - start + 1 };
}
