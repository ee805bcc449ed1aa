import * as http from "node:http";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import {
  type CompiledSchema,
  compileSchema,
  FORMATS,
} from "../../../../src/core/guard/output/compile.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";

const KEYWORDS = (
  "$id $anchor $ref $dynamicRef $dynamicAnchor $comment type format required enum const pattern " +
  "properties patternProperties items dependentRequired anyOf if then not multipleOf minLength " +
  "contains additionalProperties unevaluatedProperties propertyNames discriminator nullable"
).split(" ");

async function verdict(schema: JsonObject, answer: unknown): Promise<string> {
  const compiled = await compileSchema(schema);
  if (compiled.kind === "unusable") return `unusable: ${compiled.reason}`;
  const { kind, ...rest } = compiled.check(answer);
  return "reason" in rest ? `${kind}: ${rest.reason}` : kind;
}

async function enforced(
  schema: JsonObject,
): Promise<Extract<CompiledSchema, { kind: "enforced" }>> {
  const compiled = await compileSchema(schema);
  if (compiled.kind === "unusable") throw new Error(compiled.reason);
  return compiled;
}

function nested(depth: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < depth; level++) value = { next: value };
  return value;
}

function many<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const list = { type: "array", items: { type: "object", properties: { id: { type: "integer" } } } };

describe("what breaks a schema is named", () => {
  it.each<[string, JsonObject, unknown]>([
    ["must be object", { type: "object" }, 1],
    ["/1/id must be integer", list, [{ id: 1 }, { id: "2" }]],
    ["must have required property 'a'", { required: ["a"] }, {}],
    ["must NOT have additional properties ('b')", { additionalProperties: false }, { b: 1 }],
    // With a space in it, a secret would not be found.
    ["must NOT have additional properties ('ab')", { additionalProperties: false }, { "a\n b": 1 }],
    // One pass over each of these blanks for every other one would take minutes.
    [
      `/ must be integer`,
      { additionalProperties: { type: "integer" } },
      { ["\t".repeat(400_000)]: "" },
    ],
    ["must NOT have unevaluated properties ('b')", { unevaluatedProperties: false }, { b: 1 }],
    ["property name must be valid ('abc')", { propertyNames: { maxLength: 2 } }, { abc: 1 }],
    ["must be equal to one of the allowed values", { enum: [1, { a: [2] }] }, { a: [3] }],
    ["must match a schema in anyOf", { anyOf: [{ type: "string" }, { minimum: 3 }] }, 1],
    ["must be <= 3", { if: { type: "string" }, else: { maximum: 3 } }, 4],
    [
      "must NOT have duplicate items",
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
    [
      "must NOT have duplicate items",
      { uniqueItems: true },
      [
        [1, "a", null],
        [1, "a", null],
      ],
    ],
    ["must NOT have duplicate items", { uniqueItems: true }, ["a", "b", "a"]],
    ['must match pattern "^a+$"', { pattern: "^a+$" }, "ab"],
    ['must match format "date"', { format: "date" }, "2026-02-30"],
    ["/a~1b must be string", { properties: { "a/b": { type: "string" } } }, { "a/b": 1 }],
    ["is not valid", {}, undefined],
  ])("%s", async (reason, schema, answer) => {
    const wanted = reason === "is not valid" ? "valid" : `broken: ${reason}`;
    expect(await verdict(schema, answer)).toBe(wanted);
  });

  it("in one line of visible text, whatever the answer's keys are", async () => {
    const key = `\u001b[31mred\u202e\n${"x".repeat(1000)}`;
    const line = await verdict({ additionalProperties: { type: "string" } }, { [key]: 1 });
    expect(line).toMatch(/^broken: \/redx+… must be string$/);
    expect(line.length).toBeLessThan(300);
  });
});

describe("a valid answer", () => {
  it.each<[string, JsonObject, unknown]>([
    [
      "of unique values of several types",
      { uniqueItems: true },
      [1, "1", true, null, [1], ["1"], {}],
    ],
    ["that need not be unique", { uniqueItems: false }, [1, 1]],
    ["with a format that is not known", { format: "moon-phase" }, "full"],
    ["with a number where a format is for texts", { format: "date" }, 7],
    [
      "by the rules of draft-07",
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        items: [{ type: "string" }, { type: "number" }],
      },
      ["a", 1, {}],
    ],
    [
      "by the rules of 2019-09",
      {
        $schema: "https://json-schema.org/draft/2019-09/schema",
        $recursiveAnchor: true,
        properties: { a: { $recursiveRef: "#" } },
        unevaluatedProperties: false,
      },
      { a: { a: {} } },
    ],
    [
      "by those of 2020-12, where the draft is unknown",
      { $schema: "https://example.com/mine", prefixItems: [{ type: "string" }] },
      ["a", 1],
    ],
    [
      "with a recursive reference",
      { properties: { next: { $ref: "#" } }, type: "object" },
      nested(150),
    ],
    [
      "with a reference to the schema's own id",
      {
        $id: "https://example.com/a",
        $defs: { n: { type: "number" } },
        properties: { x: { $ref: "https://example.com/a#/$defs/n" } },
      },
      { x: 1 },
    ],
    ["with an id in the manner of draft-04", { id: "weather", type: "object" }, {}],
    [
      "with names by pattern",
      { patternProperties: { "^x-": { type: "string" } }, additionalProperties: false },
      { "x-a": "b" },
    ],
    ["with a pattern in JavaScript's own spelling", { pattern: "^\\u0041\\/[\\w-]+$" }, "A/b-c"],
  ])("%s", async (_, schema, answer) => {
    expect(await verdict(schema, answer)).toBe("valid");
  });

  it("is not touched", async () => {
    const schema = {
      properties: { a: { type: "number", default: 3 } },
      additionalProperties: false,
    };
    const answer = {};
    expect(await verdict(schema, answer)).toBe("valid");
    expect(answer).toEqual({});
  });

  it("with the same schema id as another tool's is judged by its own", async () => {
    const a = await enforced({ $id: "answer", type: "string" });
    const b = await enforced({ $id: "answer", type: "number" });
    expect([a.check("x").kind, b.check("x").kind]).toEqual(["valid", "broken"]);
  });
});

