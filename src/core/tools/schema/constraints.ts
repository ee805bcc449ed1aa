// Constraints and annotations: copies those that the provider accepts and moves the rest to the description.

import type { JsonObject } from "../../types/json.ts";
import type { SchemaConversion } from "./conversion.ts";
import { addToDescription, keywordInWords } from "./description.ts";
import type { FlatSchema } from "./flat-schema.ts";
import { NUMERIC } from "./provider-rules.ts";

const BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: ["minLength", "maxLength", "pattern", "format"],
  number: [...NUMERIC, "format"],
  integer: [...NUMERIC, "format"],
  array: ["minItems", "maxItems", "uniqueItems"],
  object: ["minProperties", "maxProperties"],
};

/** The types that the keywords of a schema without `type` are about. */
export function impliedTypes(flat: FlatSchema): string[] {
  const { keywords } = flat;
  if (flat.properties.size > 0 || flat.required.size > 0) return ["object"];
  if (keywords.has("additionalProperties") || keywords.has("patternProperties")) return ["object"];
  if (flat.prefix !== undefined || keywords.has("items")) return ["array"];
  for (const [type, constraints] of Object.entries(BY_TYPE)) {
    if (constraints.some((each) => each !== "format" && keywords.has(each))) return [type];
  }
  return keywords.has("format") ? ["string"] : [];
}

/** Adds the constraints that apply to these types. */
export function applyConstraints(
  schema: JsonObject,
  types: readonly string[],
  flat: FlatSchema,
  context: SchemaConversion,
): void {
  const described: string[] = [];
  for (const keyword of new Set(types.flatMap((type) => BY_TYPE[type] ?? []))) {
    const value = flat.keywords.get(keyword);
    if (value === undefined || value === false) continue;
    if (isAccepted(keyword, value, types, context)) schema[keyword] = value;
    else if (!tightenBound(schema, keyword, value, types, context)) {
      described.push(keywordInWords(keyword, value));
      context.notes.add(flat.place, `${keyword} moved to the description`);
    }
  }
  addToDescription(schema, "", described);
}

function isAccepted(
  keyword: string,
  value: unknown,
  types: readonly string[],
  context: SchemaConversion,
): boolean {
  const { constraints, formats } = context.rules;
  if (constraints?.has(keyword) === false) return false;
  if (keyword === "pattern") return isPortablePattern(value as string);
  if (keyword !== "format" || formats === undefined) return true;
  return types.some((type) => formats[type]?.has(value as string));
}

/** Whether an engine without look-around, back references and Unicode classes reads the pattern the same way. */
function isPortablePattern(pattern: string): boolean {
  if (pattern.length > 500 || /\(\?(?!:)|\\[1-9bBkpPuxc]/.test(pattern)) return false;
  try {
    return new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/** For integers, more than 3 means at least 4. Returns false if that does not apply. */
function tightenBound(
  schema: JsonObject,
  keyword: string,
  value: unknown,
  types: readonly string[],
  context: SchemaConversion,
): boolean {
  if (!keyword.startsWith("exclusive") || types.length !== 1 || types[0] !== "integer")
    return false;
  const [bound, next] =
    keyword === "exclusiveMinimum"
      ? (["minimum", Math.floor(value as number) + 1] as const)
      : (["maximum", Math.ceil(value as number) - 1] as const);
  if (context.rules.constraints?.has(bound) === false) return false;
  const before = schema[bound];
  const pick = bound === "minimum" ? Math.max : Math.min;
  schema[bound] = typeof before === "number" ? pick(before, next) : next;
  return true;
}

/** Adds the description and the annotations; what the provider does not accept follows in the description. */
export function annotate(schema: JsonObject, flat: FlatSchema, context: SchemaConversion): void {
  const text = (key: string): string => {
    const value = flat.keywords.get(key);
    return typeof value === "string" ? value : "";
  };
  const after = [...flat.described];
  const { annotations, loneUnions } = context.rules;
  for (const keyword of ["default", "examples"]) {
    const value = flat.keywords.get(keyword);
    if (value === undefined) continue;
    if (annotations) schema[keyword] = value;
    else if (value !== null) after.push(keywordInWords(keyword, value));
  }
  if (annotations && text("title") !== "") schema.title = text("title");
  const before = text("description") || (annotations ? "" : text("title"));
  const first = Array.isArray(schema.anyOf) ? (schema.anyOf[0] as JsonObject) : undefined;
  addToDescription(loneUnions && first !== undefined ? first : schema, before, after);
}
