import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/core/config/load.ts";
import {
  type Include,
  type IncludeMode,
  includeOf,
  isForApp,
  isForModels,
  isSearchable,
  isShownToModels,
} from "../../../src/core/types/include.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import { toolName } from "../../../src/core/types/tool-pattern.ts";
import type { Tool } from "../../../src/core/types/tool.ts";
import { writeConfig } from "../config/files.ts";

const named = (tool: string) =>
  toolName({ source: { kind: "mcp", server: "docs", tool }, publicName: `mcp__docs__${tool}` });

describe("what a setting says about a tool", () => {
  it.each<[Include | undefined, IncludeMode | undefined]>([
    [undefined, undefined],
    [{}, undefined],
    [{ default: "always" }, undefined],
    [{ default: "agent" }, "agent"],
    [{ default: "manual" }, "manual"],
    [{ default: "manual", tools: { read: "always" } }, "always"],
    [{ default: "manual", tools: { read: "agent" } }, "agent"],
    [{ default: "agent", tools: { "*": "always" } }, "always"],
    [{ tools: { read: "manual" } }, "manual"],
    [{ tools: { "re*": "agent", "*ad": "manual" } }, "manual"],
    [{ tools: { "re*": "agent", "*ad": "always" } }, "agent"],
    [{ tools: { write: "manual" } }, undefined],
  ])("with %j: %s", (include, expected) => {
    expect(includeOf(named("read"), include)).toBe(expected);
  });

  it("holds whatever it is called", () => {
    expect(includeOf(named("constructor"), { default: "manual", tools: {} })).toBe("manual");
    expect(includeOf(named("constructor"), { tools: {} })).toBe(undefined);
  });
});

describe("how a model gets a tool", () => {
  it.each<[Tool["include"], { inPrompt: boolean; bySearch: boolean; atAll: boolean }]>([
    [undefined, { inPrompt: true, bySearch: true, atAll: true }],
    ["always", { inPrompt: true, bySearch: false, atAll: true }],
    ["agent", { inPrompt: false, bySearch: true, atAll: true }],
    ["manual", { inPrompt: false, bySearch: false, atAll: false }],
    ["app", { inPrompt: false, bySearch: false, atAll: false }],
  ])("with %s", (include, expected) => {
    const tool = { ...(include && { include }) };
    expect({
      inPrompt: isShownToModels(tool),
      bySearch: isSearchable(tool),
      atAll: isForModels(tool),
    }).toEqual(expected);
    const asTask = { ...tool, execution: { taskSupport: "required" } };
    for (const gets of [isShownToModels, isSearchable, isForModels])
      expect(gets(asTask)).toBe(false);
  });
});

describe("a tool is for its server's app alone", () => {
  it.each<[JsonObject | undefined, boolean]>([
    [undefined, false],
    [{}, false],
    [{ ui: {} }, false],
    [{ ui: { visibility: ["model", "app"] } }, false],
    [{ ui: { visibility: ["model"] } }, false],
    [{ ui: { visibility: ["app"] } }, true],
    [{ ui: { visibility: [] } }, true],
    [{ ui: { visibility: "app" } }, false],
    [{ ui: [] }, false],
    [{ visibility: ["app"] }, false],
  ])("with the metadata %j: %s", (_meta, expected) => {
    expect(isForApp({ _meta })).toBe(expected);
  });
});

describe("the include setting of an agent", () => {
  it.each<[string, string, Include | undefined]>([
    ["", "", undefined],
    ["include: 'manual'", "", { default: "manual" }],
    ["include: 'manual'", "include: 'always'", { default: "always" }],
    [
      "include: { default: 'manual', tools: { a: 'always' } }",
      "include: { tools: { b: 'always' } }",
      { default: "manual", tools: { a: "always", b: "always" } },
    ],
  ])("is merged over %j tool by tool: %j", async (base, over, expected) => {
    const file = await writeConfig(`{ agents: {
      defaults: { mcp: { servers: { docs: { command: "x", ${base} } } } },
      list: [{ id: "it", mcp: { servers: { docs: { ${over} } } } }],
    } }`);
    const { servers } = await loadConfig(file, "it");
    expect(servers[0]?.include).toEqual(expected);
  });
});
