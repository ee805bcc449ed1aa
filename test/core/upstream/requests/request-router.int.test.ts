// What servers ask for in the middle of a call, over real pipes, in both eras.

import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, vi } from "vitest";
import type { ElicitationRequest, OnElicitation } from "../../../../src/core/types/elicitation.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import type { SamplingHandler, SamplingRequest } from "../../../../src/core/types/sampling.ts";
import type { Board, BoardCallOptions } from "../../../../src/core/types/board.ts";
import type { BoardOptions } from "../../../../src/core/types/board-options.ts";
import { closeBoards, fixture, open } from "../../../support/boards.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { eventually } from "../../../support/processes.ts";

closeBoards();

const FORM = {
  message: "Who are you?",
  requestedSchema: {
    type: "object",
    properties: { name: { type: "string" }, size: { type: "integer", default: 3 } },
    required: ["name"],
  },
};
const PAGE = { mode: "url", message: "Go", url: "https://example.com/go", elicitationId: "e1" };
const SAMPLE = {
  messages: [{ role: "user", content: { type: "text", text: "Hello?" } }],
  maxTokens: 100_000,
};
const HELLO: SamplingHandler = () => ({
  model: "m",
  content: { type: "text", text: "Hello." },
  stopReason: "endTurn",
});
const HELLO_ON_THE_WIRE = {
  role: "assistant",
  model: "m",
  content: { type: "text", text: "Hello." },
  stopReason: "endTurn",
};
const ADA: OnElicitation = () => ({ action: "accept", content: { name: "Ada" } });

const never = (): Promise<never> => new Promise(() => {});

interface Era {
  server: string;
  ask(
    board: Board,
    method: string,
    params?: JsonObject,
    options?: BoardCallOptions,
  ): ReturnType<Board["call"]>;
  /** The answer out of an outcome. */
  answer(value: unknown): unknown;
}

const LEGACY: Era = {
  server: "asks",
  ask: (board, method, params = {}, options = {}) =>
    board.call("s/ask", { method, params }, options),
  answer: (value) => value,
};
const MODERN: Era = {
  server: "asks-modern",
  ask: (board, method, params = {}, options = {}) =>
    board.call("s/ask", { inputRequests: { it: { method, params } } }, options),
  answer: (value) => (value as JsonObject)["it"],
};
const ERAS: [string, Era][] = [
  ["2025-11-25", LEGACY],
  ["2026-07-28", MODERN],
];

function openOn(
  { server }: Era,
  options: BoardOptions = {},
  more: Parameters<typeof open>[0][string] = {},
): Promise<Board> {
  return open({ s: { ...fixture(server), ...more } }, options);
}

async function answered(era: Era, outcome: ReturnType<Board["call"]>): Promise<unknown> {
  const { structuredContent, failure, content } = await outcome;
  if (failure !== undefined) throw new Error(failure.message);
  if (structuredContent === undefined) throw new Error(JSON.stringify(content));
  return era.answer((structuredContent as JsonObject)["value"]);
}

