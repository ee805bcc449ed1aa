// Why a text is not JSON5, in words that point at the cause. The parser names tokens, and blames the
// last one it saw when the text just ends.

import { parse } from "@humanwhocodes/momoa";
import type { Place } from "./finding.ts";
import type { Outline } from "./outline.ts";
import { placeAt } from "./positions.ts";
import { quote } from "./quote.ts";

export interface SyntaxProblem {
  place: Place;
  message: string;
}

/** Call it for a text that the parser refused, or whose outline has an open string. */
export function explainSyntax(text: string, { openString, openBracket, openComment }: Outline) {
  const failure = failureOffset(text);
  if (failure === "too deep") {
    return problem(text, 0, "is nested too deeply, or has too many comments in a row, to be read");
  }
  if (openString !== undefined && openString <= failure) {
    return problem(text, openString, "a string starts here and is not closed on the same line");
  }
  if (failure < text.length) return unexpected(text, failure);
  const end = text.trimEnd().length;
  if (openComment !== undefined) {
    return problem(text, openComment, "a comment starts here and is not closed; expected */");
  }
  if (openBracket === undefined) {
    return problem(text, end, "the file holds no value; expected an object { … }");
  }
  const { line, column } = placeAt(text, openBracket);
  const bracket = quote(text.charAt(openBracket));
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
  return { place: placeAt(text, offset), message };
}
