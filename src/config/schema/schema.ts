// The language that the configuration's checks are written in. A schema says, in sentences, everything that
// is wrong with a value. Schema libraries stop at some mistakes before they have seen the others, leave
// `__proto__` unchecked, hide which branch of a union was meant, and take longer to load than the whole
// configuration takes to read.

import { isJsonObject } from "../../model/json.ts";
import { closest } from "../../util/closest.ts";
import { alternatives, atKey, atValue, type Issue, type KeyPath, quote } from "../issue.ts";

export interface Schema<Data> {
  /** Everything that is wrong with a value; `path` leads to it from the document's root. */
  issues(value: unknown, path: KeyPath): Issue[];
  optional(): Schema<Data | undefined>;
  /** Never set: it carries the type. */
  readonly data?: Data;
}

export type Infer<Of> = Of extends Schema<infer Data> ? Data : never;

export function schema<Data>(issues: Schema<Data>["issues"]): Schema<Data> {
  return {
    issues,
    optional: () => schema((value, path) => (value === undefined ? [] : issues(value, path))),
  };
}

export interface CheckResult<Data> {
  /** Only where nothing is wrong. */
  data?: Data;
  issues: Issue[];
}

export function check<Data>(
  against: Schema<Data>,
  value: unknown,
  path: KeyPath,
): CheckResult<Data> {
  const issues = against.issues(value, path);
  return issues.length === 0 ? { data: value as Data, issues } : { issues };
}

interface Expectation {
  /** Completes "expected …". */
  expected: string;
  /** The words it should have been one of: then the value is not a secret, and may be a typo. */
  words?: readonly string[];
  /** A number was expected: then a wrong number is worth showing. */
  number?: boolean;
}

