import { describe, expect, it } from "vitest";
import { formatTokens, promptTokens } from "../../../../src/faces/cli/status/overview.ts";
import { tool } from "../tool.ts";

describe("the cost in a prompt", () => {
  it("is a quarter of what the model is told, in characters", () => {
    const one = tool("a", "b", { description: "x".repeat(100), parameters: {} });
    expect(promptTokens([one, one])).toBe(Math.round((2 * (one.name.length + 100 + 2)) / 4));
  });

  it.each([
    [0, "~0"],
    [999, "~999"],
    [1000, "~1k"],
    [5240, "~5.2k"],
    [123_456, "~123k"],
  ])("of %i tokens reads %s", (tokens, text) => {
    expect(formatTokens(tokens)).toBe(text);
  });

  it("is nothing for a tool that models do not see", () => {
    const manual = tool("docs", "purge", { include: "manual" });
    const shown = tool("docs", "read");
    expect(promptTokens([manual, shown])).toBe(promptTokens([shown]));
  });
});
