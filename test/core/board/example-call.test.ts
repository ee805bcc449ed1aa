import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { exampleCall } from "../../../src/core/board/example-call.ts";
import { assembleArguments } from "../../../src/core/tools/arguments/assemble.ts";
import { invalidArguments } from "../../../src/core/tools/arguments/invalid.ts";
import { parseArguments } from "../../../src/core/tools/arguments/parse.ts";
import { splitWords } from "../../../src/core/tools/arguments/split-words.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import { shellQuoted } from "../../../src/util/text.ts";

/** Reads the words as a command line does. */
async function readBack(words: readonly string[], schema: JsonObject) {
  const noFile = async () => {
    throw invalidArguments(["no file"]);
  };
  const given = await parseArguments(words, { file: noFile, stdin: noFile });
  const { args, problem, warnings } = assembleArguments(given, schema, "");
  expect(problem).toBeUndefined();
  expect(warnings).toEqual([]);
  return JSON.parse(JSON.stringify(args));
}

const text = { type: "string" };
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  ...more,
});

describe("an example of a call", () => {
  it.each<[string, JsonObject, string]>([
    ["nothing to give", object({}), ""],
    ["a text", object({ path: text }), "path=example"],
    ["only what is required", { ...object({ a: text, b: text }), required: ["b"] }, "b=example"],
    ["nothing that has a default", object({ a: { ...text, default: "x" }, b: text }), "b=example"],
    [
      "numbers and flags",
      object({ n: { type: "number" }, i: { type: "integer" }, b: { type: "boolean" } }),
      "n=1 i=1 b=true",
    ],
    [
      "numbers within limits",
      object({
        a: { type: "integer", minimum: 10, maximum: 20 },
        b: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 0.5 },
        c: { type: "integer", multipleOf: 7 },
        d: { type: "integer", maximum: -3 },
        e: { type: "number", exclusiveMinimum: 1, maximum: 1.25 },
      }),
      "a=10 b=0.25 c=7 d=-3 e=1.125",
    ],
    [
      "texts within limits",
      object({ a: { ...text, minLength: 10 }, b: { ...text, maxLength: 3 } }),
      "a=exampleexample b=ple",
    ],
    ["a choice", object({ a: { enum: ["on", "off"] } }), "a=on"],
    ["a choice that needs quotes", object({ a: { enum: ["it's on", "off"] } }), "a='it'\\''s on'"],
    ["a text that looks like a file", object({ a: { const: "@me" } }), `a:='"@me"'`],
    ["a text that looks like a number", object({ a: { enum: ["5", 5] } }), "a=5"],
    ["null", object({ a: { type: "null" } }), "a=null"],
    ["an example of the schema's", object({ a: { ...text, examples: ["Oslo"] } }), "a=Oslo"],
    [
      "no example of the schema's that it refuses itself",
      object({ a: { ...text, maxLength: 3, examples: ["Oslo"] } }),
      "a=ple",
    ],
    ["a format", object({ at: { ...text, format: "date-time" } }), "at=2026-01-31T12:00:00Z"],
    [
      "a pattern that any word matches",
      object({ id: { ...text, pattern: "^[a-z]+$" } }),
      "id=example",
    ],
    [
      "a pattern and an example that matches it",
      object({ id: { ...text, pattern: "^[a-f0-9]{6}-\\d+$", examples: ["beef42-7"] } }),
      "id=beef42-7",
    ],
    ["a list", object({ tags: { type: "array", items: text } }), "tags=example"],
    [
      "a list of several",
      object({ a: { type: "array", items: text, minItems: 2, uniqueItems: true } }),
      "a=example a=example2",
    ],
    [
      "a list of objects",
      object({ fields: { type: "array", items: object({ name: text, on: { type: "boolean" } }) } }),
      `fields:='[{"name":"example","on":true}]'`,
    ],
    [
      "a pair",
      object({ at: { type: "array", prefixItems: [{ type: "number" }, text], minItems: 2 } }),
      "at=1 at=example",
    ],
    ["an object", object({ place: object({ city: text }) }), "place.city=example"],
    [
      "an object in which nothing is required",
      object({ place: { type: "object", properties: { city: text } } }),
      "place.city=example",
    ],
    ["an object of anything", object({ data: { type: "object" } }), "data:='{}'"],
    [
      "an object with some fields",
      object({
        data: { type: "object", minProperties: 1, additionalProperties: { type: "integer" } },
      }),
      "data.example1=1",
    ],
    [
      "what it refers to",
      { ...object({ a: { $ref: "#/$defs/n", minimum: 5 } }), $defs: { n: { type: "integer" } } },
      "a=5",
    ],
    [
      "what refers to itself",
      {
        ...object({ tree: { $ref: "#/$defs/node" } }),
        $defs: {
          node: object(
            { name: text, children: { type: "array", items: { $ref: "#/$defs/node" } } },
            { required: ["name"] },
          ),
        },
      },
      "tree.name=example",
    ],
    [
      "what all parts ask for",
      { allOf: [object({ a: text }), object({ b: { type: "integer" } })] },
      "a=example b=1",
    ],
    [
      "one of several forms",
      object({
        shape: {
          oneOf: [
            object({ kind: { const: "circle" }, r: { type: "number" } }),
            object({ kind: { const: "square" }, side: { type: "number" } }),
          ],
        },
      }),
      "shape.kind=circle shape.r=1",
    ],
    [
      "one of several groups",
      {
        ...object({ a: text, b: text }),
        required: [],
        anyOf: [{ required: ["a"] }, { required: ["b"] }],
      },
      "a=example",
    ],
    [
      "something rather than null",
      object({ a: { anyOf: [{ type: "null" }, { type: "integer" }] } }),
      "a=1",
    ],
    ["a name with a space and a quote", object({ "it's it": text }), "'it'\\''s it=example'"],
    ["a name with a dot", object({ "a.b": { type: "integer" } }), "a.b=1"],
    [
      "a name with a dot beside its first part",
      object({ "a.b": text, a: text }),
      "a.b=example a=example",
    ],
    ["a name with an =", object({ "a=b": text }), `'{"a=b":"example"}'`],
    ["a name with a colon at its end", object({ "a:": text }), `'a::="example"'`],
    ["a name like an option", object({ "--yes": text }), `'{"--yes":"example"}'`],
    ["a name like a file", object({ "@x": text }), `'{"@x":"example"}'`],
    ["a name like JSON", object({ "{x": text }), `'{"{x":"example"}'`],
    ["a name that is a prototype's", object({ ["__proto__"]: text }), "__proto__=example"],
    [
      "characters that cannot be seen",
      object({ "z\u200b": text, b: { const: "a\u001b[31m\u200b" } }),
      `'{"z\\u200b":"example","b":"a\\u001b[31m\\u200b"}'`,
    ],
    ["a value that cannot be seen", object({ b: { const: "a\u200b" } }), `b:='"a\\u200b"'`],
    ["letters of any script", object({ größe: { const: "größer" } }), "größe=größer"],
  ])("has %s", async (_, schema, line) => {
    const example = await exampleCall(schema);
    const shown = example?.words.map(shellQuoted).join(" ");
    expect(shown).toBe(line);
    expect(example?.fits).toBe(true);
    // What a person pastes arrives as it was meant, and the schema accepts it.
    const args = await readBack(splitWords(shown ?? ""), schema);
    const validate = new Ajv2020({ strict: false, validateFormats: false, useDefaults: true });
    expect(validate.validate(schema, args)).toBe(true);
  });
});

