// Makes the arguments that a model would, from nothing but the schema that it sees.

import type { JsonObject } from "../../../../../src/core/types/json.ts";

const FORMATS: Readonly<Record<string, string>> = {
  uuid: "6f1c0b64-3b5a-4c1e-9a9d-2d7f6f4d9b11",
  uri: "https://example.com/",
  "date-time": "2026-01-02T03:04:05Z",
  date: "2026-01-02",
  email: "a@example.com",
};

/** With all properties, or only with those that must be there; null where that is all that must be. */
export function sample(schema: JsonObject, full: boolean): unknown {
  if (Array.isArray(schema.anyOf)) {
    const branches = schema.anyOf as JsonObject[];
    const none = branches.find((branch) => branch.type === "null");
    return sample((!full && none) || (branches[0] as JsonObject), full);
  }
  const types = [schema.type ?? []].flat();
  if (!full && (types.includes("null") || schema.nullable === true)) return null;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  switch (types[0]) {
    case "string":
      return text(schema);
    case "integer":
    case "number":
      return number(schema);
    case "boolean":
      return true;
    case "array": {
      const item = schema.items as JsonObject;
      const length = Math.max(Number(schema.minItems ?? 0), full ? 1 : 0);
      return Array.from({ length }, () => sample(item, full));
    }
    case "object":
      return object(schema, full);
    default:
      return null;
  }
}

function object(schema: JsonObject, full: boolean): JsonObject {
  const required = (schema.required ?? []) as string[];
  const result: JsonObject = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (full || required.includes(name)) result[name] = sample(property as JsonObject, full);
  }
  return result;
}

interface TextSchema {
  description?: string;
  format?: string;
  minLength?: number;
  pattern?: string;
}

function text({ description: said = "", format, minLength, pattern }: TextSchema): string {
  const kind = /JSON text of an? (\w+)/.exec(said)?.[1];
  if (kind === "object") return "{}";
  if (kind === "array") return "[]";
  if (kind === "any" || said.includes("JSON text of any")) return '"x"';
  const named = format ?? /Format: ([\w-]+)/.exec(said)?.[1] ?? "";
  if (FORMATS[named] !== undefined) return FORMATS[named];
  const shape = new RegExp(pattern ?? "", "u");
  const fitting = ["x", "1:2", "a.png", "tag=x"].find((each) => shape.test(each));
  const length = Number(/Characters, at least: (\d+)/.exec(said)?.[1] ?? minLength ?? 0);
  return fitting === "x" ? "x".repeat(Math.max(1, length)) : String(fitting);
}

function number({ description = "", minimum, exclusiveMinimum }: JsonObject): number {
  const said = /(At least|More than): (-?\d+)/.exec(description as string)?.[2];
  if (typeof exclusiveMinimum === "number") return exclusiveMinimum + 1;
  if (said !== undefined) return Number(said) + 1;
  return typeof minimum === "number" ? minimum : 1;
}
