// Random schemas, tame and wild, and random arguments for a schema that a provider sees.

import fc from "fast-check";
import { isJsonObject, type JsonObject } from "../../../../../src/core/types/json.ts";

type Schemas = fc.Arbitrary<JsonObject>;

const NAMES = ["a", "b", "c-d", "e f", "$g", "päth", "1st", "x".repeat(70)];
const enumValues = fc.constantFrom<unknown>("x", "y", "", "1", 1, 2.5, true, null, { k: 1 }, [1]);

function optional(schema: Schemas, more: fc.Arbitrary<JsonObject>): Schemas {
  return fc.tuple(schema, more).map(([first, second]) => ({ ...first, ...second }));
}

const described = fc.constantFrom<JsonObject>(
  {},
  {},
  { description: "Said." },
  { title: "T" },
  { default: 1 },
);

const scalars: Schemas = fc.oneof(
  fc.constantFrom<JsonObject>(
    { type: "string" },
    { type: "string", minLength: 1 },
    { type: "string", format: "date-time" },
    { type: "integer" },
    { type: "integer", minimum: 1, maximum: 5 },
    { type: "integer", exclusiveMinimum: 0 },
    { type: "number" },
    { type: "boolean" },
    { type: "null" },
    { type: ["string", "null"] },
    { type: ["integer", "string"] },
    { type: ["object", "string", "null"] },
    { type: "object" },
    { type: "array" },
    {},
  ),
  fc.uniqueArray(enumValues, { minLength: 1, maxLength: 4 }).map((values) => ({ enum: values })),
  enumValues.map((value) => ({ const: value })),
);

function objects(inner: Schemas, extra: fc.Arbitrary<JsonObject>, names = NAMES): Schemas {
  const properties = fc.uniqueArray(fc.tuple(fc.constantFrom(...names), inner, fc.boolean()), {
    maxLength: 4,
    selector: ([name]) => name,
  });
  return fc.tuple(properties, extra).map(([list, more]) => ({
    type: "object",
    properties: Object.fromEntries(list.map(([name, schema]) => [name, schema])),
    required: list.filter(([, , needed]) => needed).map(([name]) => name),
    ...more,
  }));
}

const openness = fc.constantFrom<JsonObject>(
  {},
  { additionalProperties: false },
  { additionalProperties: true },
  { additionalProperties: { type: "string" } },
);

/** Schemas whose every constraint survives, or is met by any value that the provider's schema takes. */
export const tame: Schemas = objects(
  fc.letrec<{ schema: JsonObject }>((tie) => ({
    schema: optional(
      fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        scalars,
        objects(tie("schema"), openness),
        tie("schema").map((items) => ({ type: "array", items })),
        fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
        tie("schema").map((each) => ({ allOf: [each] })),
        fc.constant({ $ref: "#/$defs/leaf" }),
      ),
      described,
    ),
  })).schema,
  openness.map((more) => ({
    ...more,
    $defs: { leaf: { type: "object", properties: { "l.f": { type: "string" } } } },
  })),
);

const junk = fc.constantFrom<JsonObject>(
  {},
  { type: "any" },
  { type: [] },
  { enum: [] },
  { required: true },
  { required: ["nobody"] },
  { properties: [] },
  { properties: null },
  { items: 5 },
  { items: [{ type: "string" }, { $ref: "#" }], additionalItems: false },
  { prefixItems: [{ type: "integer" }, {}], items: { type: "null" } },
  { exclusiveMinimum: true, minimum: 3 },
  { minimum: "3" },
  { pattern: "(" },
  { pattern: "^(?!x)" },
  { format: "uri" },
  { nullable: true },
  { not: { type: "string" } },
  { if: {}, else: false },
  { patternProperties: { "^x": {} }, additionalProperties: false },
  { $ref: "#" },
  { $ref: "#/$defs/loop" },
  { $ref: "#/$defs/none" },
  { $ref: "https://example.com/schema.json" },
  { anyOf: [{ required: ["a"] }, { required: ["b"] }] },
  { oneOf: [false, true, 3] },
  { allOf: [{ type: "string" }, { type: "object" }] },
  { unknown: { deep: [1] } },
);

const anything: Schemas = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: optional(
    fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      scalars,
      junk,
      objects(tie("schema"), junk, [...NAMES, "__proto__"]),
      fc
        .tuple(
          fc.constantFrom("anyOf", "oneOf", "allOf", "prefixItems"),
          fc.array(tie("schema"), { maxLength: 3 }),
        )
        .map(([keyword, list]) => ({ [keyword]: list })),
      tie("schema").map((items) => ({ type: "array", items })),
      tie("schema").map((each) => ({ additionalProperties: each })),
    ),
    fc.oneof(described, junk),
  ),
})).schema;

/** Schemas such as nobody should write, and some do. Most take an object: the others are refused. */
export const wild: Schemas = optional(
  fc.oneof({ weight: 4, arbitrary: objects(anything, junk) }, { weight: 1, arbitrary: anything }),
  fc.constant({ $defs: { loop: { allOf: [{ $ref: "#/$defs/loop" }, { $ref: "#" }] } } }),
);

/** Arguments that a model might give for a schema that it sees. */
export function valuesOf(schema: JsonObject): fc.Arbitrary<unknown> {
  const types = [schema.type ?? []].flat() as string[];
  const none =
    schema.nullable === true || types.includes("null") ? [fc.constant<unknown>(null)] : [];
  if (Array.isArray(schema.anyOf)) {
    return fc.oneof(...none, ...(schema.anyOf as JsonObject[]).map(valuesOf));
  }
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  const kinds = types.filter((type) => type !== "null").map((type) => ofType(type, schema));
  if (kinds.length + none.length === 0) return fc.constantFrom<unknown>("any", 7, { k: [] });
  return fc.oneof(...none, ...kinds);
}

function ofType(type: string, schema: JsonObject): fc.Arbitrary<unknown> {
  switch (type) {
    case "string":
      return texts(schema);
    case "integer":
      return fc.integer({ min: bound(schema.minimum, 1), max: bound(schema.maximum, 5) });
    case "number":
      return fc.constantFrom(1.5, 3);
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(valuesOf(schema.items as JsonObject), { maxLength: 2 });
    default:
      return filled(schema);
  }
}

function bound(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function texts({ description, format }: JsonObject): fc.Arbitrary<unknown> {
  const said = typeof description === "string" ? description : "";
  if (said.includes("JSON text of any")) return fc.constantFrom('"x"', "1", "null", "[{}]");
  if (said.includes("JSON text of an object or a string")) return fc.constantFrom("{}", '"x"');
  if (said.includes("JSON text of an object")) {
    return fc.constantFrom(said.includes("Values: string") ? '{"k":"v"}' : "{}", "{}");
  }
  return format === "date-time"
    ? fc.constant("2026-01-02T03:04:05Z")
    : fc.constantFrom("text", "{", "12");
}

function filled(schema: JsonObject): fc.Arbitrary<unknown> {
  const required = (schema.required ?? []) as string[];
  const model: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (isJsonObject(property)) model[name] = valuesOf(property);
  }
  return fc.record(model, { requiredKeys: required, noNullPrototype: true });
}