/** "is a string; expected true or false". Values that may be secret are never quoted. */
function wrong(value: unknown, path: KeyPath, expectation: Expectation): Issue {
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

// Single values

export function flag(): Schema<boolean> {
  return schema((value, path) =>
    typeof value === "boolean" ? [] : [wrong(value, path, { expected: "true or false" })],
  );
}

export function textOrEmpty(): Schema<string> {
  return schema((value, path) =>
    typeof value === "string" ? [] : [wrong(value, path, { expected: "a string" })],
  );
}

export function text(): Schema<string> {
  return schema((value, path) => {
    if (typeof value === "string" && value !== "") return [];
    const expected = value === "" ? "a string that is not empty" : "a string";
    return [wrong(value, path, { expected })];
  });
}

/** A string that also passes `problem`, which says in a whole sentence what is wrong with it. */
export function verified(
  problem: (value: string) => string | undefined,
  of: Schema<string> = text(),
): Schema<string> {
  return schema((value, path) => {
    const issues = of.issues(value, path);
    if (issues.length > 0) return issues;
    const message = problem(String(value));
    return message === undefined ? [] : [atValue(path, message)];
  });
}

export function oneOf<const Words extends readonly string[]>(words: Words): Schema<Words[number]> {
  return schema((value, path) =>
    typeof value === "string" && words.includes(value)
      ? []
      : [wrong(value, path, { expected: `one of ${words.join(", ")}`, words })],
  );
}

/** `of` and `orElse` complete "a whole number … from 1 to 10 …". */
export function integer(min: number, max: number, of = "", orElse = ""): Schema<number> {
  const expected = `a whole number${of} from ${min} to ${max}${orElse}`;
  return schema((value, path) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
      ? []
      : [wrong(value, path, { expected, number: true })],
  );
}

// Schemas made of other schemas

type ObjectShape = Readonly<Record<string, Schema<unknown>>>;

type OptionalKeys<Of extends ObjectShape> = {
  [Key in keyof Of]: undefined extends Infer<Of[Key]> ? Key : never;
}[keyof Of];

type ObjectOf<Of extends ObjectShape> = {
  [Key in Exclude<keyof Of, OptionalKeys<Of>>]: Infer<Of[Key]>;
} & { [Key in OptionalKeys<Of>]?: Infer<Of[Key]> };

type Alternative<Data> = [isMeant: (value: unknown) => boolean, schema: Schema<Data>];

/** A longer list of valid keys would bury the message. */
const MOST_KEYS_LISTED = 18;

/** Bounds the work for a file that is nothing but unknown keys. */
const MOST_SUGGESTIONS = 100;

export function listOf<Item>(item: Schema<Item>): Schema<Item[]> {
  return schema((value, path) =>
    Array.isArray(value)
      ? value.flatMap((each, index) => item.issues(each, [...path, index]))
      : [wrong(value, path, { expected: "a list" })],
  );
}

/** An object whose content is not looked at here. */
export function anyObject(): Schema<Record<string, unknown>> {
  return inObject(() => []);
}

function inObject<Data>(
  find: (value: Record<string, unknown>, path: KeyPath) => Issue[],
  expected = "an object",
): Schema<Data> {
  return schema((value, path) =>
    isJsonObject(value) ? find(value, path) : [wrong(value, path, { expected })],
  );
}

/**
 * An object with these keys and no others. `advice` completes "unknown key; …" for keys that people are
 * known to try.
 */
export function object<Of extends ObjectShape>(
  shape: Of,
  advice: Readonly<Record<string, string>> = {},
): Schema<ObjectOf<Of>> {
  return inObject((value, path) => [
    ...Object.entries(shape).flatMap(([key, each]) =>
      each.issues(Object.hasOwn(value, key) ? value[key] : undefined, [...path, key]),
    ),
    ...unknownKeys(Object.keys(value), Object.keys(shape), advice, path),
  ]);
}

function unknownKeys(
  given: readonly string[],
  known: readonly string[],
  advice: Readonly<Record<string, string>>,
  path: KeyPath,
): Issue[] {
  const listed = known.filter((key) => !key.startsWith("$"));
  const expected = listed.length <= MOST_KEYS_LISTED ? `; expected ${alternatives(listed)}` : "";
  const unknown = given.filter((key) => !known.includes(key));
  return unknown.map((key, index) => {
    const keyPath = [...path, key];
    if (Object.hasOwn(advice, key)) return atKey(keyPath, `unknown key; ${advice[key]}`);
    const meant = index < MOST_SUGGESTIONS ? closest(key, known) : undefined;
    return meant === undefined
      ? atKey(keyPath, `unknown key${expected}`)
      : atKey(keyPath, "unknown key", meant);
  });
}

/** An object used as a map. */
export function mapOf<Value>(
  values: Schema<Value>,
  keyProblem: (key: string) => string | undefined = () => undefined,
): Schema<Record<string, Value>> {
  return inObject((map, path) =>
    Object.entries(map).flatMap(([key, value]) => {
      const keyPath = [...path, key];
      const message = keyProblem(key);
      const ofKey = message === undefined ? [] : [atKey(keyPath, message)];
      return [...ofKey, ...values.issues(value, keyPath)];
    }),
  );
}

/** One of two kinds of value; `expected` is for a value of neither kind. */
export function either<A, B>(
  first: Alternative<A>,
  second: Alternative<B>,
  expected: string,
): Schema<A | B> {
  return schema((value, path) => {
    const meant = [first, second].find(([isMeant]) => isMeant(value));
    return meant?.[1].issues(value, path) ?? [wrong(value, path, { expected })];
  });
}

/** Objects told apart by their `type`, or by another key; `expected` is for a value that is not an object. */
export function byType<Data>(
  schemas: Readonly<Record<string, Schema<Data>>>,
  expected: string,
  key = "type",
): Schema<Data> {
  const words = Object.keys(schemas);
  return inObject((value, path) => {
    const type = Object.hasOwn(value, key) ? value[key] : undefined;
    const meant = typeof type === "string" && words.includes(type) ? schemas[type] : undefined;
    if (meant !== undefined) return meant.issues(value, path);
    return [wrong(type, [...path, key], { expected: `one of ${words.join(", ")}`, words })];
  }, expected);
}
