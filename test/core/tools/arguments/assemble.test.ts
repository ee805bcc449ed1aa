import { describe, expect, it } from "vitest";
import { assembleArguments } from "../../../../src/core/tools/arguments/assemble.ts";
import type { GivenValue } from "../../../../src/core/tools/arguments/parse.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";

const schema: JsonObject = {
  type: "object",
  properties: {
    text: { type: "string", description: "What to say." },
    count: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
    sizes: { anyOf: [{ type: "array", items: { type: "number" } }, { type: "null" }] },
    order: { enum: ["asc", "desc"] },
    place: {
      type: "object",
      properties: { city: { type: "string" }, lat: { type: "number" } },
    },
    anything: {},
    "dotted.key": { type: "number" },
  },
  required: ["text"],
};

const open = { type: "object", additionalProperties: { type: "string" } };

function given(words: Record<string, GivenValue | GivenValue[] | string>, whole: JsonObject = {}) {
  const pairs = Object.entries(words).flatMap(([key, values]) =>
    [values].flat().map((value) => ({
      key,
      value: typeof value === "string" ? { kind: "text" as const, text: value } : value,
    })),
  );
  return { whole, pairs };
}

const text = (value: string): GivenValue => ({ kind: "text", text: value });
const content = (value: string): GivenValue => ({ kind: "content", text: value });
const json = (value: unknown): GivenValue => ({ kind: "json", value });

function assemble(input: ReturnType<typeof given>, by: JsonObject = schema): unknown {
  const { args, problem } = assembleArguments(input, by, "look here");
  if (problem !== undefined) throw problem;
  return JSON.parse(JSON.stringify(args));
}

