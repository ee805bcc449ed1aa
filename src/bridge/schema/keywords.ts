// The keywords that mean something here, and which values of them do. Anything else a server writes is
// not passed on: one malformed keyword would cost the whole request.

import { isJsonObject } from "../../model/json.ts";

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
  // A boolean is how draft 4 says it.
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

/** Constraints that no provider is asked to keep: they are said in words. */
export const SPOKEN: ReadonlySet<string> = new Set([
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

/** Says nothing about a value, so that its loss is none. */
export const SILENT: ReadonlySet<string> = new Set([
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

/** What an engine without look-around, back references and Unicode classes reads, and reads the same. */
export function isPortablePattern(pattern: string): boolean {
  if (pattern.length > 500 || /\(\?(?!:)|\\[1-9bBkpPuxc]/.test(pattern)) return false;
  try {
    return new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
