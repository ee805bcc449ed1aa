import { describe, expect, it } from "vitest";
import { describePlan, planPrompt, toolIndex } from "../../../src/core/board/prompt-plan.ts";
import type { ToolSearchSetting } from "../../../src/core/types/include.ts";
import type { Tool } from "../../../src/core/types/tool.ts";

function tool(name: string, given: Partial<Tool> = {}): Tool {
  return {
    name: `mcp__docs__${name}`,
    label: name,
    description: `[docs] Does ${name}.`,
    parameters: { type: "object", properties: {} },
    source: { kind: "mcp", server: "docs", tool: name },
    execute: async () => ({ content: [] }),
    ...given,
  };
}

function tools(count: number): Tool[] {
  return Array.from({ length: count }, (_, at) => tool(`t${at}`));
}

const native = tool("own", { name: "own", source: { kind: "native" } });
const always = tool("always", { include: "always" });
const agent = tool("agent", { include: "agent" });
const manual = tool("manual", { include: "manual" });
const app = tool("app", { include: "app" });
const open = tool("open");
const all = [native, always, agent, manual, app, open];

const names = (list: readonly Tool[]): string[] => list.map(({ label }) => label);

describe("a prompt", () => {
  it.each<[ToolSearchSetting, string[], string[]]>([
    ["off", ["own", "always", "agent", "open"], []],
    ["auto", ["own", "always", "open"], ["agent"]],
    ["on", ["own", "always"], ["agent", "open"]],
    ["index", ["own", "always"], ["agent", "open"]],
  ])("with %s has these tools, and those are found", (toolSearch, shown, searchable) => {
    const plan = planPrompt(all, { toolSearch });
    expect([names(plan.shown), names(plan.searchable)]).toEqual([shown, searchable]);
  });

  it.each<[number, number | undefined, string]>([
    [50, undefined, "all"],
    [51, undefined, "there are more than 50 tools"],
    // Each takes about 24 tokens.
    [10, 2500, "all"],
    [10, 1000, "their definitions take more than a tenth of the model's 1k tokens"],
  ])("of %d tools and a window of %s: %s", (count, contextWindow, expected) => {
    const plan = planPrompt(tools(count), { toolSearch: "auto", contextWindow });
    expect(plan.reason ?? plan.mode).toBe(expected);
  });

  it("does not count a tool that is too large for any prompt", () => {
    const huge = tool("huge", { description: "x".repeat(4000) });
    const options = { toolSearch: "auto", contextWindow: 2000 } as const;
    expect(planPrompt([huge, ...tools(5)], options).mode).toBe("all");
  });

  it("does not count what is found anyway", () => {
    const found = tools(60).map((each) => ({ ...each, include: "agent" as const }));
    const plan = planPrompt([...found, open], { toolSearch: "auto" });
    expect([plan.reason, plan.mode, names(plan.shown)]).toEqual([undefined, "search", ["open"]]);
  });

  it("stays small once it was too large", () => {
    const options = { toolSearch: "auto", wasSearching: true } as const;
    expect(planPrompt(tools(40), options).mode).toBe("search");
    expect(planPrompt([native], options).mode).toBe("all");
  });

  it("keeps native tools and those of sessions, however many there are", () => {
    const many = tools(60).map((each) => ({ ...each, include: "always" as const }));
    expect(planPrompt([native, ...many], { toolSearch: "auto" })).toMatchObject({ mode: "all" });
  });
});

describe("what people are told", () => {
  it.each<[ToolSearchSetting, string | undefined]>([
    ["off", undefined],
    [
      "auto",
      'tool search is on, since there are more than 50 tools: a model gets 1 of 61 tools (~186 instead of ~1.5k tokens) and searches for the rest; mcp.toolSearch: "off" puts all of them into the prompt',
    ],
    [
      "on",
      "tool search is on: a model gets 1 of 61 tools (~186 instead of ~1.5k tokens) and searches for the rest",
    ],
    [
      "index",
      "tool search is on: a model gets 1 of 61 tools and the names of the others (~540 instead of ~1.5k tokens) and searches for the rest",
    ],
  ])("with %s: %s", (toolSearch, expected) => {
    expect(describePlan(planPrompt([always, ...tools(60)], { toolSearch }))).toBe(expected);
  });
});

describe("the index", () => {
  it("has a line for each tool, whatever its server writes", () => {
    const long = tool("b", { description: `[docs] Many\nlines ${"and words ".repeat(50)}` });
    expect(toolIndex([tool("a"), long]).split("\n")).toEqual([
      "mcp__docs__a: Does a.",
      expect.stringMatching(/^mcp__docs__b: Many lines and words .*…$/),
    ]);
  });
});

describe("a thousand tools", () => {
  const description = `[office] ${"Keeps an invoice of the company with its date, its owner and its state. ".repeat(3)}`;
  const properties = Object.fromEntries(
    ["id", "note", "owner", "date"].map((name) => [
      name,
      { type: "string", description: `The ${name} of the invoice, as it is printed on it` },
    ]),
  );
  const many = tools(1000).map((each) => ({
    ...each,
    description,
    parameters: { type: "object", properties },
  }));

  it.each<[ToolSearchSetting, number]>([
    ["on", 0.05],
    ["index", 0.12],
  ])("take little of a prompt with %s: at most %d", (toolSearch, share) => {
    const { before, after } = planPrompt(many, { toolSearch });
    expect(after.tokens / before.tokens).toBeLessThan(share);
  });
});
