import { describe, expect, it, vi } from "vitest";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import type {
  OnSampling,
  SampledMessage,
  SamplingHandler,
  SamplingRequest,
} from "../../../../src/core/types/sampling.ts";
import { sample } from "../../../../src/core/upstream/requests/sampling.ts";
import { SamplingLimits } from "../../../../src/core/upstream/requests/sampling-limits.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const TEXT = { type: "text", text: "Hi" } as const;
const IMAGE = { type: "image", data: "AAAA", mimeType: "image/png" } as const;
const USE = { type: "tool_use", id: "1", name: "t", input: {} } as const;
const TOOL = { name: "t", description: "d", inputSchema: { type: "object" }, extra: 1 };
const ANSWER: SampledMessage = { model: "m", content: TEXT };
const REQUEST = { messages: [{ role: "user", content: TEXT }], maxTokens: 50 };

function host(onSampling: OnSampling) {
  const clock = new ManualClock();
  const logger = recordingLogger();
  const limits = new SamplingLimits(clock);
  const redact = (text: string): string => text.replaceAll("hunter2", "***");
  const options = {
    server: "docs",
    onSampling,
    approvalRequired: false,
    limits,
    clock,
    logger,
    redact,
  };
  const signal = new AbortController().signal;
  const ask = (params: unknown, origin = { call: undefined, signal }): Promise<JsonObject> =>
    sample(params, origin, options);
  return { clock, logger, ask };
}

/** What the host's callback sees of a request. */
async function seen(params: JsonObject, options: object = {}): Promise<SamplingRequest> {
  const handler = vi.fn<SamplingHandler>(() => ANSWER);
  await host({ handler, ...options }).ask(params);
  const [call] = handler.mock.calls;
  if (call === undefined) throw new Error("not asked");
  return call[0];
}

describe("a request", () => {
  it("reaches the handler with its content and its origin", async () => {
    const request = await seen(
      {
        messages: [
          { role: "user", content: [TEXT, IMAGE] },
          { role: "assistant", content: USE },
          { role: "user", content: { type: "tool_result", toolUseId: "1", content: [IMAGE] } },
        ],
        systemPrompt: "Be hunter2.",
        maxTokens: 50,
        temperature: 0.5,
        stopSequences: ["."],
        modelPreferences: { hints: [{ name: "claude" }, {}, 5], costPriority: 0.2 },
        includeContext: "allServers",
        metadata: { a: 1 },
        tools: [TOOL],
        toolChoice: { mode: "required" },
      },
      { tools: true },
    );
    expect(request).toEqual({
      server: "docs",
      approvalRequired: false,
      messages: [
        { role: "user", content: [TEXT, IMAGE] },
        { role: "assistant", content: [USE] },
        { role: "user", content: [{ type: "tool_result", toolUseId: "1", content: [IMAGE] }] },
      ],
      systemPrompt: "Be ***.",
      maxTokens: 50,
      temperature: 0.5,
      stopSequences: ["."],
      preferences: { hints: ["claude"], costPriority: 0.2 },
      tools: [{ name: "t", description: "d", inputSchema: { type: "object" } }],
      toolChoice: "required",
      signal: expect.any(AbortSignal),
    });
  });

  it.each([
    [50, {}, 50],
    [5000, {}, 4096],
    [5000, { maxTokens: 8000 }, 5000],
    [0, {}, 4096],
    [-1, {}, 4096],
    [1.9, {}, 1],
    ["x", {}, 4096],
    [undefined, {}, 4096],
  ])("for %s tokens with %j gets at most %s", async (maxTokens, options, expected) => {
    expect((await seen({ ...REQUEST, maxTokens }, options)).maxTokens).toBe(expected);
  });

  it.each<[JsonObject, object]>([
    [{ toolChoice: { mode: "auto" } }, { tools: [], toolChoice: "auto" }],
    [{ tools: [TOOL], toolChoice: { mode: "odd" } }, { tools: [{ name: "t" }] }],
    [{ tools: [TOOL], toolChoice: "x" }, { tools: [{ name: "t" }] }],
  ])("with %j has %j", async (more, expected) => {
    const request = await seen({ ...REQUEST, ...more }, { tools: true });
    expect(request).toMatchObject(expected);
  });

  it.each<[string, unknown, string]>([
    ["nothing", undefined, "the request has no parameters"],
    ["no messages", {}, "the request has no messages"],
    ["an empty list", { messages: [] }, "the request has no messages"],
    [
      "too many",
      { messages: Array.from({ length: 201 }, () => REQUEST.messages[0]) },
      "the request has more than 200 messages",
    ],
    ["an odd message", { messages: ["x"] }, "the request is malformed"],
    ["an odd role", { messages: [{ role: "system", content: TEXT }] }, "the request is malformed"],
    ["no content", { messages: [{ role: "user" }] }, "the request is malformed"],
    [
      "content of an odd kind",
      { messages: [{ role: "user", content: { type: "video" } }] },
      "the request is malformed",
    ],
    ["an odd tool", { ...REQUEST, tools: ["x"] }, "the request is malformed"],
    ["a tool without a schema", { ...REQUEST, tools: [{ name: "t" }] }, "the request is malformed"],
    ["no list of tools", { ...REQUEST, tools: "x" }, "the request is malformed"],
    [
      "a megabyte of text",
      { messages: [{ role: "user", content: { type: "text", text: "x".repeat(1 << 20) } }] },
      "the request has more than 256 KiB of text",
    ],
    [
      "a megabyte in the parts of a tool",
      { ...REQUEST, tools: [{ ...TOOL, description: "x".repeat(1 << 20) }] },
      "the request has more than 256 KiB of text",
    ],
    [
      "nine megabytes of images",
      {
        messages: Array.from({ length: 9 }, () => ({
          role: "user",
          content: { ...IMAGE, data: "A".repeat(1 << 20) },
        })),
      },
      "the request has more than 8 MiB of media",
    ],
    [
      "a schema that is nested too deeply to be measured",
      {
        ...REQUEST,
        tools: [
          { ...TOOL, inputSchema: JSON.parse(`{"x":${"[".repeat(9000)}${"]".repeat(9000)}}`) },
        ],
      },
      "the request has too many levels",
    ],
  ])("with %s is refused before anyone sees it", async (_, params, message) => {
    const handler = vi.fn<SamplingHandler>();
    const { ask, logger } = host({ handler, tools: true });
    await expect(ask(params)).rejects.toMatchObject({ code: "PROTOCOL", message });
    expect(handler).not.toHaveBeenCalled();
    expect(logger.lines).toMatchObject([
      { level: "warn", message: `refused the server's request for the model: ${message}` },
    ]);
  });

  it("may have a megabyte of image", async () => {
    const content = { ...IMAGE, data: "A".repeat(1 << 20) };
    expect((await seen({ messages: [{ role: "user", content }] })).messages).toHaveLength(1);
  });
});

