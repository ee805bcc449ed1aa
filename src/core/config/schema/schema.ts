// The language that the configuration's checks are written in. A schema says, in sentences, everything that
// is wrong with a value; its shape and its description say what the value may be, and the tables of
// docs/configuration.md and plugboard.schema.json are made of them. Schema libraries stop at some mistakes before they have seen the others, leave
// `__proto__` unchecked, hide which branch of a union was meant, and take longer to load than the whole
// configuration takes to read.

import { isJsonObject } from "../../types/json.ts";
import { closest } from "../../../util/closest.ts";
import { inWords } from "../../../util/text.ts";
import { atKey, atValue, type Issue, type KeyPath, quote } from "../issue.ts";

export interface Schema<Data> {
  /** Everything that is wrong with a value; `path` leads to it from the document's root. */
  issues(value: unknown, path: KeyPath): Issue[];
  optional(): Schema<Data | undefined>;
  describe(sentences: string, more?: Omit<Description, "text">): Schema<Data>;
  readonly shape: Shape;
  readonly isOptional?: true;
  readonly description?: Description;
  /** Never set: it carries the type. */
  readonly data?: Data;
}

/** What the values look like that a schema accepts, as far as this can be said without a function. */
export type Shape =
  | { kind: "boolean" }
  | { kind: "constant"; value: boolean }
  /** `pattern` is a regular expression that needs no flag but `u`. */
  | { kind: "string"; isEmptyAllowed: boolean; pattern?: string }
  | { kind: "choice"; words: readonly string[] }
  /** `unit` is "milliseconds" or the like. */
  | { kind: "integer"; min: number; max: number; unit?: string }
  | { kind: "list"; item: Schema<unknown>; isEmptyAllowed: boolean }
  | { kind: "object"; keys: Keys }
  | { kind: "map"; values: Schema<unknown>; keyPattern?: string }
  /** One of these. Where all are objects, `by` is the key that tells them apart. */
  | { kind: "either"; schemas: readonly Schema<unknown>[]; by?: string }
  /** Nothing: the schema is only there to say what is wrong. */
  | { kind: "never" };

interface Description {
  text: string;
  /** The value that holds where the key is absent. */
  default?: boolean | number | string | readonly string[];
  /** What holds where the key is absent, if that is no single value: "the agent's, else `warn`". */
  otherwise?: string;
  examples?: readonly unknown[];
  /** Where docs/ has more about it, from docs/configuration.md: `#approval`, `gateway.md#keep-alive`. */
  see?: string;
}

export type Infer<Of> = Of extends Schema<infer Data> ? Data : never;

function schema<Data>(
  issues: Schema<Data>["issues"],
  shape: Shape,
  about: Pick<Schema<Data>, "isOptional" | "description"> = {},
): Schema<Data> {
  return {
    issues,
    shape,
    ...about,
    describe: (sentences, more) =>
      schema(issues, shape, { ...about, description: { text: sentences, ...more } }),
    optional: () =>
      schema((value, path) => (value === undefined ? [] : issues(value, path)), shape, {
        ...about,
        isOptional: true,
      }),
  };
}

/** A value that is always wrong. `message` says why. */
export function never(message: string): Schema<never> {
  return schema((_, path) => [atValue(path, message)], { kind: "never" });
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
  return schema(
    (value, path) =>
      typeof value === "boolean" ? [] : [wrong(value, path, { expected: "true or false" })],
    { kind: "boolean" },
  );
}

/** `false` where another kind of value is expected as well, whose schema refuses everything else. */
export function off(): Schema<false> {
  return schema(() => [], { kind: "constant", value: false });
}

export function textOrEmpty(): Schema<string> {
  return schema(
    (value, path) =>
      typeof value === "string" ? [] : [wrong(value, path, { expected: "a string" })],
    { kind: "string", isEmptyAllowed: true },
  );
}

