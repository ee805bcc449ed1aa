// A model that is away, slow or broken, over the wire.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { openModel } from "../../../src/agent/loop/model.ts";
import type { Timer } from "../../../src/util/clock.ts";
import { ManualClock, settle } from "../../support/manual-clock.ts";
import { eventually } from "../../support/processes.ts";
import { ALL_TYPES, closeModels, KEY, only, rig, tool } from "./rig.ts";

closeModels();

const away = (status: number, retryAfter?: number) => ({
  error: { status, message: `not now (${KEY})`, ...(retryAfter !== undefined && { retryAfter }) },
});

describe("a model that fails", () => {
  it.each(ALL_TYPES)("is asked again, with growing pauses: %s", async (type) => {
    const { run, model } = await rig([away(500), away(503), away(429), { text: "back" }], type);
    const { end, text, waits, events } = await run();
    expect(end).toEqual({ reason: "end_turn" });
    expect(text).toBe("back");
    expect(model.requests).toHaveLength(4);
    expect(waits).toEqual([1000, 2000, 4000]);
    expect(only(events, "retry")[0]).toEqual({
      type: "retry",
      attempt: 1,
      delayMs: 1000,
      reason: "the model scripted/model answered with 500: not now ([key])",
    });
  });

  it("is left alone for as long as it asks for", async () => {
    const { run } = await rig([away(429, 7), { text: "back" }]);
    expect((await run()).waits).toEqual([7000]);
  });

  it("is given up when it asks for too long", async () => {
    const { run, model } = await rig([away(429, 3600)]);
    const { end } = await run();
    expect(end).toMatchObject({
      reason: "failed",
      error: { code: "HTTP_STATUS", status: 429, hint: "try again in 60 min" },
    });
    expect(model.requests).toHaveLength(1);
  });

  it("for ever is given up, and the conversation can be gone on with", async () => {
    const { run, model } = await rig((_, index) => (index < 5 ? away(500) : { text: "at last" }));
    const { end, history } = await run();
    expect(end).toMatchObject({
      reason: "failed",
      error: {
        code: "HTTP_STATUS",
        status: 500,
        message: "the model scripted/model answered with 500: not now ([key])",
        hint: "5 attempts failed: try again later",
      },
    });
    expect(model.requests).toHaveLength(5);
    expect((await run({ history })).text).toBe("at last");
  });

  it.each([
    [400, "HTTP_STATUS", undefined],
    [401, "NEEDS_AUTH", "check the API key"],
    [403, "NEEDS_AUTH", "check the API key"],
    [404, "HTTP_STATUS", "check the name of the model"],
    [413, "HTTP_STATUS", "the conversation is too large for the model: start a new one"],
  ])("for good is not asked again: %i", async (status, code, hint) => {
    const { run, model } = await rig([away(status)]);
    expect((await run()).end).toMatchObject({
      reason: "failed",
      error: { code, status, hint, permanent: true },
    });
    expect(model.requests).toHaveLength(1);
  });

  it("and says that asking again is of no use is not asked again", async () => {
    const { run, model } = await rig([]);
    expect((await run()).end).toMatchObject({ reason: "failed", error: { status: 500 } });
    expect(model.requests).toHaveLength(1);
  });

  it("after calls were made does not make them again", async () => {
    let calls = 0;
    const count = tool("count", () => `${(calls += 1)}`);
    const { run } = await rig([
      { toolCalls: [{ name: "count", arguments: {} }] },
      away(529),
      { text: "done" },
    ]);
    expect((await run({ tools: () => [count] })).text).toBe("done");
    expect(calls).toBe(1);
  });
});

