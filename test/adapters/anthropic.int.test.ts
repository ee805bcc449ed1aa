// A board behind Anthropic's messages API: the real client library, a scripted model, real servers.

import Anthropic from "@anthropic-ai/sdk";
import type {
  Message,
  MessageParam,
  Tool,
  ToolResultBlockParam,
} from "@anthropic-ai/sdk/resources/messages";
import { describe, expect, it } from "vitest";
import {
  type AnthropicTools,
  type AnthropicToolsOptions,
  toAnthropicTools,
} from "../../src/adapters/anthropic.ts";
import type { ModelCallOptions } from "../../src/core/tools/model-call.ts";
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

/** The loop as a user of the library writes it. */
async function converse(
  { url }: Model,
  board: Board,
  {
    streamed = false,
    ...options
  }: AnthropicToolsOptions & ModelCallOptions & { streamed?: boolean } = {},
): Promise<Message> {
  const client = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 });
  const adapter = toAnthropicTools(board, options);
  const messages: MessageParam[] = [{ role: "user", content: "Go." }];
  for (;;) {
    const tools: Tool[] = adapter.tools;
    const request = { model: "scripted", max_tokens: 1000, messages, tools };
    const message = streamed
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request);
    if (message.stop_reason !== "tool_use") return message;
    const results: ToolResultBlockParam[] = await adapter.executeAll(message, options);
    messages.push(
      { role: "assistant", content: message.content },
      { role: "user", content: results },
    );
  }
}

function seen({ content, isError }: ToolResult): Seen {
  const blocks = content as Awaited<ReturnType<AnthropicTools["execute"]>>["content"];
  return seenOf(
    blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])),
    blocks.flatMap((block) => (block.type === "text" ? [] : [block.source.media_type])),
    isError,
  );
}

