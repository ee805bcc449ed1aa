import { expect, it } from "vitest";
import { toolTokens } from "../../src/catalog/token-count.ts";
import { estimateTokens } from "../../src/util/tokens.ts";

it("counts what a model is told about a tool: its name, its description and its schema", () => {
  const definition = {
    name: "mcp__files__read",
    description: "[files] Reads a file.",
    parameters: { type: "object", properties: { path: { type: "string" } } },
  };
  const told = estimateTokens(JSON.stringify(definition));
  // The quotes of two texts are counted apart.
  expect(Math.abs(toolTokens(definition) - told)).toBeLessThan(2);
});

it("counts another schema anew", () => {
  const of = (parameters: object): number =>
    toolTokens({ name: "a", description: "b", parameters: { ...parameters } });
  expect(of({ type: "object", title: "long enough" })).toBeGreaterThan(of({ type: "object" }));
});
