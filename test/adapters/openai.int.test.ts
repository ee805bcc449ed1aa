// A board behind OpenAI's chat and responses APIs: the real client library, a scripted model, real servers.

import OpenAI from "openai";
import type {
  ChatCompletionMessageParam,
  ChatCompletionTool,
  ChatCompletionUserMessageParam,
} from "openai/resources/chat/completions";
import type { FunctionTool, ResponseInputItem } from "openai/resources/responses/responses";
import { describe, expect, it } from "vitest";
import { openBoard } from "../../src/core/board/board.ts";
import {
  type OpenAiFunctionCallOutput,
  type OpenAiToolsOptions,
  toOpenAiTools,
} from "../../src/adapters/openai.ts";
import type { ModelCallOptions } from "../../src/core/tools/model-call.ts";
import type { Board } from "../../src/core/types/board.ts";
import type { Diagnostic } from "../../src/core/types/diagnostic.ts";
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

type Options = Omit<OpenAiToolsOptions, "api"> & ModelCallOptions & { streamed?: boolean };

closeBoards();

const start = useModel();

function connect({ url }: Model): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
}

/** The loop as a user of the library writes it. */
async function chat(model: Model, board: Board, options: Options = {}): Promise<string | null> {
  const client = connect(model);
  const adapter = toOpenAiTools(board, { ...options, api: "chat" });
  const messages: ChatCompletionMessageParam[] = [{ role: "user", content: "Go." }];
  for (;;) {
    const tools: ChatCompletionTool[] = adapter.tools;
    const request = { model: "scripted", messages, tools };
    const completion = options.streamed
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request);
    const message = completion.choices[0]!.message;
    if (!message.tool_calls?.length) return message.content;
    messages.push(message, ...(await adapter.executeAll(message, options)));
  }
}

async function respond(model: Model, board: Board, options: Options = {}): Promise<string> {
  const client = connect(model);
  const adapter = toOpenAiTools(board, { ...options, api: "responses" });
  const input: ResponseInputItem[] = [{ role: "user", content: "Go." }];
  for (;;) {
    const tools: FunctionTool[] = adapter.tools;
    const request = { model: "scripted", input, tools };
    const response = options.streamed
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request);
    const outputs = await adapter.executeAll(response, options);
    if (outputs.length === 0) return response.output_text;
    input.push(...(response.output as ResponseInputItem[]), ...outputs);
  }
}

const LOOPS = { chat, responses: respond };
const APIS = ["chat", "responses"] as const;

function seen({ content }: ToolResult): Seen {
  const output = content as OpenAiFunctionCallOutput["output"];
  const parts =
    typeof output === "string" ? [{ type: "input_text", text: output } as const] : output;
  return seenOf(
    parts.flatMap((part) => (part.type === "input_text" ? [part.text] : [])),
    parts.flatMap((part) => {
      if (part.type === "input_text") return [];
      return [typeOf(part.type === "input_image" ? part.image_url : part.file_data)];
    }),
  );
}

function typeOf(dataUrl: string): string {
  return /^data:(.*);base64,/.exec(dataUrl)?.[1] ?? dataUrl;
}

/** What stands in the user's message behind the results: by call, the types of its media. */
function mediaIn(message: ChatCompletionUserMessageParam): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  let types: string[] = [];
  for (const part of message.content as Exclude<typeof message.content, string>) {
    if (part.type === "text") {
      const id = /^Output of the tool call (\S+), not the user's words\./.exec(part.text)?.[1];
      found[id ?? part.text] = types = [];
    }
    if (part.type === "image_url") types.push(typeOf(part.image_url.url));
    if (part.type === "file") types.push(typeOf(part.file.file_data ?? ""));
    if (part.type === "input_audio") types.push(part.input_audio.format);
  }
  return found;
}

function native(name: string, execute: NativeTool["execute"], parameters = {}): NativeTool {
  return { name, description: name, parameters: { type: "object", ...parameters }, execute };
}

const PDF = Buffer.from("%PDF-1.7\n").toString("base64");
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const scan = native("scan", () => ({
  content: [
    { type: "text", text: "seen and heard" },
    { type: "image", data: "iVBORw0KGgoA", mimeType: "image/png" },
    { type: "audio", data: WAV, mimeType: "audio/x-wav" },
    { type: "resource", resource: { uri: "file:///a.pdf", blob: PDF } },
  ],
}));

