// Objects: properties under names that the provider takes, all of them required where it wants that.

import type { JsonObject } from "../../model/json.ts";
import { applyConstraints } from "./constraints.ts";
import { type Context, inside, type Place } from "./context.ts";
import { isValid } from "./keywords.ts";
import { publicNames } from "./names.ts";
import { seal } from "./null.ts";
import { cut, opaque } from "./opaque.ts";
import { put } from "./own.ts";
import { type Field, type Mapping, type Piece, SAME } from "./piece.ts";
import type { Plain } from "./plain.ts";
import { describe } from "./words.ts";

export function convertObject(plain: Plain, place: Place, context: Context): Piece {
  const { rules } = context;
  const { limits } = rules;
  if (limits !== undefined && place.level >= limits.levels) {
    return cut(plain, place, context, "nested deeper than the provider takes");
  }
  // A property may be asked for without being described.
  for (const name of plain.required) {
    if (!plain.properties.has(name)) plain.properties.set(name, true);
  }
  const additional = plain.keywords.get("additionalProperties");
  const root = place.level === 0;
  if (plain.properties.size === 0 && rules.closed && (!root || isOpen(additional))) {
    if (rules.filledObjects || additional !== false) return map(additional, place, context);
  }

  const schema: JsonObject = { type: "object", properties: {} };
  const fields = new Map<string, Field>();
  const required = convertProperties(plain, schema, fields, place, context);
  if (fields.size === 0 && rules.filledObjects && !root) return map(additional, place, context);
  if (required.length > 0 || rules.allRequired) schema.required = required;
  const extra = convertAdditional(plain, schema, place, context);
  applyConstraints(schema, ["object"], plain, place, context);
  const same = extra.kind === "same" && [...fields].every(([name, field]) => isPlain(name, field));
  return { schema, mapping: same ? SAME : { kind: "object", fields, extra }, nullable: false };
}

function isOpen(additional: unknown): boolean {
  return additional !== undefined && additional !== false;
}

function isPlain(name: string, field: Field): boolean {
  return (
    field.name === name &&
    field.mapping.kind === "same" &&
    !field.dropNull &&
    field.fixed === undefined
  );
}

/** Returns the names of those that must be there. */
function convertProperties(
  plain: Plain,
  schema: JsonObject,
  fields: Map<string, Field>,
  place: Place,
  context: Context,
): string[] {
  const { rules, totals } = context;
  const properties = schema.properties as JsonObject;
  const required: string[] = [];
  for (const [name, shown] of publicNames(plain.properties.keys(), rules.names)) {
    const at = { ...inside(place, "properties", name), trail: plain.trail };
    const piece = context.convert(plain.properties.get(name), at);
    if (piece.only === "never") {
      context.notes.add(at, "takes no value; left out");
      continue;
    }
    if (shown !== name) context.notes.add(at, `renamed to ${shown}`);
    totals.properties += 1;
    totals.characters += shown.length;
    const needed = plain.required.has(name);
    const asNull = rules.allRequired && !needed;
    const sealed = seal(piece, rules, piece.nullable || asNull);
    put(properties, shown, sealed.schema);
    if (needed || rules.allRequired) required.push(shown);
    const { mapping } = sealed;
    fields.set(shown, {
      name,
      mapping,
      // In JSON text null is `null`, so that the bare one is free to mean that there is none.
      dropNull: !needed && (!piece.nullable || (asNull && mapping.kind === "json")),
      ...(needed && !piece.nullable && piece.fixed !== undefined && { fixed: piece.fixed }),
    });
  }
  return required;
}

/** Returns how the values of further properties are mapped. */
function convertAdditional(
  plain: Plain,
  schema: JsonObject,
  place: Place,
  context: Context,
): Mapping {
  const { rules } = context;
  const additional = plain.keywords.get("additionalProperties");
  if (rules.closed) {
    if (rules.allRequired) schema.additionalProperties = false;
    if (isOpen(additional)) context.notes.add(place, "properties of other names are left out");
    return SAME;
  }
  if (additional === undefined) return SAME;
  if (typeof additional === "boolean") {
    // Properties by pattern are said in words, and must not be ruled out beside that.
    if (additional || !plain.keywords.has("patternProperties")) {
      schema.additionalProperties = additional;
    }
    return SAME;
  }
  const at = { ...inside(place, "additionalProperties"), trail: plain.trail };
  const piece = context.convert(additional, at);
  const sealed = seal(piece, rules);
  schema.additionalProperties = piece.only === "never" ? false : sealed.schema;
  return sealed.mapping;
}

/** An object whose keys nobody knows beforehand, or an empty one. */
function map(additional: unknown, place: Place, context: Context): Piece {
  const piece = opaque(["object"], context, "");
  if (additional === false) describe(piece.schema, "", ["It is always empty."]);
  const type = (additional as JsonObject | undefined)?.type;
  if (typeof type === "string" && isValid("type", type))
    describe(piece.schema, "", [`Values: ${type}.`]);
  context.notes.add(place, "an object without known properties is given as JSON text");
  return piece;
}
