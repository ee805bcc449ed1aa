// Converts one subschema: finds out what kind of value it describes and delegates to the file for that kind.

import { isJsonObject, type JsonObject } from "../../model/json.ts";
import { convertArray } from "./array.ts";
import { annotate, applyConstraints, impliedTypes } from "./constraints.ts";
import { type SchemaConversion, MAX_DEPTH, type SchemaPlace } from "./conversion.ts";
import { type Converted, cutOff, NEVER, ONLY_NULL, openValue, SAME } from "./converted.ts";
import { convertEnumeration } from "./enumeration.ts";
import { type FlatSchema, flatten, resolveReference } from "./flat-schema.ts";
import { isValid } from "./keywords.ts";
import { convertObject } from "./object.ts";
import { convertUnion, describeRequiredChoices, joinAlternatives } from "./union.ts";

const TOO_LARGE = "the schema is too large";

export function convert(schema: unknown, place: SchemaPlace, context: SchemaConversion): Converted {
  if (place.depth > MAX_DEPTH) return cutOff(place, context, "nested too deep");
  if (!context.budget.spend()) return cutOff(place, context, TOO_LARGE);
  const flat = flatten(schema, place, context);
  // The schema was not read to its end, so a conversion would leave out some of it without saying so.
  if (context.budget.exceeded) return cutOff(place, context, TOO_LARGE, flat);
  if (flat.never) return NEVER;
  if (flat.recursive !== undefined) return cutCycle(flat, flat.recursive, context);
  describeRequiredChoices(flat, context);
  const converted = convertFlat(flat, context);
  if (converted.only !== undefined) return converted;
  const annotated = { ...converted, schema: { ...converted.schema } };
  if (context.rules.loneUnions && Array.isArray(annotated.schema.anyOf)) {
    annotated.schema.anyOf = annotated.schema.anyOf.map((each: JsonObject) => ({ ...each }));
  }
  annotate(annotated.schema, flat, context);
  return annotated;
}

function convertFlat(flat: FlatSchema, context: SchemaConversion): Converted {
  const [union] = flat.unions;
  if (union !== undefined) return convertUnion(flat, union, context);
  if (flat.values !== undefined) return convertEnumeration(flat, flat.values, context);

  const all = flat.types ?? impliedTypes(flat);
  const types = all.filter((type) => type !== "null");
  if (types.length === 0) return all.length > 0 ? ONLY_NULL : openValue([], context, "");
  const alternatives =
    context.rules.typeLists && types.every(isScalar)
      ? [convertScalars(types, flat, context)]
      : types.map((type) => convertType(type, flat, context));
  const joined = joinAlternatives(alternatives, context.rules);
  return { ...joined, nullable: joined.nullable || types.length < all.length };
}

function convertType(type: string, flat: FlatSchema, context: SchemaConversion): Converted {
  if (type === "object") return convertObject(flat, context);
  if (type === "array") return convertArray(flat, context);
  return convertScalars([type], flat, context);
}

function isScalar(type: string): boolean {
  return type !== "object" && type !== "array";
}

function convertScalars(types: string[], flat: FlatSchema, context: SchemaConversion): Converted {
  const schema: JsonObject = { type: types.length === 1 ? types[0] : types };
  applyConstraints(schema, types, flat, context);
  return { schema, mapping: SAME, nullable: false };
}

function cutCycle(flat: FlatSchema, ref: string, context: SchemaConversion): Converted {
  const target = resolveReference(context.root, ref);
  const type = isJsonObject(target) ? target.type : undefined;
  // Most schemas that contain themselves are objects.
  flat.types ??= isValid("type", type) ? ([type].flat() as string[]) : ["object"];
  const name = ref === "#" ? "the whole" : (ref.split("/").at(-1) ?? ref);
  return cutOff(flat.place, context, `recursive: of the same kind as ${name}`, flat);
}
