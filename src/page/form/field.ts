// What a JSON Schema asks a person for, as a field that can be drawn. What has no field of its own is written as JSON; the
// gateway checks everything again.

export type Schema = Readonly<Record<string, unknown>>;

interface Described {
  title?: string;
  description?: string;
  default?: unknown;
}

export type Field = Described &
  (
    | { kind: "text"; isLong: boolean; format?: string; pattern?: string }
    | { kind: "number"; isWhole: boolean; least?: number; most?: number }
    | { kind: "yes-no" }
    /** One of a few values. */
    | { kind: "choice"; values: readonly unknown[]; labels?: readonly unknown[] }
    | { kind: "list"; of: Schema }
    | { kind: "object"; members: readonly Member[] }
    /** One of several forms. */
    | { kind: "either"; forms: readonly { title: string; schema: Schema }[] }
    | { kind: "json" }
  );

interface Member {
  name: string;
  schema: Schema;
  isRequired: boolean;
}

/** A schema may refer to itself: deeper than this it is written as JSON. */
const MOST_DEPTH = 6;
const MOST_MEMBERS = 200;
const MOST_VALUES = 2000;
/** Fields that are drawn at once. */
const MOST_FIELDS = 1000;

/**
 * How deep a form of this schema is drawn: a few references in each other stand for more fields than a browser could draw.
 */
export function deepestOf(schema: Schema, root: Schema): number {
  let deepest = MOST_DEPTH;
  while (deepest > 0 && fieldsLeft(schema, root, 0, deepest, MOST_FIELDS) < 0) deepest -= 1;
  return deepest;
}

/** How many of `most` fields are left after those of this schema. Negative if there are not enough. */
function fieldsLeft(
  schema: Schema,
  root: Schema,
  depth: number,
  deepest: number,
  most: number,
): number {
  let left = most - 1;
  for (const inner of innerOf(fieldOf(schema, root, depth, deepest))) {
    if (left < 0) return left;
    left = fieldsLeft(inner, root, depth + 1, deepest, left);
  }
  return left;
}

function innerOf(field: Field): readonly Schema[] {
  switch (field.kind) {
    case "object":
      return field.members.map(({ schema }) => schema);
    case "either":
      return field.forms.map(({ schema }) => schema);
    case "list":
      return [field.of];
    default:
      return [];
  }
}

/**
 * `root` is where references point into; `depth` says how many fields are around it, and `deepest` how many there may be.
 */
export function fieldOf(given: Schema, root: Schema, depth = 0, deepest = MOST_DEPTH): Field {
  const schema = merged(resolved(given, root), root);
  const described = describedBy(schema);
  if (depth > deepest) return { ...described, kind: "json" };
  const { const: only, enum: values } = schema;
  if (only !== undefined) return { ...described, kind: "choice", values: [only] };
  if (Array.isArray(values)) {
    if (values.length > MOST_VALUES) return { ...described, kind: "json" };
    const labels = schema["enumNames"];
    return { ...described, kind: "choice", values, ...(Array.isArray(labels) && { labels }) };
  }
  const forms = schemasIn(schema["oneOf"]) ?? schemasIn(schema["anyOf"]);
  if (forms !== undefined && forms.length > MOST_MEMBERS) return { ...described, kind: "json" };
  if (forms !== undefined) return eitherOf(schema, forms, root, described, depth, deepest);
  const types = [schema["type"]].flat().filter(isType);
  if (types.length > 1) {
    const each = types.map((type) => ({ title: type, schema: { ...schema, type } }));
    return { ...described, kind: "either", forms: each };
  }
  switch (types[0] ?? guessedType(schema)) {
    case "string":
      return { ...described, ...textOf(schema) };
    case "integer":
    case "number":
      return {
        ...described,
        kind: "number",
        isWhole: types[0] === "integer",
        ...numberIn(schema, "minimum", "least"),
        ...numberIn(schema, "maximum", "most"),
      };
    case "boolean":
      return { ...described, kind: "yes-no" };
    case "array":
      return isObject(schema["items"])
        ? { ...described, kind: "list", of: schema["items"] }
        : { ...described, kind: "json" };
    case "object":
      return objectOf(schema, described);
    default:
      return { ...described, kind: "json" };
  }
}

