import { describe, expect, it } from "vitest";
import type { SchemaProvider } from "../../../../src/core/tools/schema/normalize.ts";
import { property } from "./support/property.ts";

describe("values out of a list", () => {
  it.each<[unknown, SchemaProvider, unknown]>([
    [{ const: "a" }, "openai", { type: "string", enum: ["a"] }],
    [{ const: 1 }, "openai-strict", { type: "integer", enum: [1] }],
    [{ const: 1 }, "google", { type: "string", enum: ["1"] }],
    [{ enum: [true, false] }, "google", { type: "boolean" }],
    [{ enum: ["a", null] }, "google", { type: "string", enum: ["a"], nullable: true }],
    [{ enum: ["", "a"] }, "google", { type: "string", enum: ["(empty)", "a"] }],
    [{ enum: ["", "(empty)"] }, "google", { type: "string", enum: ['""', "(empty)"] }],
    [{ enum: ["1", 1] }, "google", { type: "string", enum: ["1", "1 (integer)"] }],
    [{ enum: ["a", 1] }, "openai-strict", { type: "string", enum: ["a", "1"] }],
    [{ enum: ["a", 1] }, "generic", { enum: ["a", 1] }],
    [{ enum: [{ a: 1 }] }, "openai-strict", { type: "string", enum: ['{"a":1}'] }],
    [{ enum: [{ a: 1 }] }, "openai", { enum: [{ a: 1 }] }],
    [{ type: "string", enum: ["a", 1] }, "anthropic", { type: "string", enum: ["a"] }],
    [{ type: "number", enum: [1, 2.5] }, "anthropic", { enum: [1, 2.5] }],
    [{ enum: [null] }, "openai", { type: "null" }],
    [{ type: "null" }, "google", { type: "string", enum: ["null"] }],
    [{ enum: [{ a: 1 }, null] }, "openai", { anyOf: [{ enum: [{ a: 1 }] }, { type: "null" }] }],
  ])("%j, for %s", (schema, provider, expected) => {
    expect(property(schema, provider)).toEqual(expected);
  });
});
