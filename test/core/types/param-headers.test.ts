import { describe, expect, it } from "vitest";
import {
  decodeHeaderValue,
  headerValue,
  paramHeaders,
  readParamHeaders,
} from "../../../src/core/types/param-headers.ts";

const region = { type: "string", "x-mcp-header": "Region" };

describe("the headers a schema declares", () => {
  it.each<[string, object, unknown]>([
    ["none", { properties: { a: { type: "string" } } }, []],
    ["one", { properties: { region } }, [{ path: ["region"], header: "Region" }]],
    [
      "one in a nested object",
      { properties: { where: { type: "object", properties: { region } } } },
      [{ path: ["where", "region"], header: "Region" }],
    ],
    [
      "one on an integer and one on a boolean",
      {
        properties: {
          count: { type: "integer", "x-mcp-header": "Count" },
          dry: { type: "boolean", "x-mcp-header": "Dry" },
        },
      },
      expect.arrayContaining([
        { path: ["count"], header: "Count" },
        { path: ["dry"], header: "Dry" },
      ]),
    ],
    ["none by a property of that name", { properties: { "x-mcp-header": { type: "string" } } }, []],
    ["none by a value", { properties: { a: { enum: [{ "x-mcp-header": "No" }] } } }, []],
  ])("%s", (_, schema, expected) => {
    expect(readParamHeaders({ type: "object", ...schema })).toEqual(expected);
  });

  it.each<[string, object]>([
    ["where it cannot be followed", { "x-mcp-header": "Root", type: "object" }],
    ["where it cannot be followed", { properties: { list: { type: "array", items: region } } }],
    ["where it cannot be followed", { $defs: { region }, properties: {} }],
    ["where it cannot be followed", { anyOf: [{ properties: { region } }] }],
    ["that is not a header name", { properties: { a: { type: "string", "x-mcp-header": "" } } }],
    ["that is not a header name", { properties: { a: { type: "string", "x-mcp-header": "a b" } } }],
    [
      "that is not a header name",
      { properties: { a: { type: "string", "x-mcp-header": "a\r\nb" } } },
    ],
    ["that is not a header name", { properties: { a: { type: "string", "x-mcp-header": 5 } } }],
    [
      "not a string, integer or boolean",
      { properties: { a: { type: "number", "x-mcp-header": "A" } } },
    ],
    [
      "not a string, integer or boolean",
      { properties: { a: { type: "object", "x-mcp-header": "A" } } },
    ],
    ["twice", { properties: { a: region, b: { type: "string", "x-mcp-header": "REGION" } } }],
  ])("wrong: %s", (fault, schema) => {
    expect(readParamHeaders(schema as never)).toContain(fault);
  });
});

describe("the headers of a call", () => {
  const declared = [{ path: ["a", "b"], header: "Thing" }];

  it.each<[unknown, string | undefined]>([
    ["plain", "plain"],
    ["two words", "two words"],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["grün", "=?base64?Z3LDvG4=?="],
    ["a\r\nInjected: yes", "=?base64?YQ0KSW5qZWN0ZWQ6IHllcw==?="],
    ["=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="],
    ["", "=?base64??="],
    [5, "5"],
    [true, "true"],
    [false, "false"],
    [1.5, undefined],
    [2 ** 60, undefined],
    [null, undefined],
    [{}, undefined],
    [undefined, undefined],
  ])("%j is sent as %s", (value, expected) => {
    const headers = paramHeaders(declared, { a: { b: value } });
    expect(headers["mcp-param-thing"]).toBe(expected);
  });

  it("none for what is not there, or is inherited", () => {
    expect(paramHeaders(declared, {})).toEqual({});
    expect(paramHeaders([{ path: ["toString"], header: "X" }], {})).toEqual({});
  });
});

describe("a header's value", () => {
  it.each([
    ["echo"],
    ["a"],
    ["file:///a b/c?d=e#f"],
    ["!~"],
    ["a =?base64??="],
    ["=?base64?ZWNobw=="],
    ["a\tb"],
  ])("%j goes as it is", (value) => {
    expect(headerValue(value)).toBe(value);
  });

  it.each([
    ["nothing", ""],
    ["a space before", " echo"],
    ["a space after", "echo "],
    ["a line break", "echo\r\nx-admin: yes"],
    ["a break at the very end", "echo\n"],
    ["a tab before", "\techo"],
    ["a tab after", "echo\t"],
    ["a control character", "a\u0000b"],
    ["DEL", "a\u007fb"],
    ["letters beyond ASCII", "grüße 🙂"],
    ["what looks encoded already", "=?base64?ZWNobw==?="],
  ])("with %s is encoded, and nothing is lost", (_, value) => {
    const encoded = headerValue(value);
    expect(encoded).toMatch(/^=\?base64\?[A-Za-z0-9+/]*={0,2}\?=$/);
    expect(decodeHeaderValue(encoded)).toBe(value);
  });

  it.each([["=?base64?ZWNobw?="], ["=?base64?ZW=Nobw==?="], ["=?base64?Z W?="], ["=?base64?ü?="]])(
    "%j claims to be base64 and is refused",
    (header) => {
      expect(decodeHeaderValue(header)).toBeUndefined();
    },
  );
});