describe("a stream", () => {
  it.each(ALL_TYPES.flatMap((type) => [2, 4, 6].map((chunks) => [type, chunks] as const)))(
    "that is cut is asked for again: %s after %i chunks",
    async (type, cut) => {
      const { run } = await rig(
        [{ text: "a long answer, in many words", cut }, { text: "whole" }],
        type,
      );
      const { end, text, events } = await run();
      expect(end).toEqual({ reason: "end_turn" });
      expect(text.endsWith("whole")).toBe(true);
      expect(only(events, "retry")).toHaveLength(1);
    },
  );

  it.each(ALL_TYPES)("that ends too early is too: %s", async (type) => {
    const { run } = await rig([{ text: "a long answer", endAfter: 3 }, { text: "whole" }], type);
    const { end, events } = await run();
    expect(end).toEqual({ reason: "end_turn" });
    expect(only(events, "retry")[0]?.reason).toContain("broke off");
  });

  it.each(ALL_TYPES)("with a failure in it is too: %s", async (type) => {
    const error = { status: 529, message: "too much", after: 3 };
    const { run } = await rig([{ text: "a long answer", error }, { text: "whole" }], type);
    const { end, events } = await run();
    expect(end).toEqual({ reason: "end_turn" });
    expect(only(events, "retry")[0]?.reason).toContain("too much");
  });

  it("that is cut inside a call does not make the call", async () => {
    const { run } = await rig([
      { toolCalls: [{ name: "act", arguments: { text: "something long to say" } }], cut: 4 },
      { text: "never mind" },
    ]);
    const act = tool("act", () => "done");
    const { events, text } = await run({ tools: () => [act] });
    expect(only(events, "tool_call")).toEqual([]);
    expect(text).toBe("never mind");
  });
});

/** Asks the model behind the stream. `say` resolves when its word has been heard. */
async function askOn(stream: Awaited<ReturnType<typeof startStream>>) {
  const clock = new ManualClock();
  let heard = "";
  const { run } = await rig([]);
  const running = run({
    model: stream.model,
    clock,
    onEvent: (event) => (heard += event.type === "text" ? event.text : ""),
  });
  await stream.asked();
  const say = async (word: string): Promise<void> => {
    const expected = heard + word;
    stream.say(word);
    await eventually(() => heard === expected);
  };
  return { clock, running, say };
}

