import { describe, expect, it } from "vitest";
import { type Execute, explainTask, type Present, toTool } from "../../../src/core/tools/tool.ts";
import type { ErrorCode } from "../../../src/core/types/errors.ts";
import type { CallOutcome, ToolDefinition, UpdateListener } from "../../../src/core/types/tool.ts";

const outcome: CallOutcome = { content: [{ type: "text", text: "found" }] };

const present: Present = (given) => ({ content: given.content, details: given });

function setUp(more: Partial<ToolDefinition> = {}, asRead: Present = present) {
  const calls: Parameters<Execute>[] = [];
  const definition: ToolDefinition = { name: "search", inputSchema: { type: "object" }, ...more };
  const source = { publicName: "mcp__docs__search", server: "docs", tool: definition };
  const execute: Execute = async (...call) => {
    calls.push(call);
    return outcome;
  };
  const tool = toTool(source, execute, asRead);
  return { tool, calls, definition };
}

describe("an MCP tool", () => {
  it("is known by its public name and keeps what its server said of it", () => {
    const { tool, definition } = setUp({
      description: "Finds things.",
      annotations: { readOnlyHint: true },
      outputSchema: { type: "object" },
      execution: { taskSupport: "optional" },
      title: "Search",
      icons: [{ src: "https://icons.example/a.png" }],
      _meta: { "example.com/a": 1 },
    });
    expect(tool).toEqual({
      name: "mcp__docs__search",
      label: "MCP: docs/search",
      description: "[docs] Finds things.",
      title: "Search",
      ownDescription: "Finds things.",
      icons: [{ src: "https://icons.example/a.png" }],
      parameters: definition.inputSchema,
      annotations: { readOnlyHint: true },
      outputSchema: { type: "object" },
      execution: { taskSupport: "optional" },
      _meta: { "example.com/a": 1 },
      source: { kind: "mcp", server: "docs", tool: "search" },
      execute: expect.any(Function),
    });
    expect(tool.parameters).toBe(definition.inputSchema);
  });

  it("has only the parts that its server gave", () => {
    const { tool } = setUp();
    for (const part of [
      "annotations",
      "outputSchema",
      "execution",
      "_meta",
      "title",
      "ownDescription",
      "icons",
    ]) {
      expect(part in tool).toBe(false);
    }
  });

  it("says in its description that it needs a task", () => {
    const { tool } = setUp({ description: "Digs.", execution: { taskSupport: "required" } });
    expect(tool.description).toBe(
      "[docs] Digs.\n(This tool runs only as a task, which this version of Plugboard does not support.)",
    );
  });

  it.each<[string, string | undefined, string]>([
    ["absent", undefined, "[docs] No description"],
    ["empty", "", "[docs] No description"],
    ["blank", " \n\t ", "[docs] No description"],
    ["invisible", "\u200b\u{e0041}", "[docs] No description"],
    [
      "with an emoji of several characters",
      "⚠\ufe0f 1\ufe0f\u20e3",
      "[docs] ⚠\ufe0f 1\ufe0f\u20e3",
    ],
    ["of several lines", "One.\n\n- two\n", "[docs] One.\n\n- two"],
    ["with escapes", "\u001b[8mhidden\u001b[0m", "[docs] hidden"],
    ["with tag characters", "Adds.\u{e0049}\u{e0067}", "[docs] Adds."],
  ])("has its server before its description: %s", (_, description, shown) => {
    const { tool } = setUp(description === undefined ? {} : { description });
    expect(tool.description).toBe(shown);
  });

  it.each([
    ["a.b c", "MCP: docs/a.b c"],
    ["two\nlines", "MCP: docs/two lines"],
    ["\u001b[31mred", "MCP: docs/red"],
    ["x".repeat(300), `MCP: docs/${"x".repeat(127)}…`],
  ])("has a label in plain words: %j", (name, label) => {
    const { tool } = setUp({ name });
    expect(tool.label).toBe(label);
    expect(tool.source).toEqual({ kind: "mcp", server: "docs", tool: name });
  });

  it("is called by its public name and the caller's call id", async () => {
    const { tool, calls } = setUp();
    expect(await tool.execute("id", { q: "x" })).toEqual({ ...outcome, details: outcome });
    expect(calls).toEqual([["mcp__docs__search", { q: "x" }, { callId: "id" }]]);
  });

  it("passes the signal and the listener on", async () => {
    const { tool, calls } = setUp();
    const { signal } = new AbortController();
    const onUpdate: UpdateListener = () => {};
    await tool.execute("id", {}, signal, onUpdate);
    expect(calls[0]?.[2]).toEqual({ callId: "id", signal, onUpdate });
    expect(calls[0]?.[2].signal).toBe(signal);
  });

  it("answers with what a model reads, be it at hand or still to come", async () => {
    const read = { content: [{ type: "text" as const, text: "in a frame" }], isError: true };
    const presented: CallOutcome[] = [];
    for (const result of [read, Promise.resolve(read)]) {
      const { tool } = setUp({}, (given) => {
        presented.push(given);
        return result;
      });
      expect(await tool.execute("id", {})).toBe(read);
    }
    expect(presented).toEqual([outcome, outcome]);
  });
});

describe("the outcome of a tool that needs a task", () => {
  const words = (text: string): CallOutcome["content"][number] => ({ type: "text", text });
  const failed = (code: ErrorCode): CallOutcome => ({
    content: [words("no")],
    isError: true,
    failure: { code, message: "no" },
  });
  const note = "This tool runs only as a task, which this version of Plugboard does not support.";

  it.each<[string, CallOutcome]>([
    ["a result", { content: [words("done")] }],
    ["a call that was cancelled", failed("CANCELLED")],
    ["a server that is down", failed("SERVER_UNAVAILABLE")],
  ])("is left alone where it is %s", (_, given) => {
    expect(explainTask(given)).toBe(given);
  });

  it("says so where the server answered with an error", () => {
    expect(explainTask({ content: [words("no")], isError: true })).toEqual({
      content: [words("no"), words(note)],
      isError: true,
    });
    expect(explainTask(failed("SERVER_ERROR"))).toEqual({
      content: [words("no"), words(note)],
      isError: true,
      failure: { code: "SERVER_ERROR", message: `no. ${note}` },
    });
  });
});