export function text(): Schema<string> {
  return schema(
    (value, path) => {
      if (typeof value === "string" && value !== "") return [];
      const expected = value === "" ? "a string that is not empty" : "a string";
      return [wrong(value, path, { expected })];
    },
    { kind: "string", isEmptyAllowed: false },
  );
}

/**
 * A string that also passes `problem`, which says in a whole sentence what is wrong with it. `pattern` is for the shape: it
 * matches every string that passes.
 */
export function verified(
  problem: (value: string) => string | undefined,
  of: Schema<string> = text(),
  pattern?: RegExp,
): Schema<string> {
  return schema(
    (value, path) => {
      const issues = of.issues(value, path);
      if (issues.length > 0) return issues;
      const message = problem(String(value));
      return message === undefined ? [] : [atValue(path, message)];
    },
    pattern === undefined
      ? of.shape
      : { kind: "string", isEmptyAllowed: false, pattern: pattern.source },
  );
}

/** A string that matches `pattern`. `message` says what is wrong with one that does not. */
export function matching(pattern: RegExp, message: string): Schema<string> {
  return verified((value) => (pattern.test(value) ? undefined : message), text(), pattern);
}

export function oneOf<const Words extends readonly string[]>(words: Words): Schema<Words[number]> {
  return schema(
    (value, path) =>
      typeof value === "string" && words.includes(value)
        ? []
        : [wrong(value, path, { expected: `one of ${words.join(", ")}`, words })],
    { kind: "choice", words },
  );
}

/** `unit` and `orElse` complete "a whole number of … from 1 to 10 …". */
export function integer(min: number, max: number, unit?: string, orElse = ""): Schema<number> {
  const of = unit === undefined ? "" : ` of ${unit}`;
  const expected = `a whole number${of} from ${min} to ${max}${orElse}`;
  return schema(
    (value, path) =>
      Number.isInteger(value) && Number(value) >= min && Number(value) <= max
        ? []
        : [wrong(value, path, { expected, number: true })],
    { kind: "integer", min, max, unit },
  );
}

// Schemas made of other schemas

export type Keys = Readonly<Record<string, Schema<unknown>>>;

type OptionalKeys<Of extends Keys> = {
  [Key in keyof Of]: undefined extends Infer<Of[Key]> ? Key : never;
}[keyof Of];

type ObjectOf<Of extends Keys> = {
  [Key in Exclude<keyof Of, OptionalKeys<Of>>]: Infer<Of[Key]>;
} & { [Key in OptionalKeys<Of>]?: Infer<Of[Key]> };

type Advice = Readonly<Record<string, string>> | ((key: string) => string);

type Alternative<Data> = [isMeant: (value: unknown) => boolean, schema: Schema<Data>];

/** A longer list of valid keys would bury the message. */
const MOST_KEYS_LISTED = 18;

/** Bounds the work for a file that is nothing but unknown keys. */
const MOST_SUGGESTIONS = 100;

export function listOf<Item>(item: Schema<Item>): Schema<Item[]> {
  return schema(
    (value, path) =>
      Array.isArray(value)
        ? value.flatMap((each, index) => item.issues(each, [...path, index]))
        : [wrong(value, path, { expected: "a list" })],
    { kind: "list", item, isEmptyAllowed: true },
  );
}

export function atLeastOne<Item>(item: Schema<Item>): Schema<Item[]> {
  const list = listOf(item);
  return schema(
    (value, path) =>
      Array.isArray(value) && value.length === 0
        ? [atValue(path, "is an empty list; expected at least one")]
        : list.issues(value, path),
    { kind: "list", item, isEmptyAllowed: false },
  );
}

/** An object whose content is not looked at here: it is checked with `by`, piece by piece. */
export function anyObject(by: Schema<unknown>): Schema<Record<string, unknown>> {
  return inObject(() => [], by.shape);
}

function inObject<Data>(
  find: (value: Record<string, unknown>, path: KeyPath) => Issue[],
  shape: Shape,
  expected = "an object",
): Schema<Data> {
  return schema(
    (value, path) => (isJsonObject(value) ? find(value, path) : [wrong(value, path, { expected })]),
    shape,
  );
}

