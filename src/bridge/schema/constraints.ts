// Copies what a provider keeps of a schema's constraints and annotations, and says the rest.

import type { JsonObject } from "../../model/json.ts";
import type { Context, Place } from "./context.ts";
import { isPortablePattern } from "./keywords.ts";
import type { Plain } from "./plain.ts";
import { describe, say } from "./words.ts";

const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: ["minLength", "maxLength", "pattern", "format"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"],
  array: ["minItems", "maxItems", "uniqueItems"],
  object: ["minProperties", "maxProperties"],
};

/** The types that a schema without `type` speaks of. */
export function impliedTypes(plain: Plain): string[] {
  const { keywords } = plain;
  if (plain.properties.size > 0 || plain.required.size > 0) return ["object"];
  if (keywords.has("additionalProperties") || keywords.has("patternProperties")) return ["object"];
  if (plain.prefix !== undefined || keywords.has("items")) return ["array"];
  for (const [type, constraints] of Object.entries(OF_TYPE)) {
    if (constraints.some((each) => each !== "format" && keywords.has(each))) return [type];
  }
  return keywords.has("format") ? ["string"] : [];
}

/** Those that a schema of these types may have. */
export function applyConstraints(
  schema: JsonObject,
  types: readonly string[],
  plain: Plain,
  place: Place,
  context: Context,
): void {
  const said: string[] = [];
  for (const keyword of new Set(types.flatMap((type) => OF_TYPE[type] ?? []))) {
    const value = plain.keywords.get(keyword);
    if (value === undefined || value === false) continue;
    if (keeps(keyword, value, types, context)) schema[keyword] = value;
    else if (!bounded(schema, keyword, value, types, context)) {
      said.push(say(keyword, value));
      context.notes.add(place, `${keyword} is said in words`);
    }
  }
  describe(schema, "", said);
}

function keeps(
  keyword: string,
  value: unknown,
  types: readonly string[],
  context: Context,
): boolean {
  const { constraints, formats } = context.rules;
  if (!constraints.has(keyword)) return false;
  if (keyword === "pattern") return isPortablePattern(value as string);
  if (keyword !== "format" || formats === undefined) return true;
  return types.some((type) => formats[type]?.has(value as string));
}

/** More than 3 is at least 4, among integers. */
function bounded(
  schema: JsonObject,
  keyword: string,
  value: unknown,
  types: readonly string[],
  context: Context,
): boolean {
  if (!keyword.startsWith("exclusive") || types.length !== 1 || types[0] !== "integer")
    return false;
  const [bound, next] =
    keyword === "exclusiveMinimum"
      ? (["minimum", Math.floor(value as number) + 1] as const)
      : (["maximum", Math.ceil(value as number) - 1] as const);
  if (!context.rules.constraints.has(bound)) return false;
  const before = schema[bound];
  const pick = bound === "minimum" ? Math.max : Math.min;
  schema[bound] = typeof before === "number" ? pick(before, next) : next;
  return true;
}

/** Puts the schema's own description in front, and behind it what has no other place. */
export function annotate(schema: JsonObject, plain: Plain, context: Context): void {
  const text = (key: string): string => {
    const value = plain.keywords.get(key);
    return typeof value === "string" ? value : "";
  };
  const after = [...plain.spoken];
  const { annotations, loneUnions } = context.rules;
  for (const keyword of ["default", "examples"]) {
    const value = plain.keywords.get(keyword);
    if (value === undefined) continue;
    if (annotations) schema[keyword] = value;
    else if (value !== null) after.push(say(keyword, value));
  }
  if (annotations && text("title") !== "") schema.title = text("title");
  const before = text("description") || (annotations ? "" : text("title"));
  const first = Array.isArray(schema.anyOf) ? (schema.anyOf[0] as JsonObject) : undefined;
  describe(loneUnions && first !== undefined ? first : schema, before, after);
}
