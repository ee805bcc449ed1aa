// What the scripted model records of a request, and what it refuses as a provider would.

import { afterEach, describe, expect, it } from "vitest";
import { startModel, type ApiName, type Model } from "./start.mjs";
import { APIS, PATHS, post } from "./wire.ts";

let model: Model;

afterEach(() => model.close());

async function ask(api: ApiName, body: Record<string, unknown>) {
  model = await startModel({ turns: () => ({ text: "ok" }) });
  const response = await post(model.url, api, body);
  return { status: response.status, text: await response.text(), request: model.requests[0] };
}

const SCHEMA = { type: "object", properties: { q: { type: "string" } } };

describe("the record", () => {
  it("of chat", async () => {
    const body = {
      messages: [
        { role: "developer", content: "Be kind." },
        {
          role: "user",
          content: [{ type: "text", text: "a" }, { type: "image_url" }, { text: "b" }],
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "find", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "found" }] },
      ],
      tools: [
        { type: "function", function: { name: "find", description: "Finds", parameters: SCHEMA } },
        { type: "function", function: { name: "bare" } },
        { type: "custom", custom: { name: "other" } },
      ],
    };
    const { request } = await ask("chat", body);
    expect(request).toMatchObject({
      api: "chat",
      stream: false,
      body,
      headers: { "content-type": "text/plain;charset=UTF-8" },
    });
    expect(request?.messages).toEqual([
      { role: "system", text: "Be kind.", toolCalls: [] },
      { role: "user", text: "ab", toolCalls: [] },
      { role: "assistant", text: "", toolCalls: [{ id: "c1", name: "find", arguments: "{}" }] },
      { role: "tool", text: "found", toolCalls: [], toolCallId: "c1" },
    ]);
    expect(request?.tools).toEqual([
      { name: "find", description: "Finds", schema: SCHEMA },
      { name: "bare", description: "", schema: { type: "object", properties: {} } },
    ]);
    expect(request?.toolResults).toEqual([
      {
        id: "c1",
        name: "find",
        text: "found",
        isError: false,
        content: [{ type: "text", text: "found" }],
      },
    ]);
  });

  it("of responses", async () => {
    const { request } = await ask("responses", {
      instructions: "Be kind.",
      input: [
        { role: "user", content: [{ type: "input_text", text: "hi" }] },
        { type: "reasoning", summary: [] },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "wait" }] },
        { type: "function_call", call_id: "c1", name: "find", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "found" },
      ],
      tools: [
        { type: "function", name: "find", parameters: SCHEMA },
        { type: "function", name: "bare", parameters: null },
        { type: "web_search" },
      ],
    });
    expect(request?.messages).toEqual([
      { role: "system", text: "Be kind.", toolCalls: [] },
      { role: "user", text: "hi", toolCalls: [] },
      { role: "assistant", text: "wait", toolCalls: [] },
      { role: "assistant", text: "", toolCalls: [{ id: "c1", name: "find", arguments: "{}" }] },
      { role: "tool", text: "found", toolCalls: [], toolCallId: "c1" },
    ]);
    expect(request?.tools.map(({ name, schema }) => [name, schema.type])).toEqual([
      ["find", "object"],
      ["bare", "object"],
    ]);
    expect(request?.toolResults).toMatchObject([{ id: "c1", name: "find", content: "found" }]);
  });

  it("of messages", async () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "" } };
    const { request } = await ask("messages", {
      system: [{ type: "text", text: "Be kind." }],
      messages: [
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "x" },
            { type: "text", text: "wait" },
            { type: "tool_use", id: "c1", name: "find", input: { q: 1 } },
            { type: "tool_use", id: "c2", name: "look", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c1", content: "gone", is_error: true },
            {
              type: "tool_result",
              tool_use_id: "c2",
              content: [{ type: "text", text: "!" }, image],
            },
            { type: "text", text: "well?" },
          ],
        },
      ],
      tools: [
        { name: "find", input_schema: SCHEMA },
        { type: "web_search_20250305", name: "web" },
      ],
    });
    expect(request?.messages).toEqual([
      { role: "system", text: "Be kind.", toolCalls: [] },
      { role: "user", text: "hi", toolCalls: [] },
      {
        role: "assistant",
        text: "wait",
        toolCalls: [
          { id: "c1", name: "find", arguments: '{"q":1}' },
          { id: "c2", name: "look", arguments: "{}" },
        ],
      },
      { role: "tool", text: "gone", toolCalls: [], toolCallId: "c1" },
      { role: "tool", text: "!", toolCalls: [], toolCallId: "c2" },
      { role: "user", text: "well?", toolCalls: [] },
    ]);
    expect(request?.tools).toEqual([{ name: "find", description: "", schema: SCHEMA }]);
    expect(request?.toolResults).toEqual([
      { id: "c1", name: "find", text: "gone", isError: true, content: "gone" },
      {
        id: "c2",
        name: "look",
        text: "!",
        isError: false,
        content: [{ type: "text", text: "!" }, image],
      },
    ]);
  });
});