/**
 * An object with these keys and no others. `advice` completes "unknown key; …" for keys that people are
 * known to try, or for every key that is not near to one of these.
 */
export function object<Of extends Keys>(keys: Of, advice: Advice = {}): Schema<ObjectOf<Of>> {
  const schemas = Object.entries(keys).map(([key, of]) => ({ key, of }));
  const find = (value: Record<string, unknown>, path: KeyPath): Issue[] => {
    const found: Issue[] = [];
    for (const { key, of } of schemas) {
      const own = Object.hasOwn(value, key) ? value[key] : undefined;
      // Most keys are absent from most objects.
      if (own === undefined && of.isOptional) continue;
      found.push(...of.issues(own, [...path, key]));
    }
    const unknown = Object.keys(value).filter((key) => !Object.hasOwn(keys, key));
    if (unknown.length > 0) found.push(...unknownKeys(unknown, Object.keys(keys), advice, path));
    return found;
  };
  return inObject(find, { kind: "object", keys });
}

function unknownKeys(
  unknown: readonly string[],
  known: readonly string[],
  advice: Advice,
  path: KeyPath,
): Issue[] {
  const listed = known.filter((key) => !key.startsWith("$"));
  const expected = listed.length <= MOST_KEYS_LISTED ? `; expected ${inWords(listed, "or")}` : "";
  return unknown.map((key, index) => {
    const keyPath = [...path, key];
    const isAdvised = typeof advice === "object" && Object.hasOwn(advice, key);
    if (isAdvised) return atKey(keyPath, `unknown key; ${advice[key]}`);
    const meant = index < MOST_SUGGESTIONS ? closest(key, known) : undefined;
    if (meant !== undefined) return atKey(keyPath, "unknown key", meant);
    const advised = typeof advice === "function" ? `; ${advice(quote(key))}` : expected;
    return atKey(keyPath, `unknown key${advised}`);
  });
}

/** An object used as a map. `keyPattern` is for the shape: it matches every key that has no problem. */
export function mapOf<Value>(
  values: Schema<Value>,
  keyProblem: (key: string) => string | undefined = () => undefined,
  keyPattern?: RegExp,
): Schema<Record<string, Value>> {
  return inObject(
    (map, path) =>
      Object.entries(map).flatMap(([key, value]) => {
        const keyPath = [...path, key];
        const message = keyProblem(key);
        const ofKey = message === undefined ? [] : [atKey(keyPath, message)];
        return [...ofKey, ...values.issues(value, keyPath)];
      }),
    { kind: "map", values, keyPattern: keyPattern?.source },
  );
}

/** One of two kinds of value; `expected` is for a value of neither kind. */
export function either<A, B>(
  first: Alternative<A>,
  second: Alternative<B>,
  expected: string,
): Schema<A | B> {
  return schema(
    (value, path) => {
      const meant = [first, second].find(([isMeant]) => isMeant(value));
      return meant?.[1].issues(value, path) ?? [wrong(value, path, { expected })];
    },
    { kind: "either", schemas: [first[1], second[1]] },
  );
}

/** Objects told apart by their `type`, or by another key; `expected` is for a value that is not an object. */
export function byType<Data>(
  schemas: Readonly<Record<string, Schema<Data>>>,
  expected: string,
  key = "type",
): Schema<Data> {
  const words = Object.keys(schemas);
  return inObject(
    (value, path) => {
      const type = Object.hasOwn(value, key) ? value[key] : undefined;
      const meant = typeof type === "string" && words.includes(type) ? schemas[type] : undefined;
      if (meant !== undefined) return meant.issues(value, path);
      return [wrong(type, [...path, key], { expected: `one of ${words.join(", ")}`, words })];
    },
    { kind: "either", schemas: Object.values(schemas), by: key },
    expected,
  );
}
