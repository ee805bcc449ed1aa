// Shorthand: what becomes of the schema of one property.

import { expect } from "vitest";
import {
  normalizeSchema,
  type SchemaProvider,
} from "../../../../../src/core/tools/schema/normalize.ts";
import type { JsonObject } from "../../../../../src/core/types/json.ts";
import { checkers } from "../../../../support/schema-rules/check.ts";

/** The schema of a required property, as the provider sees it, checked against the provider's rules. */
export function property(
  schema: unknown,
  provider: SchemaProvider,
  more: JsonObject = {},
): unknown {
  const root = { type: "object", properties: { p: schema }, required: ["p"], ...more };
  const result = normalizeSchema(root, provider).schema;
  expect(checkers[provider](result)).toEqual([]);
  return (result.properties as JsonObject).p;
}
