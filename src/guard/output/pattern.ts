// Patterns of a schema on a regular expression engine that takes linear time: never on the native one,
// which a pattern such as `^(a+)+$` stops for hours.

import { type FuncKeywordDefinition, str } from "ajv/dist/core.js";
import { RE2JS, RE2JSException } from "re2js";
import type { Budget } from "./budget.ts";
import { programSize } from "./program-size.ts";

/** States that one pattern, and all of a schema, may have: about 20 and 100 ms to compile. */
const LARGEST = 4000;
const LARGEST_SUM = 20_000;

interface RegExpLike {
  test(text: string): boolean;
  /** ajv takes what this says for the pattern's identity. */
  toString(): string;
}

export interface Patterns {
  /** For ajv's own use: the names of properties. Throws where the engine cannot run the pattern. */
  regExp: { (pattern: string): RegExpLike; code: string };
  /** A pattern that the engine cannot run is not enforced, and `onIgnored` is told. */
  keyword: FuncKeywordDefinition;
}

export function createPatterns({ spend }: Budget, onIgnored: (pattern: string) => void): Patterns {
  const known = new Map<string, RegExpLike | undefined>();
  let sum = 0;

  const compile = (pattern: string): RegExpLike | undefined => {
    const size = programSize(pattern);
    sum += size;
    if (size > LARGEST || sum > LARGEST_SUM) return undefined;
    const program = translated(pattern);
    if (program === undefined) return undefined;
    const states = program.programSize();
    return {
      test: (text) => {
        // The engine's worst case: every state at every character, about 10 ns each.
        spend(1 + Math.floor((text.length * states) / 16));
        return program.test(text);
      },
      toString: () => pattern,
    };
  };

  const find = (pattern: string): RegExpLike | undefined => {
    if (!known.has(pattern)) known.set(pattern, compile(pattern));
    return known.get(pattern);
  };

  const regExp = (pattern: string): RegExpLike => {
    const program = find(pattern);
    if (program === undefined)
      throw new Error(`the pattern ${pattern} for names of properties is not supported`);
    return program;
  };

  return {
    regExp: Object.assign(regExp, { code: "" }),
    keyword: {
      keyword: "pattern",
      type: "string",
      schemaType: "string",
      errors: false,
      error: { message: ({ schemaCode }) => str`must match pattern "${schemaCode}"` },
      compile: (pattern: string) => {
        const program = find(pattern);
        if (program !== undefined) return (text: string) => program.test(text);
        onIgnored(pattern);
        return () => true;
      },
    },
  };
}

function translated(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}