describe("the arguments of a call", () => {
  it.each<[string, ReturnType<typeof given>, JsonObject]>([
    ["typed by the schema", given({ text: "5", count: "5" }), { text: "5", count: 5 }],
    ["a list of one", given({ text: "a", tags: "b" }), { text: "a", tags: ["b"] }],
    [
      "a list by repetition",
      given({ text: "a", tags: [text("b"), text("c")] }),
      { text: "a", tags: ["b", "c"] },
    ],
    [
      "a list among alternatives",
      given({ text: "a", sizes: [text("1"), text("2")] }),
      { text: "a", sizes: [1, 2] },
    ],
    [
      "a list where the type is open",
      given({ text: "a", anything: [text("1"), text("b")] }),
      { text: "a", anything: [1, "b"] },
    ],
    [
      "a part of an object",
      given({ text: "a", "place.city": "Oslo", "place.lat": "59.9" }),
      { text: "a", place: { city: "Oslo", lat: 59.9 } },
    ],
    [
      "a part that the schema does not name",
      given({ text: "a", "place.zip": "0150" }),
      { text: "a", place: { zip: 150 } },
    ],
    [
      "a key with a dot in it",
      given({ text: "a", "dotted.key": "1" }),
      { text: "a", "dotted.key": 1 },
    ],
    [
      "JSON as it stands",
      given({ text: json("5"), anything: json([5]) }),
      { text: "5", anything: [5] },
    ],
    ["JSON of either type", given({}, { text: "a", sizes: null }), { text: "a", sizes: null }],
    ["a file's text", given({ text: content("5\n") }), { text: "5\n" }],
    [
      "a file's text where the type is open",
      given({ text: "a", anything: content("5\n") }),
      { text: "a", anything: "5\n" },
    ],
    ["a file's number", given({ text: "a", count: content("5\n") }), { text: "a", count: 5 }],
    ["an object", given({}, { text: "a", other: 1 }), { text: "a", other: 1 }],
    [
      "an object with a pair over it",
      given({ text: "b" }, { text: "a", count: 1 }),
      { text: "b", count: 1 },
    ],
    [
      "an object with a part over it",
      given({ "place.city": "Oslo" }, { text: "a", place: { lat: 1 } }),
      { text: "a", place: { lat: 1, city: "Oslo" } },
    ],
  ])("may be %s", (_, input, expected) => {
    expect(assemble(input)).toEqual(expected);
  });

  it("leave what was given as JSON as it was", () => {
    const whole = { text: "a", place: { lat: 1 } };
    assemble(given({ "place.city": "Oslo" }, whole));
    expect(whole).toEqual({ text: "a", place: { lat: 1 } });
  });

  it("may have any key where the schema welcomes it", () => {
    expect(assemble(given({ anyKey: "1", "a.b": "2" }), open)).toEqual({ anyKey: "1", "a.b": "2" });
    expect(assemble(given({ x: "1" }), { type: "object" })).toEqual({ x: 1 });
    const pattern = {
      properties: { a: {} },
      patternProperties: { "^x-": {} },
      additionalProperties: false,
    };
    expect(assemble(given({ "x-b": "1" }, { "x-c": 2 }), pattern)).toEqual({ "x-b": 1, "x-c": 2 });
  });

  it("keep a key that would reach a prototype a key", () => {
    const { args } = assembleArguments(given({ ["__proto__"]: "1" }), open, "t");
    expect(Object.keys(args)).toEqual(["__proto__"]);
    assembleArguments(given({ text: "a", "place.__proto__.polluted": "1" }), schema, "t");
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each<[string, ReturnType<typeof given>, string]>([
    [
      "a value that does not fit",
      given({ text: "a", count: "x" }),
      "count: expected integer, got 'x'",
    ],
    [
      "an item that does not fit",
      given({ text: "a", sizes: [text("1"), text("x")] }),
      "sizes: expected number, got 'x'",
    ],
    [
      "a choice that there is not",
      given({ text: "a", order: "up" }),
      `order: expected one of "asc" | "desc", got 'up'`,
    ],
    [
      "a choice that there is not, as JSON",
      given({}, { text: "a", order: "up" }),
      `order: expected one of "asc" | "desc", got "up"`,
    ],
    ["JSON of another type", given({ text: json(5) }), "text: expected string, got 5"],
    [
      "an object with a value of another type",
      given({}, { text: "a", sizes: "x" }),
      'sizes: expected number[] | null, got "x"',
    ],
    [
      "a part given as JSON of another type",
      given({ text: "a", "place.lat": json("x") }),
      'place.lat: expected number, got "x"',
    ],
    [
      "a mistyped key",
      given({ text: "a", cuont: "1" }),
      "there is no parameter 'cuont'; did you mean 'count'?",
    ],
    [
      "a part of a mistyped key",
      given({ text: "a", "plcae.city": "Oslo" }),
      "there is no parameter 'plcae'; did you mean 'place'?",
    ],
    [
      "a value given twice",
      given({ text: [text("a"), text("b")] }),
      "text: given 2 times, but it is not a list",
    ],
    [
      "a part of what is no object",
      given({ text: "a", "count.x": "1" }),
      "count.x: 'count' is not an object; expected integer",
    ],
    [
      "a part of a value that is no object",
      given({ "place.city": "Oslo" }, { text: "a", place: 5 }),
      "place.city: 'place' has a value that is not an object",
    ],
    [
      "a missing argument",
      given({ count: "1" }),
      "1 argument missing:\n    text  string  What to say.",
    ],
  ])("are refused for %s", (_, input, message) => {
    expect(() => assemble(input)).toThrow(
      expect.objectContaining({
        code: "INVALID_ARGUMENTS",
        message,
        hint: "look here",
      }),
    );
  });

  describe("are checked at every depth", () => {
    const deep: JsonObject = {
      type: "object",
      properties: {
        count: { type: "integer", minimum: 1, maximum: 10 },
        share: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1, multipleOf: 0.1 },
        word: { type: "string", minLength: 2, maxLength: 4 },
        tags: { type: "array", items: { type: "string" }, minItems: 2, uniqueItems: true },
        level: { anyOf: [{ type: "integer", maximum: 3 }, { type: "null" }] },
        odd: { type: "integer", minimum: 5, maximum: 1 },
        place: {
          type: "object",
          properties: {
            city: { type: "string", description: "Where." },
            lat: { type: "number", minimum: -90, maximum: 90 },
          },
          required: ["city"],
          additionalProperties: false,
        },
        people: {
          type: "array",
          items: {
            type: "object",
            properties: {
              name: { type: "string", description: "How this person is called, ".repeat(9) },
              age: { type: "integer" },
            },
            required: ["name"],
          },
        },
        labels: { type: "object", additionalProperties: { type: "string" } },
        shape: {
          oneOf: [
            {
              type: "object",
              properties: { kind: { const: "circle" }, radius: { type: "number" } },
              required: ["kind", "radius"],
            },
            {
              type: "object",
              properties: { kind: { const: "square" }, side: { type: "number" } },
              required: ["kind", "side"],
            },
          ],
        },
        tree: { $ref: "#/$defs/tree" },
      },
      $defs: {
        tree: {
          type: "object",
          properties: { left: { $ref: "#/$defs/tree" }, size: { type: "integer", minimum: 0 } },
        },
      },
    };

    it.each<[string, ReturnType<typeof given>, string]>([
      ["a number that is too large", given({ count: "20" }), "count: expected 1 to 10, got 20"],
      ["one in JSON", given({}, { count: 0 }), "count: expected 1 to 10, got 0"],
      ["a bound that is excluded", given({ share: "1" }), "share: expected less than 1, got 1"],
      ["no multiple", given({ share: "0.25" }), "share: expected a multiple of 0.1, got 0.25"],
      ["a short text", given({ word: "🚀" }), 'word: expected 2 to 4 characters, got "🚀"'],
      ["a short list", given({ tags: "a" }), 'tags: expected at least 2 items, got ["a"]'],
      [
        "an item twice",
        given({ tags: [text("a"), text("a")] }),
        'tags: expected no item twice, got ["a","a"]',
      ],
      ["every alternative", given({ level: "4" }), "level: expected at most 3, got 4"],
      [
        "a missing field",
        given({ "place.lat": "1" }),
        "1 argument missing:\n    place.city  string  Where.",
      ],
      [
        "a missing field of an item, in a line that fits a terminal",
        given({ people: json([{ name: "A" }, { age: 3 }]) }),
        "1 argument missing:\n    people[1].name  string  How this person is called, How this person is cal…",
      ],
      [
        "a mistyped field",
        given({ "place.ctiy": "Oslo", "place.city": "Oslo" }),
        "there is no field 'place.ctiy'; did you mean 'place.city'?",
      ],
      [
        "a mistyped field in JSON",
        given({}, { place: { city: "Oslo", zip: 1 } }),
        "there is no field 'place.zip'; 'place' takes city, lat",
      ],
      [
        "a field of another type",
        given({}, { place: { city: 5 } }),
        "place.city: expected string, got 5",
      ],
      [
        "a field beyond its limits",
        given({ "place.city": "Oslo", "place.lat": "91" }),
        "place.lat: expected -90 to 90, got 91",
      ],
      [
        "a value under any key",
        given({ labels: json({ a: "x", b: 5 }) }),
        "labels.b: expected string, got 5",
      ],
      [
        "the form that fits best",
        given({ shape: json({ kind: "circle" }) }),
        "1 argument missing:\n    shape.radius  number",
      ],
      [
        "a schema that refers to itself",
        given({ tree: json({ left: { left: { size: -1 } } }) }),
        "tree.left.left.size: expected at least 0, got -1",
      ],
    ])("and refused for %s", (_, input, message) => {
      expect(() => assemble(input, deep)).toThrow(
        expect.objectContaining({ code: "INVALID_ARGUMENTS", message }),
      );
    });

    it.each<[string, ReturnType<typeof given>, JsonObject]>([
      ["a limit that is kept", given({ count: "10", share: "0.3" }), { count: 10, share: 0.3 }],
      ["another alternative", given({ level: "null" }), { level: null }],
      ["limits that no value can keep", given({ odd: "3" }), { odd: 3 }],
      ["a text under any key", given({ "labels.size": "5" }), { labels: { size: "5" } }],
      [
        "one of several forms",
        given({ shape: json({ kind: "square", side: 1 }) }),
        { shape: { kind: "square", side: 1 } },
      ],
    ])("and taken with %s", (_, input, expected) => {
      expect(assemble(input, deep)).toEqual(expected);
    });

    it("and a field that is not named is told of where it was typed, or looks mistyped", () => {
      const typed = assembleArguments(given({ "people.x": "1" }), deep, "");
      expect(typed.problem?.message).toBe("people.x: 'people' is not an object; expected object[]");
      const input = given({}, { people: [{ name: "A", agge: 1, other: 2 }] });
      expect(assembleArguments(input, deep, "")).toMatchObject({
        warnings: ["the schema does not describe 'people[0].agge'; did you mean 'age'?"],
      });
    });

    it("but not for ever where a schema has more and more forms", () => {
      const form = (name: string) => ({
        type: "object",
        properties: { [name]: { $ref: "#" }, next: { $ref: "#" } },
      });
      const forms = { oneOf: ["a", "b", "c", "d", "e"].map(form) };
      let value: JsonObject = { next: "x" };
      for (let depth = 0; depth < 30; depth += 1) value = { next: value };
      expect(assembleArguments(given({}, value), forms, "").warnings).toEqual([]);
    });

    const nested = (wrap: (inner: JsonObject) => JsonObject): JsonObject => {
      let outermost: JsonObject = { type: "integer" };
      for (let depth = 0; depth < 20_000; depth += 1) outermost = wrap(outermost);
      return outermost;
    };
    const lists = Array.from({ length: 40 }, (_, at): [string, JsonObject] => {
      const list = { type: "array", items: { $ref: `#/$defs/l${at + 1}` } };
      return [`l${at}`, { anyOf: [list, { ...list }] }];
    });
    const large = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`f${at}`, {}]));
    const manyForms = Array.from({ length: 20_000 }, (_, at) => ({
      title: `${at}`,
      type: "object",
      allOf: [{ $ref: "#/$defs/large" }],
    }));
    it.each<[string, JsonObject]>([
      ["lists that consist of themselves", { type: "array", items: { $ref: "#/properties/a" } }],
      ["more and more lists", { $ref: "#/$defs/l0" }],
      ["lists in lists", nested((items) => ({ type: "array", items }))],
      ["forms in forms", nested((inner) => ({ anyOf: [inner] }))],
      ["parts in parts", nested((inner) => ({ type: "object", allOf: [inner] }))],
      ["many forms of a large object", { anyOf: manyForms }],
    ])("and not for ever with %s", (_, a) => {
      const $defs = {
        ...Object.fromEntries(lists),
        l40: { type: "integer" },
        large: { properties: large },
      };
      const hostile = { $defs, properties: { a } };
      expect(() => assemble(given({ a: "x" }), hostile)).toThrow("a: expected");
      const { args } = assembleArguments(given({ a: json({ f0: 1 }) }), hostile, "");
      expect(args).toEqual({ a: { f0: 1 } });
    });
  });

  it("are refused with everything that is wrong at once", () => {
    const needs = {
      properties: { a: { type: "number" }, b: { type: "boolean" } },
      required: ["a", "b"],
      additionalProperties: false,
    };
    expect(() => assemble(given({ a: "x", c: "1" }), needs)).toThrow(
      [
        "the arguments do not fit:",
        "  a: expected number, got 'x'",
        "  there is no parameter 'c'; the tool takes a, b",
        "  1 argument missing:",
        "    b  boolean",
      ].join("\n"),
    );
  });

  it("are refused for a key in JSON only where the schema refuses it", () => {
    const closed = { properties: { text: {} }, additionalProperties: false };
    expect(() => assemble(given({}, { txet: 1 }), closed)).toThrow(
      "there is no parameter 'txet'; did you mean 'text'?",
    );
    const none = { properties: {}, additionalProperties: false };
    expect(() => assemble(given({ a: "1" }), none)).toThrow(
      "there is no parameter 'a'; the tool takes none",
    );
  });
});

