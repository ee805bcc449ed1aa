import { describe, expect, it } from "vitest";
import { listFields } from "../../../../src/core/tools/arguments/fields.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";

const text = { type: "string" };
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  ...more,
});

/** A line for each field, indented by its depth. */
const lines = (schema: JsonObject) =>
  listFields(schema).map((line) => {
    const margin = "  ".repeat(line.depth);
    if (line.kind === "note") return `${margin}(${line.text})`;
    const { path, type, facts, description } = line;
    const about = description === undefined ? "" : `: ${description}`;
    return `${margin}${[`${path} ${type}`, ...facts].join(", ")}${about}`;
  });

describe("the fields of a schema", () => {
  it.each<[string, JsonObject, string[]]>([
    ["none", {}, []],
    [
      "with what must be given and what is assumed",
      object(
        { a: text, b: { ...text, default: "x" }, c: { type: "boolean", default: false } },
        { required: ["a", "b"] },
      ),
      ["a string, required", 'b string, default "x"', "c boolean, default false"],
    ],
    [
      "with limits",
      object({
        a: { type: "integer", minimum: 1, maximum: 100 },
        b: { type: "number", exclusiveMinimum: 0, multipleOf: 0.5 },
        c: { ...text, minLength: 1, maxLength: 1 },
        d: { ...text, pattern: "^a", format: "uri" },
        e: { type: "array", items: { ...text, maxLength: 5 }, minItems: 1, uniqueItems: true },
        f: { type: "number", minimum: 0, exclusiveMinimum: true },
        g: { type: "integer", maximum: Number.MAX_SAFE_INTEGER },
        h: { anyOf: [{ type: "number", maximum: 9 }, { type: "null" }] },
      }),
      [
        "a integer, 1 to 100",
        "b number, more than 0, a multiple of 0.5",
        "c string, exactly 1 character",
        "d string, format uri, matches ^a",
        "e string[], at least 1 item, no item twice, each at most 5 characters",
        "f number, more than 0",
        "g integer",
        "h number | null, at most 9",
      ],
    ],
    [
      "with all choices",
      object({ a: { enum: [1, 2, 3, 4, 5, 6, 7, 8] }, b: { const: "x" } }),
      ["a 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8", 'b "x"'],
    ],
    [
      "with examples and what is out of use",
      object({ a: { ...text, examples: ["Oslo", "Rome"], deprecated: true } }),
      ['a string, for example "Oslo", deprecated'],
    ],
    [
      "with descriptions, also of what is referred to",
      {
        ...object({ a: { $ref: "#/$defs/a" }, b: { $ref: "#/$defs/a", description: "Own." } }),
        $defs: { a: { ...text, description: "Theirs." } },
      },
      ["a string: Theirs.", "b string: Own."],
    ],
    [
      "inside objects and lists",
      object({
        place: object(
          { city: text, at: object({ lat: { type: "number" } }) },
          { required: ["city"] },
        ),
        people: { type: "array", items: object({ name: text }) },
        grid: { type: "array", items: { type: "array", items: object({ on: text }) } },
        labels: { type: "object", additionalProperties: text },
      }),
      [
        "place object",
        "  place.city string, required",
        "  place.at object",
        "    place.at.lat number",
        "people object[]",
        '  (each as JSON, such as {"name":…})',
        "  name string",
        "grid object[][]",
        '  (each as JSON, such as {"on":…})',
        "  on string",
        "labels object",
        "  labels.… string",
      ],
    ],
    [
      "of each form that an object can have",
      object({
        shape: {
          oneOf: [
            object({ kind: { const: "circle" }, r: { type: "number" } }),
            object({ kind: { const: "square" } }),
          ],
        },
        maybe: { anyOf: [object({ a: text }), { type: "null" }] },
      }),
      [
        "shape object",
        "  (either:)",
        '  shape.kind "circle"',
        "  shape.r number",
        "  (or:)",
        '  shape.kind "square"',
        "maybe object | null",
        "  maybe.a string",
      ],
    ],
    [
      "of all parts, and which of them must be given",
      {
        allOf: [object({ a: text }, { required: ["a"] }), object({ b: text, c: text })],
        anyOf: [{ required: ["b"] }, { required: ["b", "c"] }],
      },
      ["a string, required", "b string", "c string", "(give at least one of: b; b and c)"],
    ],
    [
      "that are inside themselves, once",
      {
        ...object({ tree: { $ref: "#/$defs/node" } }),
        $defs: {
          node: object({
            name: text,
            children: { type: "array", items: { $ref: "#/$defs/node" } },
          }),
        },
      },
      [
        "tree object",
        "  tree.name string",
        "  tree.children object[]",
        "    (the same fields again, and so on)",
      ],
    ],
  ])("%s", (_, schema, expected) => {
    expect(lines(schema)).toEqual(expected);
  });

  it("end where a schema is very deep", () => {
    let schema: JsonObject = text;
    for (let level = 0; level < 50; level += 1) schema = object({ a: schema });
    const shown = lines(schema);
    expect(shown).toHaveLength(10);
    expect(shown.at(-1)?.trim()).toBe("(… more fields inside)");
  });

  it("end where a schema is very wide, whatever it refers to", () => {
    const $defs: JsonObject = {};
    for (let at = 0; at < 30; at += 1) {
      const next = { $ref: `#/$defs/d${at + 1}` };
      const properties = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`p${n}`, next]));
      $defs[`d${at}`] = object(properties);
    }
    const shown = lines({ $ref: "#/$defs/d0", $defs });
    expect(shown).toHaveLength(401);
    expect(shown.at(-1)).toBe("(… and more)");
  });

  it("end where an object has very many forms, also if they are all itself", () => {
    const forms = Array.from({ length: 20_000 }, (_, at) => object({ [`k${at}`]: text }));
    const shown = lines(object({ a: { anyOf: forms } }));
    expect(shown).toHaveLength(62);
    expect(shown.at(-1)).toBe("  (… or another form)");
    const x = { anyOf: Array.from({ length: 20_000 }, () => ({ $ref: "#/$defs/x" })) };
    const names = Array.from({ length: 400 }, (_, at) => [`p${at}`, { $ref: "#/$defs/x" }]);
    const fields = lines({ ...object(Object.fromEntries(names)), $defs: { x } });
    expect(fields[0]).toBe("p0 any");
  });
});
