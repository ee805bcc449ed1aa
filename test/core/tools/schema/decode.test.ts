import { describe, expect, it } from "vitest";
import {
  normalizeSchema,
  type SchemaProvider,
} from "../../../../src/core/tools/schema/normalize.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";

function back(schema: JsonObject, provider: SchemaProvider, args: JsonObject): JsonObject {
  const before = JSON.stringify(args);
  const result = normalizeSchema(schema, provider).toOriginal(args);
  expect(JSON.stringify(args)).toBe(before);
  return result;
}

const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: "object",
  properties,
  required,
});

describe("arguments on their way back", () => {
  it("are the same where nothing was changed", () => {
    const args = { a: "x", other: { b: [null] } };
    expect(back(object({ a: { type: "string" } }, ["a"]), "anthropic", args)).toBe(args);
  });

  it("get their names back, at any depth", () => {
    const inner = object({ "x.y": { type: "string" } });
    const schema = object({ "$a b": { type: "array", items: inner }, "c-d": inner });
    const args = { a_b: [{ x_y: "1" }, { x_y: "2" }], c_d: { x_y: "3" }, more: 1 };
    expect(back(schema, "google", args)).toEqual({
      "$a b": [{ "x.y": "1" }, { "x.y": "2" }],
      "c-d": { "x.y": "3" },
      more: 1,
    });
  });

  it("get names back in the values of a map", () => {
    const schema = {
      type: "object",
      additionalProperties: object({ "x y": { type: "string" } }),
    };
    expect(back(schema, "anthropic", { k: { x_y: "1" } })).toEqual({ k: { "x y": "1" } });
  });

  it("carry __proto__ as a name like any other", () => {
    const schema = object(JSON.parse('{"__proto__":{"type":"string"}}') as JsonObject);
    const result = back(schema, "openai", { proto: "x" });
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(JSON.stringify(result)).toBe('{"__proto__":"x"}');
    const polluting = JSON.parse('{"proto":"x","__proto__":{"admin":true}}') as JsonObject;
    expect((back(schema, "google", polluting) as { admin?: boolean }).admin).toBeUndefined();
  });

  describe("with null", () => {
    const schema = object(
      {
        plain: { type: "string" },
        nullable: { type: ["string", "null"] },
        needed: { type: ["string", "null"] },
        open: {},
      },
      ["needed"],
    );
    const args = { plain: null, nullable: null, needed: null, open: null };

    it("lose it where it stands for nothing, in strict mode", () => {
      expect(back(schema, "openai-strict", args)).toEqual({ nullable: null, needed: null });
      expect(back(schema, "openai-strict", { ...args, open: "null" })).toEqual({
        nullable: null,
        needed: null,
        open: null,
      });
    });

    it.each(["openai", "anthropic", "google", "generic"] as const)(
      "lose it where the server does not take it: %s",
      (provider) => {
        const { plain: _, ...rest } = args;
        expect(back(schema, provider, args)).toEqual(rest);
      },
    );
  });

  it("are read from JSON text", () => {
    const schema = object({ map: { type: "object" }, any: {}, list: { type: "array" } });
    const args = { map: '{"a":[1]}', any: "2", list: ['"x"', "{}"] };
    expect(back(schema, "openai-strict", args)).toEqual({
      map: { a: [1] },
      any: 2,
      list: ["x", {}],
    });
  });

  it.each([
    ["is no JSON", "not json"],
    ["is JSON of another kind", "[1]"],
    ["is no text", { a: 1 }],
  ])("keep a text as it is where it %s", (_, map) => {
    expect(back(object({ map: { type: "object" } }), "google", { map })).toEqual({ map });
  });

  it("get listed values back from their labels", () => {
    const values = [1, "1", true, null, { a: 1 }, ""];
    const schema = object({ v: { type: "array", items: { enum: values } } });
    const { items } = (
      normalizeSchema(schema, "google").schema.properties as { v: { items: { enum: string[] } } }
    ).v;
    const args = { v: [...items.enum, null, "other"] };
    expect(back(schema, "google", args)).toEqual({
      v: [1, "1", true, { a: 1 }, "", null, "other"],
    });
    expect(back(object({ n: { type: "null" } }, ["n"]), "google", { n: "null" })).toEqual({
      n: null,
    });
  });

  it("get a tuple's items back, each in its way, from a list or an object", () => {
    const schema = object({
      t: { prefixItems: [{ const: 1 }, object({ "a b": {} })], items: { enum: [2] } },
    });
    const expected = { t: [1, { "a b": 3 }, 2, "x"] };
    expect(back(schema, "google", { t: ["1", { a_b: "3" }, "2", "x"] })).toEqual(expected);
    expect(back(schema, "google", { t: { first: "1", 2: { a_b: "3" } } })).toEqual({
      t: [{ a_b: "3" }, "1"],
    });
    expect(back(schema, "google", { t: "?" })).toEqual({ t: "?" });
  });

  it("get back a value that the schema fixes", () => {
    const schema = object(
      { kind: { const: "file" }, version: { const: { major: 1 } }, maybe: { const: 1 } },
      ["kind", "version"],
    );
    expect(back(schema, "openai-strict", {})).toEqual({ kind: "file", version: { major: 1 } });
  });

  it("pass on what does not look as agreed", () => {
    const schema = object({
      "a b": { type: "array", items: object({ "c d": {} }) },
      e: object({ "f g": {} }),
    });
    const args = { a_b: "none", e: [1] };
    expect(back(schema, "anthropic", args)).toEqual({ "a b": "none", e: [1] });
  });
});

