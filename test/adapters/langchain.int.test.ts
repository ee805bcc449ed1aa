// A board behind LangChain: its real tools, models and agent, a scripted model, real servers.

import { ChatAnthropic } from "@langchain/anthropic";
import { type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { DynamicStructuredTool, type StructuredToolInterface } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent } from "langchain";
import { describe, expect, expectTypeOf, it } from "vitest";
import { type LangChainOptions, toLangChainTools } from "../../src/adapters/langchain.ts";
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

function openAi({ url }: Model, api: "chat" | "responses" = "chat"): ChatOpenAI {
  return new ChatOpenAI({
    model: "scripted",
    apiKey: "none",
    maxRetries: 0,
    useResponsesApi: api === "responses",
    configuration: { baseURL: `${url}/v1` },
  });
}

function anthropic({ url }: Model): ChatAnthropic {
  return new ChatAnthropic({
    model: "scripted",
    apiKey: "none",
    maxRetries: 0,
    anthropicApiUrl: url,
  });
}

function toolsOf(board: Board, options?: LangChainOptions): DynamicStructuredTool[] {
  return toLangChainTools(board, { DynamicStructuredTool, ToolMessage }, options);
}

function toolOf(board: Board, name: string, options?: LangChainOptions): DynamicStructuredTool {
  const found = toolsOf(board, options).find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found;
}

/** The loop as a user writes it who has no agent of LangChain's. */
async function converse(
  chat: ChatOpenAI | ChatAnthropic,
  tools: DynamicStructuredTool[],
): Promise<BaseMessage[]> {
  const bound = chat.bindTools(tools);
  const messages: BaseMessage[] = [new HumanMessage("Go.")];
  for (;;) {
    const message = await bound.invoke(messages);
    messages.push(message);
    if (!message.tool_calls?.length) return messages;
    const results = message.tool_calls.map(async (call) => {
      const tool = tools.find(({ name }) => name === call.name);
      return (await tool?.invoke({ ...call, type: "tool_call" })) as ToolMessage;
    });
    messages.push(...(await Promise.all(results)));
  }
}

interface WireBlock {
  type: string;
  text?: string;
  source?: { media_type: string };
  image_url?: string | { url: string };
}

/** Whatever API it went over. */
function seen({ content }: ToolResult): Seen {
  const blocks = (
    typeof content === "string" ? [{ type: "text", text: content }] : content
  ) as WireBlock[];
  return seenOf(
    blocks.flatMap(({ text }) => (text === undefined ? [] : [text])),
    blocks.flatMap(({ source, image_url: image }) => {
      const url = typeof image === "object" ? image.url : image;
      return source?.media_type ?? /^data:(.*?);base64,/.exec(url ?? "")?.[1] ?? [];
    }),
  );
}

function messagesOf(all: readonly BaseMessage[]): ToolMessage[] {
  return all.filter((message) => ToolMessage.isInstance(message));
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
    isError: true,
  }),
};