const call = (id: string) => ({ id, type: "function", function: { name: "f", arguments: "{}" } });
const calls = (...ids: string[]) => ({ role: "assistant", tool_calls: ids.map(call) });
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "r" });
const uses = (id: string) => ({
  role: "assistant",
  content: [{ type: "tool_use", id, name: "f", input: {} }],
});
const user = { role: "user", content: "hi" };
const fn = (name: string, parameters: unknown = SCHEMA) => ({
  type: "function",
  function: { name, parameters },
});

describe("refused", () => {
  it.each<[ApiName, Record<string, unknown>, string]>([
    ["chat", { model: "" }, "model: there is none"],
    ["chat", { messages: [] }, "messages: there are none"],
    ["chat", { messages: [{ role: "robot" }] }, "the role 'robot' is unknown"],
    ["chat", { messages: [calls("a", "b"), result("a")] }, "no result for the tool calls b"],
    ["chat", { messages: [calls("a"), user, result("a")] }, "no result for the tool calls a"],
    [
      "chat",
      { messages: [user, result("z")] },
      "a result for the tool call 'z', which was not made",
    ],
    ["chat", { messages: [{ role: "tool" }] }, "a result for the tool call ''"],
    ["chat", { tools: [fn("mcp:a:b")] }, "tools[0]: the name 'mcp:a:b' does not match"],
    ["chat", { tools: [fn("a"), fn("a")] }, "tools[1]: there are two tools named 'a'"],
    ["chat", { tools: [fn("a", { type: "string" })] }, "the schema of 'a' is not of type object"],
    ["responses", { input: [] }, "input: there is none"],
    ["responses", { input: 5 }, "input: there is none"],
    ["responses", { input: [{ role: "tool" }] }, "the role 'tool' is unknown"],
    [
      "responses",
      { input: [{ type: "function_call", call_id: "a", name: "f", arguments: "{}" }] },
      "no result for the tool calls a",
    ],
    ["responses", { input: [{ type: "function_call_output" }] }, "which was not made"],
    ["responses", { previous_response_id: "resp_9" }, "there is no response 'resp_9'"],
    ["responses", { input: [{ type: "item_reference", id: "x" }] }, "there is no item 'x'"],
    ["messages", { max_tokens: undefined }, "max_tokens: Field required"],
    ["messages", { messages: "hi" }, "messages: there are none"],
    ["messages", { messages: [{ role: "system" }] }, "messages.0.role: 'user' or 'assistant'"],
    ["messages", { messages: [user, uses("a"), user] }, "no result for the tool calls a"],
  ])("%s %j: %s", async (api, body, message) => {
    const { status, text } = await ask(api, body);
    expect(status).toBe(400);
    expect(JSON.parse(text).error.type).toBe("invalid_request_error");
    expect(JSON.parse(text).error.message).toContain(message);
  });

  it.each(APIS)("what is no object: %s", async (api) => {
    model = await startModel({ turns: [] });
    for (const [body, message] of [
      ["{", "the body is not JSON"],
      ["[]", "the body is not an object"],
    ]) {
      const response = await fetch(`${model.url}${PATHS[api]}`, { method: "POST", body });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { message } });
    }
  });

  it("without a turn being used up, but on the record", async () => {
    model = await startModel({ turns: [{ text: "one" }] });
    const refused = await post(model.url, "chat", { messages: [calls("a")] });
    expect(refused.status).toBe(400);
    expect(await (await post(model.url, "chat")).text()).toContain("one");
    expect(model.requests).toHaveLength(2);
  });

  it("what the client asked not to be stored", async () => {
    model = await startModel({ turns: () => ({ text: "ok" }) });
    const first = await post(model.url, "responses", { store: false });
    const { id } = (await first.json()) as { id: string };
    const next = await post(model.url, "responses", { previous_response_id: id });
    expect(next.status).toBe(400);
  });
});
