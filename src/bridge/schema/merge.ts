// Puts one more keyword to those that a value must meet already.

import type { JsonObject } from "../../model/json.ts";
import { CHARACTERS_A_STEP, type Context, type Place } from "./context.ts";
import type { Plain } from "./plain.ts";
import { say } from "./words.ts";

export interface Source {
  /** The schema that the keyword stands in. */
  schema: JsonObject;
  place: Place;
  context: Context;
}

/** `value` is valid for `keyword`. */
export function mergeKeyword(plain: Plain, keyword: string, value: unknown, source: Source): void {
  switch (keyword) {
    case "type":
      return mergeTypes(plain, Array.isArray(value) ? (value as string[]) : [value as string]);
    case "const":
      return mergeValues(plain, [value], source);
    case "enum":
      return mergeValues(plain, value as unknown[], source);
    case "properties":
      return mergeProperties(plain, value as JsonObject, source);
    case "required":
      for (const name of value as string[]) {
        if (!source.context.budget.spend(nameWeight(name))) return;
        plain.required.add(name);
      }
      return;
    case "anyOf":
    case "oneOf":
      plain.unions.push({ keyword, branches: value as unknown[] });
      return;
    case "items":
      if (!Array.isArray(value)) return mergeSchemas(plain, keyword, value);
      mergePrefix(plain, value, source);
      mergeSchemas(plain, "items", source.schema.additionalItems ?? true);
      return;
    case "prefixItems":
      return mergePrefix(plain, value as unknown[], source);
    case "additionalProperties":
      return mergeSchemas(plain, keyword, value);
    case "additionalItems":
      return;
    default:
      return mergeConstraint(plain, keyword, value, source);
  }
}

function mergeTypes(plain: Plain, types: string[]): void {
  if (plain.types === undefined) {
    plain.types = [...new Set(types)];
    return;
  }
  const both = plain.types.flatMap((type) => {
    if (types.includes(type)) return [type];
    if (type === "integer" && types.includes("number")) return ["integer"];
    return type === "number" && types.includes("integer") ? ["integer"] : [];
  });
  if (both.length === 0) plain.never = true;
  else plain.types = [...new Set(both)];
}

function mergeValues(plain: Plain, values: unknown[], { context }: Source): void {
  if (!context.budget.spend(values.length)) return;
  const known = plain.values && new Set(plain.values.map((value) => JSON.stringify(value)));
  const left = new Map<string, unknown>();
  for (const value of values) {
    const text = JSON.stringify(value);
    if (known === undefined || known.has(text)) left.set(text, value);
  }
  if (left.size === 0) plain.never = true;
  else plain.values = [...left.values()];
}

function mergeProperties(plain: Plain, properties: JsonObject, { context }: Source): void {
  for (const [name, schema] of Object.entries(properties)) {
    if (!context.budget.spend(nameWeight(name))) return;
    const before = plain.properties.get(name);
    plain.properties.set(
      name,
      before === undefined || before === schema ? schema : { allOf: [before, schema] },
    );
  }
}

function nameWeight(name: string): number {
  return 1 + name.length / CHARACTERS_A_STEP;
}

function mergePrefix(plain: Plain, prefix: unknown[], { place, context }: Source): void {
  if (!context.budget.spend(prefix.length)) return;
  if (plain.prefix === undefined) plain.prefix = prefix;
  else if (plain.prefix !== prefix) {
    context.notes.add(place, "two lists of items; the first one counts");
  }
}

/** For keywords that hold a schema or a boolean. */
function mergeSchemas(plain: Plain, keyword: string, value: unknown): void {
  const before = plain.keywords.get(keyword);
  if (before === undefined || before === true || value === false)
    plain.keywords.set(keyword, value);
  else if (before !== false && value !== true && before !== value) {
    plain.keywords.set(keyword, { allOf: [before, value] });
  }
}

const LARGEST = new Set(["minimum", "minLength", "minItems", "minProperties"]);
const SMALLEST = new Set(["maximum", "maxLength", "maxItems", "maxProperties"]);
const ANNOTATIONS = new Set(["title", "description", "default", "examples"]);

function mergeConstraint(plain: Plain, given: string, content: unknown, source: Source): void {
  const { keyword, value } = modern(given, content, source.schema);
  if (value === undefined) return;
  const before = plain.keywords.get(keyword);
  if (before === undefined) plain.keywords.set(keyword, value);
  else if (LARGEST.has(keyword) || keyword === "exclusiveMinimum") {
    plain.keywords.set(keyword, Math.max(before as number, value as number));
  } else if (SMALLEST.has(keyword) || keyword === "exclusiveMaximum") {
    plain.keywords.set(keyword, Math.min(before as number, value as number));
  } else if (!ANNOTATIONS.has(keyword) && before !== value) {
    plain.spoken.push(say(keyword, value));
    source.context.notes.add(source.place, `a second ${keyword} is said in words`);
  }
}

/** Draft 4 writes `minimum: 3, exclusiveMinimum: true`. */
function modern(
  keyword: string,
  value: unknown,
  schema: JsonObject,
): { keyword: string; value: unknown } {
  if (typeof value === "boolean" && keyword.startsWith("exclusive")) {
    const bound = schema[keyword === "exclusiveMinimum" ? "minimum" : "maximum"];
    return { keyword, value: value && typeof bound === "number" ? bound : undefined };
  }
  return { keyword, value };
}
