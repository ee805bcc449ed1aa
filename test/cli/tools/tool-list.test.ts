import { describe, expect, it } from "vitest";
import { toolList } from "../../../src/cli/tools/tool-list.ts";
import { terminal } from "../harness.ts";
import { nativeTool, tool } from "../tool.ts";

const tools = [
  nativeTool("remember"),
  tool("docs", "search", { description: "[docs] Searches the docs. It is quick.\nReally." }),
  tool("docs", "read"),
  tool("wiki", "read"),
];
const plain = { NO_COLOR: "1" };

describe("a list of tools", () => {
  it("is grouped by server for a person, and fits", () => {
    expect(toolList(tools, terminal(36, plain).out)).toEqual([
      "native 1 tool",
      "  remember  Does remember.",
      "",
      "docs 2 tools",
      "  docs/search  Searches the docs.",
      "  docs/read    Does read.",
      "",
      "wiki 1 tool",
      "  wiki/read  Does read.",
    ]);
  });

  it("keeps the names whole where it is narrow, and cuts what they do", () => {
    const long = tool("docs", "list_directory_with_sizes", {
      description: "[docs] Lists what is there.",
    });
    expect(toolList([long], terminal(40, plain).out)).toEqual([
      "docs 1 tool",
      "  docs/list_directory_with_sizes",
      "      Lists what is there.",
    ]);
    expect(toolList([long], terminal(34, plain).out).at(-1)).toBe("      Lists what is there.");
  });

  it("is a line for each tool in a pipe, with the first sentence in full", () => {
    expect(toolList(tools, terminal().out)).toEqual([
      "remember     Does remember.",
      "docs/search  Searches the docs.",
      "docs/read    Does read.",
      "wiki/read    Does read.",
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
      `a/x  ${expected}`,
    ]);
  });

  it("quotes a name that a shell would take apart", () => {
    expect(toolList([tool("docs", "it's all")], terminal().out)).toEqual([
      "'docs/it'\\''s all'  Does it's all.",
    ]);
  });

  it("includes a tool that models do not see", () => {
    const manual = tool("docs", "purge", { include: "manual" });
    expect(toolList([manual], terminal().out)).toEqual(["docs/purge  Does purge."]);
  });
});
