import { describe, expect, it } from "vitest";
import {
  normalizeSchema,
  type SchemaProvider,
} from "../../../../src/core/tools/schema/normalize.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import { checkers, providers } from "../../../support/schema-rules/check.ts";
import { property } from "./support/property.ts";

describe("a schema that the provider takes as it is", () => {
  const schema = {
    type: "object",
    properties: {
      path: { type: "string", description: "Where.", minLength: 1, format: "uri" },
      depth: { type: ["integer", "null"], minimum: 0, default: 3, title: "Depth" },
      tags: { type: "array", items: { type: "string" }, uniqueItems: true },
    },
    required: ["path"],
    additionalProperties: false,
  };

  it.each(["openai", "anthropic"] as const)("stays: %s", (provider) => {
    const { schema: result, notes } = normalizeSchema(schema, provider);
    expect(result).toEqual(schema);
    expect(notes).toEqual([]);
  });

  it("says null as an alternative to others", () => {
    const { depth } = normalizeSchema(schema, "generic").schema.properties as JsonObject;
    expect(depth).toEqual({
      anyOf: [{ type: "integer", minimum: 0, default: 3, title: "Depth" }, { type: "null" }],
    });
  });
});

describe("the root", () => {
  it.each([{}, { type: "object" }, { properties: {} }, { type: ["object", "null"] }])(
    "without properties is an empty object: %j",
    (schema) => {
      for (const provider of providers) {
        const result = normalizeSchema(schema, provider).schema;
        expect(result).toMatchObject({ type: "object", properties: {} });
        expect(checkers[provider](result)).toEqual([]);
      }
    },
  );

  it("with alternatives of its own moves into a property", () => {
    const branch = (name: string): JsonObject => ({
      type: "object",
      properties: { [name]: { type: "string" } },
      required: [name],
    });
    const schema = {
      anyOf: [branch("a"), branch("b"), { type: "string" }],
      description: "Either.",
    };
    expect(normalizeSchema(schema, "anthropic").schema).toEqual({
      type: "object",
      properties: { input: { anyOf: [branch("a"), branch("b")], description: "Either." } },
      required: ["input"],
    });
    for (const provider of providers) {
      expect(checkers[provider](normalizeSchema(schema, provider).schema)).toEqual([]);
    }
  });

  it("with one alternative that is an object is that", () => {
    const only = { type: "object", properties: { a: { type: "string" } } };
    expect(normalizeSchema({ anyOf: [only, { type: "null" }] }, "openai").schema).toEqual(only);
  });

  it.each([{ type: "string" }, { anyOf: [{ type: "string" }, false] }, { enum: [1] }])(
    "that takes no object is refused: %j",
    (schema) => {
      expect(() => normalizeSchema(schema, "generic")).toThrow(
        expect.objectContaining({
          code: "UNSUPPORTED",
          message: "the schema accepts no object, so no arguments",
        }),
      );
    },
  );

  it("that is a map is text where objects are closed", () => {
    const schema = { type: "object", additionalProperties: { type: "string" } };
    expect(normalizeSchema(schema, "google").schema.properties).toEqual({
      input: {
        type: "string",
        description: "Give it as JSON text of an object. Values: string.",
      },
    });
    expect(normalizeSchema(schema, "openai").schema).toEqual({ ...schema, properties: {} });
  });
});

describe("strict mode", () => {
  it("requires every property, and takes null for those that were optional", () => {
    const schema = {
      type: "object",
      properties: {
        a: { type: "string" },
        b: { type: "string", enum: ["x"] },
        c: { type: "object", properties: {}, additionalProperties: false },
        d: { type: "array", items: { type: "string" }, maxItems: 2 },
      },
      required: ["a"],
    };
    const empty = { type: "object", properties: {}, required: [], additionalProperties: false };
    expect(normalizeSchema(schema, "openai-strict").schema).toEqual({
      type: "object",
      properties: {
        a: { type: "string" },
        b: { type: ["string", "null"], enum: ["x", null] },
        c: { anyOf: [empty, { type: "null" }] },
        d: {
          anyOf: [{ type: "array", items: { type: "string" }, maxItems: 2 }, { type: "null" }],
        },
      },
      required: ["a", "b", "c", "d"],
      additionalProperties: false,
    });
  });

  it("takes ten levels, and what is deeper as text", () => {
    const nest = (levels: number): JsonObject =>
      levels === 0
        ? { type: "string" }
        : { type: "object", properties: { x: nest(levels - 1) }, required: ["x"] };
    expect(JSON.stringify(normalizeSchema(nest(10), "openai-strict").schema)).not.toContain("JSON");
    const { schema, notes } = normalizeSchema(nest(11), "openai-strict");
    expect(checkers["openai-strict"](schema)).toEqual([]);
    expect(notes).toEqual([
      `${"/properties/x".repeat(10)}: cut here: nested deeper than the provider accepts`,
    ]);
    const lists = (levels: number): JsonObject =>
      levels === 0 ? {} : { type: "array", items: lists(levels - 1) };
    const list = { type: "object", properties: { x: lists(15) } };
    expect(checkers["openai-strict"](normalizeSchema(list, "openai-strict").schema)).toEqual([]);
  });

  it("gives up enums that are too long, and says how they begin", () => {
    const words = Array.from({ length: 251 }, (_, index) => `${index}`.padStart(60, "w"));
    const result = property({ enum: words }, "openai-strict") as JsonObject;
    expect(result).toEqual({ type: "string", description: expect.stringMatching(/^One of: \["w/) });
    const many = Array.from({ length: 600 }, (_, index) => index);
    const two = { type: "object", properties: { a: { enum: many }, b: { enum: many } } };
    const { schema, notes } = normalizeSchema(two, "openai-strict");
    expect(checkers["openai-strict"](schema)).toEqual([]);
    expect(notes).toEqual([
      "/properties/b: an enum of 600 values is more than the provider accepts",
    ]);
  });

  it.each([
    ["properties", 5001, (index: number) => `p${index}`],
    ["characters", 130, (index: number) => `${index}`.padStart(1000, "p")],
  ])("refuses what has too many %s", (what, length, name) => {
    const names = Array.from({ length }, (_, index) => name(index));
    const properties = Object.fromEntries(names.map((each) => [each, { type: "string" }]));
    expect(() => normalizeSchema({ type: "object", properties }, "openai-strict")).toThrow(
      expect.objectContaining({ code: "UNSUPPORTED", message: expect.stringContaining(what) }),
    );
  });
});

describe("property names", () => {
  const names = ["a.b", "a_b", "a b", "$filter", "1st", "", "日本", "x".repeat(65), "__proto__"];
  const root = {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    required: ["a b", "__proto__"],
  };

  it.each<[SchemaProvider, string[]]>([
    ["openai", [...names.slice(0, -1), "proto"]],
    [
      "anthropic",
      ["a.b", "a_b", "a_b_2", "filter", "1st", "property", "property_2", "x".repeat(64), "proto"],
    ],
    [
      "google",
      [
        "a_b_2",
        "a_b",
        "a_b_3",
        "filter",
        "n1st",
        "property",
        "property_2",
        "x".repeat(64),
        "proto",
      ],
    ],
  ])("that %s refuses are replaced", (provider, expected) => {
    const { schema } = normalizeSchema(root, provider);
    expect(new Set(Object.keys(schema.properties as JsonObject))).toEqual(new Set(expected));
    expect(checkers[provider](schema)).toEqual([]);
  });

  it("are noted where they change", () => {
    expect(normalizeSchema(root, "google").notes).toContain(
      "/properties/$filter: renamed to filter",
    );
  });
});
