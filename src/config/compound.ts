// Schemas made of other schemas. zod's own lack what is needed here: they stop at some mistakes before
// they have seen the others, leave `__proto__` unchecked, and a failed union hides which branch was meant.

import { z } from "zod";
import { isJsonObject } from "../model/json.ts";

/** On an issue about unknown keys: the keys there could have been, and advice for some others. */
export interface UnknownKeysParams {
  knownKeys: readonly string[];
  advice: Readonly<Record<string, string>>;
}

type Issues = z.core.$ZodRawIssue[];

type Branch<Data> = [isMeant: (value: unknown) => boolean, schema: z.ZodType<Data>];

/** An object whose content is not looked at here. */
export function anyObject() {
  return objectAs<Record<string, unknown>>();
}

function objectAs<Data>(error = "an object") {
  return z.custom<Data>(isJsonObject, { error });
}

/**
 * An object with these keys and no others. `advice` completes "unknown key; …" for keys that people are
 * known to try.
 */
export function object<Shape extends z.ZodRawShape>(
  shape: Shape,
  advice: Readonly<Record<string, string>> = {},
) {
  const params: UnknownKeysParams = { knownKeys: Object.keys(shape), advice };
  return objectAs<z.infer<z.ZodObject<Shape>>>().check((context) => {
    const { issues } = context;
    const value: unknown = context.value;
    if (!isJsonObject(value)) return;
    for (const [key, schema] of Object.entries(shape)) {
      descend(issues, schema, Object.hasOwn(value, key) ? value[key] : undefined, [key]);
    }
    if (Object.keys(value).some((key) => !Object.hasOwn(shape, key))) {
      issues.push({ code: "custom", input: value, params: { ...params } });
    }
  });
}

/** An object used as a map. */
export function mapOf<Value>(
  valueSchema: z.ZodType<Value>,
  keyProblem: (key: string) => string | undefined = () => undefined,
) {
  return objectAs<Record<string, Value>>().check(({ value: map, issues }) => {
    for (const [key, value] of Object.entries(isJsonObject(map) ? map : {})) {
      const message = keyProblem(key);
      if (message !== undefined) issues.push(sentence(message, "key", [key]));
      descend(issues, valueSchema, value, [key]);
    }
  });
}

/** One of two kinds of value; `error` is for a value of neither kind. */
export function either<A, B>(first: Branch<A>, second: Branch<B>, error: string) {
  const branchFor = (value: unknown) => [first, second].find(([isMeant]) => isMeant(value));
  return z
    .custom<A | B>((value) => branchFor(value) !== undefined, { error })
    .check(({ value, issues }) => {
      const branch = branchFor(value);
      if (branch !== undefined) descend(issues, branch[1], value, []);
    });
}

/** Objects told apart by their `type`; `error` is for a value that is no object. */
export function byType<Data>(schemas: Readonly<Record<string, z.ZodType<Data>>>, error: string) {
  const types = Object.keys(schemas);
  return objectAs<Data>(error).check(({ value, issues }) => {
    if (!isJsonObject(value)) return;
    const type = Object.hasOwn(value, "type") ? value["type"] : undefined;
    descend(issues, z.enum(types, { error: `one of ${types.join(", ")}` }), type, ["type"]);
    const schema = typeof type === "string" && types.includes(type) ? schemas[type] : undefined;
    if (schema !== undefined) descend(issues, schema, value, []);
  });
}

/** An issue whose message says all there is to say; `at` is what the reader should look at. */
export function sentence(
  message: string,
  at: "key" | "value",
  path: PropertyKey[] = [],
): z.core.$ZodRawIssue {
  return { code: "custom", message, path, input: undefined, params: { at } };
}

function descend(issues: Issues, schema: z.core.$ZodType, value: unknown, path: string[]): void {
  for (const issue of z.safeParse(schema, value).error?.issues ?? []) {
    // A finished issue is a raw one with its message made; zod types the two apart.
    issues.push({ ...issue, path: [...path, ...issue.path], input: value } as z.core.$ZodRawIssue);
  }
}
