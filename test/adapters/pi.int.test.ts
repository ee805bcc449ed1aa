// A board behind pi's agent: the real loop and its client, a scripted model, real servers.

import { Agent, type AgentEvent, type AgentTool } from "@mariozechner/pi-agent-core";
import type { KnownApi, Model as PiModel } from "@mariozechner/pi-ai";
import { describe, expect, expectTypeOf, it } from "vitest";
import { type PiTool, toPiTools } from "../../src/adapters/pi.ts";
import type { Board } from "../../src/core/types/board.ts";
import type { NativeTool } from "../../src/core/types/tool.ts";
import { closeBoards, fixture, open } from "../support/boards.ts";
import { type Model, type ToolResult } from "../support/model/start.mjs";
import { eventually } from "../support/processes.ts";
import {
  expectedOf,
  resultsIn,
  SCRIPT,
  SCRIPT_NATIVE,
  SCRIPT_SERVERS,
  SCRIPT_TURNS,
  type Seen,
  seenOf,
  useModel,
} from "./script.ts";

closeBoards();

const start = useModel();

type ApiChoice = { api: KnownApi; base: string };

const MESSAGES: ApiChoice = { api: "anthropic-messages", base: "" };
const CHAT: ApiChoice = { api: "openai-completions", base: "/v1" };

function agentOf({ url }: Model, tools: AgentTool[], { api, base } = MESSAGES): Agent {
  const scripted: PiModel<KnownApi> = {
    id: "scripted",
    name: "scripted",
    api,
    provider: "scripted",
    baseUrl: `${url}${base}`,
    reasoning: false,
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 100_000,
    maxTokens: 1000,
  };
  return new Agent({
    initialState: { systemPrompt: "Be brief.", model: scripted, tools },
    getApiKey: () => "none",
  });
}

async function converse(model: Model, board: Board, choice = MESSAGES): Promise<Agent> {
  const agent = agentOf(model, toPiTools(board), choice);
  await agent.prompt("Go.");
  expect(agent.state.errorMessage).toBeUndefined();
  return agent;
}

interface WireBlock {
  type: string;
  text: string;
  source: { media_type: string };
}

/** As Anthropic's API has them. */
function seen({ content, isError }: ToolResult): Seen {
  const blocks = (
    typeof content === "string" ? [{ type: "text", text: content }] : content
  ) as WireBlock[];
  const texts = blocks.flatMap(({ type, text }) => (type === "text" ? [text] : []));
  const media = blocks.flatMap(({ type, source }) => (type === "image" ? [source.media_type] : []));
  const { isError: inWords, ...rest } = seenOf(texts, media);
  expect(inWords, "the words and the flag agree").toBe(isError);
  return { ...rest, isError };
}

function toolOf(board: Board, name: string, options?: Parameters<typeof toPiTools>[1]): PiTool {
  const found = toPiTools(board, options).find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found;
}

const broken: NativeTool = {
  name: "shoot",
  description: "Takes a picture of what went wrong.",
  parameters: { type: "object" },
  execute: () => ({
    content: [
      { type: "text", text: "See:" },
      { type: "image", data: "iVBORw0KGgoA", mimeType: "image/png" },
    ],
    structuredContent: { code: 7 },
    isError: true,
  }),
};

