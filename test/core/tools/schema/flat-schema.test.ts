import { describe, expect, it } from "vitest";
import { normalizeSchema } from "../../../../src/core/tools/schema/normalize.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import { property } from "./support/property.ts";

describe("references", () => {
  const point = { type: "object", properties: { x: { type: "number" } }, required: ["x"] };

  it.each(["#/$defs/point", "#/definitions/point", "#/$defs/a~1b", "#/%24defs/point"])(
    "are put in place: %s",
    ($ref) => {
      const more = { $defs: { point, "a/b": point }, definitions: { point } };
      expect(property({ $ref }, "openai", more)).toEqual(point);
    },
  );

  it("keep what is said beside them", () => {
    const more = { $defs: { point: { ...point, description: "Any." } } };
    const schema = { $ref: "#/$defs/point", description: "Here." };
    expect(property(schema, "anthropic", more)).toEqual({ ...point, description: "Here." });
  });

  it("may be used again, beside each other", () => {
    const root = {
      type: "object",
      properties: { a: { $ref: "#/$defs/point" }, b: { $ref: "#/$defs/point" } },
      $defs: { point },
    };
    expect(normalizeSchema(root, "generic").schema.properties).toEqual({ a: point, b: point });
  });

  const tree = {
    type: "object",
    properties: { children: { type: "array", items: { $ref: "#/$defs/tree" } } },
  };

  it("that lead back are cut, as an open object", () => {
    const { items } = (
      (property({ $ref: "#/$defs/tree" }, "openai", { $defs: { tree } }) as JsonObject)
        .properties as { children: JsonObject }
    ).children;
    expect(items).toEqual({
      type: "object",
      properties: {},
      description: "(recursive: of the same kind as tree)",
    });
  });

  it.each(["openai-strict", "google"] as const)(
    "that lead back are cut, as text: %s",
    (provider) => {
      const root = { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] };
      expect(normalizeSchema(root, provider).schema.properties).toEqual({
        next: {
          type: "string",
          description:
            "Give it as JSON text of an object. (recursive: of the same kind as the whole)",
        },
      });
    },
  );

  it.each(["#/$defs/none", "https://example.com/a.json", "other.json#/a", "#anchor", "#/%zz/a/b"])(
    "that lead nowhere leave the value open: %s",
    ($ref) => {
      const root = { type: "object", properties: { p: { $ref } } };
      const { schema, notes } = normalizeSchema(root, "anthropic");
      expect(schema.properties).toEqual({ p: {} });
      expect(notes).toEqual([
        `/properties/p: $ref ${$ref} leads nowhere in this schema; any value is accepted`,
      ]);
    },
  );

  it("to nothing but themselves leave the value open", () => {
    const more = { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } };
    expect(property({ $ref: "#/$defs/a" }, "openai", more)).toEqual({});
  });
});

describe("allOf", () => {
  it("is merged: properties, required, the narrower bound, the types in common", () => {
    const schema = {
      allOf: [
        { type: "object", properties: { a: { type: "number", minimum: 1 } }, required: ["a"] },
        { properties: { a: { type: "integer", minimum: 2, maximum: 9 }, b: { type: "string" } } },
      ],
      properties: { a: { maximum: 5 } },
    };
    expect(property(schema, "openai")).toEqual({
      type: "object",
      properties: { a: { type: "integer", minimum: 2, maximum: 5 }, b: { type: "string" } },
      required: ["a"],
    });
  });

  it.each([
    [{ allOf: [{ enum: ["a", "b"] }, { enum: ["b", "c"] }] }, { type: "string", enum: ["b"] }],
    [
      { type: "string", allOf: [{ pattern: "^a" }, { pattern: "z$" }] },
      { type: "string", pattern: "^a", description: "Pattern: z$." },
    ],
    [
      { allOf: [{ items: { type: "number" } }, { items: { type: "integer" } }] },
      { type: "array", items: { type: "integer" } },
    ],
    [
      { type: "object", allOf: [{ additionalProperties: {} }, { additionalProperties: false }] },
      { type: "object", properties: {}, additionalProperties: false },
    ],
    [
      {
        allOf: [
          { additionalProperties: { type: "number" } },
          { additionalProperties: { type: "integer" } },
        ],
      },
      { type: "object", properties: {}, additionalProperties: { type: "integer" } },
    ],
    [
      { type: "number", allOf: [{ exclusiveMinimum: 1 }, { exclusiveMinimum: 2 }] },
      { type: "number", exclusiveMinimum: 2 },
    ],
  ])("of %j", (schema, expected) => {
    expect(property(schema, "anthropic")).toEqual(expected);
  });

  it("that nothing can meet leaves the property out", () => {
    const impossible = [{ type: "string" }, { type: "object" }];
    const { schema, notes } = normalizeSchema(
      { type: "object", properties: { p: { allOf: impossible } } },
      "openai",
    );
    expect(schema.properties).toEqual({});
    expect(notes).toEqual(["/properties/p: accepts no value; left out"]);
  });
});

describe("what is malformed", () => {
  it.each([
    { type: "any" },
    { type: [] },
    { minimum: "3" },
    { required: true },
    { properties: [] },
    { enum: "x" },
    { items: 5 },
    { pattern: 3 },
    { multipleOf: 0 },
  ])("is dropped, and the tool stays: %j", (bad) => {
    const [keyword] = Object.keys(bad);
    const root = { type: "object", properties: { p: bad } };
    const { schema, notes } = normalizeSchema(root, "anthropic");
    expect(schema.properties).toEqual({ p: {} });
    expect(notes).toEqual([`/properties/p: the value of ${keyword} is not valid; dropped`]);
  });

  it("or unknown, is noted; what means nothing is not", () => {
    const root = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { p: { "x-order": 1, $comment: "no", deprecated: true }, q: 7 },
    };
    const { schema, notes } = normalizeSchema(root, "openai");
    expect(schema).toEqual({ type: "object", properties: { p: {}, q: {} } });
    expect(notes).toEqual([
      "/properties/p: x-order is not a known keyword; dropped",
      "/properties/q: is not a schema; any value is accepted",
    ]);
  });
});
