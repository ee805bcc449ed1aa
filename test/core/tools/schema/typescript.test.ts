import fc from "fast-check";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";
import { docComment, toTypeScript } from "../../../../src/core/tools/schema/typescript.ts";
import { wild } from "./support/arbitrary.ts";

function write(schema: unknown, isInput = true) {
  const { text, declarations } = toTypeScript(schema, {
    name: "Tool",
    taken: new Map(),
    isInput,
  });
  return { text, declarations };
}

/** On one line, since the lines are for people. */
function typeOf(schema: unknown, isInput?: boolean): string {
  const { text, declarations } = write(schema, isInput);
  return [text, ...declarations].join(" ").replace(/\s+/g, " ");
}

const property = (schema: unknown): object => ({ type: "object", properties: { a: schema } });

describe("a schema as a TypeScript type", () => {
  it.each<[name: string, schema: unknown, type: string]>([
    ["a text", { type: "string" }, "string"],
    ["a whole number", { type: "integer" }, "number"],
    ["several types", { type: ["string", "integer", "null"] }, "string | number | null"],
    ["null in OpenAPI's way", { type: "string", nullable: true }, "string | null"],
    ["a list of choices", { enum: ["a", 1, true, null] }, '"a" | 1 | true | null'],
    ["choices of a type", { type: "string", enum: ["a", 1] }, '"a"'],
    ["one choice", { const: "a" }, '"a"'],
    ["a choice that is an object", { const: { a: [1] } }, "{ a: [1] }"],
    ["a number that is infinite in JavaScript", { const: Infinity }, "number"],
    ["anything", {}, "unknown"],
    ["anything, as true", true, "unknown"],
    ["nothing", false, "never"],
    ["no schema at all", "?", "unknown"],
    ["a list", { type: "array", items: { type: "string" } }, "string[]"],
    ["a list of anything", { type: "array" }, "unknown[]"],
    [
      "a list of alternatives",
      { type: "array", items: { type: ["string", "null"] } },
      "(string | null)[]",
    ],
    [
      "a tuple",
      { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
      "[string, number]",
    ],
    [
      "a tuple whose end can be left out",
      { prefixItems: [{ type: "string" }, { type: "number" }], minItems: 1 },
      "[string, number?]",
    ],
    [
      "a tuple in the older way, with more behind it",
      { type: "array", items: [{ type: "string" }], additionalItems: { type: "number" } },
      "[string, ...number[]]",
    ],
    [
      "an object",
      {
        type: "object",
        properties: { path: { type: "string" }, "max-lines": { type: "number" } },
        required: ["path"],
      },
      '{ path: string; "max-lines"?: number; }',
    ],
    ["a required property without a schema", { required: ["a"] }, "{ a: unknown; }"],
    ["an object with any keys", { type: "object" }, "{ [key: string]: unknown; }"],
    [
      "an object without keys",
      { type: "object", properties: {}, additionalProperties: false },
      "{ [key: string]: never; }",
    ],
    [
      "an object with values of one type",
      { type: "object", additionalProperties: { type: "number" } },
      "{ [key: string]: number; }",
    ],
    [
      "an object with keys by pattern",
      { patternProperties: { "^x": { type: "number" } }, additionalProperties: false },
      "{ [key: string]: number; }",
    ],
    [
      "named and other keys: the type of the others is not that of the named",
      { properties: { a: { type: "string" } }, additionalProperties: { type: "number" } },
      "{ a?: string; [key: string]: unknown; }",
    ],
    ["alternatives", { anyOf: [{ type: "string" }, { type: "number" }] }, "string | number"],
    ["the same alternative twice", { oneOf: [{ type: "string" }, { type: "string" }] }, "string"],
    [
      "alternatives of an object",
      {
        type: "object",
        properties: { kind: { type: "string" } },
        oneOf: [{ required: ["a"] }, { properties: { b: { type: "number" } } }],
      },
      "{ kind?: string; } & ({ a: unknown; } | { b?: number; })",
    ],
    [
      "parts of one object",
      {
        allOf: [{ properties: { a: { type: "string" } } }, { required: ["a"] }],
      },
      "{ a: string; }",
    ],
    ["parts that exclude each other", { allOf: [{ type: "string" }, { type: "number" }] }, "never"],
    [
      "a definition, written out at the top",
      { $ref: "#/$defs/Args", $defs: { Args: property({ type: "string" }) } },
      "{ a?: string; }",
    ],
    [
      "a definition, named elsewhere",
      { ...property({ $ref: "#/$defs/a-kind" }), $defs: { "a-kind": { enum: ["x"] } } },
      '{ a?: ToolAKind; } type ToolAKind = "x";',
    ],
    [
      "a definition in allOf, to describe it",
      {
        ...property({ allOf: [{ $ref: "#/$defs/K" }], description: "Which" }),
        $defs: { K: { type: "string" } },
      },
      "{ /** Which */ a?: ToolK; } type ToolK = string;",
    ],
    [
      "definitions whose names are the same in TypeScript",
      {
        properties: { a: { $ref: "#/$defs/k" }, b: { $ref: "#/$defs/-k" } },
        $defs: { k: { type: "string" }, "-k": { type: "number" } },
      },
      "{ a?: ToolK; b?: ToolK2; } type ToolK = string; type ToolK2 = number;",
    ],
    [
      "a definition that contains itself",
      {
        ...property({ $ref: "#/$defs/Node" }),
        $defs: {
          Node: {
            properties: { next: { anyOf: [{ $ref: "#/$defs/Node" }, { type: "null" }] } },
          },
        },
      },
      "{ a?: ToolNode; } type ToolNode = { next?: ToolNode | null; };",
    ],
    [
      "a schema that contains itself",
      property({ $ref: "#" }),
      "{ a?: Tool; } type Tool = { a?: Tool; };",
    ],
    [
      "a definition that is only itself",
      { ...property({ $ref: "#/$defs/A" }), $defs: { A: { $ref: "#/$defs/A" } } },
      "{ a?: ToolA; } type ToolA = unknown;",
    ],
    [
      "definitions that are each other",
      {
        ...property({ $ref: "#/$defs/A" }),
        $defs: {
          A: { anyOf: [{ $ref: "#/$defs/B" }, { type: "string" }] },
          B: { anyOf: [{ $ref: "#/$defs/A" }, { type: "number" }] },
        },
      },
      "{ a?: ToolA; } type ToolA = unknown;",
    ],
    ["a reference that leads nowhere", property({ $ref: "#/nowhere" }), "{ a?: unknown; }"],
    ["a reference to another document", property({ $ref: "https://x/y" }), "{ a?: unknown; }"],
  ])("%s", (_, schema, type) => {
    expect(typeOf(schema)).toBe(type);
  });

  it("lets an argument be left out that has a default, but not a part of a result", () => {
    const schema = { ...property({ type: "number", default: 3 }), required: ["a"] };
    expect(typeOf(schema, true)).toBe("{ /** @default 3 */ a?: number; }");
    expect(typeOf(schema, false)).toBe("{ /** @default 3 */ a: number; }");
  });

  it("describes properties in comments, wrapped for people", () => {
    const long = "word ".repeat(40);
    const schema = property({ type: "string", description: `First.\n\n${long}`, deprecated: true });
    expect(write(schema).text.split("\n")).toEqual([
      "{",
      "  /**",
      "   * First.",
      "   *",
      `   * ${"word ".repeat(19).trim()}`,
      `   * ${"word ".repeat(19).trim()}`,
      "   * word word",
      "   * @deprecated",
      "   */",
      "  a?: string;",
      "}",
    ]);
  });
});

describe("what a hostile server writes", () => {
  it.each<[name: string, text: string, lines: string[]]>([
    ["the end of a comment", "a */ b **/ c", ["/** a *\\/ b **\\/ c */"]],
    ["the end of a comment with a hidden character in it", "*\u200b/", ["/** *\\/ */"]],
    ["a tag", "@deprecated", ["/** \\@deprecated */"]],
    ["control characters", "a\u001b[31mb\u0000\u2028c", ["/** abc */"]],
    ["nothing but blanks", " \n\t ", []],
  ])("a comment with %s", (_, text, lines) => {
    expect(docComment(text, [], 0)).toEqual(lines);
  });

  it("stays a name, whatever characters it has", () => {
    const name = '"}; type X = "*/\n\u2028\ud800';
    const schema = { type: "object", properties: { [name]: { enum: [name], default: name } } };
    const { text } = write(schema);
    expect(text).toContain(String.raw`"\"}; type X = \"*/\n\u2028\ud800"?: "\"}`);
    expectToParse(schema);
  });

  const doubled = (count: number, wrap: (next: object) => object): object => ({
    ...wrap({ $ref: "#/$defs/d0" }),
    $defs: Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`d${at}`, wrap({ $ref: `#/$defs/d${at + 1}` })]),
    ),
  });
  const nested = (levels: number): object => {
    let schema: object = { type: "string" };
    for (let level = 0; level < levels; level += 1) schema = property(schema);
    return schema;
  };

  it.each<[name: string, schema: object]>([
    ["levels without end", nested(5000)],
    [
      "alternatives that double a thousand times",
      doubled(1000, (next) => ({ anyOf: [next, next] })),
    ],
    ["objects that double", doubled(1000, (next) => ({ properties: { a: next, b: next } }))],
    ["a description of ten megabytes", property({ description: "*/".repeat(5_000_000) })],
    [
      "a hundred thousand choices",
      { enum: Array.from({ length: 100_000 }, (_, at) => `choice ${at}`) },
    ],
    [
      "thousands of definitions with the same name",
      {
        properties: Object.fromEntries(
          Array.from({ length: 5000 }, (_, at) => [
            `p${at}`,
            { $ref: `#/$defs/${"-".repeat(at % 900)}${at}/k` },
          ]),
        ),
        $defs: Object.fromEntries(
          Array.from({ length: 5000 }, (_, at) => [
            `${"-".repeat(at % 900)}${at}`,
            { k: { type: "string" } },
          ]),
        ),
      },
    ],
  ])("is bounded: %s", (_, schema) => {
    const { text, declarations } = write(schema);
    const length = [text, ...declarations].join("\n").length;
    expect(length).toBeGreaterThan(0);
    expect(length).toBeLessThan(4_000_000);
  });

  it("gives text that parses, for any words", () => {
    const words = fc
      .array(
        fc.constantFrom(
          ...'*/\\"`$@{};:\n\r\u2028\u200b\ud800 a1'.split(""),
          "*/",
          "/*",
          "//",
          "__proto__",
        ),
      )
      .map((parts) => parts.join(""));
    const schemas = fc
      .record({ name: words, description: words, value: words })
      .map(({ name, description, value }) => ({
        type: "object",
        description,
        properties: {
          [name]: { enum: [value, { [value]: [value] }], description, default: value },
        },
        required: [value],
      }));
    fc.assert(fc.property(schemas, expectToParse), { numRuns: 400 });
  });

  it("gives text that parses, for any schema", () => {
    fc.assert(fc.property(wild, expectToParse), { numRuns: 400 });
  });
});

function expectToParse(schema: unknown): void {
  const { text, declarations } = write(schema);
  const module = [`export type Root = ${text};`, ...declarations].join("\n");
  const { body } = parseAst(module, { lang: "ts" });
  expect(body.length).toBe(1 + declarations.length);
}
