// What a schema is here: something that says, in sentences, what is wrong with a value. A library's
// schemas stop at some mistakes before they have seen the others, leave `__proto__` unchecked, hide which
// branch of a union was meant, and cost more time to load than all of the configuration to read.

import { closest } from "../util/closest.ts";
import { atKey, atValue } from "./issue.ts";
import type { Issue, KeyPath } from "./issue.ts";
import { quote } from "./issue.ts";

export interface Schema<Data> {
  /** Everything that is wrong with a value; `path` leads to it from the document's root. */
  issues(value: unknown, path: KeyPath): Issue[];
  optional(): Schema<Data | undefined>;
  /** Never there: it carries the type. */
  readonly data?: Data;
}

export type Infer<Of> = Of extends Schema<infer Data> ? Data : never;

export function schema<Data>(issues: Schema<Data>["issues"]): Schema<Data> {
  return {
    issues,
    optional: () => schema((value, path) => (value === undefined ? [] : issues(value, path))),
  };
}

export interface Checked<Data> {
  /** Only where nothing is wrong. */
  data?: Data;
  issues: Issue[];
}

export function check<Data>(against: Schema<Data>, value: unknown, path: KeyPath): Checked<Data> {
  const issues = against.issues(value, path);
  return issues.length === 0 ? { data: value as Data, issues } : { issues };
}

export interface Expectation {
  /** Completes "expected …". */
  expected: string;
  /** The words it should have been one of: then what it is instead is no secret, and may be a typo. */
  words?: readonly string[];
  /** A number was expected: then what it is instead is worth showing. */
  number?: boolean;
}

/** "is a string; expected true or false". Values that may be secret are never quoted. */
export function wrong(value: unknown, path: KeyPath, expectation: Expectation): Issue {
  const message = `${describe(value, expectation)}; expected ${expectation.expected}`;
  if (value === undefined) return atKey(path, message);
  const { words } = expectation;
  return atValue(
    path,
    message,
    words && typeof value === "string" ? closest(value, words) : undefined,
  );
}

function describe(value: unknown, { words, number }: Expectation): string {
  switch (typeof value) {
    case "undefined":
      return "is missing";
    case "boolean":
      return `is ${value}`;
    case "number":
      return number ? `is ${value}` : "is a number";
    case "string":
      if (value === "") return "is an empty string";
      return words ? `is ${quote(value)}` : "is a string";
    case "object":
      if (value === null) return "is null";
      return Array.isArray(value) ? "is a list" : "is an object";
    default:
      return `is a ${typeof value}`;
  }
}
