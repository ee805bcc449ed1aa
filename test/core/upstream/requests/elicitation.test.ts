import { describe, expect, it, vi } from "vitest";
import type {
  ElicitationAnswer,
  ElicitationRequest,
  OnElicitation,
} from "../../../../src/core/types/elicitation.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import {
  checkPageUrl,
  Completions,
  Elicitor,
} from "../../../../src/core/upstream/requests/elicitation.ts";
import type { RequestOrigin } from "../../../../src/core/upstream/requests/calls-in-flight.ts";
import { QuestionQueue } from "../../../../src/util/question-queue.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { settle } from "../../../support/manual-clock.ts";

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string" },
    size: { type: "number", default: 3 },
    sure: { type: "boolean", default: false },
  },
};
const QUESTION = { message: "Who are you?", requestedSchema: SCHEMA };
const PAGE = { mode: "url", message: "Go", url: "https://example.com/", elicitationId: "e1" };

const anybody = (): RequestOrigin => ({ call: undefined, signal: new AbortController().signal });

function deep(levels: number): JsonObject {
  let node: JsonObject = {};
  for (let level = 0; level < levels; level += 1) node = { a: node };
  return node;
}

function through(ask: OnElicitation) {
  const logger = recordingLogger();
  const redact = (text: string): string => text.replaceAll("hunter2", "***");
  const elicitor = new Elicitor({
    server: "docs",
    ask,
    questions: new QuestionQueue(),
    logger,
    redact,
  });
  return { elicitor, logger, answer: (params: unknown) => elicitor.answer(params, anybody()) };
}

