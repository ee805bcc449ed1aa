// Which of several schemas a value was made for.

import { isJsonObject, type JsonObject } from "../../model/json.ts";
import { own } from "./own.ts";
import type { Branch } from "./piece.ts";
import { typeOf } from "./type-of.ts";

interface Tolerance {
  /** Properties that the schema does not have. */
  unknown: boolean;
  /** A property that has only one value may be missing. */
  fixed: boolean;
}

const EXACT: Tolerance = { unknown: false, fixed: false };
const WITH_UNKNOWN: Tolerance = { unknown: true, fixed: false };
const WITHOUT_FIXED: Tolerance = { unknown: false, fixed: true };

/** Undefined where it fits none, or might be for several of which none fits well. */
export function chooseBranch(value: unknown, branches: readonly Branch[]): Branch | undefined {
  const texts = branches.filter(({ mapping }) => mapping.kind === "json");
  const text = texts.find((branch) => isTextFor(value, branch));
  if (text !== undefined) return text;
  const others = texts.length === 0 ? branches : branches.filter((each) => !texts.includes(each));
  const found = best(value, others, EXACT) ?? best(value, others, WITH_UNKNOWN);
  if (found !== undefined) return found;
  const almost = others.filter((branch) => rate(branch.schema, value, WITHOUT_FIXED) >= 0);
  if (almost.length > 0) return almost.length === 1 ? almost[0] : undefined;
  const alike = others.filter((branch) => isType(branch.schema.type, value));
  return alike.length === 1 ? alike[0] : undefined;
}

/** Text that is JSON of the type that the branch stands for. */
function isTextFor(value: unknown, { mapping }: Branch): boolean {
  if (mapping.kind !== "json" || typeof value !== "string") return false;
  try {
    return mapping.types.includes(typeOf(JSON.parse(value)));
  } catch {
    return false;
  }
}

/** The first of those with the highest rating. */
function best(
  value: unknown,
  branches: readonly Branch[],
  tolerance: Tolerance,
): Branch | undefined {
  let found: Branch | undefined;
  let highest = -1;
  for (const branch of branches) {
    const rating = rate(branch.schema, value, tolerance);
    if (rating > highest) [found, highest] = [branch, rating];
  }
  return found;
}

/**
 * Negative where the value does not fit. Otherwise how many of the values in it are out of a list: one
 * that is listed says more about what is meant than one that merely has the right type.
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

/** Negative as soon as one is. */
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
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
  for (const name of required) {
    if (Object.hasOwn(value, name)) continue;
    const property = own(properties, name);
    const single = isJsonObject(property) && Array.isArray(property.enum) && property.enum.length;
    if (!tolerance.fixed || single !== 1) return -1;
  }
  return sum(Object.entries(value), ([key, content]) => {
    const property = own(properties, key);
    if (isJsonObject(property)) {
      // Many a model says null for what it does not give.
      if (content === null && !required.includes(key)) return 0;
      return rate(property, content, tolerance);
    }
    const { additionalProperties } = schema;
    if (isJsonObject(additionalProperties)) return rate(additionalProperties, content, tolerance);
    return tolerance.unknown ? 0 : -1;
  });
}

function isType(type: unknown, value: unknown): boolean {
  if (type === undefined) return true;
  const types = Array.isArray(type) ? (type as unknown[]) : [type];
  const actual = typeOf(value);
  return types.includes(actual) || (actual === "integer" && types.includes("number"));
}

function isAmong(value: unknown, values: unknown[]): boolean {
  if (values.includes(value)) return true;
  if (typeof value !== "object") return false;
  const text = JSON.stringify(value);
  return values.some((each) => JSON.stringify(each) === text);
}
