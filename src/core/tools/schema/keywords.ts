// The JSON Schema keywords that are converted, with the values that are valid for each. Everything else is dropped,
// since a provider refuses the whole request for one malformed keyword.

import { isJsonObject } from "../../types/json.ts";

const TYPES: ReadonlySet<unknown> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  "null",
]);

const isNumber = (value: unknown): boolean => Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown): boolean => typeof value === "string";
const isSchema = (value: unknown): boolean => typeof value === "boolean" || isJsonObject(value);
const isList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

const VALID: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: (value) =>
    Array.isArray(value)
      ? value.length > 0 && value.every((each) => TYPES.has(each))
      : TYPES.has(value),
  enum: isList,
  const: () => true,
  properties: isJsonObject,
  required: (value) => Array.isArray(value) && value.every(isText),
  additionalProperties: isSchema,
  items: (value) => isSchema(value) || Array.isArray(value),
  prefixItems: Array.isArray,
  additionalItems: isSchema,
  anyOf: isList,
  oneOf: isList,
  allOf: Array.isArray,
  $ref: isText,
  title: isText,
  description: isText,
  default: () => true,
  examples: Array.isArray,
  minimum: isNumber,
  maximum: isNumber,
  // Draft 4 has booleans here.
  exclusiveMinimum: (value) => isNumber(value) || typeof value === "boolean",
  exclusiveMaximum: (value) => isNumber(value) || typeof value === "boolean",
  multipleOf: (value) => isNumber(value) && (value as number) > 0,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  minProperties: isCount,
  maxProperties: isCount,
  uniqueItems: (value) => typeof value === "boolean",
  pattern: isText,
  format: isText,
};

/** Constraints that move to the description for every provider. */
export const DESCRIBED: ReadonlySet<string> = new Set([
  "not",
  "if",
  "then",
  "else",
  "contains",
  "minContains",
  "maxContains",
  "propertyNames",
  "patternProperties",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
]);

/** Keywords that do not restrict the value: dropped without a note. */
export const IGNORED: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "id",
  "$anchor",
  "$comment",
  "$defs",
  "definitions",
  "$vocabulary",
  "$dynamicAnchor",
  "deprecated",
  "readOnly",
  "writeOnly",
  "unevaluatedProperties",
  "unevaluatedItems",
  "contentEncoding",
  "contentMediaType",
  "nullable",
  "example",
]);

export function isKnown(keyword: string): boolean {
  return Object.hasOwn(VALID, keyword);
}

export function isValid(keyword: string, value: unknown): boolean {
  return VALID[keyword]?.(value) ?? false;
}
