import { describe, expect, it } from "vitest";
import { schemaFault } from "../../../../src/core/upstream/lists/schema-bounds.ts";

const TOO_DEEP = "is nested more than 64 deep";
const OUTSIDE = "refers outside of itself ($ref)";
const CYCLE = "has a $ref that leads back to itself";

function nest(depth: number, wrap: (inner: unknown) => unknown = (not) => ({ not })): unknown {
  let schema: unknown = {};
  for (let level = 0; level < depth; level += 1) schema = wrap(schema);
  return schema;
}

describe("a schema is accepted that", () => {
  it.each<[string, unknown]>([
    ["is empty", {}],
    ["is 64 deep", nest(64)],
    ["refers to its definitions", { $ref: "#/$defs/a", $defs: { a: { type: "string" } } }],
    ["refers to itself", { properties: { child: { $ref: "#" } } }],
    [
      "recurses through a property",
      {
        $defs: { node: { properties: { next: { $ref: "#/$defs/node" }, value: {} } } },
        $ref: "#/$defs/node",
      },
    ],
    [
      "recurses through items",
      { $defs: { tree: { items: { $ref: "#/$defs/tree" } } }, $ref: "#/$defs/tree" },
    ],
    ["follows a chain of references", chain(30)],
    ["follows a long one", chain(1000)],
    ["refers to what is not there", { $ref: "#/$defs/missing/deeper" }],
    ["refers to an anchor", { items: { $ref: "#address" }, $defs: { a: { $anchor: "address" } } }],
    ["refers to a value that is not a schema", { $ref: "#/type/x", type: "object" }],
    ["refers through a list", { $ref: "#/anyOf/1", anyOf: [{}, { type: "string" }] }],
    ["refers by an escaped pointer", { $ref: "#/$defs/a~1b~0c", $defs: { "a/b~c": {} } }],
    ["refers by a broken escape", { $ref: "#/%zz", "%zz": {} }],
    ["has a property that is called $ref", { properties: { $ref: { type: "string" } } }],
    ["refers to something inherited", { $ref: "#/constructor/prototype" }],
    ["has 19 000 parts", { enum: Array.from({ length: 19_000 }, () => ({})) }],
  ])("%s", (_, schema) => {
    expect(schemaFault(schema)).toBeUndefined();
  });
});

describe("a schema is refused that", () => {
  it.each<[string, unknown, string]>([
    ["is 65 deep", nest(65), TOO_DEEP],
    ["is 20 000 deep", nest(20_000), TOO_DEEP],
    ["is 20 000 lists deep", nest(20_000, (inner) => [inner]), TOO_DEEP],
    [
      "has too many parts",
      { enum: Array.from({ length: 20_000 }, () => ({})) },
      "has more than 20000 parts",
    ],
    ["refers to itself alone", { $ref: "#" }, CYCLE],
    [
      "refers in a circle",
      { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
      CYCLE,
    ],
    [
      "refers into a circle",
      { items: { $ref: "#/$defs/a" }, $defs: { a: { $ref: "#/$defs/a" } } },
      CYCLE,
    ],
    ["hides the circle behind an escape", { $defs: { a: { $ref: "#/%24defs/a" } } }, CYCLE],
    ["refers to http", { $ref: "http://127.0.0.1:9/schema.json" }, OUTSIDE],
    ["refers to https, deep down", { anyOf: [{ items: { $ref: "https://x/y#/z" } }] }, OUTSIDE],
    ["refers to a file", { $ref: "file:///etc/passwd" }, OUTSIDE],
    ["refers to a relative address", { $ref: "other.json#/a" }, OUTSIDE],
    ["refers to the network's default scheme", { $ref: "//host/schema" }, OUTSIDE],
    ["refers there in two steps", { $ref: "#/a", a: { $ref: "http://x" } }, OUTSIDE],
  ])("%s", (_, schema, fault) => {
    expect(schemaFault(schema)).toBe(fault);
  });

  it("is checked fast, however many references lead to one long pointer", () => {
    const far = { $ref: `#${"/".repeat(200_000)}` };
    const refs = Array.from({ length: 9_000 }, () => ({ $ref: "#/$defs/far" }));
    expect(schemaFault({ $defs: { far }, anyOf: refs })).toBeUndefined();
  });
});

/** `length` references, each to the next, and something in the end. */
function chain(length: number): object {
  const $defs = Object.fromEntries(
    Array.from({ length }, (_, n) => [`d${n}`, { $ref: `#/$defs/d${n + 1}` }]),
  );
  return { $ref: "#/$defs/d0", $defs: { ...$defs, [`d${length}`]: { type: "string" } } };
}
