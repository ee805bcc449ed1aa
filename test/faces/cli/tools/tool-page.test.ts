import { describe, expect, it } from "vitest";
import { toolPages } from "../../../../src/faces/cli/tools/tool-page.ts";
import { terminal } from "../harness.ts";
import { tool } from "../tool.ts";

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
const plain = { NO_COLOR: "1" };

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

  it("says that models do not see it", () => {
    const manual = tool("docs", "purge", { include: "manual" });
    expect(toolPages([manual], terminal().out)[0]).toBe(
      "mcp__docs__purge  docs/purge, manual: not shown to models",
    );
  });
});