describe("properties that every object inherits", () => {
  it("are not there because they are inherited", async () => {
    const required = ["toString"];
    expect(await verdict({ required }, {})).toBe("broken: must have required property 'toString'");
    expect(await verdict({ required: ["__proto__"] }, {})).toContain("broken");
  });

  it.each(["__proto__", "constructor", "toString"])("%s is a name like any other", async (name) => {
    const answer: unknown = JSON.parse(`{"${name}": {"polluted": 1}}`);
    expect(await verdict({ additionalProperties: false }, answer)).toBe(
      `broken: must NOT have additional properties ('${name}')`,
    );
    expect(await verdict({ uniqueItems: true }, [answer, {}])).toBe("valid");
    expect(({} as JsonObject)["polluted"]).toBeUndefined();
  });

  it("in a schema change nothing but the schema", async () => {
    const schema = JSON.parse(
      '{"properties": {"__proto__": {"type": "string"}}, "$defs": {"__proto__": {"type": "null"}}}',
    ) as JsonObject;
    expect(await verdict(schema, { a: 1 })).toBe("valid");
    expect(({} as JsonObject)["type"]).toBeUndefined();
  });
});

describe("a hostile schema", () => {
  let server: http.Server | undefined;
  afterEach(() => {
    server?.close();
    server = undefined;
  });

  it("fetches nothing", async () => {
    let requests = 0;
    server = http.createServer(() => (requests += 1)).listen(0, "127.0.0.1");
    await new Promise((resolve) => server?.once("listening", resolve));
    const { port } = server.address() as { port: number };
    const $ref = `http://127.0.0.1:${port}/schema.json`;
    for (const schema of [{ $ref }, { $schema: $ref, $id: $ref }, { $dynamicRef: $ref }]) {
      await verdict(schema, {});
    }
    expect(await verdict({ $ref }, {})).toBe(`unusable: can't resolve reference ${$ref} from id #`);
    expect(requests).toBe(0);
  });

  it.each<[string, JsonObject, string]>([
    [
      "a cycle of references",
      { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
      "it is too intricate",
    ],
    ["great depth", nested(20_000) as JsonObject, "it is nested more than 64 deep"],
    ["many parts", { enum: many(2000, (index) => index) }, "it has more than 2000 values"],
    ["great length", { description: "x".repeat(300_000) }, "it is too long"],
    ["a wrong type", { type: "strange" }, "type must be JSONType or JSONType[]: strange"],
    ["a keyword of the wrong shape", { properties: 3 }, 'properties value must be ["object"]'],
    [
      "asynchronous parts",
      { $defs: { a: { $async: true } }, $ref: "#/$defs/a" },
      "async schema referenced by sync schema",
    ],
    [
      "names by an unsupported pattern",
      { patternProperties: { "(?=a)": { type: "string" } } },
      "the pattern (?=a) for names of properties is not supported",
    ],
  ])("with %s is not used", async (_, schema, reason) => {
    expect(await compileSchema(schema)).toEqual({ kind: "unusable", reason });
  });

  it("cannot make its verdict a promise", async () => {
    expect(await verdict({ $async: true, type: "object" }, 1)).toBe("broken: must be object");
  });

  it("cannot run code of its own, whatever stands where", async () => {
    const code = fc.constantFrom(
      '"];globalThis.pwned=1;//',
      "`${globalThis.pwned=1}`",
      '\\");globalThis.pwned=1;("',
      "*/globalThis.pwned=1;/*",
      "\n;globalThis.pwned=1;\u2028",
      "']+(globalThis.pwned=1)+['",
    );
    const leaf = fc.oneof(
      code,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.constant("object"),
    );
    const keyword = fc.constantFrom(...KEYWORDS);
    const { schema } = fc.letrec<{ schema: JsonObject; value: unknown }>((tie) => ({
      schema: fc.dictionary(fc.oneof(keyword, code), tie("value"), { maxKeys: 4 }),
      value: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(leaf, { maxLength: 3 }),
        tie("schema"),
        fc.array(tie("schema"), { maxLength: 2 }),
      ),
    }));
    const answer = { a: "b", '"];globalThis.pwned=1;//': ["x", 1, {}] };
    await fc.assert(
      fc.asyncProperty(schema, async (each) => {
        await verdict(each, answer);
        await verdict(each, "text");
        expect(globalThis).not.toHaveProperty("pwned");
      }),
      { numRuns: 150 },
    );
  });
});

