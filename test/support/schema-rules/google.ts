// Google, `parameters` of a Gemini function declaration, on the Gemini API and on Vertex AI.
// https://ai.google.dev/api/caching#Schema: "a select subset of an OpenAPI 3.0 schema object": its fields,
// its types, and the formats of each (float, double; int32, int64; enum, date-time).
// https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/FunctionDeclaration: "Parameter names must
// start with a letter or an underscore and must only contain chars a-z, A-Z, 0-9, or underscores with a
// maximum length of 64"; without parameters, `parameters` is left unset, so that an empty root is fine.
// What the APIs answer with 400 beyond that: "only 'enum' and 'date-time' are supported for STRING type"
// (https://github.com/google-gemini/gemini-cli/issues/2237), "When using any_of, it must be the only field
// set" (https://github.com/anomalyco/opencode/issues/15795), "enum only allowed for STRING type"
// (https://github.com/decolua/9router/pull/380), "properties: should be non-empty for OBJECT type"
// (https://github.com/vercel/ai/issues/3371), "enum[1]: cannot be empty"
// (https://github.com/Bobsilvio/ha-claude/pull/32).

import { isJsonObject, type JsonObject } from "../../../src/core/types/json.ts";
import { commonFaults, propertyNames, type Visit, visits } from "./walk.ts";

const FIELDS =
  "type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum".split(
    " ",
  );
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ["enum", "date-time"],
  number: ["float", "double"],
  integer: ["int32", "int64"],
};
const TYPES = new Set(["string", "number", "integer", "boolean", "array", "object"]);
const NAME = /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/;

export function check(root: JsonObject): string[] {
  const faults = visits(root).flatMap((visit) => [...commonFaults(visit), ...faultsOf(visit)]);
  if (root.type !== "object") faults.push("#: must have type 'object'");
  return faults;
}

function faultsOf({ schema, path }: Visit): string[] {
  const faults: string[] = [];
  for (const key of Object.keys(schema)) {
    if (!FIELDS.includes(key)) faults.push(`${path}: unknown name "${key}"`);
  }
  if ("anyOf" in schema) {
    if (Object.keys(schema).length > 1) faults.push(`${path}: any_of is not the only field`);
    return faults;
  }
  const type = schema.type as string;
  if (!TYPES.has(type)) faults.push(`${path}: type ${JSON.stringify(type)}`);
  if (schema.format !== undefined && !FORMATS[type]?.includes(schema.format as string)) {
    faults.push(`${path}: format ${JSON.stringify(schema.format)} for ${type}`);
  }
  if (schema.enum !== undefined) {
    if (type !== "string") faults.push(`${path}: enum only allowed for STRING type`);
    for (const value of schema.enum as unknown[]) {
      if (typeof value !== "string" || value === "") faults.push(`${path}: enum value`);
    }
  }
  if (type === "object" && path !== "#" && propertyNames(schema).length === 0) {
    faults.push(`${path}: properties should be non-empty for OBJECT type`);
  }
  if (schema.properties !== undefined && !isJsonObject(schema.properties)) {
    faults.push(`${path}: properties is not an object`);
  }
  for (const name of propertyNames(schema)) {
    if (!NAME.test(name)) faults.push(`${path}: property name '${name}'`);
  }
  return faults;
}