describe("arguments for one of several alternatives", () => {
  const file = object({ type: { const: "file" }, "file path": { type: "string" } }, [
    "type",
    "file path",
  ]);
  const link = object({ type: { const: "link" }, "the url": { type: "string" } }, [
    "type",
    "the url",
  ]);
  const either = object({ source: { anyOf: [file, link, { type: "string" }] } });

  it.each<[unknown, unknown]>([
    [
      { type: "link", the_url: "u" },
      { type: "link", "the url": "u" },
    ],
    // The discriminator left out, and still only one that it can be.
    [{ the_url: "u" }, { type: "link", "the url": "u" }],
    // More than asked for.
    [
      { type: "file", file_path: "p", note: 1 },
      { type: "file", "file path": "p", note: 1 },
    ],
    ["text", "text"],
    // For none of them, or for either.
    [{ neither: 1 }, { neither: 1 }],
    [{}, {}],
    [7, 7],
    [null, undefined],
  ])("%j become %j", (source, expected) => {
    for (const provider of ["anthropic", "google"] as const) {
      const result = back(either, provider, { source });
      expect(result).toEqual(expected === undefined ? {} : { source: expected });
    }
  });

  it("are taken for the only one of their type, where they fit none", () => {
    const schema = object({ p: { anyOf: [object({ "a b": {} }, ["a b"]), { type: "string" }] } });
    expect(back(schema, "anthropic", { p: { other: 1 } })).toEqual({ p: { other: 1 } });
  });

  it("are a text, or JSON text of an object", () => {
    const schema = object({ p: { anyOf: [{ type: "string" }, { type: "object" }] } });
    expect(back(schema, "openai-strict", { p: '{"a":1}' })).toEqual({ p: { a: 1 } });
    expect(back(schema, "openai-strict", { p: "plain" })).toEqual({ p: "plain" });
    expect(back(schema, "openai-strict", { p: "5" })).toEqual({ p: "5" });
  });

  it("are the listed value rather than the text that stands for it", () => {
    const schema = object({ p: { anyOf: [{ type: "string" }, { enum: [1, 2] }] } });
    expect(back(schema, "google", { p: "2" })).toEqual({ p: 2 });
    expect(back(schema, "google", { p: "3" })).toEqual({ p: "3" });
  });

  it("are told apart by lists and maps inside", () => {
    const maps = (type: string): JsonObject => ({
      type: "object",
      properties: { "the list": { type: "array", items: { type } } },
      additionalProperties: { type: type === "string" ? "integer" : "string" },
    });
    const schema = object({ p: { anyOf: [maps("string"), maps("integer")] } });
    expect(back(schema, "anthropic", { p: { the_list: [1], k: "v" } })).toEqual({
      p: { "the list": [1], k: "v" },
    });
  });

  it("are told apart by values that are objects", () => {
    const branch = (value: unknown, name: string): JsonObject =>
      object({ kind: { const: value }, [name]: { type: "string" } }, ["kind"]);
    const schema = object({ p: { anyOf: [branch({ a: 1 }, "x y"), branch({ a: 2 }, "x  y")] } });
    expect(back(schema, "anthropic", { p: { kind: { a: 2 }, x_y: "v" } })).toEqual({
      p: { kind: { a: 2 }, "x  y": "v" },
    });
  });

  it("come out of the property that they were put into", () => {
    const schema = { anyOf: [file, link] };
    const expected = { type: "file", "file path": "p" };
    for (const provider of ["openai", "openai-strict", "google"] as const) {
      const { schema: shown } = normalizeSchema(schema, provider);
      const first = (shown.properties as { input: { anyOf: JsonObject[] } }).input.anyOf[0];
      const name = Object.keys(first?.properties as JsonObject)[1] ?? "";
      expect(back(schema, provider, { input: { type: "file", [name]: "p" } })).toEqual(expected);
      // A model that puts them where the server's documents say so is understood too.
      expect(back(schema, provider, { type: "file", [name]: "p" })).toEqual(expected);
    }
    expect(back(schema, "openai", { input: "?" })).toEqual({ input: "?" });
  });

  it("come out of the text that a map was put into", () => {
    const schema = { type: "object", additionalProperties: { type: "integer" } };
    expect(back(schema, "google", { input: '{"a":1}' })).toEqual({ a: 1 });
    expect(back(schema, "google", { input: "broken" })).toEqual({ input: "broken" });
  });
});
