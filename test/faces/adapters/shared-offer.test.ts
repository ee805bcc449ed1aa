import { describe, expect, it } from "vitest";
import { Offer } from "../../../src/faces/adapters/shared-offer.ts";
import type { Diagnostic } from "../../../src/model/diagnostic.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import type { Tool } from "../../../src/model/tool.ts";

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

function offerOf(
  tools: Tool[],
  rules: Partial<ConstructorParameters<typeof Offer>[1]> = {},
): { offer: Offer; told: Diagnostic[]; names: () => string[] } {
  const told: Diagnostic[] = [];
  const offer = new Offer(
    { tools: () => tools },
    { providers: ["generic"], ...rules },
    { onDiagnostic: (each) => told.push(each) },
  );
  return { offer, told, names: () => offer.list().map(({ name }) => name) };
}

describe("names", () => {
  it.each([
    ["mcp__s__read", "mcp__s__read"],
    ["mcp:s:read", expect.stringMatching(/^mcp_s_read_[0-9a-f]{8}$/)],
    ["a".repeat(70), expect.stringMatching(/^a{55}_[0-9a-f]{8}$/)],
  ])("%s is offered as one that providers take, and found by it", (given, expected) => {
    const { offer } = offerOf([tool(given)]);
    const [offered] = offer.list();
    expect(offered?.name).toEqual(expected);
    expect(offer.find(offered!.name)?.tool.name).toBe(given);
  });

  it("stay apart that differ in what is replaced", () => {
    const { names } = offerOf([tool("a:b"), tool("a.b"), tool("a_b")]);
    expect(new Set(names()).size).toBe(3);
  });

  it("are given once", () => {
    const { names, told } = offerOf([tool("same"), tool("same")]);
    expect([names(), names()]).toEqual([["same"], ["same"]]);
    expect(told).toEqual([
      { server: "s", subject: "same", message: "left out: another tool is named 'same' already" },
    ]);
  });
});

describe("a tool that is kept from models", () => {
  it("is neither offered nor found, and nothing is said of it", () => {
    const { offer, told, names } = offerOf([{ ...tool("purge"), include: "manual" }, tool("read")]);
    expect(names()).toEqual(["read"]);
    expect(offer.find("purge")).toBeUndefined();
    expect(told).toEqual([]);
  });
});

describe("schemas", () => {
  it("follow the first provider that takes them, and each change is told once", () => {
    const wide = Object.fromEntries(
      Array.from({ length: 6000 }, (_, index) => [`p${index}`, { type: "string" }]),
    );
    const { offer, told } = offerOf([tool("wide", { type: "object", properties: wide })], {
      providers: ["openai-strict", "openai"],
    });
    expect(offer.list()[0]?.provider).toBe("openai");
    offer.list();
    expect(told).toHaveLength(1);
  });

  it("cost the tool alone where no provider takes them", () => {
    const { names, told } = offerOf([tool("bad", { type: "string" }), tool("good")]);
    expect(names()).toEqual(["good"]);
    expect(told).toEqual([
      { server: "s", subject: "bad", message: expect.stringMatching(/^left out: not as generic/) },
    ]);
  });

  it("lead back to the tool's own arguments", () => {
    const { offer } = offerOf(
      [tool("t", { type: "object", properties: { a: { type: "string" } } })],
      { providers: ["openai-strict"] },
    );
    expect(offer.find("t")?.toOriginal({ a: null })).toEqual({});
  });
});

describe("the list", () => {
  it("is cut where the provider would refuse it", () => {
    const { names, told } = offerOf([tool("a"), tool("b"), tool("c")], { maxTools: 2 });
    expect(names()).toEqual(["a", "b"]);
    expect(told).toMatchObject([{ subject: "c" }]);
  });

  it("follows the board, and what was on it is still found", () => {
    const tools = [tool("a")];
    const { offer, names } = offerOf(tools);
    expect(names()).toEqual(["a"]);
    tools.splice(0, 1, tool("b"));
    expect(names()).toEqual(["b"]);
    expect(offer.find("a")?.name).toBe("a");
    expect(offer.find("c")).toBeUndefined();
  });

  it("needs nobody to be told", () => {
    const board = { tools: () => [tool("bad", { type: "string" })] };
    expect(new Offer(board, { providers: ["generic"] }, {}).list()).toEqual([]);
  });
});
