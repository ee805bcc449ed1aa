import { describe, expect, it } from "vitest";
import {
  normalizeSchema,
  type SchemaProvider,
} from "../../../../src/core/tools/schema/normalize.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import { property } from "./support/property.ts";

describe("open values", () => {
  const text = (what: string): JsonObject => ({
    type: "string",
    description: `Give it as JSON text of ${what}.`,
  });

  it.each<[unknown, SchemaProvider, unknown]>([
    [{}, "openai", {}],
    [true, "anthropic", {}],
    [{}, "google", { ...text("any value"), nullable: true }],
    [{}, "openai-strict", { ...text("any value"), type: ["string", "null"] }],
    [{ type: "object" }, "google", text("an object")],
    [{ type: "object" }, "openai", { type: "object", properties: {} }],
    [{ type: "array" }, "generic", { type: "array", items: {} }],
    [
      { type: "object", additionalProperties: false },
      "google",
      { type: "string", description: "Give it as JSON text of an object. It is always empty." },
    ],
    [
      { type: "array", items: false },
      "openai",
      { type: "array", items: {}, description: "Always empty." },
    ],
    [
      { type: "array", items: false },
      "google",
      { type: "array", items: { type: "string" }, description: "Always empty." },
    ],
    [
      { type: "object", additionalProperties: { allOf: [{ type: "string" }, { type: "null" }] } },
      "openai",
      { type: "object", properties: {}, additionalProperties: false },
    ],
    [{ anyOf: [{ type: "string" }, {}] }, "google", { ...text("any value"), nullable: true }],
  ])("%j, for %s", (schema, provider, expected) => {
    expect(property(schema, provider)).toEqual(expected);
  });

  it("beside known properties are left out where objects are closed", () => {
    const root = { type: "object", properties: { a: {} }, additionalProperties: true };
    expect(normalizeSchema(root, "openai-strict").notes).toEqual([
      "/: additional properties are left out",
    ]);
  });

  it("stand for a property that is required and not described", () => {
    const root = { type: "object", required: ["a"] };
    expect(normalizeSchema(root, "openai").schema).toEqual({
      type: "object",
      properties: { a: {} },
      required: ["a"],
    });
  });
});