describe("toPiTools", () => {
  it("makes tools that pi takes, and gives the results of the script", async () => {
    expectTypeOf<PiTool>().toExtend<AgentTool>();
    expectTypeOf<Omit<PiTool, "label">>().not.toExtend<AgentTool>();
    const model = await start(SCRIPT_TURNS);
    const board = await open(SCRIPT_SERVERS, { native: SCRIPT_NATIVE });
    await converse(model, board);
    expect(resultsIn(model).map(seen)).toEqual(
      SCRIPT.map((call) => expectedOf(call, ["image", "blob"])),
    );
  });

  it("says in words that a call failed where the model's API has no sign for it", async () => {
    const model = await start([
      { toolCalls: [{ name: "mcp__echo__fail", arguments: {} }] },
      { text: "Oh." },
    ]);
    await converse(model, await open({ echo: fixture("echo") }), CHAT);
    expect(resultsIn(model)[0]?.text).toMatch(/^The call failed:\n<<<EXTERNAL[^]*it failed/);
  });

  it("offers every tool of the board, with the server's schema", async () => {
    const model = await start([{ text: "Hi." }]);
    const board = await open({ echo: fixture("echo") });
    await converse(model, board);
    const [request] = model.requests;
    expect(request?.tools.map(({ name }) => name)).toEqual(board.tools().map(({ name }) => name));
    expect(request?.tools[1]).toMatchObject({
      name: "mcp__echo__add",
      description: "[echo] Adds two numbers.",
      schema: { properties: { a: { type: "number" }, b: { type: "number" } } },
    });
    expect(toolOf(board, "mcp__echo__add")).toMatchObject({
      label: "MCP: echo/add",
      outputSchema: { properties: { sum: { type: "number" } } },
    });
  });

  it("answers calls that cannot be made, beside those that can", async () => {
    const model = await start([
      {
        toolCalls: [
          { name: "mcp__echo__ehco", arguments: { text: "a" } },
          { name: "mcp__echo__add", arguments: { a: "many", b: 1 } },
          { name: "mcp__echo__echo", arguments: { text: "c" } },
        ],
      },
      { text: "Sorry." },
    ]);
    await converse(model, await open({ echo: fixture("echo") }));
    expect(resultsIn(model)).toMatchObject([
      { text: "Tool mcp__echo__ehco not found", isError: true },
      { text: expect.stringContaining("Validation failed"), isError: true },
      { text: expect.stringContaining("\nc\n"), isError: false },
    ]);
  });

  it("keeps the raw outcome, framed text and structured content apart", async () => {
    const board = await open({ echo: fixture("echo") });
    const result = await toolOf(board, "mcp__echo__add").execute("call_1", { a: 2, b: 3 });
    expect(result).toMatchObject({
      content: [{ type: "text", text: expect.stringContaining("EXTERNAL_UNTRUSTED_CONTENT") }],
      details: { content: [{ type: "text", text: "5" }], structuredContent: { sum: 5 } },
      structuredContent: { sum: 5 },
    });
    expect(result).not.toHaveProperty("isError");
  });

  it("throws failures, or returns them whole to a pi that knows them", async () => {
    const board = await open({}, { native: [broken] });
    await expect(toolOf(board, "shoot").execute("call_1", {})).rejects.toMatchObject({
      code: "TOOL_FAILED",
      message: "The call failed:\nSee:\n[image result: image/png, 9 B]",
      cause: { structuredContent: { code: 7 } },
    });
    expect(await toolOf(board, "shoot", { errors: "return" }).execute("call_1", {})).toMatchObject({
      content: [
        { type: "text", text: "The call failed:\nSee:" },
        { type: "image", data: "iVBORw0KGgoA", mimeType: "image/png" },
      ],
      details: { isError: true },
      structuredContent: { code: 7 },
      isError: true,
    });
  });

  it("refuses arguments that are no object without a call", async () => {
    const board = await open({ echo: fixture("echo") });
    const tool = toolOf(board, "mcp__echo__echo", { errors: "return" });
    expect(await tool.execute("call_1", ["text"])).toMatchObject({
      isError: true,
      details: { failure: { code: "INVALID_ARGUMENTS" } },
    });
    expect(board.status()[0]?.calls.total).toBe(0);
  });

  it("passes on signs of life, with and without words", async () => {
    const quiet: NativeTool = {
      name: "quiet",
      description: "Counts in silence.",
      parameters: { type: "object" },
      execute(_id, _params, _signal, onUpdate) {
        onUpdate?.({ content: [], progress: { progress: 1, total: 2 } });
        return { content: [{ type: "text", text: "done" }] };
      },
    };
    const model = await start([
      {
        toolCalls: [
          { name: "mcp__echo__progress", arguments: { steps: 2, ms: 1 } },
          { name: "quiet", arguments: {} },
        ],
      },
      { text: "Done." },
    ]);
    const board = await open({ echo: fixture("echo") }, { native: [quiet] });
    const agent = agentOf(model, toPiTools(board));
    const heard: Extract<AgentEvent, { type: "tool_execution_update" }>[] = [];
    agent.subscribe((event) => {
      if (event.type === "tool_execution_update") heard.push(event);
    });
    await agent.prompt("Go.");
    const of = (name: string): unknown[] =>
      heard.filter(({ toolName }) => toolName === name).map((event) => event.partialResult);
    expect(of("mcp__echo__progress")).toMatchObject([
      { content: [{ type: "text", text: "step 1 of 2" }], details: { progress: { progress: 1 } } },
      { content: [{ type: "text", text: "step 2 of 2" }], details: { progress: { progress: 2 } } },
    ]);
    expect(of("quiet")).toMatchObject([
      { content: [], details: { progress: { progress: 1, total: 2 } } },
    ]);
  });

  it("cancels the calls at their servers when the agent is aborted", async () => {
    const sleep = { name: "mcp__echo__sleep", arguments: { ms: 600_000 } };
    const model = await start([{ toolCalls: [sleep, sleep] }, { text: "Never." }]);
    const board = await open({ echo: fixture("echo") });
    const agent = agentOf(model, toPiTools(board));
    const run = agent.prompt("Go.");
    await eventually(() => board.status()[0]?.calls.inFlight === 2);
    agent.abort();
    await run;
    expect(board.status()[0]?.calls.inFlight).toBe(0);
    const results = agent.state.messages.filter((message) => message.role === "toolResult");
    expect(results).toMatchObject([{ isError: true }, { isError: true }]);
    expect(JSON.stringify(results)).toContain("the call was cancelled");
  });

  it("lists what the board lists when it is asked again", async () => {
    const board = await open({ list: fixture("list-changed") });
    const names = (): string[] => toPiTools(board).map(({ name }) => name);
    expect(names()).toContain("mcp__list__before");
    const changed = new Promise((resolve) => board.on("tools", resolve));
    await toolOf(board, "mcp__list__swap").execute("call_1", {});
    await changed;
    expect(names()).toContain("mcp__list__after");
    expect(names()).not.toContain("mcp__list__before");
  });

  it("never runs a server's pattern", async () => {
    const tool: NativeTool = {
      name: "match",
      description: "Matches.",
      parameters: { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } },
      execute: () => ({ content: [{ type: "text", text: "ran" }] }),
    };
    const hostile = { name: "match", arguments: { a: `${"a".repeat(60)}!` } };
    const model = await start([{ toolCalls: [hostile] }, { text: "Done." }]);
    await converse(model, await open({}, { native: [tool] }));
    // What the board says: it tries the pattern in linear time.
    const text = expect.stringContaining("native/match was not called") as string;
    expect(resultsIn(model)).toMatchObject([{ text, isError: true }]);
    expect(model.requests[0]?.tools[0]?.schema).toMatchObject({
      properties: { a: { description: "Must match ^(a+)+$" } },
    });
  });

  it("leaves out a tool whose schema no model can be given, and says so", async () => {
    const never: NativeTool = {
      name: "never",
      description: "Takes no arguments at all.",
      parameters: { type: "string" },
      execute: () => ({ content: [] }),
    };
    const board = await open({}, { native: [never, broken] });
    const told: unknown[] = [];
    const tools = toPiTools(board, { onDiagnostic: (each) => told.push(each) });
    expect(tools.map(({ name }) => name)).toEqual(["shoot"]);
    expect(told).toMatchObject([{ subject: "never", message: expect.stringMatching(/^left out/) }]);
  });
});