describe("toLangChainTools", () => {
  it("makes tools of the caller's own class", async () => {
    const board = await open({}, { native: [broken] });
    const tools = toLangChainTools(board, { DynamicStructuredTool, ToolMessage });
    expectTypeOf(tools).toExtend<StructuredToolInterface[]>();
    expectTypeOf(tools).toExtend<DynamicStructuredTool[]>();
    expect(tools[0]).toBeInstanceOf(DynamicStructuredTool);
  });

  it.each([
    { over: "OpenAI's chat API", chat: (of: Model) => openAi(of), images: "words" },
    {
      over: "OpenAI's responses API",
      chat: (of: Model) => openAi(of, "responses"),
      images: "words",
    },
    {
      over: "OpenAI's responses API with images",
      chat: (of: Model) => openAi(of, "responses"),
      images: "responses",
    },
    { over: "OpenAI's chat API with images", chat: (of: Model) => openAi(of), images: "blocks" },
    { over: "Anthropic's API", chat: anthropic, images: "words" },
    { over: "Anthropic's API with images", chat: anthropic, images: "blocks" },
  ] as const)("gives the results of the script over $over", async ({ chat, images }) => {
    const model = await start(SCRIPT_TURNS);
    const board = await open(SCRIPT_SERVERS, { native: SCRIPT_NATIVE });
    const messages = await converse(chat(model), toolsOf(board, { images }));
    expect(messages.at(-1)?.text).toBe("Done.");
    const carried = images === "words" ? [] : (["image", "blob"] as const);
    expect(resultsIn(model).map(seen)).toEqual(SCRIPT.map((call) => expectedOf(call, carried)));
    expect(messagesOf(messages).map(({ status }) => status)).toEqual(
      SCRIPT.map(({ isError }) => (isError ? "error" : "success")),
    );
  });

  it("gives the results of the script to LangChain's own agent", async () => {
    const model = await start(SCRIPT_TURNS);
    const board = await open(SCRIPT_SERVERS, { native: SCRIPT_NATIVE });
    const agent = createAgent({ model: openAi(model), tools: toolsOf(board) });
    const { messages } = await agent.invoke({ messages: [new HumanMessage("Go.")] });
    expect(resultsIn(model).map(seen)).toEqual(SCRIPT.map((call) => expectedOf(call, [])));
    expect(messagesOf(messages).map(({ status }) => status)).toEqual(
      SCRIPT.map(({ isError }) => (isError ? "error" : "success")),
    );
  });

  it("offers every tool of the board, with the server's schema", async () => {
    const model = await start([{ text: "Hi." }]);
    const board = await open({ echo: fixture("echo") });
    await converse(openAi(model), toolsOf(board));
    const [request] = model.requests;
    expect(request?.tools.map(({ name }) => name)).toEqual(board.tools().map(({ name }) => name));
    expect(request?.tools[1]).toMatchObject({
      name: "mcp__echo__add",
      description: "[echo] Adds two numbers.",
      schema: { properties: { a: { type: "number" }, b: { type: "number" } } },
    });
  });

  it("has the raw outcome as the artifact, of a failure too", async () => {
    const board = await open({ echo: fixture("echo") });
    const call = { type: "tool_call", id: "call_1", args: {} } as const;
    const sum = await toolOf(board, "mcp__echo__add").invoke({
      ...call,
      name: "mcp__echo__add",
      args: { a: 2, b: 3 },
    });
    expect(sum).toMatchObject({
      status: "success",
      tool_call_id: "call_1",
      content: expect.stringContaining("EXTERNAL_UNTRUSTED_CONTENT"),
      artifact: { content: [{ type: "text", text: "5" }], structuredContent: { sum: 5 } },
      metadata: {
        label: "MCP: echo/add",
        source: { kind: "mcp", server: "echo", tool: "add" },
        annotations: { readOnlyHint: true },
      },
    });
    const failed = await toolOf(board, "mcp__echo__fail").invoke({
      ...call,
      name: "mcp__echo__fail",
    });
    expect(failed).toBeInstanceOf(ToolMessage);
    expect(failed).toMatchObject({
      status: "error",
      name: "mcp__echo__fail",
      artifact: { content: [{ type: "text", text: "it failed" }], isError: true },
    });
  });

  it("answers bare arguments with bare content, and rejects where that would hide a failure", async () => {
    const board = await open({ echo: fixture("echo") }, { native: [broken] });
    const content = await toolOf(board, "mcp__echo__echo").invoke({ text: "hi" });
    expect(content).toContain("\nhi\n");
    await expect(toolOf(board, "shoot").invoke({})).rejects.toMatchObject({
      code: "TOOL_FAILED",
      message: "The call failed:\nSee:\n[image result: image/png, 9 B]",
      cause: { isError: true },
    });
  });

  it("tells LangChain's agent of calls that cannot be made, beside those that can", async () => {
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
    const board = await open({ echo: fixture("echo") });
    const agent = createAgent({ model: openAi(model), tools: toolsOf(board) });
    await agent.invoke({ messages: [new HumanMessage("Go.")] });
    expect(resultsIn(model)).toMatchObject([
      { text: expect.stringContaining("mcp__echo__ehco") },
      { text: expect.stringMatching(/properties\/a\/type/) },
      { text: expect.stringContaining("\nc\n") },
    ]);
  });

  it("passes on signs of life, and survives a listener that throws", async () => {
    const board = await open({ echo: fixture("echo") });
    const heard: unknown[] = [];
    const callbacks = [
      {
        awaitHandlers: true,
        raiseError: true,
        handleToolEvent(event: unknown) {
          heard.push(event);
          throw new Error("no more");
        },
      },
    ];
    const tool = toolOf(board, "mcp__echo__progress");
    expect(await tool.invoke({ steps: 2, ms: 1 }, { callbacks })).toContain("2 steps done");
    expect(heard).toMatchObject([
      { progress: { progress: 1, total: 2, message: "step 1 of 2" } },
      { progress: { progress: 2, total: 2, message: "step 2 of 2" } },
    ]);
  });

  it("cancels the call at its server when the signal aborts", async () => {
    const board = await open({ echo: fixture("echo") });
    const giveUp = new AbortController();
    const name = "mcp__echo__sleep";
    const answer = toolOf(board, name).invoke(
      { type: "tool_call", id: "call_1", name, args: { ms: 600_000 } },
      { signal: giveUp.signal },
    );
    await eventually(() => board.status()[0]?.calls.inFlight === 1);
    giveUp.abort();
    expect(await answer).toMatchObject({
      status: "error",
      artifact: { failure: { code: "CANCELLED" } },
    });
    expect(board.status()[0]?.calls.inFlight).toBe(0);
  });

  it("never runs a server's pattern", async () => {
    const match: NativeTool = {
      name: "match",
      description: "Matches.",
      parameters: { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } },
      execute: () => ({ content: [{ type: "text", text: "ran" }] }),
    };
    const board = await open({}, { native: [match] });
    const hostile = { a: `${"a".repeat(60)}!` };
    // What the board says: it tries the pattern in linear time.
    await expect(toolOf(board, "match").invoke(hostile)).rejects.toThrow("must match pattern");
    expect(await toolOf(board, "match").invoke({ a: "a".repeat(60) })).toBe("ran");
  });

  it("leaves out a tool whose schema no model can be given, and says so", async () => {
    const never = { ...broken, name: "never", parameters: { type: "string" } };
    const board = await open({}, { native: [never, broken] });
    const told: unknown[] = [];
    const tools = toolsOf(board, { onDiagnostic: (each) => told.push(each) });
    expect(tools.map(({ name }) => name)).toEqual(["shoot"]);
    expect(told).toMatchObject([{ subject: "never", message: expect.stringMatching(/^left out/) }]);
  });
});