describe("toAnthropicTools", () => {
  it.each([false, true])("gives the results of the script, streamed: %s", async (streamed) => {
    const model = await start(SCRIPT_TURNS);
    const board = await open(SCRIPT_SERVERS, { native: SCRIPT_NATIVE });
    const answer = await converse(model, board, { streamed });
    expect(answer.content).toMatchObject([{ type: "text", text: "Done." }]);
    expect(resultsIn(model).map(seen)).toEqual(
      SCRIPT.map((call) => expectedOf(call, ["image", "blob"])),
    );
  });

  it("offers every tool of the board under its name, with the server's schema", async () => {
    const model = await start([{ text: "Hi." }]);
    const board = await open({ echo: fixture("echo") });
    await converse(model, board);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(
      board.tools().map(({ name }) => name),
    );
    expect(model.requests[0]?.tools[1]).toMatchObject({
      name: "mcp__echo__add",
      description: "[echo] Adds two numbers.",
      schema: {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "number" } },
        required: ["a", "b"],
      },
    });
  });

  it("keeps images and PDF in their place between the words", async () => {
    const pdf = Buffer.from("%PDF-1.7\n").toString("base64");
    const png = { type: "image", data: "iVBORw0KGgoA", mimeType: "image/x-wrong" } as const;
    const scan: NativeTool = {
      name: "scan",
      description: "Scans.",
      parameters: { type: "object" },
      execute: () => ({
        content: [
          { type: "text", text: "first" },
          png,
          { type: "text", text: "then" },
          { type: "resource", resource: { uri: "file:///a.pdf", blob: pdf } },
        ],
      }),
    };
    const board = await open({}, { native: [scan] });
    const toolUse = { id: "toolu_1", name: "scan", input: {} };
    expect(await toAnthropicTools(board).execute(toolUse)).toEqual({
      type: "tool_result",
      tool_use_id: "toolu_1",
      content: [
        { type: "text", text: "first" },
        {
          type: "image",
          source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgoA" },
        },
        { type: "text", text: "then\n[resource: file:///a.pdf, 9 B]" },
        {
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data: pdf },
        },
      ],
    });
    const blind = toAnthropicTools(board, { carries: { image: false, document: false } });
    expect(await blind.execute(toolUse)).toMatchObject({
      content: [
        {
          type: "text",
          text: "first\n[image result: image/x-wrong, 9 B]\nthen\n[resource: file:///a.pdf, 9 B]",
        },
      ],
    });
  });

  it("has nothing but text in an error, since the API takes nothing else there", async () => {
    const board = await open(
      {},
      {
        native: [
          {
            name: "shoot",
            description: "Takes a picture of what went wrong.",
            parameters: { type: "object" },
            execute: () => ({
              content: [{ type: "image", data: "iVBORw0KGgoA", mimeType: "image/png" }],
              isError: true,
            }),
          },
        ],
      },
    );
    expect(await toAnthropicTools(board).execute({ id: "a", name: "shoot", input: {} })).toEqual({
      type: "tool_result",
      tool_use_id: "a",
      content: [{ type: "text", text: "[image result: image/png, 9 B]" }],
      is_error: true,
    });
  });

  it("answers a call that cannot be made, beside those that can", async () => {
    const model = await start([
      {
        toolCalls: [
          { name: "mcp__echo__ehco", arguments: { text: "a" } },
          { name: "mcp__echo__echo", arguments: '{"text": "b' },
          { name: "mcp__echo__echo", arguments: { text: "c" } },
        ],
      },
      { text: "Sorry." },
    ]);
    await converse(model, await open({ echo: fixture("echo") }));
    expect(resultsIn(model).map(seen)).toMatchObject([
      {
        text: "there is no tool named 'mcp__echo__ehco' (did you mean 'mcp__echo__echo'?)",
        isError: true,
        framed: false,
      },
      {
        text: expect.stringMatching(/^the arguments for 'mcp__echo__echo' are not JSON/),
        isError: true,
      },
      { text: "c", isError: false },
    ]);
  });

  it("cancels the calls at their servers when the caller gives up", async () => {
    const board = await open({ echo: fixture("echo") });
    const giveUp = new AbortController();
    const content = [1, 2].map((each) => ({
      type: "tool_use" as const,
      id: `toolu_${each}`,
      name: "mcp__echo__sleep",
      input: { ms: 600_000 },
    }));
    const results = toAnthropicTools(board).executeAll({ content }, { signal: giveUp.signal });
    await eventually(() => board.status()[0]?.calls.inFlight === 2);
    giveUp.abort();
    expect(await results).toMatchObject([
      {
        tool_use_id: "toolu_1",
        is_error: true,
        content: [{ text: "the call was cancelled; 'sleep' may have taken effect" }],
      },
      { tool_use_id: "toolu_2", is_error: true },
    ]);
  });

  it("passes on signs of life", async () => {
    const board = await open({ echo: fixture("echo") });
    const heard: unknown[] = [];
    await toAnthropicTools(board).execute(
      { id: "toolu_7", name: "mcp__echo__progress", input: { steps: 2, ms: 1 } },
      { onUpdate: ({ progress }, id) => heard.push([id, progress?.message]) },
    );
    expect(heard).toEqual([
      ["toolu_7", "step 1 of 2"],
      ["toolu_7", "step 2 of 2"],
    ]);
  });

  it("leaves alone what the provider itself has run", async () => {
    const adapter = toAnthropicTools(await open({}));
    const content = [{ type: "server_tool_use", id: "a", name: "web_search", input: {} }];
    expect(await adapter.executeAll({ content })).toEqual([]);
  });

  it("follows the list, and answers for a tool that was on it a turn ago", async () => {
    const board = await open({ list: fixture("list-changed") });
    const adapter = toAnthropicTools(board);
    const names = (): string[] => adapter.tools.map(({ name }) => name);
    expect(names()).toContain("mcp__list__before");
    const changed = new Promise((resolve) => board.on("tools", resolve));
    await adapter.execute({ id: "a", name: "mcp__list__swap", input: {} });
    await changed;
    expect(names()).toContain("mcp__list__after");
    expect(names()).not.toContain("mcp__list__before");
    const call = { id: "b", name: "mcp__list__before", input: { text: "still there?" } };
    expect(await adapter.execute(call)).toMatchObject({
      is_error: true,
      content: [{ text: expect.stringMatching(/^there is no tool named 'mcp__list__before'/) }],
    });
  });
});
