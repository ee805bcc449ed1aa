import { describe, expect, it } from "vitest";
import type { SchemaProvider } from "../../../../src/core/tools/schema/normalize.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import { property } from "./support/property.ts";

describe("constraints", () => {
  it.each<[JsonObject, SchemaProvider, JsonObject]>([
    [{ type: "string", format: "uri" }, "google", { type: "string", description: "Format: uri." }],
    [{ type: "string", format: "date-time" }, "google", { type: "string", format: "date-time" }],
    [{ type: "integer", format: "int32" }, "google", { type: "integer", format: "int32" }],
    [{ type: "string", format: "uuid" }, "openai-strict", { type: "string", format: "uuid" }],
    [
      { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 9.5, minimum: -3 },
      "google",
      { type: "integer", minimum: 1, maximum: 9 },
    ],
    [
      { type: "number", exclusiveMinimum: 0 },
      "google",
      { type: "number", description: "More than: 0." },
    ],
    [
      { type: "number", minimum: 3, exclusiveMinimum: true, exclusiveMaximum: false },
      "anthropic",
      { type: "number", minimum: 3, exclusiveMinimum: 3 },
    ],
    [
      { type: "string", pattern: "^(?=a)b", description: "Says." },
      "openai",
      { type: "string", description: "Says. Pattern: ^(?=a)b." },
    ],
    [{ type: "string", pattern: "(" }, "generic", { type: "string", description: "Pattern: (." }],
    [{ type: "string", pattern: "^a+$" }, "google", { type: "string", pattern: "^a+$" }],
    [
      { type: "array", items: { type: "string" }, uniqueItems: true },
      "openai-strict",
      { type: "array", items: { type: "string" }, description: "No item twice." },
    ],
    [
      { type: "string", default: "x", title: "T", examples: ["y"] },
      "google",
      { type: "string", description: 'T Default: x. Examples: ["y"].' },
    ],
    [
      { type: "string", not: { const: "x" } },
      "anthropic",
      { type: "string", description: 'not: {"const":"x"}.' },
    ],
    [
      { type: "object", patternProperties: { "^x": {} }, additionalProperties: false },
      "openai",
      { type: "object", properties: {}, description: 'Properties by pattern: {"^x":{}}.' },
    ],
    [{ minLength: 1 }, "openai", { type: "string", minLength: 1 }],
    [{ minimum: 1 }, "google", { type: "number", minimum: 1 }],
    [{ format: "date-time" }, "google", { type: "string", format: "date-time" }],
    [{ items: { type: "string" } }, "google", { type: "array", items: { type: "string" } }],
  ])("%j, for %s", (schema, provider, expected) => {
    expect(property(schema, provider)).toEqual(expected);
  });
});
