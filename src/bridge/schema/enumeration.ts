// Enumerations: the values as they are if the provider accepts them, otherwise texts that stand for them.

import type { JsonObject } from "../../model/json.ts";
import type { SchemaConversion } from "./conversion.ts";
import { type Converted, NEVER, ONLY_NULL, SAME } from "./converted.ts";
import { addToDescription, inWords } from "./description.ts";
import type { FlatSchema } from "./flat-schema.ts";
import { isOfType, typeOf } from "./keywords.ts";

/** `all` are the flat schema's values. */
export function convertEnumeration(
  { types: allowed, place }: FlatSchema,
  all: unknown[],
  context: SchemaConversion,
): Converted {
  const fitting = all.filter((value) => allowed === undefined || isOfType(value, allowed));
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
  const labels = new Map(asTheyAre ? [] : labelled(values));
  const listed = asTheyAre ? values : [...labels.keys()];
  const schema: JsonObject = { type: asTheyAre ? type : "string" };
  if (fitsLimits(listed, context)) schema.enum = listed;
  else {
    addToDescription(schema, "", [inWords("enum", listed)]);
    context.notes.add(
      place,
      `an enum of ${listed.length} values is more than the provider accepts`,
    );
  }
  const mapping = asTheyAre ? SAME : ({ kind: "labels", values: labels } as const);
  return { schema, mapping, nullable, ...fixed };
}

/** Each value with the text that stands for it. */
function labelled(values: unknown[]): [string, unknown][] {
  const texts = new Set(values.filter((value) => typeof value === "string"));
  return values.map((value) => {
    if (value === "") return [texts.has("(empty)") ? '""' : "(empty)", value];
    if (typeof value === "string") return [value, value];
    const text = JSON.stringify(value);
    return [texts.has(text) ? `${text} (${typeOf(value)})` : text, value];
  });
}

function fitsLimits(values: unknown[], context: SchemaConversion): boolean {
  const { limits } = context.rules;
  if (limits === undefined) return true;
  let characters = 0;
  for (const value of values) characters += typeof value === "string" ? value.length : 0;
  const { totals } = context;
  // Plus one for null.
  const count = totals.enumValues + values.length + 1;
  const tooLong = values.length > limits.longEnum && characters > limits.longEnumCharacters;
  // Half of the characters are reserved for property names.
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