describe("a check ends soon", () => {
  const both = (ref: string): JsonObject[] => [{ $ref: ref }, { $ref: ref }];
  const node = { $ref: "#/$defs/node" };
  const ladder = (key: "allOf" | "anyOf", last: JsonObject): JsonObject => ({
    $ref: "#/$defs/d0",
    $defs: Object.fromEntries(
      many(61, (index) => [
        `d${index}`,
        index === 60 ? last : { [key]: both(`#/$defs/d${index + 1}`) },
      ]),
    ),
  });

  it.each<[string, JsonObject, unknown, string]>([
    [
      "where every level is looked at twice",
      { ...node, $defs: { node: { allOf: many(2, () => ({ properties: { next: node } })) } } },
      nested(64),
      "unchecked: that takes too many steps",
    ],
    [
      "where references double",
      ladder("allOf", { type: "string" }),
      "x",
      "unchecked: that takes too many steps",
    ],
    [
      "where failures double",
      ladder("anyOf", { type: "number" }),
      "x",
      "unchecked: that takes too many steps",
    ],
    [
      "where a long text is measured often",
      { allOf: many(900, () => ({ minLength: 1 })) },
      "x".repeat(5_000_000),
      "unchecked: that takes too many steps",
    ],
    [
      "where a large object is counted often",
      { allOf: many(900, () => ({ minProperties: 1 })) },
      Object.fromEntries(many(50_000, (index) => [`k${index}`, 1])),
      "unchecked: that takes too many steps",
    ],
    [
      "where a pattern has many states and the text is long",
      { pattern: "(a|b)*a(a|b){500}$" },
      "ab".repeat(20_000),
      "unchecked: that takes too many steps",
    ],
    [
      "where 20 000 objects are to be unique",
      { uniqueItems: true },
      many(20_000, (id) => ({ id, list: [id] })),
      "valid",
    ],
    [
      "where a native pattern would take for ever",
      { properties: { a: { pattern: "^(a+)+$" } } },
      { a: `${"a".repeat(50_000)}b` },
      'broken: /a must match pattern "^(a+)+$"',
    ],
    [
      "where the answer is 20 000 deep",
      { type: "object" },
      nested(20_000),
      "unchecked: it is nested more than 200 deep",
    ],
    [
      "where the answer has a million parts",
      { type: "array" },
      many(1_000_000, () => 0),
      "unchecked: it has more than 200000 values",
    ],
    [
      "where the answer is large and honest",
      {
        type: "array",
        items: {
          type: "object",
          properties: { id: { type: "integer" } },
          required: ["id"],
          additionalProperties: false,
        },
      },
      many(60_000, (id) => ({ id })),
      "valid",
    ],
  ])("%s", async (_, schema, answer, expected) => {
    expect(await verdict(schema, answer)).toBe(expected);
  });

  it("and leaves the next check all its steps", async () => {
    const { check } = await enforced({ items: { pattern: "^a{20}" } });
    const answer = many(2000, () => "a".repeat(200));
    expect(many(5, () => check(answer).kind)).toEqual(many(5, () => "valid"));
  });

  it("with patterns that are too large left out", async () => {
    const patterns = many(30, (index) => `(?:a{30}){30}${index}`);
    const { ignored, check } = await enforced({ allOf: patterns.map((pattern) => ({ pattern })) });
    expect(ignored.length).toBeGreaterThan(0);
    expect(ignored.length).toBeLessThan(30);
    expect(check("b").kind).toBe("broken");
  });
});