/** An event stream that the test writes itself, as a model of OpenAI's. */
async function startStream() {
  let response: ServerResponse | undefined;
  const server = createServer((_, given) => {
    given.writeHead(200, { "content-type": "text/event-stream" });
    given.flushHeaders();
    response = given;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const model = await openModel("streamed/model", {
    env: {},
    providers: { streamed: { type: "openai-compatible", baseUrl } },
    ...SILENCE,
  });
  return {
    model,
    asked: () => eventually(() => response !== undefined),
    write: (text: string): void => void response?.write(text),
    say(content: string, finish?: string): void {
      const choice = { index: 0, delta: { role: "assistant", content }, finish_reason: finish };
      const chunk = { id: "x", object: "chat.completion.chunk", choices: [choice] };
      this.write(`data: ${JSON.stringify(chunk)}\n\n`);
    },
    end: (): void => void response?.end("data: [DONE]\n\n"),
    async [Symbol.asyncDispose]() {
      await model.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Of a process that was busy for so long that all its timers are due: they run in the order in which they were set. */
class BusyClock extends ManualClock {
  readonly #tasks = new Set<() => void>();

  override later(_ms: number, task: () => void): Timer {
    const own = (): void => task();
    this.#tasks.add(own);
    return { cancel: () => void this.#tasks.delete(own) };
  }

  async wake(): Promise<void> {
    for (const task of this.#tasks) {
      this.#tasks.delete(task);
      task();
      await settle();
    }
  }
}

const SILENCE = { notice: 1000, timeout: 6000 };

describe("a model that says nothing", () => {
  const notice = {
    type: "notice",
    text: "the model scripted/model has said nothing for 1 s; it is given up after 6 s",
  };

  it.each(ALL_TYPES)("is reported, and given up without another attempt: %s", async (type) => {
    const { run, model } = await rig([{ text: "late", delayMs: 60_000 }], type, undefined, SILENCE);
    const clock = new ManualClock();
    const running = run({ clock });
    await eventually(() => model.requests.length === 1);
    await clock.advance(SILENCE.timeout);
    const { end, events } = await running;
    expect(end).toMatchObject({
      reason: "failed",
      error: {
        code: "TIMEOUT",
        message: "the model scripted/model said nothing for 6 s",
        hint: 'try again; if it needs more time to think, set a longer "modelTimeout"',
        // Later it may answer.
        permanent: false,
      },
    });
    expect(only(events, "notice")).toEqual([notice]);
    expect(only(events, "retry")).toEqual([]);
    expect(model.requests).toHaveLength(1);
  });

  it("is reported before it is given up, also where all timers are due at once", async () => {
    const { run, model } = await rig(
      [{ text: "late", delayMs: 60_000 }],
      "openai",
      undefined,
      SILENCE,
    );
    const clock = new BusyClock();
    const running = run({ clock });
    await eventually(() => model.requests.length === 1);
    await clock.wake();
    const { end, events } = await running;
    expect(end).toMatchObject({ reason: "failed", error: { code: "TIMEOUT" } });
    expect(only(events, "notice")).toEqual([notice]);
  });

  it("is one that pauses for too long, not one that takes long", async () => {
    await using stream = await startStream();
    const { clock, running, say } = await askOn(stream);
    for (const word of ["once ", "upon ", "a ", "time ", "there ", "was ", "a ", "dog"]) {
      await say(word);
      await clock.advance(SILENCE.notice - 1);
    }
    stream.say("", "stop");
    stream.end();
    const { end, events } = await running;
    expect(end.reason).toBe("end_turn");
    expect(only(events, "notice")).toEqual([]);
  });

  it("is given up although it keeps the connection open", async () => {
    await using stream = await startStream();
    const { clock, running, say } = await askOn(stream);
    await say("well, ");
    // Each sign of life has time to arrive before the clock moves on.
    for (let passed = 0; passed < SILENCE.timeout; passed += SILENCE.timeout / 10) {
      stream.write(": still here\n\n");
      await new Promise((resolve) => setTimeout(resolve, 5));
      await clock.advance(SILENCE.timeout / 10);
    }
    const { end, history } = await running;
    expect(end).toMatchObject({ reason: "failed", error: { code: "TIMEOUT" } });
    expect(history.at(-1)).toEqual({ role: "assistant", content: "well, " });
  });
});

describe("an answer that is nested too deep to be read", () => {
  it("is a failure that says so", async () => {
    const args = `{"x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    const parts = `[{"functionCall":{"name":"echo","args":${args}}}]`;
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(
        `data: {"candidates":[{"content":{"parts":${parts}},"finishReason":"STOP"}]}\n\n`,
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const baseUrl = `http://127.0.0.1:${port}/v1`;
      const model = await openModel("deep/model", {
        env: {},
        providers: { deep: { type: "google", baseUrl, apiKey: KEY } },
      });
      const { run } = await rig([]);
      expect((await run({ model })).end).toMatchObject({
        reason: "failed",
        error: {
          code: "PROTOCOL",
          message: expect.stringContaining("a value is nested too deep to be processed"),
        },
      });
      await model.close();
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

describe("a conversation that cannot be put to a model", () => {
  it("is not tried again", async () => {
    const { run, model } = await rig([{ text: "never" }]);
    const history = [{ role: "user", content: 5 }] as never;
    const { end } = await run({ history });
    expect(end).toMatchObject({ reason: "failed", error: { code: "UNSUPPORTED" } });
    expect(model.requests).toEqual([]);
  });
});

describe("a model that cannot be reached", () => {
  it("is reported differently from one that refuses", async () => {
    const { run } = await rig([]);
    const model = await openModel("gone/model", {
      env: {},
      providers: { gone: { type: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1" } },
    });
    const { end, waits } = await run({ model });
    expect(waits).toHaveLength(4);
    expect(end).toMatchObject({ reason: "failed", error: { code: "NETWORK" } });
    const { message } = (end as { error: Error }).error;
    expect(message).toMatch(/^the connection to the model gone\/model failed: /);
  });

  it.each([
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
    [{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, 0],
    [{ "retry-after": "soon" }, 1000],
  ])("says when to come back in several ways: %j", async (headers, wait) => {
    const server = createServer((_, response) => response.writeHead(503, headers).end("busy"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const { run } = await rig([]);
      const model = await openModel("busy/model", {
        env: {},
        providers: { busy: { type: "openai-compatible", baseUrl: `http://127.0.0.1:${port}/v1` } },
      });
      expect((await run({ model })).waits[0]).toBe(wait);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
