import { expect, it } from "vitest";
import { definitionTokens, promptTokens } from "../../../src/core/tools/definition-tokens.ts";
import { estimateTokens } from "../../../src/util/tokens.ts";
import { tool } from "../../cli/tool.ts";

const shown = tool("docs", "read");
const manual = tool("docs", "purge", { include: "manual" });
const app = tool("docs", "refresh", { include: "app" });

it("counts what a model is told about a tool: its name, its description and its schema", () => {
  const definition = {
    name: "mcp__files__read",
    description: "[files] Reads a file.",
    parameters: { type: "object", properties: { path: { type: "string" } } },
  };
  const told = estimateTokens(JSON.stringify(definition));
  // The quotes of two texts are counted apart.
  expect(Math.abs(definitionTokens([definition]) - told)).toBeLessThan(2);
});

it("counts another schema, name or description anew", () => {
  const definition = { name: "a", description: "b", parameters: { type: "object" } };
  const before = definitionTokens([definition]);
  const longer = "long enough to count";
  for (const change of [
    { name: longer },
    { description: longer },
    { parameters: { ...definition.parameters, title: longer } },
  ]) {
    expect(definitionTokens([{ ...definition, ...change }])).toBeGreaterThan(before);
  }
  expect(definitionTokens([definition])).toBe(before);
});

it("counts only the tools that models may get as a part of a prompt", () => {
  expect(promptTokens([])).toBe(0);
  expect(promptTokens([shown, manual, app])).toBe(promptTokens([shown]));
  expect(promptTokens([shown])).toBeGreaterThan(0);
  expect(definitionTokens([manual])).toBeGreaterThan(0);
});

it("rounds once, so that many small tools are not counted as nothing", () => {
  const many = Array.from({ length: 1000 }, () => shown);
  expect(Math.abs(promptTokens(many) - 1000 * promptTokens([shown]))).toBeLessThan(500);
  expect(promptTokens(many) % 1000).not.toBe(0);
});
