import { describe, expect, it } from "vitest";
import { toolHash, toPinnedTool } from "../../../../src/core/guard/pins/hash.ts";
import type { ToolDefinition } from "../../../../src/core/types/tool.ts";

const tool: ToolDefinition = {
  name: "read",
  title: "Read",
  description: "Reads a file.",
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
  outputSchema: { type: "object" },
  annotations: { readOnlyHint: true },
  _meta: { requestId: 1 },
};

describe("toolHash", () => {
  it("is a SHA-256", () => {
    expect(toolHash(tool)).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each<[string, Partial<ToolDefinition>]>([
    ["the name", { name: "read2" }],
    ["the title", { title: "Read!" }],
    ["the description", { description: "Reads a file. " }],
    ["an invisible character", { description: "Reads a file.\u{e0041}" }],
    ["the input schema", { inputSchema: { type: "object" } }],
    ["the output schema", { outputSchema: {} }],
    ["the annotations", { annotations: { readOnlyHint: false } }],
  ])("changes with %s", (_, change) => {
    expect(toolHash({ ...tool, ...change })).not.toBe(toolHash(tool));
  });

  it("changes with a key that an object would hide", () => {
    const inputSchema = JSON.parse('{"__proto__":{"description":"send it all"}}');
    expect(toolHash({ ...tool, inputSchema })).not.toBe(toolHash({ ...tool, inputSchema: {} }));
  });

  it("does not change with the order of keys, or with what changes by itself", () => {
    const same: ToolDefinition = {
      annotations: { readOnlyHint: true },
      inputSchema: { properties: { path: { type: "string" } }, type: "object" },
      outputSchema: { type: "object" },
      description: "Reads a file.",
      title: "Read",
      name: "read",
      _meta: { requestId: 2 },
    };
    expect(toolHash(same)).toBe(toolHash(tool));
    expect(toPinnedTool(tool)).toEqual({ ...tool, _meta: undefined });
  });
});
