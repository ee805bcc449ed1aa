// One subschema with its references followed and its `allOf` merged: the form that conversion starts from.

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { followPointer } from "../../../util/json-pointer.ts";
import { CHARACTERS_PER_STEP, type SchemaReading, type SchemaPlace } from "./conversion.ts";
import { keywordInWords } from "./description.ts";
import { DESCRIBED, IGNORED, isKnown, isValid } from "./keywords.ts";

export interface FlatSchema {
  types?: string[];
  values?: unknown[];
  properties: Map<string, unknown>;
  required: Set<string>;
  /** The first items, each with its own schema. */
  prefix?: unknown[];
  /** All other keywords: constraints, annotations, `items`, `additionalProperties`. */
  keywords: Map<string, unknown>;
  /** Lists of alternatives. At least one alternative of each list must hold. */
  unions: { keyword: "anyOf" | "oneOf"; branches: unknown[] }[];
  /** What only the description can express. */
  described: string[];
  /** No value is valid. */
  never: boolean;
  /** A reference that leads back to a schema around this one. */
  recursive?: string;
  place: SchemaPlace;
}

/** Where a keyword comes from. */
interface KeywordSource {
  schema: JsonObject;
  context: SchemaReading;
}

const VALUES: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);
const ANNOTATIONS: ReadonlySet<string> = new Set(["title", "description", "default", "examples"]);

export function flatten(schema: unknown, place: SchemaPlace, context: SchemaReading): FlatSchema {
  const flat: FlatSchema = {
    properties: new Map(),
    required: new Set(),
    keywords: new Map(),
    unions: [],
    described: [],
    never: false,
    place: { ...place, trail: { refs: new Set(), parent: place.trail } },
  };
  // A stack instead of recursion: a chain of references may be as long as the schema.
  const stack: unknown[] = [schema];
  while (stack.length > 0) {
    const next = stack.pop();
    if (next === false) flat.never = true;
    if (!isJsonObject(next)) {
      if (typeof next !== "boolean") {
        context.notes.add(place, "is not a schema; any value is accepted");
      }
      continue;
    }
    if (!context.budget.spend()) break;
    const more: unknown[] = [];
    if (typeof next.$ref === "string") more.push(...follow(next.$ref, flat, context));
    if (Array.isArray(next.allOf)) for (const each of next.allOf) more.push(each);
    mergeSchema(flat, { schema: next, context });
    for (const each of more.toReversed()) stack.push(each);
  }
  return flat;
}

/** The flat schema as a schema again, without its alternatives and annotations. */
export function toSchema(flat: FlatSchema): JsonObject {
  const schema: JsonObject = {};
  if (flat.types !== undefined) schema.type = flat.types;
  if (flat.values !== undefined) schema.enum = flat.values;
  if (flat.properties.size > 0) schema.properties = Object.fromEntries(flat.properties);
  if (flat.required.size > 0) schema.required = [...flat.required];
  if (flat.prefix !== undefined) schema.prefixItems = flat.prefix;
  for (const [keyword, value] of flat.keywords) {
    if (!ANNOTATIONS.has(keyword)) schema[keyword] = value;
  }
  return schema;
}

/** Undefined if the reference leads nowhere or out of the schema. Nothing is ever fetched. */
export function resolveReference(root: object, ref: string): unknown {
  const isInside = ref === "#" || (ref.startsWith("#/") && ref.length <= 1000);
  return isInside ? followPointer(root, ref) : undefined;
}

function follow(ref: string, flat: FlatSchema, context: SchemaReading): unknown[] {
  const { place } = flat;
  if (place.trail.refs.has(ref)) return [];
  for (let trail = place.trail.parent; trail !== undefined; trail = trail.parent) {
    if (trail.refs.has(ref)) {
      flat.recursive = ref;
      return [];
    }
  }
  place.trail.refs.add(ref);
  const target = resolveReference(context.root, ref);
  if (target !== undefined) return [target];
  context.notes.add(place, `$ref ${ref} leads nowhere in this schema; any value is accepted`);
  return [];
}

function mergeSchema(flat: FlatSchema, source: KeywordSource): void {
  const { schema, context } = source;
  const { place } = flat;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "$ref" || keyword === "allOf" || IGNORED.has(keyword)) continue;
    // As JSON leaves it out.
    if (value === undefined) continue;
    if (!context.budget.spend(cost(keyword, value))) return;
    if (DESCRIBED.has(keyword)) {
      flat.described.push(keywordInWords(keyword, value));
      if (keyword === "patternProperties") flat.keywords.set(keyword, value);
      context.notes.add(place, `${keyword} moved to the description`);
    } else if (!isKnown(keyword)) {
      context.notes.add(place, `${keyword} is not a known keyword; dropped`);
    } else if (!isValid(keyword, value)) {
      context.notes.add(place, `the value of ${keyword} is not valid; dropped`);
    } else mergeKeyword(flat, keyword, value, source);
  }
}

/** A text costs by its length, each time that a reference leads to it. */
function cost(keyword: string, value: unknown): number {
  if (typeof value === "string") return Math.ceil(value.length / CHARACTERS_PER_STEP);
  if (!VALUES.has(keyword) && !DESCRIBED.has(keyword)) return 0;
  return Math.ceil((JSON.stringify(value)?.length ?? 0) / CHARACTERS_PER_STEP);
}

