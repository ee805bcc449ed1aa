// The form of an error for a person, the same for every command: what happened, what to do, and where to read more.

import { type ErrorCode, PlugboardError, toPlugboardError } from "../core/types/errors.ts";
import { errorMessage } from "../util/error-message.ts";
import { systemProblem } from "../util/system-problem.ts";
import { oneLine, plainText } from "../util/text.ts";
import { type GlobalOptions, isVerbose } from "./context.ts";
import { commandsApart } from "./offered-command.ts";
import { isOwnAnswer } from "./terminal/input.ts";
import type { Paint } from "./terminal/terminal.ts";

/** A cause is a detail: its beginning is enough. */
const LONGEST_CAUSE = 500;
/** An error that is its own cause, or nearly so, must not fill the screen. */
const MOST_CAUSES = 8;

interface ErrorView {
  options: GlobalOptions | undefined;
  paint: Paint;
}

/** Undefined for a bug. */
export function knownError(error: unknown): PlugboardError | undefined {
  const isKnown = error instanceof PlugboardError || systemProblem(error) !== undefined;
  return isKnown ? toPlugboardError(error, "SYSTEM_ERROR") : undefined;
}

/** The lines of an error that a command ended with. A bug shows its stack with --verbose. */
export function errorLines(error: unknown, view: ErrorView): string[] {
  const known = knownError(error);
  return known === undefined ? faultLines(error, view) : knownLines(known, view);
}

function knownLines(error: PlugboardError, { options, paint }: ErrorView): string[] {
  const { message, hint } = error;
  if (isOwnAnswer(error)) return [message];
  return [
    `${paint("red", "plugboard:")} ${plainText(message)}`,
    ...(isVerbose(options) ? causesOf(error).map((each) => `because: ${each}`) : []),
    ...(hint === undefined ? [] : hintLines(hint, options)),
    moreLine(codeToExplain(error)),
  ];
}

export function hintLines(hint: string, options: GlobalOptions | undefined): string[] {
  return commandsApart(`hint: ${plainText(hint)}`, options ?? {});
}

export function moreLine(code: ErrorCode): string {
  return `more: plugboard help ${code}`;
}

/** For programs, which read stdout. */
export function errorJson(given: unknown, options: GlobalOptions | undefined): object {
  const error = knownError(given);
  if (error === undefined) return { code: "INTERNAL", message: errorMessage(given) };
  const { code, message, hint, server, problems } = error;
  const causes = isVerbose(options) ? causesOf(error) : [];
  return {
    code,
    message,
    hint,
    server,
    ...(problems.length > 0 && { problems }),
    ...(causes.length > 0 && { causes }),
  };
}

/** That a server cannot be used says less than why. */
function codeToExplain(error: PlugboardError): ErrorCode {
  const { code, cause } = error;
  const isVague = code === "SERVER_UNAVAILABLE" && cause instanceof PlugboardError;
  return isVague ? codeToExplain(cause) : code;
}

/** What led to the error, the nearest first, without what has been said already. */
function causesOf(error: PlugboardError): string[] {
  const told = [oneLine(error.message)];
  let { cause } = error;
  for (let count = 0; cause instanceof Error && count < MOST_CAUSES; count += 1) {
    const text = oneLine(causeText(cause), LONGEST_CAUSE);
    if (text !== "" && !told.some((each) => each.includes(text))) told.push(text);
    ({ cause } = cause);
  }
  return told.slice(1);
}

/** Several failures, such as those of all addresses of a host, are one cause. */
function causeText(cause: Error): string {
  if (cause instanceof AggregateError && cause.message === "") {
    return cause.errors.map((each) => (each instanceof Error ? causeText(each) : "")).join("; ");
  }
  // It quotes the text that is wrong: the file with the key of a cloud, or the answer of a program that keeps secrets.
  if (cause instanceof SyntaxError) return "a text has the wrong form";
  return withoutCredentials(cause.message);
}

/** The libraries that failed name addresses as they have them. Everything else about a server has been redacted before. */
function withoutCredentials(text: string): string {
  return text
    .replace(/(:\/\/)[^\s/?#@]{1,2000}@/g, "$1[REDACTED]@")
    .replace(/(:\/\/[^\s?#]{1,2000}\?)[^\s#"')]+/g, "$1[REDACTED]");
}

function faultLines(error: unknown, { options, paint }: ErrorView): string[] {
  const stack = isVerbose(options) && error instanceof Error ? error.stack : undefined;
  return [
    `${paint("red", "plugboard:")} internal error: ${plainText(errorMessage(error))}`,
    stack === undefined
      ? "hint: this is a bug, please report it; --verbose shows where it happened"
      : plainText(stack),
  ];
}
