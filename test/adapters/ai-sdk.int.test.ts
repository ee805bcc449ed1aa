// A board behind the AI SDK: its own loop and its own providers, a scripted model, real servers.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import {
  asSchema,
  generateText,
  type LanguageModel,
  stepCountIs,
  streamText,
  type ToolSet,
} from "ai";
import { describe, expect, it, vi } from "vitest";
import { type AiSdkToolsOptions, toAiSdkTools } from "../../src/adapters/ai-sdk.ts";
import type { Board } from "../../src/core/types/board.ts";
import type { Diagnostic } from "../../src/core/types/diagnostic.ts";
import type { NativeTool } from "../../src/core/types/tool.ts";
import { closeBoards, fixture, open } from "../support/boards.ts";
import { type Model, type ToolResult } from "../support/model/start.mjs";
import { eventually } from "../support/processes.ts";
import {
  expectedOf,
  resultsIn,
  type Medium,
  SCRIPT,
  SCRIPT_NATIVE,
  SCRIPT_SERVERS,
  SCRIPT_TURNS,
  type Seen,
  seenOf,
  useModel,
} from "./script.ts";

interface Provider {
  name: string;
  model(url: string): LanguageModel;
  options: AiSdkToolsOptions;
  carried: Medium[];
}

const PROVIDERS: Provider[] = [
  {
    name: "@ai-sdk/openai, chat",
    model: (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" }).chat("scripted"),
    options: { provider: "openai", carries: { image: false, document: false } },
    carried: [],
  },
  {
    name: "@ai-sdk/openai, responses",
    model: (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" }).responses("scripted"),
    options: { provider: "openai-strict" },
    carried: ["image", "blob"],
  },
  {
    name: "@ai-sdk/anthropic",
    model: (url) => createAnthropic({ baseURL: `${url}/v1`, apiKey: "none" })("scripted"),
    options: {},
    carried: ["image", "blob"],
  },
];

const anthropic = PROVIDERS[2]!;

closeBoards();

const start = useModel();

interface LoopOptions {
  provider?: Provider;
  streamed?: boolean;
  abortSignal?: AbortSignal;
}

async function converse(
  { url }: Model,
  tools: ToolSet,
  { provider = anthropic, streamed = false, abortSignal }: LoopOptions = {},
): Promise<string> {
  const options = {
    model: provider.model(url),
    prompt: "Go.",
    tools,
    stopWhen: stepCountIs(5),
    maxRetries: 0,
    maxOutputTokens: 1000,
    abortSignal,
  };
  if (!streamed) return (await generateText(options)).text;
  const result = streamText({ ...options, onError: () => {} });
  await result.consumeStream();
  return result.text;
}

/** Of both APIs' ways to write down a result. */
function seen({ content, isError, text }: ToolResult): Seen {
  if (!Array.isArray(content)) return seenOf([text], [], isError || undefined);
  const parts = content as { text?: string; source?: { media_type: string }; image_url?: string }[];
  return seenOf(
    parts.flatMap((part) => part.text ?? []),
    parts.flatMap((part) => part.source?.media_type ?? part.image_url?.slice(5, 14) ?? []),
    isError || undefined,
  );
}

function native(name: string, execute: NativeTool["execute"]): NativeTool {
  return { name, description: name, parameters: { type: "object" }, execute };
}

describe.each(PROVIDERS)("toAiSdkTools with $name", (provider) => {
  it.each([false, true])("gives the results of the script, streamed: %s", async (streamed) => {
    const model = await start(SCRIPT_TURNS);
    const board = await open(SCRIPT_SERVERS, { native: SCRIPT_NATIVE });
    const tools: ToolSet = toAiSdkTools(board, provider.options);
    expect(await converse(model, tools, { provider, streamed })).toBe("Done.");
    expect(resultsIn(model).map(seen)).toEqual(
      SCRIPT.map((call) => expectedOf(call, provider.carried)),
    );
  });

  it("lets the model go on after calls that cannot be made", async () => {
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
    const tools = toAiSdkTools(await open({ echo: fixture("echo") }), provider.options);
    expect(await converse(model, tools, { provider, streamed: true })).toBe("Sorry.");
    const results = resultsIn(model);
    expect(results.map(({ text }) => text)).toEqual([
      expect.stringContaining("'mcp__echo__ehco'"),
      expect.stringContaining("mcp__echo__echo"),
      expect.stringContaining("c"),
    ]);
  });

  it("cancels the calls at their servers when the caller gives up", async () => {
    const model = await start([
      { toolCalls: [{ name: "mcp__echo__sleep", arguments: { ms: 600_000 } }] },
    ]);
    const board = await open({ echo: fixture("echo") });
    const giveUp = new AbortController();
    const tools = toAiSdkTools(board, provider.options);
    const answer = converse(model, tools, { provider, abortSignal: giveUp.signal });
    const ended = answer.catch((error: unknown) => error);
    await eventually(() => board.status()[0]?.calls.inFlight === 1);
    giveUp.abort();
    expect(await ended).toMatchObject({ name: "AbortError" });
    await eventually(() => board.status()[0]?.calls.inFlight === 0);
  });
});

describe("the set of tools", () => {
  it("offers the server's schema as it is, and says where a tool comes from", async () => {
    const model = await start([{ text: "Hi." }]);
    const board = await open({ echo: fixture("echo") }, { native: SCRIPT_NATIVE });
    const tools = toAiSdkTools(board);
    await converse(model, tools);
    expect(model.requests[0]?.tools[2]).toEqual({
      name: "mcp__echo__add",
      description: "[echo] Adds two numbers.",
      schema: {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "number" } },
        required: ["a", "b"],
      },
    });
    expect(tools.mcp__echo__add).toMatchObject({
      type: "dynamic",
      title: "MCP: echo/add",
      metadata: { server: "echo", tool: "add" },
    });
    expect(tools.greet?.metadata).toEqual({ tool: "greet" });
  });

  it("has its schemas in the standard form too", async () => {
    const { greet } = toAiSdkTools(await open({}, { native: SCRIPT_NATIVE }));
    const standard = greet!.inputSchema["~standard"];
    expect(await asSchema({ "~standard": standard }).jsonSchema).toMatchObject({
      type: "object",
      required: ["name"],
    });
    expect(standard.validate({ name: "a" })).toEqual({ value: { name: "a" } });
    expect(standard.jsonSchema.output()).toEqual(standard.jsonSchema.input());
  });

  it("follows the board from step to step, and answers for a tool that is gone", async () => {
    const board = await open({ list: fixture("list-changed") });
    const changed = new Promise((resolve) => board.on("tools", resolve));
    const offered: string[][] = [];
    const model = await start(async ({ tools }, index) => {
      offered.push(tools.map(({ name }) => name));
      if (index === 0) return { toolCalls: [{ name: "mcp__list__swap", arguments: {} }] };
      if (index === 1) {
        await changed;
        return { toolCalls: [{ name: "mcp__list__before", arguments: { text: "gone?" } }] };
      }
      return { text: "Bye." };
    });
    await converse(model, toAiSdkTools(board));
    expect(offered[0]).toEqual(["mcp__list__swap", "mcp__list__before", "mcp__list__stays"]);
    expect(offered[2]).toEqual(["mcp__list__swap", "mcp__list__stays", "mcp__list__after"]);
    expect(resultsIn(model).map(({ isError }) => isError)).toEqual([false, true]);
    expect(seen(resultsIn(model)[1]!)).toMatchObject({
      text: expect.stringMatching(/^there is no tool named 'mcp__list__before'/),
      isError: true,
    });
  });

  it("is an object like any other to read, and cannot be written", async () => {
    const tools = toAiSdkTools(await open({}, { native: SCRIPT_NATIVE }));
    expect(Object.keys(tools)).toEqual(["greet"]);
    expect(Object.entries(tools)[0]?.[1]).toBe(tools.greet);
    expect({ ...tools }).toEqual({ greet: tools.greet });
    expect(["greet" in tools, "toString" in tools, Symbol.iterator in tools]).toEqual([
      true,
      false,
      false,
    ]);
    expect(Object.getOwnPropertyDescriptor(tools, "nothing")).toBeUndefined();
    expect(Reflect.set(tools, "greet", tools.greet)).toBe(false);
    expect(Reflect.defineProperty(tools, "greet", { value: 1 })).toBe(false);
    expect(Reflect.deleteProperty(tools, "greet")).toBe(false);
  });

  it("asks the board once for whatever is read at once", async () => {
    const board = await open({}, { native: SCRIPT_NATIVE });
    const list = vi.fn<Board["tools"]>(() => board.tools());
    const tools = toAiSdkTools({ tools: list });
    Object.entries(tools);
    expect(list).toHaveBeenCalledTimes(1);
    await Promise.resolve();
    Object.keys(tools);
    expect(list).toHaveBeenCalledTimes(2);
  });

  it("leaves out a tool whose schema no provider takes, and tells", async () => {
    const told: Diagnostic[] = [];
    const parameters = { type: "object", properties: { a: { $ref: "#/properties/a" } } };
    const board = await open(
      {},
      {
        native: [
          { ...native("hopeless", () => ({ content: [] })), parameters: { type: "array" } },
          { ...native("circular", () => ({ content: [] })), parameters },
          ...SCRIPT_NATIVE,
        ],
      },
    );
    const tools = toAiSdkTools(board, { onDiagnostic: (each) => told.push(each) });
    expect(Object.keys(tools)).toContain("greet");
    expect(Object.keys(tools)).not.toContain("hopeless");
    expect(told).toContainEqual({
      server: "native",
      subject: "hopeless",
      message: expect.stringMatching(
        /^left out: its schema does not fit the rules for "generic": /,
      ),
    });
  });
});

