// A converted subschema: what the provider sees, and how a value for it becomes the server's. Also the two forms
// that any kind of value can need: nullable, and open (a value whose inside the schema does not describe).

import type { JsonObject } from "../../types/json.ts";
import type { SchemaConversion, SchemaPlace } from "./conversion.ts";
import { addToDescription } from "./description.ts";
import type { FlatSchema } from "./flat-schema.ts";
import type { Rules } from "./provider-rules.ts";

/** How a model's value differs from the one that the server wants. */
export type Mapping =
  | { kind: "same" }
  /** JSON text of one of these types; of any type if the list is empty. */
  | { kind: "json"; types: readonly string[] }
  /** A text that stands for a value. */
  | { kind: "labels"; values: ReadonlyMap<string, unknown> }
  | { kind: "list"; items: Mapping }
  | { kind: "tuple"; items: readonly Mapping[]; rest: Mapping }
  | { kind: "object"; fields: ReadonlyMap<string, MappedField>; extra: Mapping }
  | { kind: "union"; branches: readonly ProviderSchema[] }
  /** The whole value is inside this one property. */
  | { kind: "wrapped"; field: string; mapping: Mapping };

export interface MappedField {
  /** The server's name for it. */
  name: string;
  mapping: Mapping;
  /** Null means that the property is not given. */
  dropNull: boolean;
  /** The only possible value of a required property. */
  fixed?: { value: unknown };
}

export interface ProviderSchema {
  schema: JsonObject;
  mapping: Mapping;
}

export interface Converted extends ProviderSchema {
  /** Null is valid too, but `schema` does not say so yet: see `toProviderSchema`. */
  nullable: boolean;
  /** Only null is valid, or no value at all. */
  only?: "null" | "never";
  /** The only valid value beside null. */
  fixed?: { value: unknown };
}

export const SAME: Mapping = { kind: "same" };
export const NEVER: Converted = { schema: {}, mapping: SAME, nullable: false, only: "never" };
export const ONLY_NULL: Converted = {
  schema: { type: "null" },
  mapping: SAME,
  nullable: true,
  only: "null",
};

/** For a provider without a null type: a label stands for null. */
const NULL_LABEL: ProviderSchema = {
  schema: { type: "string", enum: ["null"] },
  mapping: { kind: "labels", values: new Map([["null", null]]) },
};

/** The finished schema, which says in the provider's way whether null is valid. */
export function toProviderSchema(
  converted: Converted,
  rules: Rules,
  nullable = converted.nullable,
): ProviderSchema {
  if (converted.only === "null") return rules.null === "keyword" ? NULL_LABEL : converted;
  const { schema, mapping } = converted;
  return { schema: nullable ? withNull(schema, rules) : schema, mapping };
}

function withNull(schema: JsonObject, rules: Rules): JsonObject {
  if (Array.isArray(schema.anyOf)) return unionWithNull(schema, rules);
  // A schema without a type accepts null already.
  if (schema.type === undefined && schema.enum === undefined) return schema;
  if (rules.null === "keyword") return { ...schema, nullable: true };
  const { type } = schema;
  if (rules.null === "branch" || type === undefined || type === "object" || type === "array") {
    return { anyOf: [schema, { type: "null" }] };
  }
  return {
    ...schema,
    type: [...(Array.isArray(type) ? (type as unknown[]) : [type]), "null"],
    ...(Array.isArray(schema.enum) && { enum: [...(schema.enum as unknown[]), null] }),
  };
}

function unionWithNull(schema: JsonObject, rules: Rules): JsonObject {
  const branches = schema.anyOf as JsonObject[];
  return rules.null === "keyword"
    ? { ...schema, anyOf: branches.map((each) => ({ ...each, nullable: true })) }
    : { ...schema, anyOf: [...branches, { type: "null" }] };
}

/**
 * A value whose inside is not described: left open if the provider allows that, otherwise JSON text. `types` are
 * the possible types; an empty list means any.
 */
export function openValue(
  types: readonly string[],
  context: SchemaConversion,
  description: string,
): Converted {
  const nullable = types.length === 0;
  if (context.rules.closed) {
    const schema: JsonObject = { type: "string" };
    addToDescription(schema, description, [`Give it as JSON text of ${withArticles(types)}.`]);
    return { schema, mapping: { kind: "json", types }, nullable };
  }
  const schema: JsonObject = {};
  if (types.length === 1) {
    schema.type = types[0];
    if (types[0] === "object") schema.properties = {};
    if (types[0] === "array") schema.items = {};
  }
  addToDescription(schema, description);
  return { schema, mapping: SAME, nullable };
}

function withArticles(types: readonly string[]): string {
  if (types.length === 0) return "any value";
  return types.map((type) => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)).join(" or ");
}

/** An open value in place of a schema that cannot be converted any further. */
export function cutOff(
  place: SchemaPlace,
  context: SchemaConversion,
  reason: string,
  flat?: FlatSchema,
): Converted {
  context.notes.add(place, `cut here: ${reason}`);
  const types = flat?.types?.filter((type) => type !== "null") ?? [];
  const description = flat?.keywords.get("description");
  const text = typeof description === "string" ? description : "";
  const converted = openValue(types, context, text);
  addToDescription(converted.schema, "", [`(${reason})`]);
  return converted;
}
