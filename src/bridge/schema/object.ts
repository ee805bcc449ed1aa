// Objects: properties under names that the provider accepts, all of them required if it demands that.

import type { JsonObject } from "../../model/json.ts";
import { applyConstraints } from "./constraints.ts";
import { type SchemaConversion, inside, type SchemaPlace } from "./conversion.ts";
import {
  type Converted,
  cutOff,
  type MappedField,
  type Mapping,
  openValue,
  SAME,
  toProviderSchema,
} from "./converted.ts";
import { addToDescription } from "./description.ts";
import type { FlatSchema } from "./flat-schema.ts";
import { isValid } from "./keywords.ts";

const LONGEST_NAME = 64;

export function convertObject(flat: FlatSchema, context: SchemaConversion): Converted {
  const { rules } = context;
  const { limits } = rules;
  const { place } = flat;
  if (limits !== undefined && place.level >= limits.levels) {
    return cutOff(place, context, "nested deeper than the provider accepts", flat);
  }
  // A property may be required without being described.
  for (const name of flat.required) {
    if (!flat.properties.has(name)) flat.properties.set(name, true);
  }
  const additional = flat.keywords.get("additionalProperties");
  const root = place.level === 0;
  if (flat.properties.size === 0 && rules.closed && (!root || isOpen(additional))) {
    if (rules.filledObjects || additional !== false) return convertMap(additional, place, context);
  }

  const schema: JsonObject = { type: "object", properties: {} };
  const fields = new Map<string, MappedField>();
  const required = convertProperties(flat, schema, fields, context);
  if (fields.size === 0 && rules.filledObjects && !root)
    return convertMap(additional, place, context);
  if (required.length > 0 || rules.allRequired) schema.required = required;
  const extra = convertAdditional(flat, schema, context);
  applyConstraints(schema, ["object"], flat, context);
  const same = extra.kind === "same" && [...fields].every(([name, field]) => isSame(name, field));
  return { schema, mapping: same ? SAME : { kind: "object", fields, extra }, nullable: false };
}

function isOpen(additional: unknown): boolean {
  return additional !== undefined && additional !== false;
}

function isSame(name: string, field: MappedField): boolean {
  return (
    field.name === name &&
    field.mapping.kind === "same" &&
    !field.dropNull &&
    field.fixed === undefined
  );
}

/** Returns the names of the required properties. */
function convertProperties(
  flat: FlatSchema,
  schema: JsonObject,
  fields: Map<string, MappedField>,
  context: SchemaConversion,
): string[] {
  const { rules, totals } = context;
  const properties = schema.properties as JsonObject;
  const required: string[] = [];
  for (const [name, shown] of providerNames(flat.properties.keys(), rules.names)) {
    const at = inside(flat.place, "properties", name);
    const converted = context.convert(flat.properties.get(name), at);
    if (converted.only === "never") {
      context.notes.add(at, "accepts no value; left out");
      continue;
    }
    if (shown !== name) context.notes.add(at, `renamed to ${shown}`);
    totals.properties += 1;
    totals.characters += shown.length;
    const needed = flat.required.has(name);
    const asNull = rules.allRequired && !needed;
    const provided = toProviderSchema(converted, rules, converted.nullable || asNull);
    properties[shown] = provided.schema;
    if (needed || rules.allRequired) required.push(shown);
    const { mapping } = provided;
    fields.set(shown, {
      name,
      mapping,
      // In JSON text null is the text `null`, so a bare null can mean that the property is not given.
      dropNull: !needed && (!converted.nullable || (asNull && mapping.kind === "json")),
      fixed: needed && !converted.nullable ? converted.fixed : undefined,
    });
  }
  return required;
}

/** Returns the mapping for the values of additional properties. */
function convertAdditional(
  flat: FlatSchema,
  schema: JsonObject,
  context: SchemaConversion,
): Mapping {
  const { rules } = context;
  const additional = flat.keywords.get("additionalProperties");
  if (rules.closed) {
    if (rules.allRequired) schema.additionalProperties = false;
    if (isOpen(additional)) context.notes.add(flat.place, "additional properties are left out");
    return SAME;
  }
  if (additional === undefined) return SAME;
  if (typeof additional === "boolean") {
    // The description mentions the properties by pattern, so the schema must not forbid them.
    if (additional || !flat.keywords.has("patternProperties")) {
      schema.additionalProperties = additional;
    }
    return SAME;
  }
  const converted = context.convert(additional, inside(flat.place, "additionalProperties"));
  const provided = toProviderSchema(converted, rules);
  schema.additionalProperties = converted.only === "never" ? false : provided.schema;
  return provided.mapping;
}

/** An object whose keys are not known beforehand, or an empty one. */
function convertMap(additional: unknown, place: SchemaPlace, context: SchemaConversion): Converted {
  const converted = openValue(["object"], context, "");
  if (additional === false) addToDescription(converted.schema, "", ["It is always empty."]);
  const type = (additional as JsonObject | undefined)?.type;
  if (typeof type === "string" && isValid("type", type))
    addToDescription(converted.schema, "", [`Values: ${type}.`]);
  context.notes.add(place, "an object without known properties is given as JSON text");
  return converted;
}

/** Unique and stable names that the provider accepts, by the server's names. */
function providerNames(names: Iterable<string>, allowed: RegExp): Map<string, string> {
  const all = [...names];
  const taken = new Set(all.filter((name) => allowed.test(name)));
  const result = new Map<string, string>();
  // Where to go on counting: thousands of names that fold to the same one must not each start from 2.
  const tries = new Map<string, number>();
  for (const name of all) {
    if (allowed.test(name)) {
      result.set(name, name);
      continue;
    }
    const base = fold(name);
    let chosen = base;
    for (let count = tries.get(base) ?? 1; taken.has(chosen); count += 1) {
      const suffix = `_${count + 1}`;
      chosen = base.slice(0, LONGEST_NAME - suffix.length) + suffix;
      tries.set(base, count + 1);
    }
    taken.add(chosen);
    result.set(name, chosen);
  }
  return result;
}

/** Letters, digits and underscores, starting with a letter: every provider accepts that. */
function fold(name: string): string {
  const folded = name
    .slice(0, 4 * LONGEST_NAME)
    .replaceAll(/[^a-zA-Z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .slice(0, LONGEST_NAME);
  if (folded === "") return "property";
  return /^[0-9]/.test(folded) ? `n${folded}`.slice(0, LONGEST_NAME) : folded;
}