describe.each(ERAS)("a server of %s", (_, era) => {
  it.each<[string, BoardOptions, JsonObject, "deny" | "ask" | "allow"]>([
    ["nothing", {}, {}, "allow"],
    [
      "elicitation, in both modes",
      { onElicitation: ADA },
      { elicitation: { form: {}, url: {} } },
      "deny",
    ],
    ["sampling where its configuration lets it", { onSampling: HELLO }, { sampling: {} }, "ask"],
    ["no sampling otherwise", { onSampling: HELLO }, {}, "deny"],
    [
      "tools in sampling where the host has them",
      { onSampling: { handler: HELLO, tools: true } },
      { sampling: { tools: {} } },
      "allow",
    ],
    ["roots where they are asked for", { roots: [] }, { roots: { listChanged: true } }, "deny"],
    ["no roots otherwise, wherever it works", { workspaceDir: tmpdir() }, {}, "deny"],
  ])("is advertised %s", async (_what, options, expected, sampling) => {
    const board = await openOn(era, options, { sampling });
    const { structuredContent } = await board.call("s/told");
    expect(structuredContent).toMatchObject({ value: { offered: expected } });
    const { value } = structuredContent as { value: { offered: JsonObject } };
    expect(Object.keys(value.offered)).toEqual(Object.keys(expected));
  });

  it("gets a person's answer to a form, with the defaults of what was left out", async () => {
    const asked: ElicitationRequest[] = [];
    const onElicitation: OnElicitation = (request) => {
      asked.push(request);
      return ADA(request);
    };
    const board = await openOn(era, { onElicitation });
    const answer = await answered(era, era.ask(board, "elicitation/create", FORM));
    expect(answer).toEqual({ action: "accept", content: { name: "Ada", size: 3 } });
    expect(asked).toMatchObject([
      { server: "s", tool: "ask", mode: "form", message: "Who are you?" },
    ]);
  });

  it("is told that an answer that breaks its form was cancelled, and the log says why", async () => {
    const logger = recordingLogger();
    const onElicitation: OnElicitation = () => ({ action: "accept", content: { name: 5 } });
    const board = await openOn(era, { onElicitation, logger });
    const answer = await answered(era, era.ask(board, "elicitation/create", FORM));
    expect(answer).toEqual({ action: "cancel" });
    expect(logger.lines).toContainEqual({
      level: "warn",
      message: "an answer to the server's question was not sent: 'name' is not text",
      fields: { server: "s" },
    });
  });

  it("learns that a person opens a page", async () => {
    const asked: ElicitationRequest[] = [];
    const onElicitation: OnElicitation = (request) => {
      asked.push(request);
      return { action: "accept" };
    };
    const board = await openOn(era, { onElicitation });
    const answer = await answered(era, era.ask(board, "elicitation/create", PAGE));
    expect(answer).toEqual({ action: "accept" });
    const { url, elicitationId } = PAGE;
    expect(asked).toMatchObject([{ mode: "url", url, elicitationId, required: false }]);
  });

  it("cannot have a person open javascript:", async () => {
    const onElicitation = vi.fn<OnElicitation>();
    const board = await openOn(era, { onElicitation });
    const page = { ...PAGE, url: "javascript:alert(1)" };
    const answer = await answered(era, era.ask(board, "elicitation/create", page));
    expect(answer).toEqual({ action: "decline" });
    expect(onElicitation).not.toHaveBeenCalled();
  });

  it("gets the model's answer, within the host's limits", async () => {
    const asked: SamplingRequest[] = [];
    const onSampling: SamplingHandler = (request) => {
      asked.push(request);
      return HELLO(request);
    };
    const board = await openOn(era, { onSampling }, { sampling: "ask" });
    const answer = await answered(era, era.ask(board, "sampling/createMessage", SAMPLE));
    expect(answer).toEqual(HELLO_ON_THE_WIRE);
    expect(asked).toMatchObject([
      {
        server: "s",
        tool: "ask",
        approvalRequired: true,
        maxTokens: 4096,
        messages: [{ role: "user", content: [{ type: "text", text: "Hello?" }] }],
      },
    ]);
  });

  it("gets the roots as they are now", async () => {
    const directory = await realpath(await mkdtemp(join(tmpdir(), "plugboard ünï #-")));
    try {
      const board = await openOn(era, { workspaceDir: directory, roots: true });
      const uri = pathToFileURL(directory).href;
      expect(uri).not.toMatch(/[ #ü]/);
      expect(await answered(era, era.ask(board, "roots/list"))).toMatchObject({ roots: [{ uri }] });
      board.setRoots([join(directory, "a"), "file:///srv/data"]);
      expect(await answered(era, era.ask(board, "roots/list"))).toEqual({
        roots: [
          { uri: `${uri}/a`, name: "a" },
          { uri: "file:///srv/data", name: "data" },
        ],
      });
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it("asks the caller before the board, for what the caller's own call causes", async () => {
    const onElicitation = vi.fn<OnElicitation>();
    const onSampling = vi.fn<SamplingHandler>();
    const board = await openOn(era, { onElicitation, onSampling }, { sampling: "allow" });
    const own = { onElicitation: ADA, onSampling: HELLO };
    const form = await answered(era, era.ask(board, "elicitation/create", FORM, own));
    expect(form).toMatchObject({ action: "accept" });
    const said = await answered(era, era.ask(board, "sampling/createMessage", SAMPLE, own));
    expect(said).toEqual(HELLO_ON_THE_WIRE);
    expect(onElicitation).not.toHaveBeenCalled();
    expect(onSampling).not.toHaveBeenCalled();
  });

  it.each([
    ["elicitation/create", FORM],
    ["sampling/createMessage", SAMPLE],
  ])("does not hold up a caller who gives up while %s is not answered", async (method, params) => {
    const signals: AbortSignal[] = [];
    const callback = ({ signal }: { signal: AbortSignal }): Promise<never> => {
      signals.push(signal);
      return never();
    };
    const board = await openOn(
      era,
      { onElicitation: callback, onSampling: callback },
      { sampling: "allow" },
    );
    const giveUp = new AbortController();
    const call = era.ask(board, method, params, { signal: giveUp.signal });
    await eventually(() => signals.length === 1);
    giveUp.abort();
    expect((await call).failure?.code).toBe("CANCELLED");
    await eventually(() => signals[0]?.aborted === true);
  });

  it("does not hold up the board's end while a person is asked", async () => {
    const onElicitation = vi.fn<OnElicitation>(never);
    const board = await openOn(era, { onElicitation });
    const call = era.ask(board, "elicitation/create", FORM);
    await eventually(() => onElicitation.mock.calls.length === 1);
    await board.close();
    expect((await call).failure?.code).toBe("CONNECTION_CLOSED");
    expect(onElicitation.mock.calls[0]?.[0].signal.aborted).toBe(true);
  });
});

describe("up to 2025-11-25", () => {
  it.each(["elicitation/create", "sampling/createMessage", "roots/list", "no/such/method"])(
    "%s that was not offered is refused at once",
    async (method) => {
      const board = await openOn(LEGACY);
      expect(await answered(LEGACY, LEGACY.ask(board, method, FORM))).toMatchObject({
        code: -32601,
      });
    },
  );

  it("a ping is answered", async () => {
    expect(await answered(LEGACY, LEGACY.ask(await openOn(LEGACY), "ping"))).toEqual({});
  });

  it.each<[string, SamplingHandler, JsonObject, number, string]>([
    ["declined", () => "declined", SAMPLE, -1, "the request for the model was declined"],
    [
      "whose callback fails",
      () => Promise.reject(new Error("key sk-123 is wrong")),
      SAMPLE,
      -1,
      "the model could not be asked",
    ],
    [
      "with tools that nobody offered",
      HELLO,
      { ...SAMPLE, tools: [{ name: "t", inputSchema: { type: "object" } }] },
      -32602,
      "tools in sampling are not supported here",
    ],
    [
      "of a megabyte",
      HELLO,
      { ...SAMPLE, systemPrompt: "x".repeat(1 << 20) },
      -32602,
      "the request has more than 256 KiB of text",
    ],
  ])("a request for the model %s is an error", async (_, onSampling, params, code, message) => {
    const board = await openOn(LEGACY, { onSampling }, { sampling: "allow" });
    const answer = await answered(LEGACY, LEGACY.ask(board, "sampling/createMessage", params));
    expect(answer).toEqual({ code, message });
  });

  it("a flood of requests for the model is refused past five in a call and ten a minute", async () => {
    const logger = recordingLogger();
    const onSampling = vi.fn<SamplingHandler>(HELLO);
    const board = await openOn(LEGACY, { onSampling, logger }, { sampling: "allow" });
    const args = { method: "sampling/createMessage", params: SAMPLE, count: 500 };
    const flood = async (): Promise<JsonObject[]> =>
      (await answered(LEGACY, board.call("s/flood", args))) as JsonObject[];
    const answers = await flood();
    expect(answers.filter(({ model }) => model === "m")).toHaveLength(5);
    expect(answers.filter(({ code }) => code === -32000)).toHaveLength(495);
    await flood();
    await flood();
    expect(onSampling).toHaveBeenCalledTimes(10);
    const refusals = logger.lines.filter(({ message }) => message.includes("too many requests"));
    expect(refusals.map(({ message }) => message)).toEqual([
      "refused the server's request for the model: too many requests for the model: at most 5 in one call",
      "refused the server's request for the model: too many requests for the model: at most 5 in one call",
    ]);
  });

  it("a flood of questions waits in a short line, one at a time", async () => {
    const logger = recordingLogger();
    let asked = 0;
    let most = 0;
    const onElicitation: OnElicitation = async () => {
      most = Math.max(most, (asked += 1));
      // The first is answered only after all others have been accepted or refused.
      await eventually(() => logger.lines.filter(({ level }) => level === "warn").length === 92);
      asked -= 1;
      return { action: "cancel" };
    };
    const board = await openOn(LEGACY, { onElicitation, logger });
    const args = { method: "elicitation/create", params: FORM, count: 100 };
    const answers = (await answered(LEGACY, board.call("s/flood", args))) as JsonObject[];
    expect(answers.filter(({ action }) => action === "cancel")).toHaveLength(8);
    expect(answers.filter(({ action }) => action === "decline")).toHaveLength(92);
    expect(most).toBe(1);
  });

  it("the board is asked if the call cannot be told", async () => {
    const asked: ElicitationRequest[] = [];
    const onElicitation: OnElicitation = (request) => {
      asked.push(request);
      return { action: "decline" };
    };
    const own = vi.fn<OnElicitation>();
    const others = vi.fn<OnElicitation>();
    const board = await openOn(LEGACY, { onElicitation });
    const giveUp = new AbortController();
    const other = board.call("s/sleep", {}, { signal: giveUp.signal, onElicitation: others });
    await LEGACY.ask(board, "elicitation/create", FORM, { onElicitation: own });
    giveUp.abort();
    await other;
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ server: "s", tool: undefined });
    expect(own).not.toHaveBeenCalled();
    expect(others).not.toHaveBeenCalled();
  });

  it("a caller with several calls is asked, even if the call cannot be told", async () => {
    const onElicitation = vi.fn<OnElicitation>();
    const own = vi.fn<OnElicitation>(ADA);
    const board = await openOn(LEGACY, { onElicitation });
    const giveUp = new AbortController();
    const other = board.call("s/sleep", {}, { signal: giveUp.signal, onElicitation: own });
    await LEGACY.ask(board, "elicitation/create", FORM, { onElicitation: own });
    giveUp.abort();
    await other;
    expect(own).toHaveBeenCalledTimes(1);
    expect(own.mock.calls[0]?.[0]).toMatchObject({ server: "s", tool: undefined });
    expect(onElicitation).not.toHaveBeenCalled();
  });

  it("a call that was answered does not take its question back", async () => {
    const logger = recordingLogger();
    let answer: (() => void) | undefined;
    const onElicitation: OnElicitation = () =>
      new Promise((resolve) => {
        answer = () => resolve({ action: "accept", content: { name: "Ada" } });
      });
    const board = await openOn(LEGACY, { onElicitation, logger });
    await board.call("s/askAndGo", { method: "elicitation/create", params: FORM });
    // The result may be there before the question has been asked.
    await eventually(() => answer !== undefined);
    answer?.();
    await eventually(() => logger.lines.some(({ message }) => message.includes('"name":"Ada"')));
  });

  it("servers are told when the roots change, and only then", async () => {
    const board = await openOn(LEGACY, { roots: ["/a"] });
    board.setRoots(["/b"]);
    board.setRoots(["/b"]);
    board.setRoots(["/c"]);
    const { structuredContent } = await board.call("s/told");
    expect(structuredContent).toMatchObject({ value: { rootsChanged: 2 } });
  });

  it("roots that are set later are advertised to later connections", async () => {
    const board = await openOn(LEGACY);
    board.setRoots(["/b"]);
    const before = await board.call("s/told");
    expect(before.structuredContent).toMatchObject({ value: { offered: {}, rootsChanged: 0 } });
    await board.restart("s");
    expect(await answered(LEGACY, LEGACY.ask(board, "roots/list"))).toMatchObject({
      roots: [{ uri: pathToFileURL("/b").href }],
    });
  });

  it.each(["https://example.com/", "file://elsewhere/x"])(
    "%s is no root, and changes nothing",
    async (root) => {
      const board = await openOn(LEGACY, { roots: ["/a"] });
      expect(() => board.setRoots([root])).toThrow(
        expect.objectContaining({ code: "INVALID_ARGUMENTS" }),
      );
      const { roots } = (await answered(LEGACY, LEGACY.ask(board, "roots/list"))) as {
        roots: JsonObject[];
      };
      expect(roots).toHaveLength(1);
    },
  );
});

describe("a call that is refused until a page was opened", () => {
  const args = (key: string, more: JsonObject = {}): JsonObject => ({
    key,
    elicitations: [PAGE],
    ...more,
  });

  it("is made again when the page was opened", async () => {
    const asked: ElicitationRequest[] = [];
    const onElicitation: OnElicitation = async (request) => {
      asked.push(request);
      if (request.mode === "url") await request.completed;
      return { action: "accept" };
    };
    const board = await openOn(LEGACY, { onElicitation });
    const outcome = await board.call("s/requirePage", args("a", { complete: "e1" }));
    expect(outcome.content).toEqual([{ type: "text", text: "let in" }]);
    expect(asked).toMatchObject([
      { mode: "url", url: PAGE.url, tool: "requirePage", required: true, elicitationId: "e1" },
    ]);
  });

  it.each<[string, OnElicitation, JsonObject]>([
    ["the person declines", () => ({ action: "decline" }), {}],
    ["it is refused again", () => ({ action: "accept" }), { times: 2 }],
    ["its pages are malformed", () => ({ action: "accept" }), { elicitations: ["x"] }],
    ["it has none", () => ({ action: "accept" }), { elicitations: [] }],
    [
      "it has too many",
      () => ({ action: "accept" }),
      { elicitations: Array.from({ length: 6 }, () => PAGE) },
    ],
  ])("stays refused if %s", async (key, onElicitation, more) => {
    const board = await openOn(LEGACY, { onElicitation });
    const outcome = await board.call("s/requirePage", args(key, more));
    expect(outcome.failure).toMatchObject({
      code: "SERVER_ERROR",
      message: "server 's' refused 'requirePage': open the page first (-32042)",
      quote: "open the page first",
    });
  });

  it("stays refused without a callback", async () => {
    const outcome = await (await openOn(LEGACY)).call("s/requirePage", args("b"));
    expect(outcome.failure?.code).toBe("SERVER_ERROR");
  });
});

describe("of 2026-07-28", () => {
  it.each<[string, SamplingHandler, string]>([
    ["declined", () => "declined", "NOT_APPROVED"],
    ["unanswerable", () => ({ model: "m", content: [] }), "NOT_APPROVED"],
  ])("a request for the model that is %s ends the call", async (_, onSampling, code) => {
    const board = await openOn(MODERN, { onSampling }, { sampling: "allow" });
    const { failure } = await MODERN.ask(board, "sampling/createMessage", SAMPLE);
    expect(failure?.code).toBe(code);
  });

  it("too many requests for the model in one call end it", async () => {
    const board = await openOn(MODERN, { onSampling: HELLO }, { sampling: "allow" });
    const request = { method: "sampling/createMessage", params: SAMPLE };
    const inputRequests = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [at, request]));
    const { failure } = await board.call("s/ask", { inputRequests });
    expect(failure).toEqual({
      code: "RATE_LIMITED",
      message: "too many requests for the model: at most 5 in one call",
    });
  });

  it("all three may be asked for in one round", async () => {
    const options = { onElicitation: ADA, onSampling: HELLO, roots: ["/a"] };
    const board = await openOn(MODERN, options, { sampling: "allow" });
    const inputRequests = {
      form: { method: "elicitation/create", params: FORM },
      model: { method: "sampling/createMessage", params: SAMPLE },
      roots: { method: "roots/list" },
    };
    const { structuredContent } = await board.call("s/ask", { inputRequests });
    expect(structuredContent).toEqual({
      value: {
        form: { action: "accept", content: { name: "Ada", size: 3 } },
        model: HELLO_ON_THE_WIRE,
        roots: { roots: [{ uri: pathToFileURL("/a").href, name: "a" }] },
      },
    });
  });
});

describe("log messages of servers", () => {
  it.each([
    ["debug", "debug"],
    ["notice", "info"],
    ["warning", "warn"],
    ["emergency", "error"],
  ])("at %s are logged at %s, in plain text", async (level, expected) => {
    const logger = recordingLogger();
    const board = await openOn(LEGACY, { logger });
    const data = { text: "red\u001b[31m", n: 1 };
    await board.call("s/log", { level, data, logger: "db\u202e" });
    await eventually(() => logger.lines.some(({ fields }) => fields["stream"] === "log"));
    expect(logger.lines).toContainEqual({
      level: expected,
      message: expect.stringContaining('{"text":"red'),
      fields: { server: "s", stream: "log", logger: "db" },
    });
  });

  it("are left out of a flood, and counted", async () => {
    const logger = recordingLogger();
    const board = await openOn(LEGACY, { logger });
    await board.call("s/log", { level: "error", data: "x".repeat(10_000), count: 1000 });
    await board.call("s/told");
    const lines = logger.lines.filter(({ fields }) => fields["stream"] === "log");
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThan(300);
    expect(lines[0]?.message).toHaveLength(2000);
  });

  it.each([
    [undefined, "warning"],
    ["debug", "debug"],
    ["error", "error"],
  ] as const)("is asked for from %s up as %s", async (serverLogLevel, level) => {
    const options = serverLogLevel === undefined ? {} : { serverLogLevel };
    for (const era of [LEGACY, MODERN]) {
      const board = await openOn(era, options);
      const { structuredContent } = await board.call("s/told");
      expect(structuredContent).toMatchObject({ value: { level } });
    }
  });

  it("are not requested if the server has none", async () => {
    const board = await open({ s: fixture("asks", "--no-logging") });
    const { structuredContent } = await board.call("s/told");
    expect((structuredContent as { value: JsonObject }).value).not.toHaveProperty("level");
  });

  it("arrive in 2026-07-28 too", async () => {
    const logger = recordingLogger();
    const board = await openOn(MODERN, { logger });
    await board.call("s/log", { data: "hello" });
    await eventually(() => logger.lines.some(({ message }) => message === "hello"));
  });
});
