// Checks the values that a program without types gives to the library. A wrong one is refused with INVALID_ARGUMENTS where
// it is given, instead of a TypeError from deep within.

import type { CallerOptions } from "./caller-options.ts";
import { invalidRequest, PlugboardError } from "./errors.ts";
import { isJsonObject } from "./json.ts";

/** What a value must be, in words, and whether it is. */
export type Kind = readonly [what: string, isOne: (value: unknown) => boolean];

/** By the keys of an object. */
export type Kinds<Given extends object> = { readonly [Key in keyof Given]?: Kind };

const isText = (value: unknown): boolean => typeof value === "string";
const isFunction = (value: unknown): boolean => typeof value === "function";
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

export const TEXT: Kind = ["a string", isText];
export const TEXTS: Kind = ["a list of strings", areTexts];
export const TEXT_OR_TEXTS: Kind = [
  "a string or a list of strings",
  (value) => isText(value) || areTexts(value),
];
export const ROOTS: Kind = [
  "true, false or a list of strings",
  (value) => typeof value === "boolean" || areTexts(value),
];
export const FLAG: Kind = ["true or false", (value) => typeof value === "boolean"];
export const NUMBER: Kind = ["a number", (value) => typeof value === "number"];
export const TIME: Kind = ["milliseconds", (value) => typeof value === "number" && value > 0];
export const LIST: Kind = ["a list", Array.isArray];
export const OBJECT: Kind = ["an object", isJsonObject];
export const OBJECTS: Kind = [
  "a list of objects",
  (value) => Array.isArray(value) && value.every(isJsonObject),
];
export const FUNCTION: Kind = ["a function", isFunction];
export const SIGNAL: Kind = objectWith("an AbortSignal", "addEventListener", "removeEventListener");
export const LOGGER: Kind = objectWith("a logger", "debug", "info", "warn", "error");
export const CLOCK: Kind = objectWith("a clock", "now", "monotonic", "after", "later");
export const SAMPLING: Kind = [
  "a function, or an object with a handler",
  (value) => isFunction(value) || (isJsonObject(value) && isFunction(value.handler)),
];

/** What may be given with one call, one read or one request for a prompt. */
export const CALLER_OPTIONS: Kinds<CallerOptions> = {
  callId: TEXT,
  signal: SIGNAL,
  caller: TEXT,
  onApproval: FUNCTION,
  approvalsOf: TEXT,
  onElicitation: FUNCTION,
  onSampling: SAMPLING,
  input: [
    '"return", or an object with responses',
    (value) => value === "return" || (isJsonObject(value) && isJsonObject(value.responses)),
  ],
  clientCapabilities: OBJECT,
};

/** An object with these methods. */
export function objectWith(what: string, ...methods: readonly string[]): Kind {
  return [
    what,
    (value) => {
      if (typeof value !== "object" || value === null) return false;
      return methods.every((name) => isFunction((value as Record<string, unknown>)[name]));
    },
  ];
}

/** Throws INVALID_ARGUMENTS. */
export function requireKind(name: string, value: unknown, [what, isOne]: Kind): void {
  let words = "an object that cannot be read";
  let cause: unknown;
  try {
    if (isOne(value)) return;
    words = inWords(value);
  } catch (error) {
    // A getter or a proxy that throws.
    cause = error;
  }
  throw invalidRequest(`${name} must be ${what}, not ${words}`, cause);
}

/** Checks each key that has a value. Keys that are not in `kinds` may have any. Throws INVALID_ARGUMENTS. */
export function requireKinds<Given extends object>(
  given: Given,
  kinds: Kinds<Given>,
  nameOf: (key: string) => string,
): void {
  for (const key in kinds) {
    const kind = kinds[key];
    const value = readGiven(nameOf(key), () => given[key]);
    if (kind !== undefined && value !== undefined) requireKind(nameOf(key), value, kind);
  }
}

/** Runs what reads an object that a program has given, whose getters may throw. Then it throws INVALID_ARGUMENTS. */
export function readGiven<Result>(name: string, reading: () => Result): Result {
  try {
    return reading();
  } catch (error) {
    throw error instanceof PlugboardError ? error : invalidRequest(`${name} cannot be read`, error);
  }
}

/** The options of a function. Throws INVALID_ARGUMENTS. */
export function requireOptions<Options extends object>(
  options: Options,
  kinds: Kinds<Options>,
  name = "options",
): void {
  requireKind(name, options, OBJECT);
  requireKinds(options, kinds, (key) => `${name}.${key}`);
}

function inWords(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "this list";
  if (typeof value === "object") return "this object";
  return typeof value === "function" ? "a function" : `this ${typeof value}`;
}
