// The scripted model is as strict as a provider, and tears its answers as a network does. A test that uses it
// would not notice if it were lenient.

import { afterEach, describe, expect, it } from "vitest";
import { startModel, type ApiName, type Model, type ModelOptions } from "./start.mjs";
import { APIS, chunksOf, eventsOf, post } from "./wire.ts";

let model: Model | undefined;

async function start(options: ModelOptions): Promise<Model> {
  model = await startModel(options);
  return model;
}

afterEach(() => model?.close());

describe("the script", () => {
  it.each(APIS)("is followed turn by turn, then has ended: %s", async (api) => {
    const { url } = await start({ turns: [{ text: "one" }, async () => ({ text: "two" })] });
    expect(await (await post(url, api)).text()).toContain('"one"');
    expect(await (await post(url, api)).text()).toContain('"two"');
    const response = await post(url, api);
    expect(response.status).toBe(500);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await response.json()).toMatchObject({ error: { message: "the script has ended" } });
  });

  it("is read before the model starts", async () => {
    await expect(startModel({ turns: [{ toolcalls: [] } as never] })).rejects.toThrow(
      "a turn has no 'toolcalls'",
    );
  });
});

describe("an answer", () => {
  it.each(APIS)("is torn inside characters and escapes: %s", async (api) => {
    const args = { note: 'ü"\n' };
    const { url } = await start({
      turns: () => ({ text: "né 😀", toolCalls: [{ name: "t", arguments: args }] }),
    });
    for (const stream of [true, false]) {
      const chunks = await chunksOf(await post(url, api, { stream }));
      expect(chunks.some((chunk) => !isWhole(chunk))).toBe(true);
      expect(chunks.some((chunk) => chunk.at(-1) === 0x5c)).toBe(true);
    }
    const events = eventsOf(await (await post(url, api, { stream: true })).text());
    const deltas = JSON.stringify(events).match(
      /"(?:arguments|delta|partial_json)":"(?:[^"\\]|\\.)*"/g,
    );
    expect(deltas?.some((delta) => delta.endsWith('\\\\"'))).toBe(true);
  });
});

function isWhole(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString("utf8")).equals(bytes);
}

describe("a request", () => {
  it.each<[string, Record<string, string>, number]>([
    ["no key", {}, 401],
    ["another key", { authorization: "Bearer other" }, 401],
    ["the key as a bearer token", { authorization: "Bearer secret" }, 200],
    ["the key as x-api-key", { "x-api-key": "secret" }, 200],
  ])("needs the key: %s", async (_, headers, status) => {
    const { url, requests } = await start({ turns: () => ({ text: "hi" }), apiKey: "secret" });
    for (const api of APIS) {
      const response = await post(url, api, {}, { headers });
      expect(response.status).toBe(status);
      const body = await response.json();
      if (status === 401) expect(body).toMatchObject({ error: { type: "authentication_error" } });
    }
    expect(requests).toHaveLength(status === 200 ? 3 : 0);
  });
});

const SCHEMA = { type: "object", properties: { q: { type: "string" } } };
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

describe("a conversation as agents hold it", () => {
  it("has tools in a namespace, and calls them there", async () => {
    const add = { type: "function", name: "add", parameters: SCHEMA };
    const tools = [{ type: "namespace", name: "mcp__sums", tools: [add] }];
    const called = { name: "mcp__sums__add", arguments: {} };
    const { url, requests } = await start({ turns: () => ({ toolCalls: [called] }) });
    const { output } = (await (await post(url, "responses", { tools })).json()) as {
      output: Record<string, unknown>[];
    };
    expect(output).toMatchObject([{ namespace: "mcp__sums", name: "add" }]);
    const said = { type: "function_call_output", call_id: output[0]?.["call_id"], output: "3" };
    await post(url, "responses", { tools, input: [...output, said] });
    expect(requests.at(-1)?.tools.map(({ name }) => name)).toEqual(["mcp__sums__add"]);
    expect(requests.at(-1)?.toolResults).toMatchObject([{ name: "mcp__sums__add", text: "3" }]);
  });

  it("has instructions in its course", async () => {
    const { url, requests } = await start({ turns: () => ({ text: "ok" }) });
    const system = { role: "system", content: "Be brief." };
    expect((await post(url, "messages", { messages: [user, system] })).status).toBe(200);
    expect(requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "system"]);
  });

  it("is with a preview of the API", async () => {
    const { url } = await start({ turns: () => ({ text: "ok" }) });
    const body = JSON.stringify({ contents: [{ role: "user", parts: [{ text: "hi" }] }] });
    const path = `${url}/v1beta/models/m:generateContent`;
    expect((await fetch(path, { method: "POST", body })).status).toBe(200);
  });
});

describe("a conversation that a provider refuses", () => {
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
    const { url } = await start({ turns: () => ({ text: "ok" }) });
    const response = await post(url, api, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", message: expect.stringContaining(message) },
    });
  });

  it("uses up no turn, but is on the record", async () => {
    const { url, requests } = await start({ turns: [{ text: "one" }] });
    const refused = await post(url, "chat", { messages: [calls("a")] });
    expect(refused.status).toBe(400);
    expect(await (await post(url, "chat")).text()).toContain("one");
    expect(requests).toHaveLength(2);
  });
});
