import { describe, expect, it } from "vitest";
import { normalizeSchema } from "../../../../src/core/tools/schema/normalize.ts";
import { property } from "./support/property.ts";

describe("tuples", () => {
  it.each([
    { prefixItems: [{ type: "string" }, { type: "integer", description: "Count." }], items: false },
    {
      items: [{ type: "string" }, { type: "integer", description: "Count." }],
      additionalItems: false,
    },
  ])("are arrays whose items are told apart in words: %j", (schema) => {
    expect(property({ type: "array", ...schema }, "openai")).toEqual({
      type: "array",
      items: { anyOf: [{ type: "string" }, { type: "integer", description: "Count." }] },
      maxItems: 2,
      description: "At most 2 items, in this order: 1. string, 2. integer (Count.).",
    });
  });

  it("may go on", () => {
    const schema = { prefixItems: [{ type: "string" }], items: { enum: [1] } };
    expect(property(schema, "google")).toEqual({
      type: "array",
      items: { anyOf: [{ type: "string" }, { type: "string", enum: ["1"] }] },
      description: "Items, in this order: 1. string.",
    });
  });

  it("that are given twice count once", () => {
    const schema = {
      allOf: [{ prefixItems: [{ type: "string" }] }, { prefixItems: [{ type: "integer" }] }],
    };
    const root = { type: "object", properties: { p: schema } };
    expect(normalizeSchema(root, "openai").notes).toContain(
      "/properties/p: two lists of items; the first one counts",
    );
  });
});
