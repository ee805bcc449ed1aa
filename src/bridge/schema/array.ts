// Arrays, and tuples as arrays whose items may be any of the tuple's.

import type { JsonObject } from "../../model/json.ts";
import { plural, truncate } from "../../util/text.ts";
import { applyConstraints } from "./constraints.ts";
import { type Context, inside, type Place } from "./context.ts";
import { cut } from "./opaque.ts";
import { type Mapping, type Piece, SAME } from "./piece.ts";
import { seal } from "./null.ts";
import type { Plain } from "./plain.ts";
import { joinPieces } from "./union.ts";
import { describe } from "./words.ts";

export function convertArray(plain: Plain, place: Place, context: Context): Piece {
  const { rules } = context;
  const { limits } = rules;
  if (limits !== undefined && place.level >= limits.levels) {
    return cut(plain, place, context, "nested deeper than the provider takes");
  }
  if (plain.prefix !== undefined && plain.prefix.length > 0) {
    return convertTuple(plain, plain.prefix, place, context);
  }
  const piece = context.convert(plain.keywords.get("items") ?? true, inside(place, "items"));
  const schema: JsonObject = { type: "array" };
  const items = seal(piece, rules);
  setItems(schema, piece, context);
  applyConstraints(schema, ["array"], plain, place, context);
  const mapping: Mapping =
    items.mapping.kind === "same" ? SAME : { kind: "list", items: items.mapping };
  return { schema, mapping, nullable: false };
}

function setItems(schema: JsonObject, piece: Piece, { rules }: Context): void {
  if (piece.only !== "never") schema.items = seal(piece, rules).schema;
  else {
    schema.items = rules.closed ? { type: "string" } : {};
    describe(schema, "", ["Always empty."]);
  }
}

function convertTuple(plain: Plain, prefix: unknown[], place: Place, context: Context): Piece {
  const { rules } = context;
  const pieces = prefix.map((each, index) =>
    context.convert(each, inside(place, "prefixItems", index)),
  );
  const rest = plain.keywords.get("items");
  const closed = rest === false || plain.keywords.get("maxItems") === prefix.length;
  const restPiece =
    closed || rest === undefined || rest === true
      ? undefined
      : context.convert(rest, inside(place, "items"));
  const all = restPiece === undefined ? pieces : [...pieces, restPiece];
  const schema: JsonObject = { type: "array" };
  setItems(schema, joinPieces(all, rules), context);
  applyConstraints(schema, ["array"], plain, place, context);
  if (closed && rules.constraints.has("maxItems")) schema.maxItems = prefix.length;
  const order = pieces.map((piece, index) => `${index + 1}. ${name(piece)}`).join(", ");
  describe(schema, "", [
    `${closed ? `At most ${plural(prefix.length, "item")}` : "Items"}, in this order: ${order}.`,
  ]);
  context.notes.add(place, "a tuple is given as an array");
  const mapping: Mapping = {
    kind: "tuple",
    items: pieces.map((piece) => piece.mapping),
    rest: restPiece?.mapping ?? SAME,
  };
  return { schema, mapping, nullable: false };
}

function name(piece: Piece): string {
  const { type, description } = piece.schema;
  const shown = typeof type === "string" ? type : "value";
  return typeof description === "string" ? `${shown} (${truncate(description, 80)})` : shown;
}
