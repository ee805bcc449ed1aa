// A schema for a loop that checks arguments by itself. Its regular expressions are JavaScript's, which a
// server's pattern can keep busy for hours: patterns are said in words, and the server checks them.

import { isJsonObject, type JsonObject } from "../model/json.ts";
import { truncate } from "../util/text.ts";

const ONE = ["items", "additionalProperties", "not", "if", "then", "else", "contains"];
const LIST = ["anyOf", "oneOf", "allOf", "prefixItems", "items"];
const MAP = ["properties", "$defs", "definitions", "dependentSchemas"];

/** Their keys are patterns too, or their values are about keys. */
const DROPPED = ["pattern", "patternProperties", "propertyNames"];

const LONGEST_PATTERN = 200;

/** By reference where there is no pattern. The schema's depth must be bounded. */
export function withoutPatterns(schema: JsonObject): JsonObject {
  const changes: JsonObject = {};
  for (const key of ONE) take(changes, key, schema[key], inner);
  for (const key of LIST) take(changes, key, schema[key], innerList);
  for (const key of MAP) take(changes, key, schema[key], innerMap);
  const dropped = DROPPED.filter((key) => Object.hasOwn(schema, key));
  if (dropped.length === 0 && Object.keys(changes).length === 0) return schema;
  const kept = Object.entries(schema).filter(([key]) => !dropped.includes(key));
  const { description, pattern } = schema;
  return {
    ...Object.fromEntries(kept),
    ...changes,
    ...(typeof pattern === "string" && { description: inWords(description, pattern) }),
  };
}

function take(
  changes: JsonObject,
  key: string,
  value: unknown,
  map: (value: unknown) => unknown,
): void {
  const mapped = map(value);
  if (mapped !== value) changes[key] = mapped;
}

function inner(value: unknown): unknown {
  return isJsonObject(value) ? withoutPatterns(value) : value;
}

function innerList(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const mapped = value.map(inner);
  return mapped.some((each, at) => each !== value[at]) ? mapped : value;
}

function innerMap(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([key, each]) => [key, inner(each)] as const);
  return members.some(([key, each]) => each !== value[key]) ? Object.fromEntries(members) : value;
}

function inWords(description: unknown, pattern: string): string {
  const words = `Must match ${truncate(pattern, LONGEST_PATTERN)}`;
  return typeof description === "string" && description !== ""
    ? `${description} (${words})`
    : words;
}
