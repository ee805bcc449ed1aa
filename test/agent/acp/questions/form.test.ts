import { describe, expect, it } from "vitest";
import { toAcpForm } from "../../../../src/agent/acp/questions/form.ts";
import { readForm } from "../../../../src/core/types/form.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";

function converted(properties: JsonObject, required: string[] = []) {
  const fields = readForm({ type: "object", properties, required });
  if (typeof fields === "string") throw new Error(fields);
  return toAcpForm(fields);
}

describe("a field", () => {
  it.each<[string, JsonObject, JsonObject]>([
    ["a text", { type: "string" }, { type: "string" }],
    [
      "a text with bounds",
      { type: "string", minLength: 2, maxLength: 5, format: "email", default: "a@b" },
      { type: "string", minLength: 2, maxLength: 5, format: "email", default: "a@b" },
    ],
    [
      "bounds that ACP cannot count to",
      { type: "string", minLength: -1, maxLength: 1e20 },
      { type: "string", minLength: 0, maxLength: 2 ** 32 - 1 },
    ],
    ["a format that ACP does not know", { type: "string", format: "password" }, { type: "string" }],
    [
      "a number",
      { type: "number", minimum: 0.5, maximum: 1e300 },
      { type: "number", minimum: 0.5, maximum: 1e300 },
    ],
    [
      "a whole number",
      { type: "integer", minimum: 0.5, maximum: 9.5, default: 3 },
      { type: "integer", minimum: 1, maximum: 9, default: 3 },
    ],
    [
      "a whole number without end",
      { type: "integer", minimum: -1e300, maximum: 1e300 },
      {
        type: "integer",
        minimum: Number.MIN_SAFE_INTEGER,
        maximum: Number.MAX_SAFE_INTEGER,
      },
    ],
    ["a boolean", { type: "boolean", default: true }, { type: "boolean", default: true }],
    ["a choice", { type: "string", enum: ["a", "b"] }, { type: "string", enum: ["a", "b"] }],
    [
      "a choice with the names of old",
      { type: "string", enum: ["a", "b"], enumNames: ["A", "B"] },
      {
        type: "string",
        oneOf: [
          { const: "a", title: "A" },
          { const: "b", title: "B" },
        ],
      },
    ],
    [
      "a choice with names, one of them missing",
      { type: "string", oneOf: [{ const: "a", title: "A\u001b[31m\nB" }, { const: "b" }] },
      {
        type: "string",
        oneOf: [
          { const: "a", title: "A B" },
          { const: "b", title: "b" },
        ],
      },
    ],
    [
      "several choices",
      {
        type: "array",
        minItems: 1,
        maxItems: 2,
        items: { type: "string", enum: ["a", "b"] },
        default: ["a"],
      },
      {
        type: "array",
        minItems: 1,
        maxItems: 2,
        items: { type: "string", enum: ["a", "b"] },
        default: ["a"],
      },
    ],
    [
      "several choices with names",
      { type: "array", items: { oneOf: [{ const: "a", title: "A" }] } },
      { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } },
    ],
  ])("is converted to ACP: %s", (_, property, expected) => {
    expect(converted({ it: property }).properties).toEqual({ it: expected });
  });

  it("has its title and description in plain text", () => {
    const property = {
      type: "string",
      title: "A\u202e\nname",
      description: "Line 1\n\u001b[2Jline 2",
    };
    expect(converted({ it: property }).properties).toEqual({
      it: { type: "string", title: "A name", description: "Line 1\nline 2" },
    });
  });

  it("may have any name", () => {
    const { properties, required } = converted(
      JSON.parse('{"__proto__": {"type": "string"}, "": {"type": "boolean"}}') as JsonObject,
      ["__proto__"],
    );
    expect(Object.keys(properties ?? {})).toEqual(["__proto__", ""]);
    expect(required).toEqual(["__proto__"]);
  });
});

describe("a form", () => {
  it("warns against entering secrets, and keeps the order", () => {
    const form = converted({ b: { type: "string" }, a: { type: "boolean" } }, ["a", "nobody"]);
    expect(form).toMatchObject({ type: "object", required: ["a"] });
    expect(form.description).toContain("Do not enter passwords");
    expect(Object.keys(form.properties ?? {})).toEqual(["b", "a"]);
  });
});

describe("an invisible character", () => {
  const hidden = "a\u202eb";

  it("in a field's name is not shown", () => {
    expect(converted({ [hidden]: { type: "boolean" } }).properties).toEqual({
      [hidden]: { type: "boolean", title: "ab" },
    });
  });

  it("in a choice is not shown", () => {
    expect(converted({ a: { type: "string", enum: [hidden, "c"] } }).properties).toEqual({
      a: {
        type: "string",
        oneOf: [
          { const: hidden, title: "ab" },
          { const: "c", title: "c" },
        ],
      },
    });
  });
});
