// Each adapter over a board with more tools than fit a prompt.

import { createAnthropic } from "@ai-sdk/anthropic";
import { ToolMessage } from "@langchain/core/messages";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { generateText, jsonSchema, stepCountIs, tool as aiSdkTool } from "ai";
import { afterEach, describe, expect, it } from "vitest";
import { preselectAiSdkTools, toAiSdkTools } from "../../src/adapters/ai-sdk.ts";
import { toAnthropicTools } from "../../src/adapters/anthropic.ts";
import { toLangChainTools } from "../../src/adapters/langchain.ts";
import { toOpenAiTools } from "../../src/adapters/openai.ts";
import { toPiTools } from "../../src/adapters/pi.ts";
import { closeBoards, fixture, open } from "../support/boards.ts";
import { type Model, startModel } from "../support/model/start.mjs";

closeBoards();

let running: Model | undefined;

afterEach(() => running?.close());

const office = { office: fixture("office") };
const SEARCH = { queries: ["create a voucher"], limit: 1 };
const VOUCHER = "mcp__office__create_voucher";

it("the AI SDK's loop calls what its model has found, and what it knows by name", async () => {
  const board = await open(office);
  running = await startModel({
    turns: [
      { toolCalls: [{ name: "search_tools", arguments: SEARCH }] },
      { toolCalls: [{ name: VOUCHER, arguments: { id: "7" } }] },
      { toolCalls: [{ name: "mcp__office__find_badge", arguments: { id: "8" } }] },
      { text: "done" },
    ],
  });
  const tools = toAiSdkTools(board);
  await preselectAiSdkTools(tools, "delete the refund");
  const { text } = await generateText({
    model: createAnthropic({ baseURL: `${running.url}/v1`, apiKey: "none" })("scripted"),
    prompt: "go",
    tools,
    stopWhen: stepCountIs(9),
  });
  expect(text).toBe("done");
  const offered = running.requests.map((request) => request.tools.map(({ name }) => name));
  expect(offered[0]?.slice(0, 3)).toEqual([
    "search_tools",
    "call_tool",
    "mcp__office__delete_refund",
  ]);
  expect(offered[1]).toEqual([...(offered[0] ?? []), VOUCHER]);
  expect(offered[3]).toEqual([...(offered[1] ?? []), "mcp__office__find_badge"]);
  const results = running.requests.at(-1)?.toolResults.map((result) => result.text) ?? [];
  expect(results[1]).toContain('"tool":"create_voucher","id":"7"');
  expect(results[2]).toContain('"tool":"find_badge","id":"8"');
});

it("a copy of the AI SDK's set, with a tool of your own, calls what its model has found with call_tool", async () => {
  const board = await open(office);
  running = await startModel({
    turns: [
      { toolCalls: [{ name: "search_tools", arguments: SEARCH }] },
      { toolCalls: [{ name: "call_tool", arguments: { name: VOUCHER, arguments: { id: "7" } } }] },
      { toolCalls: [{ name: "mine", arguments: {} }] },
      { text: "done" },
    ],
  });
  const mine = aiSdkTool({ inputSchema: jsonSchema({ type: "object" }), execute: () => "my own" });
  const { text } = await generateText({
    model: createAnthropic({ baseURL: `${running.url}/v1`, apiKey: "none" })("scripted"),
    prompt: "go",
    tools: { ...toAiSdkTools(board), mine },
    stopWhen: stepCountIs(9),
  });
  expect(text).toBe("done");
  const results = running.requests.at(-1)?.toolResults.map((result) => result.text) ?? [];
  expect(results[0]).toContain(
    "Found 1 tool; call them by name if your next step offers them, otherwise with call_tool.",
  );
  expect(results[1]).toContain('"tool":"create_voucher","id":"7"');
  expect(results[2]).toBe("my own");
});

describe("a list that is read for every request", () => {
  it.each([
    ["openai, chat", "chat"],
    ["openai, responses", "responses"],
    ["anthropic", undefined],
  ] as const)("has what was found and preselected: %s", async (_, api) => {
    const board = await open(office);
    const adapter = api === undefined ? toAnthropicTools(board) : openAi(board, api);
    const names = (): string[] => adapter.tools.map(nameOf);
    expect(names()).toEqual(["search_tools"]);
    await adapter.preselect("delete the refund");
    expect(names()).toContain("mcp__office__delete_refund");
    const before = names();
    const called = await run(adapter, "search_tools", SEARCH);
    expect(JSON.stringify(called)).toContain(VOUCHER);
    expect(names()).toEqual([...before, VOUCHER]);
    expect(JSON.stringify(await run(adapter, VOUCHER, { id: "7" }))).toContain("create_voucher");
  });

  it("has every tool if you say so", async () => {
    const board = await open(office);
    expect(toAnthropicTools(board, { toolSearch: "off" }).tools).toHaveLength(100);
    expect(() => toAnthropicTools(board, { toolSearch: "yes" as never })).toThrow(
      "there is no toolSearch 'yes'",
    );
    const [ofOpenAi] = toOpenAiTools(board, { api: "responses", toolSearch: "index" }).tools;
    expect(ofOpenAi?.description?.length).toBeLessThan(1024);
    expect(Object.keys(ofOpenAi?.parameters?.["properties"] ?? {})).toEqual(["queries", "limit"]);
    const [search] = toAnthropicTools(board, { toolSearch: "index" }).tools;
    expect(search?.description).toContain(`${VOUCHER}: Creates a voucher of the company`);
  });
});

describe("a list that cannot grow", () => {
  it("has a tool that calls what was found: pi", async () => {
    const board = await open(office);
    const tools = toPiTools(board);
    expect(tools.map(({ name }) => name)).toEqual(["search_tools", "call_tool"]);
    const found = await tools[0]?.execute("1", SEARCH);
    expect(JSON.stringify(found?.content)).toContain("call them with call_tool");
    const called = await tools[1]?.execute("2", { name: VOUCHER, arguments: { id: "7" } });
    expect(called?.structuredContent).toEqual({ tool: "create_voucher", id: "7" });
    await expect(
      tools[1]?.execute("3", { name: VOUCHER, arguments: { id: "bad" } }),
    ).rejects.toThrow("no such number");
  });

  it("has a tool that calls what was found: LangChain", async () => {
    const board = await open(office);
    const tools = toLangChainTools(board, { DynamicStructuredTool, ToolMessage });
    expect(tools.map(({ name }) => name)).toEqual(["search_tools", "call_tool"]);
    expect(await tools[0]?.invoke(SEARCH)).toContain("call them with call_tool");
    const args = { name: VOUCHER, arguments: { id: "7" } };
    expect(await tools[1]?.invoke(args)).toContain('"tool":"create_voucher","id":"7"');
  });
});

type Adapter = ReturnType<typeof toAnthropicTools> | ReturnType<typeof openAi>;

function openAi(board: Parameters<typeof toAnthropicTools>[0], api: "chat" | "responses") {
  return api === "chat" ? toOpenAiTools(board, { api }) : toOpenAiTools(board, { api });
}

function nameOf(tool: Adapter["tools"][number]): string {
  return "function" in tool ? tool.function.name : tool.name;
}

/** A call as each API writes it. */
function run(adapter: Adapter, name: string, input: object): Promise<unknown> {
  const text = JSON.stringify(input);
  const call = {
    id: "1",
    call_id: "1",
    name,
    input,
    arguments: text,
    type: "function_call",
    function: { name, arguments: text },
  } as const;
  return (adapter.execute as (call: object) => Promise<unknown>)(call);
}