describe("an answer", () => {
  const withTools = { ...REQUEST, tools: [TOOL] };

  it.each<[JsonObject, SampledMessage, unknown]>([
    [REQUEST, { model: "m", content: [TEXT] }, TEXT],
    [REQUEST, { model: "m", content: [TEXT, TEXT] }, { type: "text", text: "Hi\nHi" }],
    [REQUEST, { model: "m", content: IMAGE }, IMAGE],
    [withTools, { model: "m", content: [TEXT, USE] }, [TEXT, USE]],
    [withTools, { model: "m", content: TEXT }, [TEXT]],
  ])("%# goes back in the protocol's form", async (params, answer, content) => {
    const { ask } = host({ handler: () => answer, tools: true });
    expect(await ask(params)).toEqual({ role: "assistant", model: "m", content });
  });

  it("says why it ended", async () => {
    const { ask } = host(() => ({ ...ANSWER, stopReason: "maxTokens" }));
    expect(await ask(REQUEST)).toMatchObject({ stopReason: "maxTokens" });
  });

  it.each<unknown>([
    "text",
    {},
    { model: 5, content: TEXT },
    { model: "m" },
    { model: "m", content: [] },
    { model: "m", content: [TEXT, IMAGE] },
    { model: "m", content: USE },
    { model: "m", content: { type: "text" } },
  ])("that is not a message is not sent: %j", async (answer) => {
    const { ask, logger } = host(() => answer as SampledMessage);
    await expect(ask(REQUEST)).rejects.toMatchObject({ code: "NOT_APPROVED" });
    expect(logger.lines).toHaveLength(1);
  });

  it("that does not come times out", async () => {
    const handler = vi.fn<SamplingHandler>(() => new Promise(() => {}));
    const { ask, clock } = host(handler);
    const outcome = ask(REQUEST).catch((error: unknown) => error);
    await clock.advance(600_000);
    expect(await outcome).toMatchObject({
      code: "NOT_APPROVED",
      message: "the model did not answer in time",
    });
    expect(handler.mock.calls[0]?.[0].signal.aborted).toBe(true);
  });

  it("is given up when nobody waits for it any more", async () => {
    const gone = new AbortController();
    const { ask, logger } = host(() => new Promise(() => {}));
    const outcome = ask(REQUEST, { call: undefined, signal: gone.signal });
    gone.abort();
    await expect(outcome).rejects.toMatchObject({ code: "CANCELLED" });
    expect(logger.lines).toEqual([]);
  });

  it("that fails is refused, and only the log says why", async () => {
    for (const reason of [new Error("bad key"), "bad key"]) {
      const { ask, logger } = host(() => Promise.reject(reason));
      await expect(ask(REQUEST)).rejects.toMatchObject({
        code: "NOT_APPROVED",
        message: "the model could not be asked",
      });
      expect(logger.lines[0]?.fields).toEqual({ reason: "bad key" });
    }
  });
});

describe("the limit", () => {
  it("per minute ends with the minute, and a flood is logged once", async () => {
    const { ask, clock, logger } = host(() => ANSWER);
    const refused = { code: "RATE_LIMITED" };
    for (let each = 0; each < 10; each += 1) await ask(REQUEST);
    await expect(ask(REQUEST)).rejects.toMatchObject(refused);
    await expect(ask(REQUEST)).rejects.toMatchObject(refused);
    expect(logger.lines).toHaveLength(1);
    await clock.advance(59_999);
    await expect(ask(REQUEST)).rejects.toMatchObject(refused);
    await clock.advance(1);
    await ask(REQUEST);
  });

  it("per call is counted for each call", async () => {
    const limits = new SamplingLimits(new ManualClock());
    const call = { tool: "t", callId: undefined, handlers: undefined, samples: 0 };
    for (let each = 0; each < 5; each += 1) expect(limits.take(call)).toBeUndefined();
    expect(limits.take(call)?.refusal.message).toContain("at most 5 in one call");
    expect(limits.take({ ...call, samples: 0 })).toBeUndefined();
  });
});
