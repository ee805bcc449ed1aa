import { describe, expect, it } from "vitest";
import {
  canonicalName,
  didYouMean,
  findTool,
  nearestTools,
} from "../../../../src/faces/cli/tools/find-tool.ts";
import { nativeTool, tool } from "../tool.ts";

const tools = [
  nativeTool("remember"),
  tool("github", "search_issues"),
  tool("github", "get_issue"),
  tool("docs", "search"),
  tool("wiki", "search"),
];

describe("a tool is found", () => {
  it.each([
    ["by its public name", "mcp__docs__search", "docs/search"],
    ["by server and tool", "wiki/search", "wiki/search"],
    ["by its own name, if only one has it", "get_issue", "github/get_issue"],
    ["by the name of the host's own", "remember", "remember"],
  ])("%s: %s", (_, name, expected) => {
    expect(canonicalName(findTool(name, tools))).toBe(expected);
  });

  it("not by a name that several have", () => {
    expect(() => findTool("search", tools)).toThrow(
      expect.objectContaining({
        code: "UNKNOWN_TOOL",
        message: "several tools are named 'search'",
        hint: "say which: docs/search, wiki/search",
      }),
    );
  });

  it.each([
    ["get_isue", "did you mean github/get_issue? plugboard tools lists them all"],
    ["wiki/serch", "did you mean wiki/search? plugboard tools lists them all"],
    ["mcp__wiki__serch", "did you mean wiki/search or docs/search? plugboard tools lists them all"],
    ["zzz", "plugboard tools lists them all"],
  ])("not as %s", (name, hint) => {
    expect(() => findTool(name, tools)).toThrow(
      expect.objectContaining({ message: `there is no tool named '${name}'`, hint }),
    );
  });
});

describe("what may have been meant", () => {
  it("is three tools at most", () => {
    const many = ["read", "ready", "real", "reap"].map((name) => tool("a", name));
    expect(nearestTools("rea", many)).toHaveLength(3);
  });

  it.each([
    [[], undefined],
    [["a"], "did you mean a?"],
    [["a", "b", "c"], "did you mean a, b or c?"],
  ])("of %j reads %s", (names, text) => {
    expect(didYouMean(names)).toBe(text);
  });
});