describe("a question", () => {
  it("is put to the callback, in plain text and without secrets", async () => {
    const ask = vi.fn<OnElicitation>(() => ({ action: "cancel" }));
    const message = `\u001b[31mWho\u202e? hun\u200bter2\n${"x".repeat(20_000)}`;
    await through(ask).answer({ ...QUESTION, message, mode: "form" });
    const request = ask.mock.calls[0]?.[0];
    expect(request).toMatchObject({ server: "docs", mode: "form", schema: SCHEMA });
    expect(request?.message).toMatch(/^Who\? \*\*\*\nx+…$/);
    expect(request?.message).toHaveLength(16 * 1024);
  });

  it("has no secrets in the titles, texts and defaults of its form", async () => {
    const ask = vi.fn<OnElicitation>(() => ({ action: "accept", content: { size: "b" } }));
    const { answer } = through(ask);
    const requestedSchema = {
      type: "object",
      title: "hunter2",
      properties: {
        name: { type: "string", title: "Not hunter2", default: "hunter2" },
        size: { type: "string", oneOf: [{ const: "b", title: "hunter2" }], default: "b" },
        old: { type: "string", enum: ["x"], enumNames: ["hunter2"], description: "hunter2" },
      },
    };
    expect(await answer({ message: "?", requestedSchema })).toEqual({
      action: "accept",
      content: { size: "b" },
    });
    expect(ask.mock.calls[0]?.[0]).toMatchObject({
      schema: {
        type: "object",
        title: "***",
        properties: {
          name: { type: "string", title: "Not ***" },
          size: { type: "string", oneOf: [{ const: "b", title: "***" }], default: "b" },
          old: { type: "string", enum: ["x"], enumNames: ["***"], description: "***" },
        },
      },
    });
    expect(JSON.stringify(ask.mock.calls)).not.toContain("hunter2");
  });

  it.each<[string, JsonObject]>([
    ["its form has a credential in the name of a property", { hunter2: { type: "string" } }],
    ['its form has a credential in "enum"', { a: { type: "string", enum: ["hunter2"] } }],
    ["its form has too many levels", deep(2000)],
  ])("is declined: %s", async (why, properties) => {
    const ask = vi.fn<OnElicitation>(() => ({ action: "accept" }));
    const { answer, logger } = through(ask);
    const requestedSchema = { type: "object", properties };
    expect(await answer({ message: "?", requestedSchema })).toEqual({ action: "decline" });
    expect(ask).not.toHaveBeenCalled();
    expect(logger.lines[0]?.message).toBe(`a question from the server was declined: ${why}`);
  });

  it.each<[ElicitationAnswer, JsonObject]>([
    [{ action: "decline" }, { action: "decline" }],
    [{ action: "cancel" }, { action: "cancel" }],
    [
      { action: "accept", content: { name: "Ada" } },
      { action: "accept", content: { name: "Ada", size: 3, sure: false } },
    ],
    [
      { action: "accept", content: { name: "Ada", size: 5, sure: true, more: "x" } },
      { action: "accept", content: { name: "Ada", size: 5, sure: true } },
    ],
    [{ action: "accept" }, { action: "accept", content: { size: 3, sure: false } }],
    [{ action: "accept", content: { name: ["Ada"] } }, { action: "cancel" }],
  ])("answered with %j goes back as %j", async (answer, expected) => {
    expect(await through(async () => answer).answer(QUESTION)).toEqual(expected);
  });

  it("that must be answered in full is not answered in part", async () => {
    const { answer, logger } = through(() => ({ action: "accept", content: {} }));
    const requestedSchema = { ...SCHEMA, required: ["name"] };
    expect(await answer({ message: "?", requestedSchema })).toEqual({ action: "cancel" });
    expect(logger.lines[0]?.message).toBe(
      "an answer to the server's question was not sent: 'name' is missing",
    );
  });

  it("has a default for a field of any name", async () => {
    const requestedSchema = JSON.parse(
      '{ "properties": { "__proto__": { "type": "integer", "default": 1 }, "toString": { "type": "string" } } }',
    );
    const { answer } = through(() => ({ action: "accept", content: {} }));
    expect(JSON.stringify(await answer({ message: "?", requestedSchema }))).toBe(
      '{"action":"accept","content":{"__proto__":1}}',
    );
  });

  it("is declined if the callback fails, and the log says why", async () => {
    for (const reason of [new Error("no\nterminal"), "no terminal"]) {
      const { answer, logger } = through(() => Promise.reject(reason));
      expect(await answer(QUESTION)).toEqual({ action: "decline" });
      expect(logger.lines).toEqual([
        {
          level: "warn",
          message: "a question from the server was declined: the callback failed",
          fields: { reason: "no terminal" },
        },
      ]);
    }
  });

  it("is cancelled when nobody waits for the answer any more, and makes room for the next", async () => {
    const gone = new AbortController();
    const ask = vi
      .fn<OnElicitation>(() => ({ action: "decline" }))
      .mockImplementationOnce(() => new Promise(() => {}));
    const { elicitor, answer, logger } = through(ask);
    const first = elicitor.answer(QUESTION, { call: undefined, signal: gone.signal });
    const second = answer(QUESTION);
    await settle();
    gone.abort();
    expect(await first).toEqual({ action: "cancel" });
    expect(await second).toEqual({ action: "decline" });
    expect(logger.lines).toEqual([]);
  });

  it.each<[unknown, string]>([
    [undefined, "its kind is not supported"],
    [null, "its kind is not supported"],
    ["x", "its kind is not supported"],
    [{}, "its kind is not supported"],
    [{ ...QUESTION, mode: "voice" }, "its kind is not supported"],
    [{ message: "?", requestedSchema: [] }, "its kind is not supported"],
    [
      { message: "?", requestedSchema: { properties: { a: { type: "object" } } } },
      "it is not a form: the field 'a' has a type that forms do not support",
    ],
    [
      { message: "?", requestedSchema: { ...SCHEMA, title: "x".repeat(300_000) } },
      "its form is too large",
    ],
    [
      { ...PAGE, url: "file:///etc/passwd" },
      "its page cannot be opened: it is neither https nor on this machine",
    ],
  ])("%# that cannot be asked is declined", async (params, why) => {
    const ask = vi.fn<OnElicitation>();
    const { answer, logger } = through(ask);
    expect(await answer(params)).toEqual({ action: "decline" });
    expect(ask).not.toHaveBeenCalled();
    expect(logger.lines).toMatchObject([
      { level: "warn", message: `a question from the server was declined: ${why}` },
    ]);
  });

  it("may have no message", async () => {
    const ask = vi.fn<OnElicitation>(() => ({ action: "decline" }));
    await through(ask).answer({ message: 5, requestedSchema: SCHEMA });
    expect(ask.mock.calls[0]?.[0].message).toBe("");
  });
});

