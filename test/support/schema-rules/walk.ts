// Visits every subschema of a provider's schema, for the checkers.

import { isJsonObject, type JsonObject } from "../../../src/core/types/json.ts";

export interface Visit {
  schema: JsonObject;
  path: string;
  /** Objects and arrays, this one included. */
  levels: number;
}

/** Several checkers in a row walk through the same one, which may have a hundred thousand parts. */
const walked = new WeakMap<JsonObject, Visit[]>();

export function visits(root: JsonObject): readonly Visit[] {
  const known = walked.get(root) ?? walk(root);
  walked.set(root, known);
  return known;
}

function walk(root: JsonObject): Visit[] {
  const found: Visit[] = [];
  const queue: { schema: unknown; path: string; levels: number }[] = [
    { schema: root, path: "#", levels: 0 },
  ];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (!isJsonObject(next.schema)) continue;
    const { schema, path } = next;
    const nests = [schema.type].flat().some((type) => type === "object" || type === "array");
    const levels = next.levels + (nests ? 1 : 0);
    found.push({ schema, path, levels });
    for (const key of ["items", "additionalProperties", "not", "contains", "propertyNames"]) {
      queue.push({ schema: schema[key], path: `${path}/${key}`, levels });
    }
    for (const key of ["anyOf", "oneOf", "allOf", "prefixItems"]) {
      const list = Array.isArray(schema[key]) ? (schema[key] as unknown[]) : [];
      for (const [index, each] of list.entries()) {
        queue.push({ schema: each, path: `${path}/${key}/${index}`, levels });
      }
    }
    for (const key of ["properties", "patternProperties", "$defs", "definitions"]) {
      for (const [name, each] of Object.entries(schema[key] ?? {})) {
        queue.push({ schema: each, path: `${path}/${key}/${name}`, levels });
      }
    }
  }
  return found;
}

export function propertyNames(schema: JsonObject): string[] {
  return Object.keys(schema.properties ?? {});
}

/** What no provider takes: references, and properties that are asked for without being there. */
export function commonFaults({ schema, path }: Visit): string[] {
  const faults: string[] = [];
  for (const key of ["$ref", "$defs", "definitions", "$schema", "$id"]) {
    if (key in schema) faults.push(`${path}: has ${key}`);
  }
  const names = new Set(propertyNames(schema));
  if (names.has("__proto__")) faults.push(`${path}: has a property __proto__`);
  for (const name of (schema.required ?? []) as string[]) {
    if (!names.has(name)) faults.push(`${path}: requires ${name}, which it does not have`);
  }
  if (schema.type === "array" && !isJsonObject(schema.items)) {
    faults.push(`${path}: array schema missing items`);
  }
  return faults;
}