const formats: Record<string, { yes: string[]; no: string[] }> = {
  "date-time": {
    yes: ["2026-02-28T23:59:60Z", "2026-01-01t00:00:00.123456+01:00", "2026-01-01 00:00:00-0530"],
    no: ["2026-02-29T00:00:00Z", "2026-01-01", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00", ""],
  },
  date: {
    yes: ["2024-02-29", "0001-01-01", "9999-12-31"],
    no: ["2023-02-29", "2026-13-01", "2026-00-10", "26-01-01", "2026-01-01 "],
  },
  time: {
    yes: ["12:30:00Z", "23:59:60+00:00"],
    no: ["12:30", "25:00:00Z", "12:60:00Z", "12:30:61Z"],
  },
  email: { yes: ["a@b", "jörg.x@example.com"], no: ["a", "a@", "@b", "a b@c", "a@b@c"] },
  uri: {
    yes: ["https://example.com/a?b#c", "urn:isbn:1", "mailto:a@b", "https://example.com/ä"],
    no: ["/relative", "//host/path", "https://a b", "1a:x", ""],
  },
  uuid: {
    yes: ["123e4567-e89b-12d3-a456-426614174000", "urn:uuid:123E4567-e89b-12d3-a456-426614174000"],
    no: ["123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g"],
  },
  ipv4: { yes: ["127.0.0.1"], no: ["256.0.0.1", "1.2.3", "::1"] },
  ipv6: { yes: ["::1", "fe80::1"], no: ["fe80::1%eth0", "127.0.0.1", "1::2::3"] },
};

describe.each(Object.entries(formats))("the format %s", (format, { yes, no }) => {
  it.each(yes)("takes %j", (text) => expect(FORMATS[format]?.(text)).toBe(true));
  it.each(no)("refuses %j", (text) => expect(FORMATS[format]?.(text)).toBe(false));

  it("ends at once on a long text", () => {
    const long = ["a", "1", ":", "@", "2026-01-01T00:00:00.", "a@", "a:"].map((start) =>
      start.padEnd(1_000_000, start),
    );
    for (const text of long) expect(FORMATS[format]?.(text)).toBeTypeOf("boolean");
  });
});

it("checks exactly these formats", () => {
  expect(Object.keys(FORMATS).toSorted()).toEqual(Object.keys(formats).toSorted());
});
