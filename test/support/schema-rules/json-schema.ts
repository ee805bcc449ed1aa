// JSON Schema's own rules: whether something is a schema, and whether a value meets one.

import { Ajv, AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import type { JsonObject } from "../../../src/core/types/json.ts";
import { visits } from "./walk.ts";

const ajv = new Ajv({ strict: false, logger: false, validateFormats: false, allErrors: true });

const checked = new WeakMap<JsonObject, string[]>();

/** Checked by draft 7, of which 2020-12 takes everything but lists of items and `dependencies`. */
export function schemaFaults(schema: JsonObject): readonly string[] {
  const known = checked.get(schema) ?? findFaults(schema);
  checked.set(schema, known);
  return known;
}

function findFaults(schema: JsonObject): string[] {
  const faults = visits(schema)
    .filter((visit) => Array.isArray(visit.schema.items) || "dependencies" in visit.schema)
    .map(({ path }) => `${path}: is not of draft 2020-12`);
  if (ajv.validateSchema(schema) === true) return faults;
  return [...faults, ...(ajv.errors ?? []).map((each) => `#${each.instancePath}: ${each.message}`)];
}

/** Returns what is wrong with a value. */
export function validator(schema: JsonObject): (value: unknown) => string | undefined {
  // A format that one server made up is warned of each time.
  const known = JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === "format" && value === "json" ? undefined : value,
    ),
  ) as JsonObject;
  const validate = new AjvJsonSchemaValidator().getValidator(known);
  return (value) => {
    const result = validate(value);
    return result.valid ? undefined : result.errorMessage;
  };
}
