import { describe, expect, it } from "vitest";
import { fieldProblem, type FormField, readForm } from "../../../src/core/types/form.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";

function fieldOf(property: JsonObject): FormField {
  const fields = readForm({ type: "object", properties: { it: property } });
  const [field] = typeof fields === "string" ? [] : fields;
  if (field === undefined) throw new Error(JSON.stringify(fields));
  return field;
}

const TITLED = [
  { const: "a", title: "Apple" },
  { const: "b", title: "Bread" },
];
const OPTIONS = [
  { value: "a", label: "Apple" },
  { value: "b", label: "Bread" },
];

describe("a field", () => {
  it.each<[JsonObject, object]>([
    [{ type: "string" }, { kind: "text" }],
    [
      { type: "string", minLength: 1, maxLength: 5, format: "email", title: "T", description: "D" },
      { kind: "text", minLength: 1, maxLength: 5, format: "email", title: "T", description: "D" },
    ],
    [{ type: "string", format: "secret", minLength: "1", title: 5 }, { kind: "text" }],
    [
      { type: "integer", minimum: 1, maximum: 9 },
      { kind: "number", integer: true, minimum: 1, maximum: 9 },
    ],
    [
      { type: "number", default: 1.5 },
      { kind: "number", integer: false, default: 1.5 },
    ],
    [
      { type: "boolean", default: false },
      { kind: "boolean", default: false },
    ],
    [
      { type: "string", enum: ["a", "b"], enumNames: ["Apple", "Bread"], default: "b" },
      { kind: "choice", options: OPTIONS, default: "b" },
    ],
    [
      { type: "string", oneOf: TITLED },
      { kind: "choice", options: OPTIONS },
    ],
    [
      { type: "string", enum: ["a"], enumNames: "x" },
      { kind: "choice", options: [{ value: "a", label: "a" }] },
    ],
    [
      { type: "array", items: { anyOf: TITLED }, minItems: 1, maxItems: 2, default: ["a"] },
      { kind: "choices", options: OPTIONS, minItems: 1, maxItems: 2, default: ["a"] },
    ],
    [
      { type: "array", items: { type: "string", enum: ["a"] } },
      { kind: "choices", options: [{ value: "a", label: "a" }] },
    ],
    // A default that its own field would not take is none.
    [{ type: "string", default: 5 }, { kind: "text" }],
    [
      { type: "integer", minimum: 3, default: 1 },
      { kind: "number", integer: true, minimum: 3 },
    ],
    [{ type: "boolean", default: { a: 1 } }, { kind: "boolean" }],
  ])("%j is %j", (property, expected) => {
    expect(fieldOf(property)).toEqual({ name: "it", required: false, ...expected });
  });

  it.each([
    ["x"],
    [null],
    [{}],
    [{ type: "object", properties: {} }],
    [{ type: "string", enum: [] }],
    [{ type: "string", enum: [1] }],
    [{ type: "string", enum: "ab" }],
    [{ type: "string", oneOf: [{ title: "x" }] }],
    [{ type: "string", enum: Array.from({ length: 501 }, String) }],
    [{ type: "array" }],
    [{ type: "array", items: { type: "string" } }],
    [{ type: "array", items: { type: "object" } }],
  ])("cannot be %j", (property) => {
    expect(readForm({ properties: { it: property } })).toBe(
      "the field 'it' has a type that forms do not support",
    );
  });

  it.each<[JsonObject, unknown, string | undefined]>([
    [{ type: "string" }, "", undefined],
    [{ type: "string" }, 5, "is not text"],
    [{ type: "string", minLength: 2 }, "a", "is shorter than 2"],
    [{ type: "string", minLength: 2 }, "😀", "is shorter than 2"],
    [{ type: "string", maxLength: 1 }, "😀", undefined],
    [{ type: "string", maxLength: 1 }, "ab", "is longer than 1"],
    [{ type: "string", format: "email" }, "ada@example.com", undefined],
    [{ type: "string", format: "email" }, "ada", "is not an e-mail address"],
    [{ type: "string", format: "uri" }, "https://example.com", undefined],
    [{ type: "string", format: "uri" }, "example", "is not an address such as https://example.com"],
    [{ type: "string", format: "date" }, "2028-02-29", undefined],
    [{ type: "string", format: "date" }, "2026-02-29", "is not a date such as 2026-07-28"],
    [{ type: "string", format: "date" }, "2026-13-01", "is not a date such as 2026-07-28"],
    [{ type: "string", format: "date" }, "today", "is not a date such as 2026-07-28"],
    [{ type: "string", format: "date-time" }, "2026-07-28T12:00:00.5+02:00", undefined],
    [
      { type: "string", format: "date-time" },
      "2026-07-28 25:00:00Z",
      "is not a time such as 2026-07-28T12:00:00Z",
    ],
    [
      { type: "string", format: "date-time" },
      "2026-07-28",
      "is not a time such as 2026-07-28T12:00:00Z",
    ],
    [{ type: "number" }, 1.5, undefined],
    [{ type: "number" }, "1", "is not a number"],
    [{ type: "number" }, NaN, "is not a number"],
    [{ type: "integer" }, 1.5, "is not a whole number"],
    [{ type: "integer", minimum: 2 }, 1, "is below 2"],
    [{ type: "integer", maximum: 2 }, 3, "is above 2"],
    [{ type: "boolean" }, true, undefined],
    [{ type: "boolean" }, "true", "is neither true nor false"],
    [{ type: "string", enum: ["a"] }, "a", undefined],
    [{ type: "string", enum: ["a"] }, "b", "is not one of the choices"],
    [{ type: "array", items: { anyOf: TITLED } }, ["b", "a"], undefined],
    [{ type: "array", items: { anyOf: TITLED } }, "a", "is not a list"],
    [
      { type: "array", items: { anyOf: TITLED } },
      ["c"],
      "has a value that is not one of the choices",
    ],
    [{ type: "array", items: { anyOf: TITLED } }, ["a", "a"], "has a choice twice"],
    [{ type: "array", items: { anyOf: TITLED }, minItems: 1 }, [], "has fewer than 1 choices"],
    [
      { type: "array", items: { anyOf: TITLED }, maxItems: 1 },
      ["a", "b"],
      "has more than 1 choices",
    ],
  ])("%j with %j: %s", (property, value, problem) => {
    expect(fieldProblem(fieldOf(property), value)).toBe(problem);
  });
});

describe("a form", () => {
  it("has its fields in order, and marks the required ones", () => {
    const properties = { b: { type: "string" }, a: { type: "boolean" } };
    expect(readForm({ properties, required: ["a", 5] })).toMatchObject([
      { name: "b", required: false },
      { name: "a", required: true },
    ]);
  });

  it.each([{}, { properties: [] }, { properties: {}, required: "x" }])(
    "may have none: %j",
    (schema) => expect(readForm(schema)).toEqual([]),
  );

  it("can have fields of any name", () => {
    const schema = JSON.parse('{ "properties": { "__proto__": { "type": "string" } } }');
    expect(readForm(schema)).toMatchObject([{ name: "__proto__", kind: "text" }]);
  });

  it("has a maximum number of fields", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 65 }, (_, at) => [`f${at}`, { type: "string" }]),
    );
    expect(readForm({ properties })).toBe("it has more than 64 fields");
  });
});
