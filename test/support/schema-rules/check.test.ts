import { describe, expect, it } from "vitest";
import type { SchemaProvider } from "../../../src/core/tools/schema/normalize.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import { checkers, providers } from "./check.ts";

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  ...more,
});
const closed = (properties: JsonObject): JsonObject =>
  object(properties, { required: Object.keys(properties), additionalProperties: false });
const deep = (levels: number): JsonObject =>
  levels === 1 ? closed({ x: { type: "string" } }) : closed({ x: deep(levels - 1) });

describe("the documented rules", () => {
  it.each(providers)("take a plain schema: %s", (provider) => {
    const plain = closed({ a: { type: "string", description: "A." }, b: { type: "integer" } });
    if (provider === "google") delete plain.additionalProperties;
    expect(checkers[provider](plain)).toEqual([]);
  });

  const refused: [SchemaProvider, JsonObject][] = [
    ["openai", { type: "string" }],
    ["openai", { type: "object" }],
    ["openai", object({}, { anyOf: [{ required: ["a"] }] })],
    ["openai", object({ a: { type: "array" } })],
    ["openai", object({ a: { $ref: "#/$defs/a" } }, { $defs: { a: {} } })],
    ["openai", object({ a: { type: "string", pattern: "^(?!x)" } })],
    ["openai", object({}, { required: ["a"] })],
    ["openai", object({ a: { type: "any" } })],
    ["anthropic", object({}, { oneOf: [{}] })],
    ["anthropic", object({ "a b": {} })],
    ["anthropic", object({ [`x${"y".repeat(64)}`]: {} })],
    ["anthropic", object({ a: { type: "number", exclusiveMinimum: true, minimum: 1 } })],
    ["anthropic", object({ a: { type: "array", items: [{ type: "string" }] } })],
    ["generic", object({ a: { type: ["string", "number"] } })],
    ["openai-strict", object({ a: { type: "string" } }, { additionalProperties: false })],
    ["openai-strict", object({}, { required: [] })],
    ["openai-strict", closed({ a: {} })],
    ["openai-strict", closed({ a: { type: "string", minLength: 1 } })],
    ["openai-strict", closed({ a: { type: "string", default: "x" } })],
    ["openai-strict", closed({ a: { type: "string", format: "uri" } })],
    ["openai-strict", closed({ a: { oneOf: [{ type: "string" }] } })],
    ["openai-strict", closed({ a: { type: "object", enum: [{}], ...closed({}) } })],
    ["openai-strict", deep(11)],
    [
      "openai-strict",
      closed({ a: { type: "integer", enum: Array.from({ length: 1001 }, (_, i) => i) } }),
    ],
    [
      "openai-strict",
      closed({
        a: { type: "string", enum: Array.from({ length: 251 }, (_, i) => `${i}`.repeat(60)) },
      }),
    ],
    ["google", object({ a: { type: "string", format: "uri" } })],
    ["google", object({ a: { type: "integer", enum: ["1"] } })],
    ["google", object({ a: { type: "string", enum: [""] } })],
    ["google", object({ a: { type: "string", const: "x" } })],
    ["google", object({ a: { type: ["string", "null"] } })],
    ["google", object({ a: { type: "null" } })],
    ["google", object({ a: { type: "object", properties: {} } })],
    ["google", object({ a: { anyOf: [{ type: "string" }], description: "A." } })],
    ["google", object({ "a-b": { type: "string" } })],
    ["google", object({ a: { type: "number", exclusiveMinimum: 1 } })],
    ["google", object({}, { additionalProperties: false })],
  ];

  it.each(refused)("refuse, for %s: %j", (provider, schema) => {
    expect(checkers[provider](schema)).not.toEqual([]);
  });

  it("take ten levels, in strict mode", () => {
    expect(checkers["openai-strict"](deep(10))).toEqual([]);
  });
});