function nameCost(name: string): number {
  return 1 + name.length / CHARACTERS_PER_STEP;
}

/** `value` is valid for `keyword`. */
function mergeKeyword(
  flat: FlatSchema,
  keyword: string,
  value: unknown,
  source: KeywordSource,
): void {
  switch (keyword) {
    case "type":
      return mergeTypes(flat, Array.isArray(value) ? (value as string[]) : [value as string]);
    case "const":
      return mergeValues(flat, [value], source);
    case "enum":
      return mergeValues(flat, value as unknown[], source);
    case "properties":
      return mergeProperties(flat, value as JsonObject, source);
    case "required":
      for (const name of value as string[]) {
        if (!source.context.budget.spend(nameCost(name))) return;
        flat.required.add(name);
      }
      return;
    case "anyOf":
    case "oneOf":
      flat.unions.push({ keyword, branches: value as unknown[] });
      return;
    case "items":
      if (!Array.isArray(value)) return mergeSubschema(flat, keyword, value);
      mergePrefix(flat, value, source);
      mergeSubschema(flat, "items", source.schema.additionalItems ?? true);
      return;
    case "prefixItems":
      return mergePrefix(flat, value as unknown[], source);
    case "additionalProperties":
      return mergeSubschema(flat, keyword, value);
    case "additionalItems":
      return;
    default:
      return mergeConstraint(flat, keyword, value, source);
  }
}

function mergeTypes(flat: FlatSchema, types: string[]): void {
  if (flat.types === undefined) {
    flat.types = [...new Set(types)];
    return;
  }
  const both = flat.types.flatMap((type) => {
    if (types.includes(type)) return [type];
    if (type === "integer" && types.includes("number")) return ["integer"];
    return type === "number" && types.includes("integer") ? ["integer"] : [];
  });
  if (both.length === 0) flat.never = true;
  else flat.types = [...new Set(both)];
}

function mergeValues(flat: FlatSchema, values: unknown[], { context }: KeywordSource): void {
  if (!context.budget.spend(values.length)) return;
  const known = flat.values && new Set(flat.values.map((value) => JSON.stringify(value)));
  const left = new Map<string, unknown>();
  for (const value of values) {
    const text = JSON.stringify(value);
    if (known === undefined || known.has(text)) left.set(text, value);
  }
  if (left.size === 0) flat.never = true;
  else flat.values = [...left.values()];
}

function mergeProperties(
  flat: FlatSchema,
  properties: JsonObject,
  { context }: KeywordSource,
): void {
  for (const [name, schema] of Object.entries(properties)) {
    if (!context.budget.spend(nameCost(name))) return;
    const before = flat.properties.get(name);
    flat.properties.set(
      name,
      before === undefined || before === schema ? schema : { allOf: [before, schema] },
    );
  }
}

function mergePrefix(flat: FlatSchema, prefix: unknown[], { context }: KeywordSource): void {
  if (!context.budget.spend(prefix.length)) return;
  if (flat.prefix === undefined) flat.prefix = prefix;
  else if (flat.prefix !== prefix) {
    context.notes.add(flat.place, "two lists of items; the first one counts");
  }
}

/** For keywords that hold a schema or a boolean. */
function mergeSubschema(flat: FlatSchema, keyword: string, value: unknown): void {
  const before = flat.keywords.get(keyword);
  if (before === undefined || before === true || value === false) flat.keywords.set(keyword, value);
  else if (before !== false && value !== true && before !== value) {
    flat.keywords.set(keyword, { allOf: [before, value] });
  }
}

/** The stricter of two values: the larger of lower bounds, the smaller of upper ones. */
const STRICTER: Readonly<Record<string, (...values: number[]) => number>> = {
  minimum: Math.max,
  exclusiveMinimum: Math.max,
  minLength: Math.max,
  minItems: Math.max,
  minProperties: Math.max,
  maximum: Math.min,
  exclusiveMaximum: Math.min,
  maxLength: Math.min,
  maxItems: Math.min,
  maxProperties: Math.min,
};

function mergeConstraint(
  flat: FlatSchema,
  keyword: string,
  given: unknown,
  source: KeywordSource,
): void {
  const value = withoutDraft4(keyword, given, source.schema);
  if (value === undefined) return;
  const before = flat.keywords.get(keyword);
  const stricter = STRICTER[keyword];
  if (before === undefined) flat.keywords.set(keyword, value);
  else if (stricter !== undefined) {
    flat.keywords.set(keyword, stricter(before as number, value as number));
  } else if (!ANNOTATIONS.has(keyword) && before !== value) {
    flat.described.push(keywordInWords(keyword, value));
    source.context.notes.add(flat.place, `a second ${keyword} moved to the description`);
  }
}

/** Draft 4 writes `minimum: 3, exclusiveMinimum: true` for today's `exclusiveMinimum: 3`. */
function withoutDraft4(keyword: string, value: unknown, schema: JsonObject): unknown {
  if (typeof value !== "boolean" || !keyword.startsWith("exclusive")) return value;
  const bound = schema[keyword === "exclusiveMinimum" ? "minimum" : "maximum"];
  return value && typeof bound === "number" ? bound : undefined;
}