describe("what a call gives", () => {
  const png = { type: "image", data: "iVBORw0KGgoA", mimeType: "image/png" } as const;
  const pdf = Buffer.from("%PDF-1.7\n").toString("base64");
  const mp3 = Buffer.from("ID3xxx").toString("base64");
  const call = { toolCallId: "call_1" };

  it("is the whole result, with the raw outcome, for the program", async () => {
    const { mcp__content__structured: tool } = toAiSdkTools(
      await open({ content: fixture("content") }),
    );
    expect(await tool!.execute({}, call)).toMatchObject({
      content: [{ type: "text", text: expect.stringContaining('{"value":1}') }],
      details: { structuredContent: { value: 1 }, externalContent: { server: "content" } },
    });
  });

  it.each([
    ["text alone where there is nothing else", {}, [], { type: "text", value: "(empty result)" }],
    [
      "images, PDF and audio as they are",
      { audio: true },
      [
        png,
        { type: "resource", resource: { uri: "file:///a.pdf", blob: pdf } },
        { type: "audio", data: mp3, mimeType: "audio/mp3" },
      ],
      {
        type: "content",
        value: [
          { type: "image-data", data: png.data, mediaType: "image/png" },
          { type: "text", text: "[resource: file:///a.pdf, 9 B]" },
          {
            type: "file-data",
            data: pdf,
            mediaType: "application/pdf",
            filename: "document.pdf",
          },
          { type: "file-data", data: mp3, mediaType: "audio/mpeg" },
        ],
      },
    ],
    [
      "words for the model that takes none of them",
      { image: false },
      [png],
      { type: "text", value: "[image result: image/png, 9 B]" },
    ],
  ] as const)("is %s, for the model", async (_, carries, content, expected) => {
    const board = await open({}, { native: [native("make", () => ({ content: [...content] }))] });
    const { make } = toAiSdkTools(board, { carries });
    const output = await make!.execute({}, call);
    expect(make!.toModelOutput({ output })).toEqual(expected);
  });

  it("is marked as an error", async () => {
    const fails = native("fails", () => ({ content: [png], isError: true }));
    const { fails: tool } = toAiSdkTools(await open({}, { native: [fails] }));
    await expect(tool!.execute({}, call)).rejects.toMatchObject({
      code: "TOOL_FAILED",
      message: "The call failed:\n[image result: image/png, 9 B]",
      cause: { content: [png], isError: true },
    });
  });

  it.each([undefined, true])(
    "of a failed call is a tool-error in the SDK: progress %s",
    async (progress) => {
      const toolCalls = [{ name: "mcp__echo__fail", arguments: {} }];
      const model = await start([{ toolCalls }, { text: "Done." }]);
      const tools = toAiSdkTools(await open({ echo: fixture("echo") }), {
        ...(progress && { progress }),
      });
      const { steps } = await generateText({
        model: anthropic.model(model.url),
        prompt: "Go.",
        tools,
        stopWhen: stepCountIs(2),
        maxOutputTokens: 1000,
      });
      const errors = steps[0]?.content.filter(({ type }) => type === "tool-error");
      expect(errors).toMatchObject([
        { toolName: "mcp__echo__fail", error: { code: "TOOL_FAILED" } },
      ]);
      const text = expect.stringContaining("it failed") as string;
      expect(seen(resultsIn(model)[0]!)).toMatchObject({ text, isError: true });
    },
  );

  it("is preceded by signs of life", async () => {
    const heard: unknown[] = [];
    const board: Board = await open({ echo: fixture("echo") });
    const tools = toAiSdkTools(board, {
      onUpdate: ({ progress }, id) => heard.push([id, progress?.message]),
    });
    await tools.mcp__echo__progress!.execute({ steps: 1, ms: 1 }, call);
    expect(heard).toEqual([["call_1", "step 1 of 1"]]);
  });

  it("can be watched in the SDK's own stream", async () => {
    const model = await start([
      { toolCalls: [{ name: "mcp__echo__progress", arguments: { steps: 2, ms: 20 } }] },
      { text: "Done." },
    ]);
    const heard: unknown[] = [];
    const tools = toAiSdkTools(await open({ echo: fixture("echo") }), {
      progress: true,
      onUpdate: ({ progress }) => heard.push(progress?.message),
    });
    const { fullStream } = streamText({
      model: anthropic.model(model.url),
      prompt: "Go.",
      tools,
      stopWhen: stepCountIs(2),
      maxOutputTokens: 1000,
    });
    const told: unknown[] = [];
    for await (const part of fullStream) {
      if (part.type !== "tool-result") continue;
      const { content, details } = part.output as { content: unknown; details: unknown };
      told.push([part.preliminary === true, JSON.stringify([content, details])]);
    }
    expect(told).toEqual([
      [true, expect.stringContaining("step 1 of 2")],
      [true, expect.stringContaining("step 2 of 2")],
      [true, expect.stringContaining("2 steps done")],
      [false, expect.stringContaining("2 steps done")],
    ]);
    expect(heard).toEqual(["step 1 of 2", "step 2 of 2"]);
    expect(seen(resultsIn(model)[0]!)).toMatchObject({ text: "2 steps done", isError: false });
    expect(await tools.mcp__echo__echo!.execute({ text: "hi" }, call)).not.toHaveProperty(
      "isError",
    );
  });
});
