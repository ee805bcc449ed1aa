// Values whose inside a schema does not describe: left open where the provider lets them be, else JSON text.

import type { JsonObject } from "../../model/json.ts";
import type { Context, Place } from "./context.ts";
import { type Piece, SAME } from "./piece.ts";
import type { Plain } from "./plain.ts";
import { describe } from "./words.ts";

/** `types` are those that the value may have; none known means any. */
export function opaque(types: readonly string[], context: Context, words: string): Piece {
  const nullable = types.length === 0;
  if (context.rules.closed) {
    const schema: JsonObject = { type: "string" };
    describe(schema, words, [`Give it as JSON text of ${article(types)}.`]);
    return { schema, mapping: { kind: "json", types }, nullable };
  }
  const schema: JsonObject = {};
  if (types.length === 1) {
    schema.type = types[0];
    if (types[0] === "object") schema.properties = {};
    if (types[0] === "array") schema.items = {};
  }
  describe(schema, words);
  return { schema, mapping: SAME, nullable };
}

function article(types: readonly string[]): string {
  if (types.length === 0) return "any value";
  return types.map((type) => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)).join(" or ");
}

/** In place of what cannot be followed further. */
export function cut(plain: Plain | undefined, place: Place, context: Context, why: string): Piece {
  context.notes.add(place, `cut here: ${why}`);
  const types = plain?.types?.filter((type) => type !== "null") ?? [];
  const words = plain?.keywords.get("description");
  const piece = opaque(types, context, typeof words === "string" ? words : "");
  describe(piece.schema, "", [`(${why})`]);
  return piece;
}