describe.each(APIS)("toOpenAiTools for %s", (api) => {
  it.each([false, true])("gives the results of the script, streamed: %s", async (streamed) => {
    const model = await start(SCRIPT_TURNS);
    const board = await open(SCRIPT_SERVERS, { native: SCRIPT_NATIVE });
    expect(await LOOPS[api](model, board, { streamed })).toBe("Done.");
    const inOutput = api === "chat" ? [] : (["image", "blob"] as const);
    expect(resultsIn(model).map(seen)).toEqual(SCRIPT.map((call) => expectedOf(call, inOutput)));
  });

  it("answers a call that cannot be made, beside those that can", async () => {
    const model = await start([
      {
        toolCalls: [
          { name: "mcp__echo__ehco", arguments: { text: "a" } },
          { name: "mcp__echo__echo", arguments: '{"text": "b' },
          { name: "mcp__echo__echo", arguments: "[1]" },
          { name: "mcp__echo__pid", arguments: "" },
          { name: "mcp__echo__echo", arguments: { text: "c" } },
        ],
      },
      { text: "Sorry." },
    ]);
    await LOOPS[api](model, await open({ echo: fixture("echo") }));
    expect(resultsIn(model).map(seen)).toMatchObject([
      {
        text: "there is no tool named 'mcp__echo__ehco' (did you mean 'mcp__echo__echo'?)",
        isError: true,
        framed: false,
      },
      { text: expect.stringMatching(/are not JSON \(.*was not called$/) },
      { text: expect.stringMatching(/must be one JSON object/) },
      { text: expect.stringMatching(/^\d+$/), isError: false },
      { text: "c", isError: false },
    ]);
  });

  it("says the schema's strictness, and gives up on it for one tool alone", async () => {
    const model = await start([
      { toolCalls: [{ name: "book", arguments: { city: "Bern", nights: null } }] },
      { text: "Booked." },
    ]);
    const told: Diagnostic[] = [];
    const asked: unknown[] = [];
    const book = native(
      "book",
      (_, args) => {
        asked.push(args);
        return { content: [{ type: "text", text: "booked" }] };
      },
      {
        properties: { city: { type: "string" }, nights: { type: "integer" } },
        required: ["city"],
      },
    );
    const names = Array.from({ length: 6000 }, (_, index) => [`p${index}`, { type: "string" }]);
    const wide = native("wide", () => ({ content: [] }), {
      properties: Object.fromEntries(names),
    });
    const board = await open({}, { native: [book, wide] });
    await LOOPS[api](model, board, { strict: true, onDiagnostic: (each) => told.push(each) });
    expect(asked).toEqual([{ city: "Bern" }]);
    const [offered, loose] = (model.requests[0]!.body.tools as { function?: object }[]).map(
      (tool) => ({ ...tool, ...tool.function }) as { strict?: boolean; parameters?: object },
    );
    expect(offered).toMatchObject({
      strict: true,
      parameters: { required: ["city", "nights"], additionalProperties: false },
    });
    expect(loose?.strict).toBe(api === "chat" ? undefined : false);
    expect(told).toContainEqual({
      server: "native",
      subject: "wide",
      message: expect.stringMatching(
        /^offered with changes: its schema does not fit the rules for "openai-strict"/,
      ),
    });
  });

  it("offers what can be offered of a server whose tools are malformed", async () => {
    const model = await start([
      { toolCalls: [{ name: "mcp__bad__good", arguments: { text: "hi" } }] },
      { text: "Fine." },
    ]);
    const board = await open({ bad: fixture("malformed-tools") });
    expect(await LOOPS[api](model, board, { strict: true })).toBe("Fine.");
    expect(resultsIn(model).map(seen)).toMatchObject([{ text: "good", isError: false }]);
  });

  it("finds a tool by the safe name it was offered under", async () => {
    const model = await start(({ tools }, index) =>
      index === 0
        ? { toolCalls: [{ name: tools[0]?.name ?? "", arguments: { text: "hi" } }] }
        : { text: "Fine." },
    );
    await using board = await openBoard({
      servers: { echo: fixture("echo") },
      toolNames: "mcp:{server}:{tool}",
    });
    expect(board.tools()[0]?.name).toBe("mcp:echo:echo");
    await LOOPS[api](model, board);
    expect(model.requests[0]?.tools[0]?.name).toMatch(/^mcp_echo_echo_[0-9a-f]{8}$/);
    expect(resultsIn(model).map(seen)).toMatchObject([{ text: "hi", isError: false }]);
  });

  it("offers no more tools than the API takes", async () => {
    const model = await start([{ text: "Hi." }]);
    const told: Diagnostic[] = [];
    const board = await open({ many: fixture("many-tools", "--count=130") });
    const listed = board.tools().length;
    expect(listed).toBeGreaterThan(128);
    const onDiagnostic = (each: Diagnostic): number => told.push(each);
    await LOOPS[api](model, board, { onDiagnostic, toolSearch: "off" });
    expect(model.requests[0]?.tools).toHaveLength(128);
    expect(told).toHaveLength(listed - 128);
    expect(told[0]).toMatchObject({
      server: "many",
      message: "left out: the provider takes no more than 128 tools",
    });
  });

  it("cancels the calls at their servers when the caller gives up", async () => {
    const model = await start([
      { toolCalls: [{ name: "mcp__echo__sleep", arguments: { ms: 600_000 } }] },
      { text: "Fine." },
    ]);
    const board = await open({ echo: fixture("echo") });
    const giveUp = new AbortController();
    const answer = LOOPS[api](model, board, { signal: giveUp.signal });
    await eventually(() => board.status()[0]?.calls.inFlight === 1);
    giveUp.abort();
    expect(await answer).toBe("Fine.");
    expect(resultsIn(model).map(seen)).toMatchObject([
      { text: "the call was cancelled; 'sleep' may have taken effect", isError: true },
    ]);
  });
});

describe("media", () => {
  it("follow the results in the chat API, which has no other place for them", async () => {
    const model = await start([
      {
        toolCalls: [
          { id: "call_a", name: "mcp__content__mixed", arguments: {} },
          { id: "call_b", name: "mcp__content__text", arguments: {} },
          { id: "call_c", name: "scan", arguments: {} },
        ],
      },
      { text: "Nice." },
    ]);
    const board = await open({ content: fixture("content") }, { native: [scan] });
    await chat(model, board, { carries: { audio: true } });
    const [, , ...rest] = model.requests[1]!.body.messages as ChatCompletionMessageParam[];
    expect(rest.map(({ role }) => role)).toEqual(["tool", "tool", "tool", "user"]);
    expect(rest[2]?.content).toBe(
      "seen and heard\n[image result: image/png, 9 B]\n[audio result: audio/x-wav, 44 B]\n[resource: file:///a.pdf, 9 B]",
    );
    expect(mediaIn(rest[3] as ChatCompletionUserMessageParam)).toEqual({
      call_a: ["image/png", "wav"],
      call_c: ["image/png", "wav", "application/pdf"],
    });
  });

  it("are words for a model that takes none", async () => {
    const board = await open({}, { native: [scan] });
    const carries = { image: false, document: false };
    const words =
      "seen and heard\n[image result: image/png, 9 B]\n[audio result: audio/x-wav, 44 B]\n[resource: file:///a.pdf, 9 B]";
    const called = { name: "scan", arguments: "{}" };
    const adapter = toOpenAiTools(board, { api: "chat", carries });
    const call = { id: "call_a", function: called };
    const message = { role: "tool", tool_call_id: "call_a", content: words };
    expect(await adapter.execute(call)).toEqual(message);
    expect(await adapter.executeAll({ tool_calls: [call] })).toEqual([message]);
    expect(
      await toOpenAiTools(board, { api: "responses", carries }).execute({
        call_id: "call_a",
        ...called,
      }),
    ).toEqual({ type: "function_call_output", call_id: "call_a", output: words });
  });

  it("stand in their place in the responses API", async () => {
    const board = await open({}, { native: [scan] });
    const adapter = toOpenAiTools(board, { api: "responses" });
    expect(await adapter.execute({ call_id: "c", name: "scan", arguments: "{}" })).toEqual({
      type: "function_call_output",
      call_id: "c",
      output: [
        { type: "input_text", text: "seen and heard" },
        { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgoA", detail: "auto" },
        {
          type: "input_text",
          text: "[audio result: audio/x-wav, 44 B]\n[resource: file:///a.pdf, 9 B]",
        },
        {
          type: "input_file",
          filename: "document.pdf",
          file_data: `data:application/pdf;base64,${PDF}`,
        },
      ],
    });
  });
});

describe("calls that are somebody else's", () => {
  it("are left alone", async () => {
    const board = await open({});
    const custom = { id: "call_a", type: "custom" as const, custom: { name: "sql", input: "" } };
    const adapter = toOpenAiTools(board, { api: "chat" });
    expect(await adapter.executeAll({ tool_calls: [custom] })).toEqual([]);
    expect(await adapter.executeAll({ tool_calls: null })).toEqual([]);
    expect((await adapter.execute(custom)).content).toContain("there is no tool named ''");
    expect(
      await toOpenAiTools(board, { api: "responses" }).executeAll({
        output: [{ type: "message" }],
      }),
    ).toEqual([]);
  });
});
