import { describe, expect, it } from "vitest";
import { typed } from "../../../../src/core/tools/arguments/typed.ts";
import { SchemaView } from "../../../../src/core/tools/arguments/schema-view.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";

const root = {
  $defs: {
    color: { enum: ["red", "green"] },
    tree: { anyOf: [{ $ref: "#/$defs/tree" }, { type: "integer" }] },
  },
};
const read = (text: string, schema: JsonObject) => typed(text, schema, new SchemaView(root));

describe("a word becomes the value its schema asks for", () => {
  it.each<[string, JsonObject, unknown]>([
    ["5", { type: "string" }, "5"],
    ["", { type: "string" }, ""],
    ["true", { type: "string" }, "true"],
    ['{"a":1}', { type: "string" }, '{"a":1}'],
    ["5", { type: "number" }, 5],
    ["-1.5e3", { type: "number" }, -1500],
    ["5", { type: "integer" }, 5],
    ["5.0", { type: "integer" }, 5],
    ["true", { type: "boolean" }, true],
    ["false", { type: "boolean" }, false],
    ["null", { type: "null" }, null],
    ['{"a":1}', { type: "object" }, { a: 1 }],
    ["[1,2]", { type: "array" }, [1, 2]],
    ["a", { type: "array", items: { type: "string" } }, ["a"]],
    ["5", { type: "array", items: { type: "integer" } }, [5]],
    ["a", { items: { type: "string" } }, ["a"]],
    ['{"a":1}', { properties: {} }, { a: 1 }],
    // The narrowest type that fits.
    ["5", { type: ["string", "integer"] }, 5],
    ["five", { type: ["string", "integer"] }, "five"],
    ["null", { type: ["string", "null"] }, null],
    ["5", { anyOf: [{ type: "string" }, { type: "number" }] }, 5],
    ["x", { oneOf: [{ type: "number" }, { type: "string" }] }, "x"],
    ["[1]", { anyOf: [{ type: "string" }, { type: "array" }] }, [1]],
    // No type at all.
    ["5", {}, 5],
    ["true", {}, true],
    ["[1]", {}, [1]],
    ['{"a":1}', {}, { a: 1 }],
    ["some text", {}, "some text"],
    // Choices.
    ["red", { enum: ["red", "green"] }, "red"],
    ["2", { enum: [1, 2] }, 2],
    ["2", { enum: ["2", 2] }, "2"],
    ["null", { enum: ["a", null] }, null],
    ["a", { const: "a" }, "a"],
    ["green", { $ref: "#/$defs/color" }, "green"],
    ["7", { $ref: "#/$defs/tree" }, 7],
    ["red", { allOf: [{ $ref: "#/$defs/color" }], default: "green" }, "red"],
  ])("%j by %j is %j", (text, schema, value) => {
    expect(read(text, schema)).toEqual({ ok: true, value });
  });

  it.each<[string, JsonObject, string]>([
    ["abc", { type: "number" }, "expected number, got 'abc'"],
    ["", { type: "number" }, "expected number, got ''"],
    ["0x10", { type: "number" }, "expected number, got '0x10'"],
    ["Infinity", { type: "number" }, "expected number, got 'Infinity'"],
    ["1.5", { type: "integer" }, "expected integer, got '1.5'"],
    ["12345678901234567890", { type: "integer" }, "expected integer, got '12345678901234567890'"],
    ["yes", { type: "boolean" }, "expected boolean, got 'yes'"],
    ["x", { type: "object" }, "expected object, got 'x'"],
    ["[1,", { type: "array", items: { type: "integer" } }, "expected integer[], got '[1,'"],
    ["x", { type: "array", items: { type: "integer" } }, "expected integer[], got 'x'"],
    ["x", { anyOf: [{ type: "integer" }, { type: "null" }] }, "expected integer | null, got 'x'"],
    ["blue", { $ref: "#/$defs/color" }, `expected one of "red" | "green", got 'blue'`],
    [
      "gren",
      { $ref: "#/$defs/color" },
      `expected one of "red" | "green", got 'gren'; did you mean 'green'?`,
    ],
    [
      "bgu",
      { type: "array", items: { enum: ["bug", "docs"] } },
      `expected ("bug" | "docs")[], got 'bgu'; did you mean 'bug'?`,
    ],
    ["\u001b[31mx", { type: "number" }, "expected number, got 'x'"],
  ])("%j by %j does not fit", (text, schema, problem) => {
    expect(read(text, schema)).toEqual({ ok: false, problem });
  });
});

it("a word is still sent where its schema is not sound, with the reason", () => {
  const date = { type: "date" };
  const odd = '"date" is no type in JSON Schema';
  expect(read("x", date)).toEqual({ ok: true, value: "x", odd });
  expect(read("x", { type: "array", items: date })).toEqual({ ok: true, value: ["x"], odd });
  // A sound alternative goes first.
  expect(read("5", { anyOf: [date, { type: "string" }] })).toEqual({ ok: true, value: "5" });
});
