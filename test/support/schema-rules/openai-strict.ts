// OpenAI, functions with `strict: true`.
// https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas: the types, the
// constraints and string formats that are supported; root an object and no anyOf; every field required;
// additionalProperties false in every object; at most 5000 properties, 10 levels of nesting, 120 000
// characters of names and values, 1000 enum values, and 15 000 characters in an enum of more than 250
// strings; no allOf, not, dependentRequired, dependentSchemas, if, then, else.
// `default` is answered with "'default' is not permitted", look-around as in openai.ts.

import { isJsonObject, type JsonObject } from "../../../src/core/types/json.ts";
import { schemaFaults } from "./json-schema.ts";
import { commonFaults, propertyNames, type Visit, visits } from "./walk.ts";

const KEYWORDS: Readonly<Record<string, string>> = {
  string: "pattern format",
  number: "multipleOf maximum exclusiveMaximum minimum exclusiveMinimum",
  integer: "multipleOf maximum exclusiveMaximum minimum exclusiveMinimum",
  boolean: "",
  null: "",
  array: "items minItems maxItems",
  object: "properties required additionalProperties",
};
const FORMATS = "date-time time date duration email hostname ipv4 ipv6 uuid".split(" ");

export function check(root: JsonObject): string[] {
  const faults = [...schemaFaults(root)];
  if (root.type !== "object") faults.push("#: must have type 'object'");
  let properties = 0;
  let enumValues = 0;
  let characters = 0;
  for (const visit of visits(root)) {
    faults.push(...commonFaults(visit), ...faultsOf(visit));
    const names = propertyNames(visit.schema);
    const values = (visit.schema.enum ?? []) as unknown[];
    const texts = values.filter((value) => typeof value === "string").join("");
    properties += names.length;
    enumValues += values.length;
    characters += names.join("").length + texts.length;
    if (values.length > 250 && texts.length > 15_000) faults.push(`${visit.path}: enum too long`);
    if (visit.levels > 10) faults.push(`${visit.path}: more than 10 levels`);
  }
  if (properties > 5000) faults.push(`#: ${properties} properties`);
  if (enumValues > 1000) faults.push(`#: ${enumValues} enum values`);
  if (characters > 120_000) faults.push(`#: ${characters} characters`);
  return faults;
}

function faultsOf({ schema, path }: Visit): string[] {
  const faults: string[] = [];
  const types = [schema.type ?? []].flat() as string[];
  if ("anyOf" in schema === types.length > 0) faults.push(`${path}: needs a type or anyOf`);
  const allowed = ["type", "description", "anyOf", "enum"];
  for (const type of types) allowed.push(...(KEYWORDS[type] ?? "").split(" "));
  for (const key of Object.keys(schema)) {
    if (!allowed.includes(key)) faults.push(`${path}: ${key} is not permitted`);
  }
  const { pattern, format } = schema;
  if (typeof pattern === "string" && /\(\?[=!<]|\\p/.test(pattern)) {
    faults.push(`${path}: the pattern looks around`);
  }
  if (format !== undefined && !FORMATS.includes(format as string)) {
    faults.push(`${path}: format ${JSON.stringify(format)}`);
  }
  if (((schema.enum ?? []) as unknown[]).some((value) => typeof value === "object" && value)) {
    faults.push(`${path}: enum of objects`);
  }
  if (types.includes("object")) {
    if (schema.additionalProperties !== false) faults.push(`${path}: is open`);
    if (!isJsonObject(schema.properties)) faults.push(`${path}: has no properties`);
    const required = new Set((schema.required ?? []) as string[]);
    for (const name of propertyNames(schema)) {
      if (!required.has(name)) faults.push(`${path}: ${name} is not required`);
    }
  }
  return faults;
}
