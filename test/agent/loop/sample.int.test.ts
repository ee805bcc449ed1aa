// A server's request, put to the scripted model.

import { describe, expect, it } from "vitest";
import { sampleModel } from "../../../src/agent/loop/sample.ts";
import type { SamplingMessage, SamplingRequest } from "../../../src/core/types/sampling.ts";
import { systemClock } from "../../../src/util/clock.ts";
import type { ModelOptions } from "../../support/model/start.mjs";
import { closeModels, KEY, rig, TYPES } from "./rig.ts";

closeModels();

/** The smallest there is. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const user = (text: string): SamplingMessage => ({
  role: "user",
  content: [{ type: "text", text }],
});

const WEATHER = {
  name: "weather/now",
  description: "tells the weather",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

function request(given: Partial<SamplingRequest> = {}): SamplingRequest {
  return {
    server: "s",
    approvalRequired: false,
    messages: [user("Hello?")],
    maxTokens: 100,
    signal: new AbortController().signal,
    ...given,
  };
}

async function sample(
  turns: ModelOptions["turns"],
  given: Partial<SamplingRequest> = {},
  type = TYPES[0],
) {
  const { model, agentModel } = await rig(turns, type);
  const clock = {
    ...systemClock,
    after: (_: number, task: () => void) => systemClock.after(0, task),
  };
  const answer = sampleModel(request(given), { model: agentModel, clock });
  return { answer, model };
}

describe.each(TYPES)("a model of %s", (type) => {
  it("answers, within what the server asks for", async () => {
    const { answer, model } = await sample(
      [{ thinking: "hm", text: "Hello." }],
      {
        systemPrompt: "Be\u200b kind.",
        messages: [
          user("H\u202ei"),
          { role: "assistant", content: [{ type: "text", text: "Yes?" }] },
          user("Hello?"),
        ],
        temperature: 0.5,
      },
      type,
    );
    expect(await answer).toEqual({
      model: "scripted/model",
      content: [{ type: "text", text: "Hello." }],
      stopReason: "endTurn",
    });
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]?.messages.map(({ role, text }) => [role, text])).toEqual([
      ["system", "Be kind."],
      ["user", "Hi"],
      ["assistant", "Yes?"],
      ["user", "Hello?"],
    ]);
    const { max_tokens, max_output_tokens, temperature } = model.requests[0]?.body ?? {};
    expect(max_tokens ?? max_output_tokens).toBe(100);
    expect(temperature).toBe(0.5);
  });

  it("calls the server's tools, and goes on with their results", async () => {
    const turns: ModelOptions["turns"] = [
      ({ tools }) => ({
        toolCalls: [{ name: tools[0]?.name ?? "", arguments: { city: "Oslo" }, id: "c1" }],
      }),
    ];
    const asked = { messages: [user("Rain?")], tools: [WEATHER], toolChoice: "required" as const };
    const { answer, model } = await sample(turns, asked, type);
    expect(await answer).toEqual({
      model: "scripted/model",
      content: [{ type: "tool_use", id: "c1", name: "weather/now", input: { city: "Oslo" } }],
      stopReason: "toolUse",
    });
    expect(model.requests[0]?.tools[0]?.name).toMatch(/^weather_now_[0-9a-f]{8}$/);
    const { content } = await answer;
    const next = await sample(
      [{ text: "No." }],
      {
        ...asked,
        messages: [
          user("Rain?"),
          { role: "assistant", content: [content].flat() },
          {
            role: "user",
            content: [
              { type: "tool_result", toolUseId: "c1", content: [], structuredContent: { rain: 0 } },
              { type: "text", text: "So?" },
            ],
          },
        ],
      },
      type,
    );
    expect(await next.answer).toMatchObject({ content: [{ text: "No." }] });
    expect(next.model.requests[0]?.toolResults).toMatchObject([{ id: "c1", text: '{"rain":0}' }]);
    expect(next.model.requests[0]?.messages.at(-1)?.text).toContain("So?");
  });
});

describe("an answer", () => {
  it.each([
    ["length", "maxTokens"],
    ["filter", "refusal"],
  ] as const)("that is not whole says so, and makes no calls: %s", async (finish, stopReason) => {
    const call = { name: "weather", arguments: { city: "Oslo" } };
    const { answer } = await sample([{ text: "so f", toolCalls: [call], finish }], {
      tools: [{ ...WEATHER, name: "weather" }],
    });
    expect(await answer).toMatchObject({ content: [{ type: "text", text: "so f" }], stopReason });
  });

  it.each([
    [
      "a tool that is not there",
      { name: "made_up", arguments: {} },
      "which is not one of its tools",
    ],
    [
      "arguments that are not JSON",
      { name: "weather", arguments: "{oops" },
      "its arguments are not JSON",
    ],
    [
      "arguments that are nested too deeply",
      { name: "weather", arguments: `{"x":${"[".repeat(20_000)}${"]".repeat(20_000)}}` },
      "its arguments are nested too deeply",
    ],
  ])("that calls with %s is none", async (_, call, reason) => {
    const tools = [{ ...WEATHER, name: "weather" }];
    const { answer } = await sample([{ toolCalls: [call] }], { tools });
    await expect(answer).rejects.toMatchObject({
      code: "PROTOCOL",
      message: expect.stringContaining(reason),
    });
  });

  it("may be a call without arguments", async () => {
    const tools = [{ name: "now", inputSchema: { type: "object" } }];
    const call = { name: "now", arguments: "", id: "c1" };
    const { answer } = await sample([{ toolCalls: [call] }], { tools, stopSequences: ["END"] });
    expect(await answer).toMatchObject({ content: [{ type: "tool_use", name: "now", input: {} }] });
  });

  it("is asked for again where that helps", async () => {
    const busy = { error: { status: 529, message: "busy" } };
    const { answer, model } = await sample([busy, busy, { text: "now" }]);
    expect(await answer).toMatchObject({ content: [{ text: "now" }] });
    expect(model.requests).toHaveLength(3);
  });

  it("that does not come is a failure without the key", async () => {
    const { answer } = await sample([{ error: { status: 400, message: `bad ${KEY}` } }]);
    await expect(answer).rejects.toMatchObject({
      code: "HTTP_STATUS",
      message: expect.stringContaining("bad [key]"),
    });
  });

  it("is not waited for when nobody wants it any more", async () => {
    const gone = new AbortController();
    const { answer, model } = await sample(
      () => {
        gone.abort();
        return { text: "a long answer", chunkDelayMs: 50 };
      },
      { signal: gone.signal },
    );
    await expect(answer).rejects.toMatchObject({ code: "CANCELLED" });
    expect(model.requests).toHaveLength(1);
  });
});

describe("media", () => {
  it("are sent as the model takes them, else in words", async () => {
    const { answer, model } = await sample([{ text: "a dot" }], {
      messages: [
        {
          role: "user",
          content: [
            { type: "image", data: PNG, mimeType: "image/png" },
            { type: "audio", data: "AAAA", mimeType: "audio/wav" },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "image", data: PNG, mimeType: "image/png" },
            { type: "tool_result", toolUseId: "c0", content: [] },
          ],
        },
        { role: "user", content: [] },
      ],
    });
    expect(await answer).toMatchObject({ content: [{ text: "a dot" }] });
    const body = JSON.stringify(model.requests[0]?.body);
    expect(body).toContain(PNG);
    expect(body).toContain("audio/wav");
    expect(body.split(PNG)).toHaveLength(2);
    expect(body).toContain("(empty prompt)");
  });
});
