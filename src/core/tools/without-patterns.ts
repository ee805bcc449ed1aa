// Removes patterns from a schema, for agent loops that check arguments themselves: a hostile pattern can keep
// JavaScript's regular expressions busy for hours. The description mentions the pattern, and the server checks it.

import { isJsonObject, type JsonObject } from "../types/json.ts";
import { truncate } from "../../util/text.ts";

/** Keywords that hold a schema, a list of schemas, or schemas by name. */
const SCHEMA = ["items", "additionalProperties", "not", "if", "then", "else", "contains"];
const SCHEMA_LIST = ["anyOf", "oneOf", "allOf", "prefixItems", "items"];
const SCHEMA_MAP = ["properties", "$defs", "definitions", "dependentSchemas"];

/** `patternProperties` has patterns as keys, and `propertyNames` may contain one. */
const DROPPED = ["pattern", "patternProperties", "propertyNames"];

const LONGEST_PATTERN = 200;

/** Returns the schema itself if it has no pattern. Recursive, so the depth of the schema must be bounded. */
export function withoutPatterns(schema: JsonObject): JsonObject {
  const changes: JsonObject = {};
  for (const key of SCHEMA) change(changes, key, schema[key], inner);
  for (const key of SCHEMA_LIST) change(changes, key, schema[key], innerList);
  for (const key of SCHEMA_MAP) change(changes, key, schema[key], innerMap);
  const dropped = DROPPED.filter((key) => Object.hasOwn(schema, key));
  if (dropped.length === 0 && Object.keys(changes).length === 0) return schema;
  const kept = Object.entries(schema).filter(([key]) => !dropped.includes(key));
  const { description, pattern } = schema;
  return {
    ...Object.fromEntries(kept),
    ...changes,
    ...(typeof pattern === "string" && { description: keywordInWords(description, pattern) }),
  };
}

function change(
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

function keywordInWords(description: unknown, pattern: string): string {
  const words = `Must match ${truncate(pattern, LONGEST_PATTERN)}`;
  return typeof description === "string" && description !== ""
    ? `${description} (${words})`
    : words;
}
