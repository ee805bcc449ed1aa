import { describe, expect, it } from "vitest";
import { toolHelp, toolPages } from "../../../src/cli/tools/tool-page.ts";
import { terminal } from "../harness.ts";
import { tool } from "../tool.ts";

const long = tool("docs", "search", {
  description: "[docs] Searches the docs. It is quick.\nReally.",
  annotations: { title: "Search", readOnlyHint: true },
  parameters: {
    type: "object",
    properties: {
      query: { type: "string", description: "What to look for, in one or in several words." },
      limit: { type: "integer", default: 5, minimum: 1, maximum: 100 },
      order: { $ref: "#/$defs/order" },
      place: { type: "object", properties: { city: { type: "string", description: "Where." } } },
    },
    required: ["query", "limit"],
    $defs: { order: { enum: ["asc", "desc"], description: "Which way." } },
  },
});
const plain = { NO_COLOR: "1" };

describe("a tool in full", () => {
  it("has its description, what it says it does, and every argument", () => {
    expect(toolPages([long, tool("docs", "read")], terminal(44, plain).out)).toEqual([
      "docs/search  Search",
      "  Searches the docs. It is quick.",
      "  Really.",
      "  Claims to only read (unverified).",
      "",
      "  Arguments:",
      "    query  string, required",
      "        What to look for, in one or in",
      "        several words.",
      "    limit  integer, 1 to 100, default 5",
      '    order  "asc" | "desc"',
      "        Which way.",
      "    place  object",
      "      place.city  string",
      "          Where.",
      "",
      "docs/read",
      "  Does read.",
      "",
      "  No arguments.",
    ]);
  });

  it("has its names in colour", () => {
    expect(toolPages([long], terminal(80, { FORCE_COLOR: "1" }).out)).toContain(
      "    \u001b[36mquery\u001b[39m  string, required",
    );
  });

  it("says that models do not see it", () => {
    const manual = tool("docs", "purge", { include: "manual" });
    expect(toolPages([manual], terminal().out)[0]).toBe("docs/purge  manual: not shown to models");
    const found = { ...manual, include: "agent" as const };
    expect(toolPages([found], terminal().out)[0]).toBe(
      "docs/purge  agent: models find it by search",
    );
  });

  const end = async (schema: object, options = {}) => {
    const named = tool("docs", "it's", { parameters: { ...schema } });
    return (await toolHelp(named, terminal().out, options)).slice(-2);
  };

  it("ends with an example for the same configuration", async () => {
    const schema = { type: "object", properties: { a: { const: "b c" } }, required: ["a"] };
    expect(await end(schema)).toEqual(["  Example:", "    plugboard call 'docs/it'\\''s' a='b c'"]);
    expect((await end(schema, { config: "my file.json", agent: "x" }))[1]).toBe(
      "    plugboard --config 'my file.json' --agent x call 'docs/it'\\''s' a='b c'",
    );
  });

  it("says where an example is not certain, and where there is none", async () => {
    const properties = { a: { type: "string" } };
    expect(await end({ properties, required: ["a"], not: { required: ["a"] } })).toEqual([
      "  Example, which may not satisfy all of the schema:",
      "    plugboard call 'docs/it'\\''s' a=example",
    ]);
    expect(await end({ properties: { a: { enum: [] } }, required: ["a"] })).toEqual([
      "  Usage:",
      "    plugboard call 'docs/it'\\''s' a=…",
    ]);
  });

  it("lets no control character of a server through", async () => {
    const evil = tool("docs", "x\u001b[31m", {
      description: "[docs] a\u001b[2J\u202e",
      annotations: { title: "t\u001b[0m" },
      parameters: {
        properties: {
          "k\u001b[1m": {
            type: "s\u001b[1m",
            description: "d\u001b[1m\u200b",
            enum: ["e\u001b[1m"],
            pattern: "\u001b",
          },
        },
        required: ["k\u001b[1m"],
      },
    });
    const page = (await toolHelp(evil, terminal(80, plain).out, {})).join("\n");
    // oxlint-disable-next-line no-control-regex
    expect(page).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u200b\u202e]/);
  });
});
