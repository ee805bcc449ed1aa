import { describe, expect, it } from "vitest";
import { failedResult, runModelCall } from "../../../src/core/tools/model-call.ts";
import { ModelTools } from "../../../src/core/tools/model-tools.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import type { Tool, ToolResult } from "../../../src/core/types/tool.ts";

const calls: unknown[] = [];
const echo: Tool = {
  name: "echo",
  label: "echo",
  description: "",
  parameters: { type: "object", properties: { text: { type: "string" } } },
  source: { kind: "native" },
  async execute(id, params, signal, onUpdate) {
    calls.push({ id, params, signal });
    onUpdate?.({ content: [], progress: { progress: 1 } });
    return { content: [{ type: "text", text: "done" }] };
  },
};
const tools = new ModelTools(() => [echo], { providers: ["openai-strict"] });

const textOf = ({ content, isError }: ToolResult): [unknown, unknown] => [
  content[0]?.type === "text" ? content[0].text : undefined,
  isError,
];

describe("a call that a model made", () => {
  it("runs the tool with the arguments of its own schema, the signal and its updates", async () => {
    const { signal } = new AbortController();
    const updates: unknown[] = [];
    const result = await runModelCall(
      tools,
      { id: "c1", name: "echo", input: '{"text":null}' },
      { signal, onUpdate: (update, id) => updates.push([id, update.progress?.progress]) },
    );
    expect(textOf(result)).toEqual(["done", undefined]);
    expect(calls.splice(0)).toEqual([{ id: "c1", params: {}, signal }]);
    expect(updates).toEqual([["c1", 1]]);
  });

  it.each([[undefined], [null], [""], [" \n"], ["{}"], [{}]])(
    "may have no arguments: %j",
    async (input) => {
      await runModelCall(tools, { id: "c", name: "echo", input });
      expect(calls.splice(0)).toMatchObject([{ params: {} }]);
    },
  );

  it.each([
    ["{oops", /^the arguments for 'echo' are not JSON \(.+\); the tool was not called$/],
    ["[1]", /^the arguments for 'echo' must be one JSON object; the tool was not called$/],
    [7, /^the arguments for 'echo' must be one JSON object; the tool was not called$/],
  ])("is not made with the arguments %j", async (input, message) => {
    const result = await runModelCall(tools, { id: "c", name: "echo", input });
    expect(textOf(result)).toEqual([expect.stringMatching(message), true]);
    expect(result.details).toMatchObject({ failure: { code: "INVALID_ARGUMENTS" } });
    expect(calls).toEqual([]);
  });

  it.each([
    ["ecoh", "there is no tool named 'ecoh' (did you mean 'echo'?)"],
    ["something else", "there is no tool named 'something else'"],
    ["x\ny", "there is no tool named 'x y'"],
  ])("to %j, which does not exist, says so", async (name, message) => {
    const result = await runModelCall(tools, { id: "c", name, input: {} });
    expect(textOf(result)).toEqual([message, true]);
    expect(result.details).toMatchObject({ failure: { code: "UNKNOWN_TOOL" } });
  });

  it("becomes a result in words if it fails, with the outcome beside it", () => {
    const error = new PlugboardError("TIMEOUT", "it took too long", { hint: "ask for less" });
    expect(failedResult(error)).toEqual({
      content: [{ type: "text", text: "it took too long (ask for less)" }],
      isError: true,
      details: {
        content: [{ type: "text", text: "it took too long (ask for less)" }],
        isError: true,
        failure: {
          code: "TIMEOUT",
          message: "it took too long (ask for less)",
          hint: "ask for less",
        },
      },
    });
  });
});