describe("a page", () => {
  it("is completed when the server reports it", async () => {
    const asked: ElicitationRequest[] = [];
    const { elicitor, answer } = through((request) => {
      asked.push(request);
      return { action: "accept" };
    });
    expect(await answer(PAGE)).toEqual({ action: "accept" });
    const [request] = asked;
    if (request?.mode !== "url") throw new Error("not asked for a page");
    elicitor.completions.completed("other");
    elicitor.completions.completed(5);
    elicitor.completions.completed("e1");
    await request.completed;
    expect(request.elicitationId).toBe("e1");
  });

  it.each([undefined, 5, "x".repeat(257)])("may have no id: %j", async (elicitationId) => {
    const ask = vi.fn<OnElicitation>(() => ({ action: "decline" }));
    await through(ask).answer({ ...PAGE, elicitationId });
    expect(ask.mock.calls[0]?.[0]).not.toHaveProperty("elicitationId");
  });
});

describe("the URL of a page", () => {
  it.each([
    ["https://example.com", "https://example.com/"],
    ["https://example.com/a?b=c#d", "https://example.com/a?b=c#d"],
    ["http://localhost:8080/x", "http://localhost:8080/x"],
    ["http://127.0.0.1/x", "http://127.0.0.1/x"],
    ["http://[::1]/x", "http://[::1]/x"],
    // The name looks like another one.
    ["https://аpple.com/", "https://xn--pple-43d.com/"],
    ["https://example.com/\u202egnp.exe", "https://example.com/%E2%80%AEgnp.exe"],
  ])("%s is shown as %s", (given, url) => {
    expect(checkPageUrl(given)).toEqual({ url });
  });

  it.each([
    ["javascript:alert(1)", "it is neither https nor on this machine"],
    ["JaVaScRiPt:alert(1)//https://example.com", "it is neither https nor on this machine"],
    ["data:text/html,x", "it is neither https nor on this machine"],
    ["file:///etc/passwd", "it is neither https nor on this machine"],
    ["http://example.com", "it is neither https nor on this machine"],
    ["http://127.0.0.1.example.com", "it is neither https nor on this machine"],
    ["vscode://x", "it is neither https nor on this machine"],
    ["https://bank.example@evil.example/", "it has a user name in it"],
    ["https://:secret@evil.example/", "it has a user name in it"],
    ["example.com", "it is not a URL"],
    ["", "it is not a URL"],
    [undefined, "it is not a URL"],
    [`https://example.com/${"x".repeat(9000)}`, "it is not a URL"],
  ])("%s is refused", (given, refusal) => {
    expect(checkPageUrl(given)).toEqual({ refusal });
  });
});

describe("the completion of a page", () => {
  it("the same page is completed for all who asked", async () => {
    const completions = new Completions();
    const both = Promise.all([completions.of("a"), completions.of("a")]);
    completions.completed("a");
    await expect(both).resolves.toHaveLength(2);
  });

  it("pages that are never completed are forgotten, the oldest first", async () => {
    const completions = new Completions();
    const state = { first: "open" };
    void completions.of("0").then(() => (state.first = "completed"));
    for (let id = 1; id <= 100; id += 1) void completions.of(String(id));
    const last = completions.of("100");
    completions.completed("0");
    completions.completed("100");
    await last;
    expect(state.first).toBe("open");
  });
});
