import { describe, expect, it } from "vitest";
import {
  type NormalizedSchema,
  normalizeSchema,
  type SchemaProvider,
} from "../../../../src/core/tools/schema/normalize.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import { checkers, providers } from "../../../support/schema-rules/check.ts";

function nest(depth: number, step: (inner: JsonObject) => JsonObject): JsonObject {
  let schema: JsonObject = { type: "string" };
  for (let level = 0; level < depth; level += 1) schema = step(schema);
  return schema;
}

function attempt(schema: unknown, provider: SchemaProvider): NormalizedSchema | Error {
  try {
    return normalizeSchema(schema as JsonObject, provider);
  } catch (error) {
    return error as Error;
  }
}

/** Checking what comes out takes longer than making it. */
const SLOW_MS = 60_000;

describe("a hostile schema", { timeout: SLOW_MS }, () => {
  it.each<[string, unknown, string]>([
    ["too deep", nest(100_000, (items) => ({ items })), "nested more than 100 deep"],
    ["too large", { enum: Array.from({ length: 60_000 }, () => 1) }, "more than 50000 parts"],
    ["not JSON", { default: 1n }, "the schema is not JSON"],
    ["no object", [], "the schema is not an object"],
    ["null", null, "the schema is not an object"],
  ])("that is %s is refused", (_, schema, message) => {
    expect(attempt(schema, "generic")).toMatchObject({
      code: "UNSUPPORTED",
      message: expect.stringContaining(message),
    });
  });

  it("whose root alone is too much is refused", () => {
    const description = "x".repeat(2_000_000);
    expect(attempt({ type: "object", description }, "generic")).toMatchObject({
      code: "UNSUPPORTED",
      message: "the schema is too large",
    });
  });

  it("that contains itself is refused", () => {
    const schema: JsonObject = { type: "object" };
    schema.properties = { self: schema };
    expect(attempt(schema, "generic")).toMatchObject({ code: "UNSUPPORTED" });
  });

  it("for a provider that nobody knows is refused", () => {
    expect(() => normalizeSchema({}, "nobody" as "openai")).toThrow(
      expect.objectContaining({ code: "UNSUPPORTED" }),
    );
  });

  const wide = (width: number, schema: unknown): JsonObject =>
    Object.fromEntries(Array.from({ length: width }, (_, index) => [`p${index}`, schema]));
  /** Each level refers ten times to the next: 10^30 in the end. */
  const bomb = (keyword: "properties" | "anyOf" | "allOf"): JsonObject => {
    const $defs: JsonObject = { d30: { type: "string" } };
    for (let level = 0; level < 30; level += 1) {
      const next = { $ref: `#/$defs/d${level + 1}` };
      $defs[`d${level}`] =
        keyword === "properties"
          ? { type: "object", properties: wide(10, next) }
          : { [keyword]: Array.from({ length: 10 }, () => next) };
    }
    return { type: "object", properties: { p: { $ref: "#/$defs/d0" } }, $defs };
  };
  const chain: JsonObject = { end: { type: "string" } };
  for (let index = 0; index < 10_000; index += 1) {
    chain[`c${index}`] = { $ref: `#/$defs/${index === 9999 ? "end" : `c${index + 1}`}` };
  }
  const long = "long ".repeat(50_000);

  const bombs: [string, JsonObject][] = [
    ["multiplies properties", bomb("properties")],
    ["multiplies alternatives", bomb("anyOf")],
    ["multiplies parts", bomb("allOf")],
    ["is a chain of references", { properties: { p: { $ref: "#/$defs/c0" } }, $defs: chain }],
    [
      "repeats a long text",
      { properties: wide(5000, { $ref: "#/$defs/d" }), $defs: { d: { description: long } } },
    ],
    [
      "repeats a long list",
      {
        properties: wide(5000, { $ref: "#/$defs/d" }),
        $defs: { d: { enum: Array.from({ length: 1000 }, (_, index) => `v${index}`) } },
      },
    ],
    [
      "repeats what only words can say",
      {
        properties: wide(5000, { $ref: "#/$defs/d" }),
        $defs: { d: { not: { enum: Array.from({ length: 20_000 }, (_, index) => index) } } },
      },
    ],
    ["asks for thousands of properties", { properties: { p: { allOf: wideList(20) } } }],
    [
      "nests alternatives",
      { properties: { p: nest(45, (each) => ({ anyOf: [each, { type: "null" }] })) } },
    ],
    ["nests arrays", { properties: { p: nest(45, (items) => ({ type: "array", items })) } }],
    [
      "repeats demands",
      {
        properties: wide(2000, { $ref: "#/$defs/d" }),
        $defs: {
          d: { anyOf: [{ required: Array.from({ length: 20_000 }, (_, index) => `r${index}`) }] },
        },
      },
    ],
    [
      "repeats a long name",
      {
        properties: wide(2000, { $ref: "#/$defs/d" }),
        $defs: { d: { properties: { [long]: { type: "string" } }, required: [long] } },
      },
    ],
    [
      "repeats a long type",
      {
        properties: wide(2000, { $ref: "#/$defs/d" }),
        $defs: { d: { type: "object", additionalProperties: { type: long } } },
      },
    ],
    ["has names that fold to one", { properties: Object.fromEntries(odd(4000)) }],
    ["has ten thousand faults", { properties: wide(5000, { type: "any" }) }],
  ];

  function wideList(length: number): JsonObject[] {
    return Array.from({ length }, (_, index) => ({
      required: Array.from({ length: 240 }, (__, each) => `r${index}-${each}`),
    }));
  }

  function* odd(count: number): Generator<[string, JsonObject]> {
    for (let index = 0; index < count; index += 1) {
      yield [String.fromCodePoint(0x4e00 + index), { type: "string" }];
    }
  }

  it.each(bombs)("that %s ends up small and within the rules, or is refused", (_, schema) => {
    for (const provider of providers) {
      const outcome = attempt({ type: "object", ...schema }, provider);
      if (outcome instanceof Error) {
        expect(outcome).toMatchObject({ code: "UNSUPPORTED" });
        continue;
      }
      expect(checkers[provider](outcome.schema)).toEqual([]);
      expect(JSON.stringify(outcome.schema).length).toBeLessThan(4_000_000);
      expect(outcome.notes.length).toBeLessThanOrEqual(101);
    }
  });

  it("cannot put invisible text before the model", () => {
    const schema = {
      type: "object",
      description: "Fine.\u001b[31m\u202e\u{e0041}",
      properties: { p: { type: "string", description: "a\u200bb", not: { const: "\u001b[2J" } } },
    };
    const { description, properties } = normalizeSchema(schema, "google").schema;
    expect(description).toBe("Fine.");
    expect((properties as { p: JsonObject }).p.description).toBe('ab not: {"const":"\\u001b[2J"}.');
  });
});

describe("hostile arguments", () => {
  it("are not followed deeper than the schema goes", () => {
    const schema = {
      type: "object",
      properties: {
        "a b": { anyOf: [{ type: "array", items: { const: 1 } }, { type: "object" }] },
      },
    };
    const deep = nest(50_000, (x) => ({ x }));
    for (const provider of providers) {
      const normalized = normalizeSchema(schema, provider);
      const name = Object.keys(normalized.schema.properties as JsonObject)[0] ?? "";
      expect(normalized.toOriginal({ [name]: deep })["a b"]).toBe(deep);
    }
  });
});
