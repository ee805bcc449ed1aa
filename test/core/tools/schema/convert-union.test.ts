import { describe, expect, it } from "vitest";
import { normalizeSchema } from "../../../../src/core/tools/schema/normalize.ts";
import { property } from "./support/property.ts";

describe("alternatives", () => {
  it("with null are the other one, or null", () => {
    const schema = { anyOf: [{ type: "string" }, { type: "null" }], description: "Maybe." };
    const text = { type: "string", description: "Maybe." };
    expect(property(schema, "openai")).toEqual({ ...text, type: ["string", "null"] });
    expect(property(schema, "google")).toEqual({ ...text, nullable: true });
    expect(property(schema, "generic")).toEqual({ anyOf: [text, { type: "null" }] });
  });

  it("stay, as anyOf, with what stands beside them inside of each", () => {
    const schema = {
      type: "object",
      properties: { kind: { type: "string" } },
      oneOf: [
        { properties: { kind: { const: "a" }, a: { type: "string" } }, required: ["a"] },
        { properties: { b: { type: "string" } } },
      ],
    };
    expect(property(schema, "openai")).toEqual({
      anyOf: [
        {
          type: "object",
          properties: { kind: { type: "string", enum: ["a"] }, a: { type: "string" } },
          required: ["a"],
        },
        { type: "object", properties: { kind: { type: "string" }, b: { type: "string" } } },
      ],
    });
  });

  it("are alone for Google: the description moves into the first", () => {
    const schema = {
      anyOf: [{ type: "string", description: "A name." }, { type: "integer" }, { type: "null" }],
      description: "Who.",
    };
    expect(property(schema, "google")).toEqual({
      anyOf: [
        { type: "string", description: "Who. A name.", nullable: true },
        { type: "integer", nullable: true },
      ],
    });
  });

  it("inside of alternatives are more of the same", () => {
    const schema = {
      anyOf: [{ type: "string" }, { anyOf: [{ type: "integer" }, { type: "null" }] }],
    };
    expect(property(schema, "openai-strict")).toEqual({
      anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }],
    });
  });

  it("that must both hold are multiplied", () => {
    const schema = {
      anyOf: [{ type: "string" }, { type: "integer" }],
      oneOf: [{ minLength: 1 }, { type: "integer", minimum: 3 }],
    };
    expect(property(schema, "anthropic")).toEqual({
      anyOf: [
        { type: "string", minLength: 1 },
        { type: "integer" },
        { type: "integer", minimum: 3 },
      ],
    });
  });

  it.each([
    ["anyOf", "At least one of these must be given: a; b and c."],
    ["oneOf", "Exactly one of these must be given: a; b and c."],
  ])("that only ask for properties are said in words: %s", (keyword, description) => {
    const root = {
      type: "object",
      properties: { a: {}, b: {}, c: {} },
      [keyword]: [{ required: ["a"] }, { required: ["b", "c"] }],
    };
    const { schema, notes } = normalizeSchema(root, "anthropic");
    expect(schema).toEqual({ type: "object", properties: root.properties, description });
    expect(notes).toEqual([`/: ${keyword} moved to the description`]);
  });

  it("of types are alternatives where there may be one type", () => {
    const schema = { type: ["string", "array", "null"], minLength: 2, items: { type: "integer" } };
    const items = { type: "array", items: { type: "integer" } };
    expect(property(schema, "openai-strict")).toEqual({
      anyOf: [{ type: "string", description: "Characters, at least: 2." }, items, { type: "null" }],
    });
    expect(property({ type: ["string", "integer"], minLength: 2 }, "openai")).toEqual({
      type: ["string", "integer"],
      minLength: 2,
    });
  });
});
