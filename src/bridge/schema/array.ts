// Arrays, and tuples as arrays whose items may be any of the tuple's.

import type { JsonObject } from "../../model/json.ts";
import { plural, truncate } from "../../util/text.ts";
import { applyConstraints } from "./constraints.ts";
import { type SchemaConversion, inside } from "./conversion.ts";
import { type Converted, cutOff, type Mapping, SAME, toProviderSchema } from "./converted.ts";
import { addToDescription } from "./description.ts";
import type { FlatSchema } from "./flat-schema.ts";
import { joinAlternatives } from "./union.ts";

export function convertArray(flat: FlatSchema, context: SchemaConversion): Converted {
  const { rules } = context;
  const { limits } = rules;
  const { place } = flat;
  if (limits !== undefined && place.level >= limits.levels) {
    return cutOff(place, context, "nested deeper than the provider accepts", flat);
  }
  if (flat.prefix !== undefined && flat.prefix.length > 0) {
    return convertTuple(flat, flat.prefix, context);
  }
  const items = context.convert(flat.keywords.get("items") ?? true, inside(place, "items"));
  const schema: JsonObject = { type: "array" };
  const { mapping } = toProviderSchema(items, rules);
  setItems(schema, items, context);
  applyConstraints(schema, ["array"], flat, context);
  return {
    schema,
    mapping: mapping.kind === "same" ? SAME : { kind: "list", items: mapping },
    nullable: false,
  };
}

function setItems(schema: JsonObject, items: Converted, { rules }: SchemaConversion): void {
  if (items.only !== "never") schema.items = toProviderSchema(items, rules).schema;
  else {
    schema.items = rules.closed ? { type: "string" } : {};
    addToDescription(schema, "", ["Always empty."]);
  }
}

function convertTuple(flat: FlatSchema, prefix: unknown[], context: SchemaConversion): Converted {
  const { rules } = context;
  const { place } = flat;
  const items = prefix.map((each, index) =>
    context.convert(each, inside(place, "prefixItems", index)),
  );
  const rest = flat.keywords.get("items");
  const closed = rest === false || flat.keywords.get("maxItems") === prefix.length;
  const restItems =
    closed || rest === undefined || rest === true
      ? undefined
      : context.convert(rest, inside(place, "items"));
  const all = restItems === undefined ? items : [...items, restItems];
  const schema: JsonObject = { type: "array" };
  setItems(schema, joinAlternatives(all, rules), context);
  applyConstraints(schema, ["array"], flat, context);
  if (closed && rules.constraints.has("maxItems")) schema.maxItems = prefix.length;
  const order = items.map((item, index) => `${index + 1}. ${summary(item)}`).join(", ");
  addToDescription(schema, "", [
    `${closed ? `At most ${plural(prefix.length, "item")}` : "Items"}, in this order: ${order}.`,
  ]);
  context.notes.add(place, "a tuple is given as an array");
  const mapping: Mapping = {
    kind: "tuple",
    items: items.map((item) => item.mapping),
    rest: restItems?.mapping ?? SAME,
  };
  return { schema, mapping, nullable: false };
}

function summary({ schema: { type, description } }: Converted): string {
  const shown = typeof type === "string" ? type : "value";
  return typeof description === "string" ? `${shown} (${truncate(description, 80)})` : shown;
}
