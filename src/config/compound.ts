// Schemas made of other schemas.

import { isJsonObject } from "../model/json.ts";
import { closest } from "../util/closest.ts";
import { atKey } from "./issue.ts";
import type { Issue, KeyPath } from "./issue.ts";
import { type Infer, type Schema, schema, wrong } from "./kit.ts";
import { alternatives } from "./issue.ts";

type Shape = Readonly<Record<string, Schema<unknown>>>;

type OptionalKeys<Of extends Shape> = {
  [Key in keyof Of]: undefined extends Infer<Of[Key]> ? Key : never;
}[keyof Of];

type ObjectOf<Of extends Shape> = {
  [Key in Exclude<keyof Of, OptionalKeys<Of>>]: Infer<Of[Key]>;
} & { [Key in OptionalKeys<Of>]?: Infer<Of[Key]> };

type Branch<Data> = [isMeant: (value: unknown) => boolean, schema: Schema<Data>];

/** A longer list of valid keys would bury the message. */
const MOST_KEYS_LISTED = 13;

/** Bounds the work for a file that is nothing but unknown keys. */
const MOST_SUGGESTIONS = 100;

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
export function object<Of extends Shape>(
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
    const place = [...path, key];
    if (Object.hasOwn(advice, key)) return atKey(place, `unknown key; ${advice[key]}`);
    const meant = index < MOST_SUGGESTIONS ? closest(key, known) : undefined;
    return meant === undefined
      ? atKey(place, `unknown key${expected}`)
      : atKey(place, "unknown key", meant);
  });
}

/** An object used as a map. */
export function mapOf<Value>(
  values: Schema<Value>,
  keyProblem: (key: string) => string | undefined = () => undefined,
): Schema<Record<string, Value>> {
  return inObject((map, path) =>
    Object.entries(map).flatMap(([key, value]) => {
      const place = [...path, key];
      const message = keyProblem(key);
      const ofKey = message === undefined ? [] : [atKey(place, message)];
      return [...ofKey, ...values.issues(value, place)];
    }),
  );
}

/** One of two kinds of value; `expected` is for a value of neither kind. */
export function either<A, B>(first: Branch<A>, second: Branch<B>, expected: string): Schema<A | B> {
  return schema((value, path) => {
    const branch = [first, second].find(([isMeant]) => isMeant(value));
    return branch?.[1].issues(value, path) ?? [wrong(value, path, { expected })];
  });
}

/** Objects told apart by their `type`; `expected` is for a value that is no object. */
export function byType<Data>(
  schemas: Readonly<Record<string, Schema<Data>>>,
  expected: string,
): Schema<Data> {
  const words = Object.keys(schemas);
  return inObject((value, path) => {
    const type = Object.hasOwn(value, "type") ? value["type"] : undefined;
    const meant = typeof type === "string" && words.includes(type) ? schemas[type] : undefined;
    if (meant !== undefined) return meant.issues(value, path);
    return [wrong(type, [...path, "type"], { expected: `one of ${words.join(", ")}`, words })];
  }, expected);
}
