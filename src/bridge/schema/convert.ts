// Converts one subschema: finds out what kind of value it speaks of and hands it to whoever knows that kind.

import { isJsonObject, type JsonObject } from "../../model/json.ts";
import { convertArray } from "./array.ts";
import { annotate, applyConstraints, impliedTypes } from "./constraints.ts";
import { type Context, MAX_DEPTH, type Place } from "./context.ts";
import { convertValues } from "./enumeration.ts";
import { isValid } from "./keywords.ts";
import { convertObject } from "./object.ts";
import { cut, opaque } from "./opaque.ts";
import { NEVER, ONLY_NULL, type Piece, SAME } from "./piece.ts";
import { type Plain, toPlain } from "./plain.ts";
import { resolveReference } from "./reference.ts";
import { convertUnion, joinPieces, takeDemands } from "./union.ts";

const TOO_LARGE = "the schema is too large";

export function convert(schema: unknown, place: Place, context: Context): Piece {
  if (place.depth > MAX_DEPTH) return cut(undefined, place, context, "nested too deep");
  if (!context.budget.spend()) return cut(undefined, place, context, TOO_LARGE);
  const plain = toPlain(schema, place, context);
  // What was read of it is not all: to leave the rest out would be to lie.
  if (context.budget.exceeded) return cut(plain, place, context, TOO_LARGE);
  if (plain.never) return NEVER;
  if (plain.recursive !== undefined) return cutCycle(plain, plain.recursive, place, context);
  takeDemands(plain, place, context);
  const here = { ...place, trail: plain.trail };
  const piece = convertPlain(plain, here, context);
  if (piece.only !== undefined) return piece;
  const described = { ...piece, schema: { ...piece.schema } };
  if (context.rules.loneUnions && Array.isArray(described.schema.anyOf)) {
    described.schema.anyOf = described.schema.anyOf.map((each: JsonObject) => ({ ...each }));
  }
  annotate(described.schema, plain, context);
  return described;
}

function convertPlain(plain: Plain, place: Place, context: Context): Piece {
  const [union] = plain.unions;
  if (union !== undefined) return convertUnion(plain, union, place, context);
  if (plain.values !== undefined) return convertValues(plain, plain.values, place, context);

  const all = plain.types ?? impliedTypes(plain);
  const types = all.filter((type) => type !== "null");
  if (types.length === 0) return all.length > 0 ? ONLY_NULL : opaque([], context, "");
  const pieces =
    context.rules.typeLists && types.every(isScalar)
      ? [convertScalars(types, plain, place, context)]
      : types.map((type) => convertType(type, plain, place, context));
  const joined = joinPieces(pieces, context.rules);
  return { ...joined, nullable: joined.nullable || types.length < all.length };
}

function convertType(type: string, plain: Plain, place: Place, context: Context): Piece {
  if (type === "object") return convertObject(plain, place, context);
  if (type === "array") return convertArray(plain, place, context);
  return convertScalars([type], plain, place, context);
}

function isScalar(type: string): boolean {
  return type !== "object" && type !== "array";
}

function convertScalars(types: string[], plain: Plain, place: Place, context: Context): Piece {
  const schema: JsonObject = { type: types.length === 1 ? types[0] : types };
  applyConstraints(schema, types, plain, place, context);
  return { schema, mapping: SAME, nullable: false };
}

function cutCycle(plain: Plain, ref: string, place: Place, context: Context): Piece {
  const target = resolveReference(context.root, ref);
  const type = isJsonObject(target) ? target.type : undefined;
  // Most of what contains itself is an object.
  plain.types ??= isValid("type", type) ? ([type].flat() as string[]) : ["object"];
  const name = ref === "#" ? "the whole" : (ref.split("/").at(-1) ?? ref);
  return cut(plain, place, context, `recursive: of the same kind as ${name}`);
}
