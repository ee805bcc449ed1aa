import { describe, expect, it } from "vitest";
import { SchemaView } from "../../../../src/core/tools/arguments/schema-view.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";

const names = (schema: JsonObject) =>
  new SchemaView(schema).parameters.map(({ name, required }) => (required ? `${name}*` : name));

describe("the parameters of a schema", () => {
  it.each<[string, JsonObject, string[]]>([
    ["its properties", { properties: { a: {}, b: {} }, required: ["b"] }, ["a", "b*"]],
    ["none", {}, []],
    ["none where it is malformed", { properties: [1], required: "a" }, []],
    [
      "those that it refers to",
      { $ref: "#/$defs/x", $defs: { x: { properties: { a: {} } } } },
      ["a"],
    ],
    [
      "those of all its parts",
      { allOf: [{ properties: { a: {} }, required: ["a"] }, { properties: { b: {} } }] },
      ["a*", "b"],
    ],
    [
      "those of its alternatives, which need not all be given",
      {
        properties: { a: {} },
        anyOf: [{ properties: { b: {} }, required: ["b"] }, { required: ["a"] }],
      },
      ["a", "b"],
    ],
    ["one that is no schema", { properties: { a: true } }, ["a"]],
    ["itself again, once", { properties: { a: {} }, allOf: [{ $ref: "#" }] }, ["a"]],
    ["nothing of a reference to elsewhere", { $ref: "https://example.com/x" }, []],
    ["nothing of a reference to nowhere", { $ref: "#/$defs/none" }, []],
    [
      "a reference with escapes",
      { $ref: "#/$defs/a~1b", $defs: { "a/b": { properties: { c: {} } } } },
      ["c"],
    ],
  ])("are %s", (_, schema, expected) => {
    expect(names(schema)).toEqual(expected);
  });

  it("cost no more than the schema's size, however it repeats itself", () => {
    const $defs: JsonObject = { d40: { type: "integer" } };
    for (let at = 0; at < 40; at += 1) {
      const next = { $ref: `#/$defs/d${at + 1}` };
      $defs[`d${at}`] = { anyOf: [next, { ...next }] };
    }
    const view = new SchemaView({ $defs, properties: { a: { $ref: "#/$defs/d0" } } });
    expect(view.alternatives({ $ref: "#/$defs/d0" })).toEqual([{ type: "integer" }]);
  });

  it("end where references go in a circle", () => {
    const view = new SchemaView({ $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } });
    expect(view.resolve({ $ref: "#/$defs/a" })).toHaveProperty("$ref");
  });
});

describe("the name of a type", () => {
  it.each<[JsonObject, string]>([
    [{ type: "string" }, "string"],
    [{}, "any"],
    [{ type: ["string", "null"] }, "string | null"],
    [{ type: "array" }, "array"],
    [{ type: "array", items: { type: "string" } }, "string[]"],
    [{ type: "array", items: { type: ["string", "number"] } }, "(string | number)[]"],
    [{ items: { items: { items: { items: { items: {} } } } } }, "array[][][]"],
    [{ enum: ["a", "b"] }, '"a" | "b"'],
    [{ const: 1 }, "1"],
    [{ enum: [1, 2, 3, 4, 5, 6, 7, 8] }, "1 | 2 | 3 | 4 | 5 | 6 | … 2 more"],
    [{ anyOf: [{ type: "string" }, { type: "string" }, { type: "null" }] }, "string | null"],
    [{ properties: {} }, "object"],
    [{ type: 5 }, "any"],
  ])("of %j is %s", (schema, name) => {
    expect(new SchemaView({}).typeName(schema)).toBe(name);
  });
});