describe("a required argument with a default", () => {
  const scale = { type: "string", enum: ["css", "device"], default: "css" };
  it.each<[string, JsonObject]>([
    ["in its own schema", { properties: { scale }, required: ["scale"] }],
    [
      "in a schema that it refers to",
      {
        properties: { scale: { $ref: "#/$defs/scale" } },
        required: ["scale"],
        $defs: { scale },
      },
    ],
    [
      "next to a reference",
      {
        properties: { scale: { allOf: [{ $ref: "#/$defs/scale" }], default: null } },
        required: ["scale"],
        $defs: { scale: { type: ["string", "null"] } },
      },
    ],
    ["of false", { properties: { all: { type: "boolean", default: false } }, required: ["all"] }],
  ])("need not be given, and is not sent: %s", (_, by) => {
    expect(assembleArguments(given({}), by, "")).toEqual({ args: {}, warnings: [] });
  });
});

describe("a schema that is not sound", () => {
  const one = (name: string, part: JsonObject): JsonObject => ({
    type: "object",
    properties: { [name]: part },
  });
  it.each<[string, ReturnType<typeof given>, JsonObject, JsonObject, string]>([
    [
      "a type that there is not",
      given({ count: "5" }),
      one("count", { type: "int" }),
      { count: 5 },
      'count: the schema is not sound here: "int" is no type in JSON Schema',
    ],
    [
      "a list of a type that there is not",
      given({ names: [text("a"), text("b")] }),
      one("names", { type: "list" }),
      { names: ["a", "b"] },
      'names: the schema is not sound here: "list" is no type in JSON Schema',
    ],
    [
      "a part of a type that there is not",
      given({ "place.city": "Oslo" }),
      one("place", { type: "dict" }),
      { place: { city: "Oslo" } },
      'place: the schema is not sound here: "dict" is no type in JSON Schema',
    ],
    [
      "a reference to nowhere",
      given({ size: "big" }),
      one("size", { $ref: "#/$defs/none" }),
      { size: "big" },
      'size: the schema is not sound here: it refers to "#/$defs/none", which leads nowhere',
    ],
    [
      "no choices",
      given({ size: "big" }),
      one("size", { type: "string", enum: [] }),
      { size: "big" },
      "size: the schema is not sound here: its list of choices is empty",
    ],
    [
      "choices of another type",
      given({ size: "3" }),
      one("size", { type: "integer", enum: ["1", "2"] }),
      { size: 3 },
      "size: the schema is not sound here: none of its choices is of its type, integer",
    ],
    [
      "choices of another type, one of them chosen",
      given({ size: "2" }),
      one("size", { type: "integer", enum: ["1", "2"] }),
      { size: "2" },
      "size: the schema is not sound here: none of its choices is of its type, integer",
    ],
    [
      "choices without the default",
      given({}, { order: "up" }),
      one("order", { type: "string", enum: ["asc"], default: "none" }),
      { order: "up" },
      'order: the schema is not sound here: its default, "none", is not one of its choices',
    ],
    [
      "a required argument that it does not describe",
      given({ text: "a" }),
      { ...one("text", { type: "string" }), required: ["text", "id"] },
      { text: "a" },
      "the schema requires id, but does not describe it",
    ],
    [
      "a key that it neither describes nor forbids",
      given({ text: "a", zzz: "1" }),
      one("text", { type: "string" }),
      { text: "a", zzz: 1 },
      "the schema does not describe 'zzz'; the tool takes text",
    ],
  ])("is warned about, and the call is sent: %s", (_, input, by, args, warning) => {
    const assembled = assembleArguments(input, by, "");
    expect(JSON.parse(JSON.stringify(assembled.args))).toEqual(args);
    expect(assembled.warnings).toEqual([warning]);
    expect(assembled.problem).toBeUndefined();
  });

  it("may require and forbid the same key, which is then sent as it is given", () => {
    const by = { properties: {}, required: ["id"], additionalProperties: false };
    expect(assemble(given({ id: "5" }), by)).toEqual({ id: 5 });
    expect(assemble(given({}, { id: 5 }), by)).toEqual({ id: 5 });
  });

  it("costs one line, however much it requires or names", () => {
    const many = Array.from({ length: 5000 }, (_, at) => `n${at}`);
    const { warnings } = assembleArguments(given({}), { required: many }, "");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/n19 and 4980 more, but does not describe it$/);
    const properties = Object.fromEntries(many.map((name) => [name, {}]));
    const unknown = assembleArguments(given({ "?": "1" }), { properties }, "").warnings;
    expect(unknown[0]).toMatch(/n19 and 4980 more$/);
  });

  it("does not let through what its sound parts refuse", () => {
    const by = { properties: { a: { type: "int" }, b: { type: "number" } } };
    expect(() => assemble(given({ a: "1", b: "x" }), by)).toThrow("b: expected number, got 'x'");
  });

  it("may allow null in the way of OpenAPI", () => {
    const by = one("order", { type: "string", enum: ["asc"], nullable: true });
    expect(assemble(given({ order: "null" }), by)).toEqual({ order: null });
  });
});
