import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { type Include, isForApp, isManual, isShownToModels } from "../../src/model/include.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { toolName } from "../../src/model/tool-pattern.ts";
import { writeConfig } from "../config/files.ts";

const named = (tool: string) =>
  toolName({ source: { kind: "mcp", server: "docs", tool }, publicName: `mcp__docs__${tool}` });

describe("a tool is manual", () => {
  it.each<[Include | undefined, boolean]>([
    [undefined, false],
    [{}, false],
    [{ default: "always" }, false],
    [{ default: "agent" }, false],
    [{ default: "manual" }, true],
    [{ default: "manual", tools: { read: "always" } }, false],
    [{ default: "manual", tools: { read: "agent" } }, false],
    [{ tools: { read: "manual" } }, true],
    [{ tools: { write: "manual" } }, false],
  ])("with %j: %s", (include, expected) => {
    expect(isManual(named("read"), include)).toBe(expected);
  });

  it("whatever it is called", () => {
    expect(isManual(named("constructor"), { default: "manual", tools: {} })).toBe(true);
    expect(isManual(named("constructor"), { tools: {} })).toBe(false);
  });

  it("and then not shown to models", () => {
    expect([isShownToModels({}), isShownToModels({ include: "manual" })]).toEqual([true, false]);
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

  it("and then not shown to models", () => {
    expect(isShownToModels({ include: "app" })).toBe(false);
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
