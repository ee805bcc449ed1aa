// A value out of a list: as it is where the provider takes such values, else as texts that stand for them.

import type { JsonObject } from "../../model/json.ts";
import type { Context, Place } from "./context.ts";
import { NEVER, ONLY_NULL, type Piece, SAME } from "./piece.ts";
import type { Plain } from "./plain.ts";
import { typeOf } from "./type-of.ts";
import { describe, say } from "./words.ts";

/** `all` are the plain schema's values. */
export function convertValues(plain: Plain, all: unknown[], place: Place, context: Context): Piece {
  const fitting = all.filter((value) => isOfTypes(value, plain.types));
  const values = fitting.filter((value) => value !== null);
  if (values.length === 0) return fitting.length > 0 ? ONLY_NULL : NEVER;
  const nullable = values.length < fitting.length;
  const types = [...new Set(values.map(typeOf))];
  const type = types.length === 1 ? types[0] : undefined;

  if (type === "boolean" && values.length === 2) {
    return { schema: { type }, mapping: SAME, nullable };
  }
  const fixed = values.length === 1 ? { fixed: { value: values[0] } } : {};
  const { enums } = context.rules;
  const scalar = type !== undefined && type !== "object" && type !== "array";
  if (enums === "any") {
    const schema: JsonObject = scalar ? { type, enum: values } : { enum: values };
    return { schema, mapping: SAME, nullable, ...fixed };
  }
  const asTheyAre =
    enums === "scalars"
      ? scalar
      : values.every((value) => typeof value === "string" && value !== "");
  const labels = new Map(asTheyAre ? [] : label(values));
  const listed = asTheyAre ? values : [...labels.keys()];
  const schema: JsonObject = { type: asTheyAre ? type : "string" };
  if (fitsLimits(listed, context)) schema.enum = listed;
  else {
    describe(schema, "", [say("enum", listed)]);
    context.notes.add(place, `an enum of ${listed.length} values is more than the provider takes`);
  }
  const mapping = asTheyAre ? SAME : ({ kind: "labels", values: labels } as const);
  return { schema, mapping, nullable, ...fixed };
}

function isOfTypes(value: unknown, types: string[] | undefined): boolean {
  if (types === undefined) return true;
  const type = typeOf(value);
  return types.includes(type) || (type === "integer" && types.includes("number"));
}

function label(values: unknown[]): [string, unknown][] {
  const texts = new Set(values.filter((value) => typeof value === "string"));
  return values.map((value) => {
    if (value === "") return [texts.has("(empty)") ? '""' : "(empty)", value];
    if (typeof value === "string") return [value, value];
    const text = JSON.stringify(value);
    return [texts.has(text) ? `${text} (${typeOf(value)})` : text, value];
  });
}

function fitsLimits(values: unknown[], context: Context): boolean {
  const { limits } = context.rules;
  if (limits === undefined) return true;
  let characters = 0;
  for (const value of values) characters += typeof value === "string" ? value.length : 0;
  const { totals } = context;
  // One more for null.
  const count = totals.enumValues + values.length + 1;
  const tooLong = values.length > limits.longEnum && characters > limits.longEnumCharacters;
  // Half of the characters is for property names.
  if (
    tooLong ||
    count > limits.enumValues ||
    totals.characters + characters > limits.characters / 2
  ) {
    return false;
  }
  totals.enumValues = count;
  totals.characters += characters;
  return true;
}
