import { describe, expect, it } from "vitest";
import { toolList } from "../../../../src/faces/cli/tools/tool-list.ts";
import { toolPages } from "../../../../src/faces/cli/tools/tool-page.ts";
import { formatTokens, promptTokens } from "../../../../src/faces/cli/status/overview.ts";
import { terminal } from "../harness.ts";
import { nativeTool, tool } from "../tool.ts";

const long = tool("docs", "search", {
  description: "[docs] Searches the docs. It is quick.\nReally.",
  parameters: {
    type: "object",
    properties: {
      query: { type: "string", description: "What to look for." },
      limit: { type: "integer", default: 5 },
      order: { $ref: "#/$defs/order" },
    },
    required: ["query"],
    $defs: { order: { enum: ["asc", "desc"], description: "Which way." } },
  },
});
const tools = [nativeTool("remember"), long, tool("docs", "read"), tool("wiki", "read")];
const plain = { NO_COLOR: "1" };

describe("a list of tools", () => {
  it("is grouped by server for a person, and fits", () => {
    expect(toolList(tools, terminal(36, plain).out)).toEqual([
      "native 1 tool",
      "  remember  Does remember.",
      "",
      "docs 2 tools",
      "  mcp__docs__search  Searches the d…",
      "  mcp__docs__read    Does read.",
      "",
      "wiki 1 tool",
      "  mcp__wiki__read  Does read.",
    ]);
  });

  it("is a line for each tool in a pipe, with the first sentence in full", () => {
    expect(toolList(tools, terminal().out)).toEqual([
      "remember           Does remember.",
      "mcp__docs__search  Searches the docs.",
      "mcp__docs__read    Does read.",
      "mcp__wiki__read    Does read.",
    ]);
  });

  it.each([
    ["[a] Uses e.g. this one. And more.", "Uses e.g. this one."],
    ["[a] No end", "No end"],
    ["[a] First line\nsecond line", "First line"],
    ["[a] Stops! Here.", "Stops!"],
    ["[a] \u001b[31mRed\u001b[0m", "Red"],
    ["without the mark", "without the mark"],
  ])("says of %j: %s", (description, expected) => {
    expect(toolList([tool("a", "x", { description })], terminal().out)).toEqual([
      `mcp__a__x  ${expected}`,
    ]);
  });
});

describe("a tool that no model is offered", () => {
  const manual = tool("docs", "purge", { include: "manual" });

  it("is listed, and its page says so", () => {
    expect(toolList([manual], terminal().out)).toEqual(["mcp__docs__purge  Does purge."]);
    expect(toolPages([manual], terminal().out)[0]).toBe(
      "mcp__docs__purge  docs/purge, manual: not shown to models",
    );
  });

  it("costs a model nothing", () => {
    expect(promptTokens([manual, long])).toBe(promptTokens([long]));
  });
});

describe("a tool in full", () => {
  it("has its description and every parameter", () => {
    expect(toolPages([long, tool("docs", "read")], terminal(60, plain).out)).toEqual([
      "mcp__docs__search  docs/search",
      "  Searches the docs. It is quick.",
      "  Really.",
      "    query  string          required   What to look for.",
      "    limit  integer         default 5",
      '    order  "asc" | "desc"             Which way.',
      "",
      "mcp__docs__read  docs/read",
      "  Does read.",
      "  no parameters",
    ]);
  });
});

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
});
