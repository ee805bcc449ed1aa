import { describe, expect, it, vi } from "vitest";
import type {
  ElicitationAnswer,
  ElicitationRequest,
  OnElicitation,
} from "../../../src/model/elicitation.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import { Elicitor } from "../../../src/server/requests/elicit.ts";
import type { Origin } from "../../../src/server/requests/origin.ts";
import { Turns } from "../../../src/server/requests/turns.ts";
import { recordingLogger } from "../../support/logger.ts";
import { settle } from "../../support/manual-clock.ts";

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

const anybody = (): Origin => ({ call: undefined, signal: new AbortController().signal });

function through(ask: OnElicitation) {
  const logger = recordingLogger();
  const redact = (text: string): string => text.replaceAll("hunter2", "***");
  const elicitor = new Elicitor({ server: "docs", ask, turns: new Turns(), logger, redact });
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

  it("is declined where the callback fails, and the log says why", async () => {
    for (const reason of [new Error("no\nterminal"), "no terminal"]) {
      const { answer, logger } = through(() => Promise.reject(reason));
      expect(await answer(QUESTION)).toEqual({ action: "decline" });
      expect(logger.lines).toEqual([
        {
          level: "warn",
          message: "a question of the server's was declined: its callback failed",
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
    [undefined, "it is of a kind that was not offered"],
    [null, "it is of a kind that was not offered"],
    ["x", "it is of a kind that was not offered"],
    [{}, "it is of a kind that was not offered"],
    [{ ...QUESTION, mode: "voice" }, "it is of a kind that was not offered"],
    [{ message: "?", requestedSchema: [] }, "it is of a kind that was not offered"],
    [
      { message: "?", requestedSchema: { properties: { a: { type: "object" } } } },
      "it is no form: the field 'a' has a type that forms do not support",
    ],
    [
      { message: "?", requestedSchema: { ...SCHEMA, title: "x".repeat(300_000) } },
      "its form is too large",
    ],
    [
      { ...PAGE, url: "file:///etc/passwd" },
      "the page is not one to open: it is neither https nor on this machine",
    ],
  ])("%# that cannot be put to anybody is declined", async (params, why) => {
    const ask = vi.fn<OnElicitation>();
    const { answer, logger } = through(ask);
    expect(await answer(params)).toEqual({ action: "decline" });
    expect(ask).not.toHaveBeenCalled();
    expect(logger.lines).toMatchObject([
      { level: "warn", message: `a question of the server's was declined: ${why}` },
    ]);
  });

  it("without words is one without words", async () => {
    const ask = vi.fn<OnElicitation>(() => ({ action: "decline" }));
    await through(ask).answer({ message: 5, requestedSchema: SCHEMA });
    expect(ask.mock.calls[0]?.[0].message).toBe("");
  });
});

describe("a page", () => {
  it("is completed when the server says so", async () => {
    const asked: ElicitationRequest[] = [];
    const { elicitor, answer } = through((request) => {
      asked.push(request);
      return { action: "accept" };
    });
    expect(await answer(PAGE)).toEqual({ action: "accept" });
    const [request] = asked;
    if (request?.mode !== "url") throw new Error("not asked for a page");
    elicitor.completions.heard("other");
    elicitor.completions.heard(5);
    elicitor.completions.heard("e1");
    await request.completed;
    expect(request.elicitationId).toBe("e1");
  });

  it.each([undefined, 5, "x".repeat(257)])("may have no id: %j", async (elicitationId) => {
    const ask = vi.fn<OnElicitation>(() => ({ action: "decline" }));
    await through(ask).answer({ ...PAGE, elicitationId });
    expect(ask.mock.calls[0]?.[0]).not.toHaveProperty("elicitationId");
  });
});