describe("a schema without an example", () => {
  const node = object({ next: { $ref: "#/$defs/node" } });
  it.each<[string, JsonObject]>([
    [
      "needs itself without an end",
      { ...object({ a: { $ref: "#/$defs/node" } }), $defs: { node } },
    ],
    ["wants very many items", object({ a: { type: "array", items: text, minItems: 1e9 } })],
    ["wants a very long text", object({ a: { ...text, minLength: 1e9 } })],
    ["allows nothing", object({ a: { enum: [] } })],
    ["refers to nowhere", object({ a: { $ref: "#/nowhere" } })],
    ["contradicts itself", object({ a: { allOf: [text, { type: "integer" }] } })],
  ])("%s", async (_, schema) => {
    expect(await exampleCall(schema)).toBeUndefined();
  });

  it("is known by what the check says about it", async () => {
    const schema = { ...object({ a: text }), not: { required: ["a"] } };
    expect(await exampleCall(schema)).toEqual({ words: ["a=example"], fits: false });
    const unusable = object({ a: text, b: { $ref: "https://example.com/x" } }, { required: ["a"] });
    expect(await exampleCall(unusable)).toEqual({ words: ["a=example"], fits: false });
    const matching = object({ a: { ...text, pattern: "^[a-f0-9]{6}-\\d+$" } });
    expect(await exampleCall(matching)).toEqual({ words: ["a=example"], fits: false });
  });

  it("costs no more than a bounded number of steps", async () => {
    const $defs: JsonObject = { d60: { enum: [] } };
    for (let at = 0; at < 60; at += 1) {
      const next = { $ref: `#/$defs/d${at + 1}` };
      $defs[`d${at}`] = { anyOf: [next, { ...next }, object({ a: next, b: next })] };
    }
    expect(await exampleCall({ ...object({ a: { $ref: "#/$defs/d0" } }), $defs })).toBeUndefined();
  });
});
