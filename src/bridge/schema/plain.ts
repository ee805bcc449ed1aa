// One subschema with its references followed and its `allOf` merged: the form that conversion starts from.

import { isJsonObject, type JsonObject } from "../../model/json.ts";
import { CHARACTERS_A_STEP, type Context, type Place, type Trail } from "./context.ts";
import { isKnown, isValid, SILENT, SPOKEN } from "./keywords.ts";
import { mergeKeyword } from "./merge.ts";
import { put } from "./own.ts";
import { resolveReference } from "./reference.ts";
import { say } from "./words.ts";

export interface Plain {
  types: string[] | undefined;
  values: unknown[] | undefined;
  properties: Map<string, unknown>;
  required: Set<string>;
  /** The items that have their own schema each. */
  prefix: unknown[] | undefined;
  /** Everything else: constraints, annotations, `items`, `additionalProperties`. */
  keywords: Map<string, unknown>;
  /** Each a list of alternatives, one of which must hold. */
  unions: { keyword: "anyOf" | "oneOf"; branches: unknown[] }[];
  /** What only words can say. */
  spoken: string[];
  /** No value fits. */
  never: boolean;
  /** The reference that leads back to where it stands. */
  recursive: string | undefined;
  trail: Trail;
}

const VALUES: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

export function toPlain(schema: unknown, place: Place, context: Context): Plain {
  const plain: Plain = {
    types: undefined,
    values: undefined,
    properties: new Map(),
    required: new Set(),
    prefix: undefined,
    keywords: new Map(),
    unions: [],
    spoken: [],
    never: false,
    recursive: undefined,
    trail: { refs: new Set(), parent: place.trail },
  };
  // A stack and no recursion: a chain of references may be as long as the schema.
  const stack: unknown[] = [schema];
  while (stack.length > 0) {
    const next = stack.pop();
    if (next === false) plain.never = true;
    if (!isJsonObject(next)) {
      if (typeof next !== "boolean")
        context.notes.add(place, "is not a schema; any value is taken");
      continue;
    }
    if (!context.budget.spend()) break;
    const more: unknown[] = [];
    if (typeof next.$ref === "string") more.push(...follow(next.$ref, plain, place, context));
    if (Array.isArray(next.allOf)) for (const each of next.allOf) more.push(each);
    absorb(plain, next, place, context);
    for (const each of more.toReversed()) stack.push(each);
  }
  return plain;
}

function follow(ref: string, plain: Plain, place: Place, context: Context): unknown[] {
  if (plain.trail.refs.has(ref)) return [];
  for (let trail = plain.trail.parent; trail !== undefined; trail = trail.parent) {
    if (trail.refs.has(ref)) {
      plain.recursive = ref;
      return [];
    }
  }
  plain.trail.refs.add(ref);
  const target = resolveReference(context.root, ref);
  if (target !== undefined) return [target];
  context.notes.add(place, `$ref ${ref} leads nowhere in this schema; any value is taken`);
  return [];
}

function absorb(plain: Plain, schema: JsonObject, place: Place, context: Context): void {
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "$ref" || keyword === "allOf" || SILENT.has(keyword)) continue;
    if (!context.budget.spend(weight(keyword, value))) return;
    if (SPOKEN.has(keyword)) {
      plain.spoken.push(say(keyword, value));
      if (keyword === "patternProperties") plain.keywords.set(keyword, value);
      context.notes.add(place, `${keyword} is said in words`);
    } else if (!isKnown(keyword)) {
      context.notes.add(place, `${keyword} is no keyword that is known; dropped`);
    } else if (!isValid(keyword, value)) {
      context.notes.add(place, `the value of ${keyword} is not valid; dropped`);
    } else mergeKeyword(plain, keyword, value, { schema, place, context });
  }
}

/** A text costs what it adds to the result, each time that a reference leads to it. */
function weight(keyword: string, value: unknown): number {
  if (typeof value === "string") return Math.ceil(value.length / CHARACTERS_A_STEP);
  if (!VALUES.has(keyword) && !SPOKEN.has(keyword)) return 0;
  return Math.ceil((JSON.stringify(value)?.length ?? 0) / CHARACTERS_A_STEP);
}

/** The same again as a schema, without its alternatives and without what describes it. */
export function toSchema(plain: Plain): JsonObject {
  const schema: JsonObject = {};
  if (plain.types !== undefined) schema.type = plain.types;
  if (plain.values !== undefined) schema.enum = plain.values;
  if (plain.properties.size > 0) {
    const properties = {};
    for (const [name, value] of plain.properties) put(properties, name, value);
    schema.properties = properties;
  }
  if (plain.required.size > 0) schema.required = [...plain.required];
  if (plain.prefix !== undefined) schema.prefixItems = plain.prefix;
  for (const [keyword, value] of plain.keywords) {
    if (!ANNOTATIONS.has(keyword)) schema[keyword] = value;
  }
  return schema;
}

const ANNOTATIONS: ReadonlySet<string> = new Set(["title", "description", "default", "examples"]);
