// A failure as a person reads it on stderr.

import type { PlugboardError } from "../../model/errors.ts";
import { plainText } from "../../util/text.ts";
import type { Paint } from "./terminal/paint.ts";

export function failureLines(error: PlugboardError, paint: Paint): string[] {
  const lines = [`${paint("red", "plugboard:")} ${plainText(error.message)}`];
  if (error.hint !== undefined) lines.push(`hint: ${plainText(error.hint)}`);
  return lines;
}

export function faultLines(error: unknown, paint: Paint, withStack: boolean): string[] {
  const message = error instanceof Error ? error.message : String(error);
  const lines = [`${paint("red", "plugboard:")} internal error: ${plainText(message)}`];
  if (withStack && error instanceof Error && error.stack !== undefined) {
    lines.push(plainText(error.stack));
  } else {
    lines.push("hint: --verbose shows where it happened; please report it");
  }
  return lines;
}
