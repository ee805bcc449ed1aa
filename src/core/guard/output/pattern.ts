// Runs the patterns of a schema on RE2, which takes linear time. On JavaScript's own engine, a pattern such
// as `^(a+)+$` could block the process for hours.

import { type FuncKeywordDefinition, str } from "ajv/dist/core.js";
import { RE2JS, RE2JSException } from "re2js";
import type { StepBudget } from "./meter.ts";

/** States that one pattern may have, and all patterns of a schema together. They take about 20 and 100 ms to compile. */
const LARGEST = 4000;
const LARGEST_SUM = 20_000;

interface RegExpLike {
  test(text: string): boolean;
  /** ajv identifies a pattern by this. */
  toString(): string;
}

export interface Patterns {
  /** Used by ajv for the names of properties. Throws if RE2 cannot run the pattern. */
  regExp: { (pattern: string): RegExpLike; code: string };
  /** A pattern that RE2 cannot run is not enforced; `onIgnored` is called with it. */
  keyword: FuncKeywordDefinition;
}

export function createPatterns(
  { spend }: StepBudget,
  onIgnored: (pattern: string) => void,
): Patterns {
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
        // The worst case of RE2 visits every state at every character, in about 10 ns each.
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

interface PatternGroup {
  size: number;
  /** The size of what a following repetition repeats. */
  atom: number;
}

/**
 * An upper bound on the states of a pattern's program, found before it is compiled: `(a{30}){30}` has eleven
 * characters and 900 states, and a few lines of such patterns take minutes to compile. The pattern need not
 * be valid.
 */
export function programSize(pattern: string): number {
  const groups: PatternGroup[] = [{ size: 0, atom: 0 }];
  const add = (atom: number): void => {
    const group = groups.at(-1);
    if (group === undefined) return;
    group.size += atom;
    group.atom = atom;
  };
  for (let position = 0; position < pattern.length; position++) {
    const character = pattern[position];
    if (character === "(") {
      groups.push({ size: 2, atom: 0 });
    } else if (character === ")" && groups.length > 1) {
      add(groups.pop()?.size ?? 0);
    } else if (character === "[") {
      position = endOfClass(pattern, position);
      add(1);
    } else if (character === "\\") {
      position += 1;
      add(1);
    } else if (character === "{") {
      const { times, end } = repetition(pattern, position);
      const { atom = 0 } = groups.at(-1) ?? {};
      // Each optional repetition takes one more state.
      add(times === 0 ? 1 : atom * times + times);
      position = end;
    } else {
      // Repeating something that may be empty takes one more state.
      add(character === "*" ? 2 : 1);
    }
  }
  return groups.reduce((sum, { size }) => sum + size, 0);
}

/** The position of the bracket that closes a class, or the end. */
function endOfClass(pattern: string, start: number): number {
  for (let position = start + 1; position < pattern.length; position++) {
    if (pattern[position] === "\\") position += 1;
    else if (pattern[position] === "]" && position > start + 1) return position;
  }
  return pattern.length;
}

/** For `{2,5}`, the most repetitions and the position of its end. Anything else in braces repeats nothing. */
function repetition(pattern: string, position: number): { times: number; end: number } {
  const counted = /\{(\d{1,9})(?:,(\d{0,9}))?\}/y;
  counted.lastIndex = position;
  const [text, least, most] = counted.exec(pattern) ?? [];
  if (text === undefined) return { times: 0, end: position };
  return { times: Math.max(1, Number(least), Number(most ?? 0)), end: position + text.length - 1 };
}
