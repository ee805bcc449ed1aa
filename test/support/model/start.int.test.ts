import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../processes.ts";
import { startModel, type ApiName, type Model, type ModelOptions } from "./start.mjs";
import { APIS, chunksOf, eventsOf, post } from "./wire.ts";

let model: Model | undefined;

async function start(options: ModelOptions): Promise<Model> {
  model = await startModel(options);
  return model;
}

afterEach(() => model?.close());

describe("the door", () => {
  it.each([
    ["GET", "/v1/nothing", 404, "no /v1/nothing here"],
    ["GET", "/v1/messages", 405, "/v1/messages does not take GET"],
    ["POST", "/v1/models", 405, "/v1/models does not take POST"],
  ])("%s %s is %i", async (method, path, status, message) => {
    const { url, requests } = await start({ turns: [] });
    const response = await fetch(`${url}${path}`, { method });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { message } });
    expect(requests).toEqual([]);
  });

  it("lists models as both providers do", async () => {
    const { url } = await start({ turns: [], models: ["a", "b"], now: () => 1_000_000 });
    const response = await fetch(`${url}/v1/models?limit=5`);
    expect(await response.json()).toMatchObject({
      object: "list",
      data: [{ id: "a", object: "model", type: "model", created: 1000 }, { id: "b" }],
      has_more: false,
      first_id: "a",
      last_id: "b",
    });
    const none = await startModel({ turns: [], models: [] });
    const empty = await fetch(`${none.url}/v1/models`);
    expect(await empty.json()).toMatchObject({ data: [], first_id: null, last_id: null });
    await none.close();
  });

  it.each<[string, Record<string, string>, number]>([
    ["no key", {}, 401],
    ["another key", { authorization: "Bearer other" }, 401],
    ["the key as a bearer token", { authorization: "Bearer secret" }, 200],
    ["the key as x-api-key", { "x-api-key": "secret" }, 200],
  ])("asks for its key: %s", async (_, headers, status) => {
    const { url, requests } = await start({ turns: () => ({ text: "hi" }), apiKey: "secret" });
    for (const api of APIS) {
      const response = await post(url, api, {}, { headers });
      expect(response.status).toBe(status);
      const body = await response.json();
      if (status === 401) expect(body).toMatchObject({ error: { type: "authentication_error" } });
    }
    expect(requests).toHaveLength(status === 200 ? 3 : 0);
  });

  it("is on this machine alone, on the port that was asked for", async () => {
    const first = await startModel({ turns: [] });
    await first.close();
    const port = Number(new URL(first.url).port);
    const { url } = await start({ turns: [], port });
    expect(url).toBe(`http://127.0.0.1:${port}`);
    await expect(startModel({ turns: [], port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});

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

  it("may be one function, which ends it by saying nothing", async () => {
    const { url } = await start({
      turns: ({ messages }, index) =>
        index < 2 ? { text: `${index}: ${messages.at(-1)?.text}` } : undefined,
    });
    expect(await (await post(url, "chat")).text()).toContain("0: hello");
    expect(await (await post(url, "messages")).text()).toContain("1: hello");
    expect(await (await post(url, "responses")).text()).toContain("the script has ended");
  });

  it("gives every request its own turn, however long the one before takes", async () => {
    const { url } = await start({ turns: [{ text: "slow", delayMs: 30 }, { text: "fast" }] });
    const slow = post(url, "chat");
    await eventually(() => model?.requests.length === 1);
    const fast = post(url, "chat");
    expect(await (await fast).text()).toContain("fast");
    expect(await (await slow).text()).toContain("slow");
  });

  it("that fails is told from a failure it plays", async () => {
    const { url } = await start({
      turns: [
        () => {
          throw new Error("no idea");
        },
        () => Promise.reject("nothing"),
        () => ({ txt: "typo" }) as never,
      ],
    });
    for (const message of [
      "the script failed: no idea",
      "the script failed: nothing",
      "the script failed: a turn has no 'txt', only text, thinking",
    ]) {
      const response = await post(url, "chat");
      expect(response.status).toBe(500);
      expect(await response.text()).toContain(message);
    }
  });

  it("is read before the model starts", async () => {
    await expect(startModel({ turns: [{ toolcalls: [] } as never] })).rejects.toThrow(
      "a turn has no 'toolcalls'",
    );
  });
});

describe("an answer", () => {
  it.each<[ApiName, Record<string, unknown>]>([
    [
      "chat",
      {
        created: 12,
        choices: [{ message: { content: null, tool_calls: [{ id: "call_0_0" }] } }],
        usage: { prompt_tokens: 19, completion_tokens: 3, total_tokens: 22 },
      },
    ],
    [
      "responses",
      {
        created_at: 12,
        output: [{ type: "function_call", call_id: "call_0_0", arguments: "{oops" }],
        usage: { input_tokens: 11, output_tokens: 3, total_tokens: 14 },
      },
    ],
    [
      "messages",
      {
        content: [{ type: "tool_use", id: "call_0_0", input: "{oops" }],
        usage: { input_tokens: 23, output_tokens: 3 },
      },
    ],
  ])("has an id and a price of its own, arguments as they are: %s", async (api, expected) => {
    const { url } = await start({
      turns: [{ toolCalls: [{ name: "broken", arguments: "{oops" }] }],
      now: () => 12_345,
    });
    const response = await post(url, api, { stream: false });
    expect(await response.json()).toMatchObject(expected);
  });

  it.each<[ApiName, string, unknown]>([
    ["chat", "stop", { choices: [{ finish_reason: "stop" }] }],
    ["chat", "tools", { choices: [{ finish_reason: "tool_calls" }] }],
    ["chat", "length", { choices: [{ finish_reason: "length" }] }],
    ["chat", "filter", { choices: [{ finish_reason: "content_filter" }] }],
    ["responses", "stop", { status: "completed", incomplete_details: null }],
    ["responses", "tools", { status: "completed" }],
    ["responses", "length", { incomplete_details: { reason: "max_output_tokens" } }],
    ["responses", "filter", { incomplete_details: { reason: "content_filter" } }],
    ["messages", "stop", { stop_reason: "end_turn" }],
    ["messages", "tools", { stop_reason: "tool_use" }],
    ["messages", "length", { stop_reason: "max_tokens" }],
    ["messages", "filter", { stop_reason: "refusal" }],
  ])("%s ends as the script says: %s", async (api, finish, expected) => {
    const { url } = await start({ turns: [{ text: "x", finish: finish as "stop" }] });
    expect(await (await post(url, api)).json()).toMatchObject(expected as object);
  });

  it("has thoughts that can be sent back, where they are asked for", async () => {
    const { url } = await start({ turns: () => ({ thinking: "hm" }) });
    const plain = await (await post(url, "responses")).json();
    expect(plain).toMatchObject({ output: [{ type: "reasoning" }] });
    expect(JSON.stringify(plain)).not.toContain("encrypted");
    const asked = await post(url, "responses", { include: ["reasoning.encrypted_content"] });
    expect(await asked.json()).toMatchObject({ output: [{ encrypted_content: "aG0=" }] });
  });

  it("tells its price in a stream of chat only when asked", async () => {
    const { url } = await start({ turns: () => ({ text: "hi" }) });
    const plain = await (await post(url, "chat", { stream: true })).text();
    expect(plain).not.toContain("usage");
    const options = { stream: true, stream_options: { include_usage: true } };
    const events = eventsOf(await (await post(url, "chat", options)).text());
    expect(events.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 1 } });
    expect(events[0]).toMatchObject({ usage: null });
  });

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
