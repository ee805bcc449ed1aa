// Turns a value that a model gave for the provider's schema into the one that the server's schema asks for. A value
// that does not fit is passed on as it is, since the server can say best what is wrong with it.

import {
  isJsonObject,
  isOfType,
  type JsonObject,
  jsonType,
  objectIn,
  tryParseJson,
} from "../../types/json.ts";
import type { Mapping, ProviderSchema } from "./converted.ts";

/** Recurses only as deep as the schema goes, whatever the value. */
export function decode(value: unknown, mapping: Mapping): unknown {
  if (value === null) return null;
  switch (mapping.kind) {
    case "same":
      return value;
    case "json":
      return fromText(value, mapping.types);
    case "labels":
      return typeof value === "string" && mapping.values.has(value)
        ? mapping.values.get(value)
        : value;
    case "list":
      return Array.isArray(value) ? value.map((item) => decode(item, mapping.items)) : value;
    case "tuple":
      return decodeTuple(value, mapping);
    case "object":
      return isJsonObject(value) ? decodeObject(value, mapping) : value;
    case "union": {
      const branch = chooseBranch(value, mapping.branches);
      return branch === undefined ? value : decode(value, branch.mapping);
    }
    case "wrapped":
      return decodeWrapped(value, mapping);
  }
}

function fromText(value: unknown, types: readonly string[]): unknown {
  if (typeof value !== "string") return value;
  const parsed = tryParseJson(value);
  if (parsed === undefined) return value;
  return types.length === 0 || types.includes(jsonType(parsed)) ? parsed : value;
}

/** A model may give the items as an object, under numbers or names: only their order counts. */
function decodeTuple(value: unknown, mapping: Mapping & { kind: "tuple" }): unknown {
  const items = isJsonObject(value) ? Object.values(value) : value;
  if (!Array.isArray(items)) return value;
  return items.map((item, index) => decode(item, mapping.items[index] ?? mapping.rest));
}

function decodeObject(value: JsonObject, mapping: Mapping & { kind: "object" }): JsonObject {
  // A map, since a server may name a property `__proto__`.
  const result = new Map<string, unknown>();
  for (const [key, content] of Object.entries(value)) {
    const field = mapping.fields.get(key);
    if (field === undefined) result.set(key, decode(content, mapping.extra));
    else if (content !== null || !field.dropNull) {
      result.set(field.name, decode(content, field.mapping));
    }
  }
  for (const { name, fixed } of mapping.fields.values()) {
    if (fixed !== undefined && !result.has(name)) result.set(name, fixed.value);
  }
  return Object.fromEntries(result);
}

function decodeWrapped(value: unknown, mapping: Mapping & { kind: "wrapped" }): unknown {
  const content = isJsonObject(value) ? own(value, mapping.field) : undefined;
  if (content === undefined) return decode(value, mapping.mapping);
  const decoded = decode(content, mapping.mapping);
  return isJsonObject(decoded) ? decoded : value;
}

/**
 * Mistakes that a comparison overlooks: properties that the schema does not have, or a missing property that has only
 * one possible value.
 */
type Tolerance = "nothing" | "unknown properties" | "missing constants";

/** The alternative that a value was made for. Undefined if none fits, or if several fit equally badly. */
function chooseBranch(
  value: unknown,
  branches: readonly ProviderSchema[],
): ProviderSchema | undefined {
  const texts = branches.filter(({ mapping }) => mapping.kind === "json");
  const text = texts.find((branch) => isTextFor(value, branch));
  if (text !== undefined) return text;
  const others = texts.length === 0 ? branches : branches.filter((each) => !texts.includes(each));
  const found = best(value, others, "nothing") ?? best(value, others, "unknown properties");
  if (found !== undefined) return found;
  const almost = others.filter((branch) => rate(branch.schema, value, "missing constants") >= 0);
  if (almost.length > 0) return almost.length === 1 ? almost[0] : undefined;
  const alike = others.filter((branch) => isType(branch.schema.type, value));
  return alike.length === 1 ? alike[0] : undefined;
}

/** Whether the value is JSON text of a type that the branch stands for. */
function isTextFor(value: unknown, { mapping }: ProviderSchema): boolean {
  if (mapping.kind !== "json" || typeof value !== "string") return false;
  return mapping.types.includes(jsonType(tryParseJson(value)));
}

/** The first branch with the highest rating. */
function best(
  value: unknown,
  branches: readonly ProviderSchema[],
  tolerance: Tolerance,
): ProviderSchema | undefined {
  let found: ProviderSchema | undefined;
  let highest = -1;
  for (const branch of branches) {
    const rating = rate(branch.schema, value, tolerance);
    if (rating > highest) [found, highest] = [branch, rating];
  }
  return found;
}

/**
 * Negative if the value does not fit. Otherwise the number of values in it that come from an enum: an enum value
 * says more about which branch is meant than a value that only has the right type.
 */
function rate(schema: JsonObject, value: unknown, tolerance: Tolerance): number {
  if (value === null && schema.nullable === true) return 0;
  if (Array.isArray(schema.anyOf)) {
    return (schema.anyOf as JsonObject[]).reduce(
      (highest, branch) => Math.max(highest, rate(branch, value, tolerance)),
      -1,
    );
  }
  if (!isType(schema.type, value)) return -1;
  if (Array.isArray(schema.enum)) return isAmong(value, schema.enum) ? 1 : -1;
  if (Array.isArray(value)) {
    const { items } = schema;
    return isJsonObject(items) ? sum(value, (item) => rate(items, item, tolerance)) : 0;
  }
  return isJsonObject(value) ? rateObject(schema, value, tolerance) : 0;
}

/** Negative if any rating is. */
function sum<Item>(items: readonly Item[], rating: (item: Item) => number): number {
  let total = 0;
  for (const item of items) {
    const each = rating(item);
    if (each < 0) return -1;
    total += each;
  }
  return total;
}

function rateObject(schema: JsonObject, value: JsonObject, tolerance: Tolerance): number {
  const properties = objectIn(schema.properties);
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
  for (const name of required) {
    if (Object.hasOwn(value, name)) continue;
    const property = own(properties, name);
    const single = isJsonObject(property) && Array.isArray(property.enum) && property.enum.length;
    if (tolerance !== "missing constants" || single !== 1) return -1;
  }
  return sum(Object.entries(value), ([key, content]) => {
    const property = own(properties, key);
    if (isJsonObject(property)) {
      // Many models pass null for a property that they do not give.
      if (content === null && !required.includes(key)) return 0;
      return rate(property, content, tolerance);
    }
    const { additionalProperties } = schema;
    if (isJsonObject(additionalProperties)) return rate(additionalProperties, content, tolerance);
    return tolerance === "unknown properties" ? 0 : -1;
  });
}

function isType(type: unknown, value: unknown): boolean {
  return type === undefined || isOfType(value, [type].flat());
}

function isAmong(value: unknown, values: unknown[]): boolean {
  if (values.includes(value)) return true;
  if (typeof value !== "object") return false;
  const text = JSON.stringify(value);
  return values.some((each) => JSON.stringify(each) === text);
}

function own(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}
