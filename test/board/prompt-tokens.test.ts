import { expect, it } from "vitest";
import { definitionTokens, promptTokens } from "../../src/board/prompt-tokens.ts";
import { tool } from "../faces/cli/tool.ts";

const shown = tool("docs", "read");
const manual = tool("docs", "purge", { include: "manual" });
const app = tool("docs", "refresh", { include: "app" });

it("counts the tools that models are shown", () => {
  expect(promptTokens([])).toBe(0);
  expect(promptTokens([shown, manual, app])).toBe(promptTokens([shown]));
  expect(promptTokens([shown])).toBeGreaterThan(0);
});

it("says what a tool would take that models are not shown", () => {
  expect(definitionTokens(manual)).toBeGreaterThan(0);
});

it("rounds once, so that many small tools are not counted as nothing", () => {
  const many = Array.from({ length: 1000 }, () => shown);
  expect(Math.abs(promptTokens(many) - 1000 * promptTokens([shown]))).toBeLessThan(500);
  expect(promptTokens(many) % 1000).not.toBe(0);
});
