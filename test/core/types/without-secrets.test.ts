import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/core/types/json.ts";
import {
  dataWithoutSecrets,
  promptWithoutSecrets,
  schemaWithoutSecrets,
  toolWithoutSecrets,
} from "../../../src/core/types/without-secrets.ts";
import { schemaFault } from "../../../src/core/upstream/lists/schema-bounds.ts";

const redact = (text: string): string => text.replaceAll("hunter2", "***");

describe("a schema", () => {
  it("is the same one if it has no secrets", () => {
    const schema = { type: "object", properties: { a: { enum: ["x"], default: "x" } } };
    expect(schemaWithoutSecrets(schema, redact)).toBe(schema);
  });

  it.each<[string, JsonObject, JsonObject]>([
    [
      "texts",
      { title: "hunter2", description: "a hunter2" },
      { title: "***", description: "a ***" },
    ],
    ["a comment", { $comment: "hunter2", type: "string" }, { $comment: "***", type: "string" }],
    ["keywords of its own", { "x-a": { b: ["hunter2"] } }, { "x-a": { b: ["***"] } }],
    ["examples", { examples: ["hunter2", { hunter2: 1 }] }, { examples: ["***", { "***": 1 }] }],
    ["a default, which is left out", { type: "string", default: "hunter2" }, { type: "string" }],
    ["an object as default", { default: { a: ["hunter2"] }, title: "T" }, { title: "T" }],
    [
      "a property that is called like a keyword",
      { properties: { default: { default: "hunter2" }, enum: { title: "hunter2" } } },
      { properties: { default: {}, enum: { title: "***" } } },
    ],
    [
      "a schema in a schema",
      { anyOf: [{ items: { description: "hunter2", default: "ok" } }] },
      { anyOf: [{ items: { description: "***", default: "ok" } }] },
    ],
  ])("loses secrets in %s", (_, schema, told) => {
    const before = JSON.stringify(schema);
    expect(schemaWithoutSecrets(schema, redact)).toEqual(told);
    expect(schemaFault(told)).toBeUndefined();
    expect(JSON.stringify(schema)).toBe(before);
  });

  it.each<[JsonObject, string]>([
    [{ properties: { "a-hunter2": {} } }, "has a credential in the name of a property"],
    [{ patternProperties: { "^hunter2": {} } }, "has a credential in the name of a property"],
    [{ $defs: { hunter2: {} } }, "has a credential in the name of a property"],
    [{ anyOf: [{ properties: { a: { enum: ["b", "hunter2"] } } }] }, 'has a credential in "enum"'],
    [{ const: { a: "hunter2" } }, 'has a credential in "const"'],
    [{ pattern: "^hunter2$" }, 'has a credential in "pattern"'],
    [{ required: ["hunter2"] }, 'has a credential in "required"'],
  ])("cannot lose what a call must repeat: %j", (schema, fault) => {
    expect(schemaWithoutSecrets(schema, redact)).toBe(fault);
  });

  it("keeps `__proto__` as a key", () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"title":"hunter2"}}}') as JsonObject;
    const told = JSON.stringify(schemaWithoutSecrets(schema, redact));
    expect(told).toBe('{"properties":{"__proto__":{"title":"***"}}}');
  });
});

describe("a tool", () => {
  const tool = { name: "search", inputSchema: { type: "object" } };

  it("is the same one if it has no secrets", () => {
    expect(toolWithoutSecrets(tool, redact)).toBe(tool);
  });

  it("loses secrets in everything it is described with", () => {
    const told = toolWithoutSecrets(
      {
        ...tool,
        title: "hunter2",
        description: "hunter2",
        annotations: { title: "hunter2", hunter2: true },
        execution: { a: "hunter2" },
        _meta: { hunter2: ["hunter2"] },
        outputSchema: { description: "hunter2" },
      },
      redact,
    );
    expect(told).toEqual({
      ...tool,
      title: "***",
      description: "***",
      annotations: { title: "***", "***": true },
      execution: { a: "***" },
      _meta: { "***": ["***"] },
      outputSchema: { description: "***" },
    });
  });

  it.each<[object, string]>([
    [{ name: "a-hunter2" }, "its name has a credential in it"],
    [
      { inputSchema: { properties: { hunter2: {} } } },
      "its inputSchema has a credential in the name of a property",
    ],
    [{ outputSchema: { const: "hunter2" } }, 'its outputSchema has a credential in "const"'],
  ])("is left out with %j", (more, why) => {
    expect(toolWithoutSecrets({ ...tool, ...more }, redact)).toBe(why);
  });
});

describe("a prompt", () => {
  it("loses secrets in everything but its names", () => {
    const prompt = { name: "greet", arguments: [{ name: "who", description: "hunter2" }] };
    expect(promptWithoutSecrets(prompt, redact)).toEqual({
      name: "greet",
      arguments: [{ name: "who", description: "***" }],
    });
  });

  it.each([
    [{ name: "hunter2" }, "its name has a credential in it"],
    [
      { name: "greet", arguments: [{ name: "who" }, { name: "hunter2" }] },
      "the name of an argument has a credential in it",
    ],
  ])("is left out with a secret in a name: %j", (prompt, why) => {
    expect(promptWithoutSecrets(prompt, redact)).toBe(why);
  });
});

describe("data", () => {
  it("is the same if it has no secrets, else a copy without them", () => {
    const data = { a: ["b"] };
    expect(dataWithoutSecrets(data, redact)).toBe(data);
    expect(dataWithoutSecrets({ hunter2: ["hunter2", 1] }, redact)).toEqual({ "***": ["***", 1] });
  });
});