function objectOf(schema: Schema, described: Described): Field {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const names = Object.keys(properties);
  const isOpen = names.length === 0 && isObject(schema["additionalProperties"]);
  // An object with names of your own choice has no fields.
  if (isOpen || names.length > MOST_MEMBERS) return { ...described, kind: "json" };
  const required = new Set([schema["required"]].flat());
  const members = names.map((name) => ({
    name,
    schema: isObject(properties[name]) ? properties[name] : {},
    isRequired: required.has(name),
  }));
  return {
    ...described,
    kind: "object",
    members: members.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired)),
  };
}

/** Forms of nothing but values are a choice; `null` beside one other form only says that it may be left out. */
function eitherOf(
  schema: Schema,
  forms: readonly Schema[],
  root: Schema,
  described: Described,
  depth: number,
  deepest: number,
): Field {
  const { oneOf: _, anyOf: __, ...around } = schema;
  const real = forms
    .map((form) => merged(resolved(form, root), root))
    .filter((form) => form["type"] !== "null");
  const [single] = real;
  if (single !== undefined && real.length === 1) {
    return { ...fieldOf({ ...around, ...single }, root, depth + 1, deepest), ...described };
  }
  if (real.every((form) => form["const"] !== undefined)) {
    return {
      ...described,
      kind: "choice",
      values: real.map((form) => form["const"]),
      labels: real.map((form) => form["title"]),
    };
  }
  return {
    ...described,
    kind: "either",
    forms: real.map((form, at) => ({ title: titleOf(form, at), schema: { ...around, ...form } })),
  };
}

/** The value of a member that is the same in every argument of this form tells forms apart best. */
function titleOf(form: Schema, at: number): string {
  if (typeof form["title"] === "string") return form["title"];
  const properties = isObject(form["properties"]) ? Object.entries(form["properties"]) : [];
  for (const [name, member] of properties) {
    if (isObject(member) && member["const"] !== undefined)
      return `${name}: ${JSON.stringify(member["const"])}`;
  }
  return typeof form["type"] === "string" ? form["type"] : `form ${at + 1}`;
}

const LONG = 200;

function textOf(schema: Schema): {
  kind: "text";
  isLong: boolean;
  format?: string;
  pattern?: string;
} {
  const { format, pattern, maxLength } = schema;
  const isLong = typeof maxLength === "number" && maxLength > LONG;
  return {
    kind: "text",
    isLong,
    ...(typeof format === "string" && { format }),
    ...(typeof pattern === "string" && { pattern }),
  };
}

function guessedType(schema: Schema): string | undefined {
  if (isObject(schema["properties"])) return "object";
  if (isObject(schema["items"])) return "array";
  return undefined;
}

function describedBy({ title, description, default: given }: Schema): Described {
  return {
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
    ...(given !== undefined && { default: given }),
  };
}

function numberIn<Name extends string>(
  schema: Schema,
  key: string,
  name: Name,
): { [_ in Name]?: number } {
  const value = schema[key];
  return (typeof value === "number" ? { [name]: value } : {}) as { [_ in Name]?: number };
}

/** Follows `#/$defs/…`, and stops where that leads back to itself. */
function resolved(schema: Schema, root: Schema): Schema {
  let current = schema;
  const seen = new Set<unknown>();
  while (typeof current["$ref"] === "string" && !seen.has(current["$ref"])) {
    const { $ref: _, ...beside } = current;
    const reference = current["$ref"];
    seen.add(reference);
    const target = targetOf(reference, root);
    if (target === undefined) return beside;
    current = { ...target, ...beside };
  }
  return current;
}

function targetOf(reference: string, root: Schema): Schema | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let place: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isObject(place) || !Object.hasOwn(place, name)) return undefined;
    place = place[name];
  }
  return isObject(place) ? place : undefined;
}

/** All of `allOf` at once. */
function merged(schema: Schema, root: Schema): Schema {
  const parts = schemasIn(schema["allOf"]);
  if (parts === undefined) return schema;
  const { allOf: _, ...rest } = schema;
  const whole: Record<string, unknown> = { ...rest };
  for (const part of parts) {
    const next = resolved(part, root);
    const properties = { ...asSchema(whole["properties"]), ...asSchema(next["properties"]) };
    const required = [...new Set([whole["required"] ?? [], next["required"] ?? []].flat())];
    Object.assign(whole, next, { properties, required });
  }
  return whole;
}

/** Anything may stand there; nobody else has looked at it. */
function isType(value: unknown): value is string {
  return typeof value === "string" && value !== "null";
}

function asSchema(value: unknown): Schema {
  return isObject(value) ? value : {};
}

function schemasIn(value: unknown): Schema[] | undefined {
  return Array.isArray(value) && value.length > 0 && value.every(isObject) ? value : undefined;
}

export function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
