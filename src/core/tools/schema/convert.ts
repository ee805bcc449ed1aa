// Converts one subschema into what the provider sees, by the kind of value that it describes: alternatives, an
// enumeration, an array, an object or a scalar.

import { isJsonObject, isOfType, type JsonObject, jsonType } from "../../types/json.ts";
import { oneLine, plural, truncate } from "../../../util/text.ts";
import { annotate, applyConstraints, impliedTypes } from "./constraints.ts";
import {
  below,
  inside,
  DEEPEST_SCHEMA,
  type SchemaConversion,
  type SchemaPlace,
} from "./conversion.ts";
import {
  type Converted,
  cutOff,
  type MappedField,
  type Mapping,
  NEVER,
  ONLY_NULL,
  openValue,
  SAME,
  toProviderSchema,
} from "./converted.ts";
import { addToDescription, keywordInWords } from "./description.ts";
import { type FlatSchema, flatten, resolveReference, toSchema } from "./flat-schema.ts";
import { isValid } from "./keywords.ts";
import type { Rules } from "./provider-rules.ts";

const TOO_LARGE = "the schema is too large";

export function convert(schema: unknown, place: SchemaPlace, context: SchemaConversion): Converted {
  if (place.depth > DEEPEST_SCHEMA) return cutOff(place, context, "nested too deep");
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
  if (isScalar(type)) return convertScalars([type], flat, context);
  const { limits } = context.rules;
  if (limits !== undefined && flat.place.level >= limits.levels) {
    return cutOff(flat.place, context, "nested deeper than the provider accepts", flat);
  }
  return type === "object" ? convertObject(flat, context) : convertArray(flat, context);
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

// Alternatives: those that differ in their values become branches of one `anyOf`, those that only require different
// properties move to the description.

type Union = FlatSchema["unions"][number];

const REQUIRED_ONLY = new Set(["required", "not", "title", "description"]);

/** Removes the unions whose branches only require properties, and describes them instead. */
export function describeRequiredChoices(flat: FlatSchema, context: SchemaConversion): void {
  flat.unions = flat.unions.filter((union) => {
    if (!union.branches.every(isRequiredOnly)) return true;
    const lists = (union.branches as { required: string[] }[]).map(({ required }) => {
      context.budget.spend(required.length);
      return required.join(" and ");
    });
    const count = union.keyword === "oneOf" ? "Exactly one" : "At least one";
    flat.described.push(`${count} of these must be given: ${oneLine(lists.join("; "), 500)}.`);
    context.notes.add(flat.place, `${union.keyword} moved to the description`);
    return false;
  });
}

function isRequiredOnly(branch: unknown): boolean {
  return (
    isJsonObject(branch) &&
    Array.isArray(branch.required) &&
    branch.required.length > 0 &&
    branch.required.every((name) => typeof name === "string") &&
    Object.keys(branch).every((key) => REQUIRED_ONLY.has(key))
  );
}

/** Converts one of the flat schema's unions; the other unions go into every branch. */
function convertUnion(flat: FlatSchema, union: Union, context: SchemaConversion): Converted {
  const base = toSchema(flat);
  const others = flat.unions
    .filter((each) => each !== union)
    .map((each) => ({ [each.keyword]: each.branches }));
  const common = Object.keys(base).length > 0 ? [base, ...others] : others;
  const branches = union.branches.map((branch, index) => {
    const schema = common.length > 0 ? { allOf: [...common, branch] } : branch;
    return convert(schema, below(flat.place, union.keyword, index), context);
  });
  return joinAlternatives(branches, context.rules);
}

/** One schema that accepts what any of the alternatives accepts. */
function joinAlternatives(alternatives: readonly Converted[], rules: Rules): Converted {
  const branches = new Map<string, Converted>();
  for (const each of alternatives.flatMap(flattenUnion)) {
    if (each.only !== undefined) continue;
    const key = `${each.mapping.kind} ${JSON.stringify(each.schema)}`;
    // Two schemas that look alike may stand for different values.
    branches.set(each.mapping.kind === "same" ? key : `${key} ${branches.size}`, each);
  }
  const all = [...branches.values()];
  const nullable = alternatives.some((each) => each.nullable);
  const [first] = all;
  if (first === undefined) return nullable ? ONLY_NULL : NEVER;
  if (all.length === 1) return { ...first, nullable };
  // Text for any value covers the other branches too.
  const anyValue = all.find(({ mapping }) => mapping.kind === "json" && mapping.types.length === 0);
  if (rules.closed && anyValue !== undefined) return { ...anyValue, nullable };
  return {
    schema: { anyOf: all.map((each) => each.schema) },
    mapping: { kind: "union", branches: all },
    nullable,
  };
}

/** The branches of a nested union, unless it has a description or another keyword of its own. */
function flattenUnion(converted: Converted): Converted[] {
  const { mapping, schema } = converted;
  if (mapping.kind !== "union" || Object.keys(schema).length > 1) return [converted];
  return mapping.branches.map((branch) => ({ ...branch, nullable: false }));
}

// Enumerations: the values as they are if the provider accepts them, otherwise texts that stand for them.

/** `all` are the flat schema's values. */
function convertEnumeration(
  { types: allowed, place }: FlatSchema,
  all: unknown[],
  context: SchemaConversion,
): Converted {
  const fitting = all.filter((value) => allowed === undefined || isOfType(value, allowed));
  const values = fitting.filter((value) => value !== null);
  if (values.length === 0) return fitting.length > 0 ? ONLY_NULL : NEVER;
  const nullable = values.length < fitting.length;
  const types = [...new Set(values.map(jsonType))];
  const type = types.length === 1 ? types[0] : undefined;

  if (type === "boolean" && values.length === 2) {
    return { schema: { type }, mapping: SAME, nullable };
  }
  const fixed = values.length === 1 ? { fixed: { value: values[0] } } : {};
  const { enums } = context.rules;
  const scalar = type !== undefined && isScalar(type);
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
    addToDescription(schema, "", [keywordInWords("enum", listed)]);
    const note = `an enum of ${listed.length} values is more than the provider accepts`;
    context.notes.add(place, note);
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
    return [texts.has(text) ? `${text} (${jsonType(value)})` : text, value];
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

// Arrays, and tuples as arrays whose items may be any of the tuple's.

function convertArray(flat: FlatSchema, context: SchemaConversion): Converted {
  const { rules } = context;
  const { place } = flat;
  if (flat.prefix !== undefined && flat.prefix.length > 0) {
    return convertTuple(flat, flat.prefix, context);
  }
  const items = convert(flat.keywords.get("items") ?? true, inside(place, "items"), context);
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
    convert(each, inside(place, "prefixItems", index), context),
  );
  const rest = flat.keywords.get("items");
  const closed = rest === false || flat.keywords.get("maxItems") === prefix.length;
  const restItems =
    closed || rest === undefined || rest === true
      ? undefined
      : convert(rest, inside(place, "items"), context);
  const all = restItems === undefined ? items : [...items, restItems];
  const schema: JsonObject = { type: "array" };
  setItems(schema, joinAlternatives(all, rules), context);
  applyConstraints(schema, ["array"], flat, context);
  if (closed && rules.constraints?.has("maxItems") !== false) schema.maxItems = prefix.length;
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

// Objects: properties under names that the provider accepts, all of them required if it demands that.

const LONGEST_NAME = 64;

function convertObject(flat: FlatSchema, context: SchemaConversion): Converted {
  const { rules } = context;
  const { place } = flat;
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
    const converted = convert(flat.properties.get(name), at, context);
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
  const converted = convert(additional, inside(flat.place, "additionalProperties"), context);
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
