import { describe, expect, it } from "vitest";
import { deepestOf, type Field, fieldOf, type Schema } from "../../../src/page/form/field.ts";

/** How many fields a form of it would draw, up to a bound. */
function drawn(schema: Schema, most = 100_000): number {
  const deepest = deepestOf(schema, schema);
  let count = 0;
  const draw = (each: Schema, depth: number): void => {
    count += 1;
    if (count > most) return;
    const field = fieldOf(each, schema, depth, deepest);
    for (const inner of innerOf(field)) draw(inner, depth + 1);
  };
  draw(schema, 0);
  return count;
}

function innerOf(field: Field): Schema[] {
  if (field.kind === "object") return field.members.map(({ schema }) => schema);
  if (field.kind === "list") return [field.of];
  return field.kind === "either" ? field.forms.map(({ schema }) => schema) : [];
}

function times(count: number, of: (at: number) => Schema): Record<string, Schema> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, of(at)]));
}

const ITSELF = { $ref: "#" };

describe("a form", () => {
  it.each<[string, Schema]>([
    ["of itself, many times", { type: "object", properties: times(50, () => ITSELF) }],
    ["of lists of itself", { type: "object", properties: times(50, () => ({ items: ITSELF })) }],
    ["of forms of itself", { anyOf: Array.from({ length: 50 }, () => ITSELF) }],
    [
      "of forms without end",
      { type: "object", properties: times(9, () => ({ oneOf: [ITSELF, ITSELF, ITSELF] })) },
    ],
    [
      "of a few references in each other",
      {
        type: "object",
        properties: times(100, () => ({ $ref: "#/$defs/d0" })),
        $defs: Object.fromEntries(
          Array.from({ length: 6 }, (_, at) => [
            `d${at}`,
            { type: "object", properties: times(100, () => ({ $ref: `#/$defs/d${at + 1}` })) },
          ]),
        ),
      },
    ],
  ])("has no more fields than a browser can draw: %s", (_, schema) => {
    expect(drawn(schema)).toBeLessThanOrEqual(1000);
  });

  it("of what people write is drawn as deep as before", () => {
    const place = { type: "object", properties: times(10, () => ({ type: "string" })) };
    const schema = { type: "object", properties: times(10, () => place) };
    expect(deepestOf(schema, schema)).toBe(6);
    const tree = { type: "object", properties: { name: { type: "string" }, under: ITSELF } };
    expect(deepestOf(tree, tree)).toBe(6);
  });

  it("is drawn for what is no schema at all", () => {
    const hostile = { toString: 1, valueOf: 1 };
    expect(fieldOf({ type: [hostile, "string"] }, {})).toMatchObject({ kind: "text" });
    expect(fieldOf({ type: hostile, title: hostile, enum: hostile }, {})).toEqual({ kind: "json" });
    expect(fieldOf({ enum: Array.from({ length: 2001 }, (_, at) => at) }, {}).kind).toBe("json");
  });
});
