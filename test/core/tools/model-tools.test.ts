import { describe, expect, it } from "vitest";
import {
  ModelTools,
  type ModelToolsOptions,
  prepareModelTools,
} from "../../../src/core/tools/model-tools.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import type { Tool } from "../../../src/core/types/tool.ts";

function tool(name: string, parameters: JsonObject = { type: "object" }): Tool {
  return {
    name,
    label: name,
    description: `The tool ${name}`,
    parameters,
    source: { kind: "mcp", server: "s", tool: name },
    execute: async () => ({ content: [] }),
  };
}

function modelTools(
  tools: Tool[],
  options: Partial<ModelToolsOptions> = {},
): { offered: ModelTools; told: string[]; names: () => string[] } {
  const told: string[] = [];
  const offered = new ModelTools(() => tools, {
    providers: ["generic"],
    onLeftOut: ({ name }, reason) => told.push(`${name} left out: ${reason}`),
    onChanged: ({ name }, changes) => told.push(`${name} changed: ${changes}`),
    ...options,
  });
  return { offered, told, names: () => [...offered.list().keys()] };
}

describe("names", () => {
  it.each([
    ["mcp__s__read", "mcp__s__read"],
    ["mcp:s:read", expect.stringMatching(/^mcp_s_read_[0-9a-f]{8}$/)],
    ["a".repeat(70), expect.stringMatching(/^a{55}_[0-9a-f]{8}$/)],
  ])("%s is offered as one that providers accept, and found by it", (given, expected) => {
    const { offered, names } = modelTools([tool(given)]);
    const [name = ""] = names();
    expect(name).toEqual(expected);
    expect(offered.get(name)?.tool.name).toBe(given);
  });

  it("that differ only in replaced characters stay different", () => {
    const { names } = modelTools([tool("a:b"), tool("a.b"), tool("a_b")]);
    expect(new Set(names()).size).toBe(3);
  });

  it("are given to one tool only", () => {
    const { names, told } = modelTools([tool("same"), tool("same")]);
    expect([names(), names()]).toEqual([["same"], ["same"]]);
    expect(told).toEqual(["same left out: another tool is already named 'same'"]);
  });
});

describe("a tool that is kept from models", () => {
  it("is neither listed nor found, and not reported", () => {
    const { offered, told, names } = modelTools([
      { ...tool("purge"), include: "manual" },
      tool("read"),
    ]);
    expect(names()).toEqual(["read"]);
    expect(offered.get("purge")).toBeUndefined();
    expect(told).toEqual([]);
  });
});

describe("schemas", () => {
  it("follow the first provider that accepts them, and each change is reported once", () => {
    const wide = Object.fromEntries(
      Array.from({ length: 6000 }, (_, index) => [`p${index}`, { type: "string" }]),
    );
    const { offered, told } = modelTools([tool("wide", { type: "object", properties: wide })], {
      providers: ["openai-strict", "openai"],
    });
    expect(offered.get("wide")?.provider).toBe("openai");
    offered.list();
    expect(told).toEqual([
      expect.stringMatching(
        /^wide changed: its schema does not fit the rules for "openai-strict": /,
      ),
    ]);
  });

  it("cost only their own tool if no provider accepts them", () => {
    const { names, told } = modelTools([tool("bad", { type: "string" }), tool("good")]);
    expect(names()).toEqual(["good"]);
    expect(told).toEqual([
      expect.stringMatching(/^bad left out: its schema does not fit the rules for "generic": /),
    ]);
  });

  it("are reported once, even if every list has new tool objects", () => {
    const schema = { type: "string" };
    const told: string[] = [];
    const offered = new ModelTools(() => [tool("bad", schema)], {
      providers: ["generic"],
      onLeftOut: ({ name }) => told.push(name),
    });
    offered.list();
    offered.list();
    expect(told).toEqual(["bad"]);
  });

  it("are normalised once for each provider, ahead of time on request", () => {
    const schema = { type: "object", properties: { a: { type: "string" } } };
    prepareModelTools([tool("t", schema)], "generic");
    const [first, second] = [0, 1].map(() => modelTools([tool("t", schema)]).offered.get("t"));
    expect(second?.schema).toBe(first?.schema);
  });

  it("lead back to the tool's own arguments", () => {
    const { offered } = modelTools(
      [tool("t", { type: "object", properties: { a: { type: "string" } } })],
      { providers: ["openai-strict"] },
    );
    expect(offered.get("t")?.toOriginal({ a: null })).toEqual({});
  });
});

describe("a definition", () => {
  const words = (tokens: number): JsonObject => ({
    type: "object",
    description: "x".repeat(tokens * 4.35),
  });

  it("above a quarter of the model's window is left out, and the others stay", () => {
    const tools = [tool("small", words(900)), tool("large", words(1100))];
    const { names, told } = modelTools(tools, { contextWindow: 4000 });
    expect([names(), names()]).toEqual([["small"], ["small"]]);
    expect(told).toEqual([
      "large left out: its definition takes about 1.1k tokens, more than a quarter of the model's window of 4k",
    ]);
  });

  it("counts with its description and its schema", () => {
    const described = { ...tool("described"), description: words(1025).description as string };
    expect(modelTools([described], { contextWindow: 4000 }).names()).toEqual([]);
  });

  it("is offered whatever its size if the window is not known", () => {
    expect(modelTools([tool("large", words(200_000))]).names()).toEqual(["large"]);
  });
});

describe("the list", () => {
  it("ends where the provider would refuse more tools", () => {
    const { names, told } = modelTools([tool("a"), tool("b"), tool("c")], { maxTools: 2 });
    expect(names()).toEqual(["a", "b"]);
    expect(told).toEqual(["c left out: the provider takes no more than 2 tools"]);
  });

  it("follows the board, and tools that have gone are still found", () => {
    const tools = [tool("a")];
    const { offered, names } = modelTools(tools);
    expect(names()).toEqual(["a"]);
    tools.splice(0, 1, tool("b"));
    expect(names()).toEqual(["b"]);
    expect(offered.get("a")?.name).toBe("a");
    expect(offered.get("c")).toBeUndefined();
  });

  it("works without listeners", () => {
    const offered = new ModelTools(() => [tool("bad", { type: "string" })], {
      providers: ["generic"],
    });
    expect([...offered.keys()]).toEqual([]);
  });
});
