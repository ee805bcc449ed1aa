import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import type { Board } from "../../../../src/core/types/board.ts";
import type { CallerOptions } from "../../../../src/core/types/caller-options.ts";
import { PageCalls } from "../../../../src/serve/gateway/page/call.ts";
import type { Visitor } from "../../../../src/serve/gateway/page/visitors.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const visitor = (nonce: string): Visitor => ({ role: "owner", name: "the owner", nonce, until: 1 });
const SCHEMA = {
  type: "object",
  properties: { age: { type: "integer", minimum: 18 } },
  required: ["age"],
};

/** A call whose server asks one thing, and answers with what it was told. */
function callThatAsks(ask: (handlers: CallerOptions, signal: AbortSignal) => unknown) {
  let ids = 0;
  const written: string[] = [];
  const reply = Object.assign(new EventEmitter(), {
    writableEnded: false,
    writeHead: () => {},
    write: (text: string) => written.push(text),
    end: () => {},
  });
  const call = async (_: string, __: object, options: CallerOptions) => ({
    content: [
      { type: "text", text: JSON.stringify(await ask(options, options.signal as AbortSignal)) },
    ],
  });
  const calls = new PageCalls({
    boardFor: () => ({ board: { call } as unknown as Board, release: () => {} }),
    askFor: () => () => "refuse",
    newId: () => `id${(ids += 1)}`,
    clock: new ManualClock(),
  });
  const ended = calls.run(
    { agent: "default", tool: "t", args: {} },
    visitor("mine"),
    reply as unknown as ServerResponse,
  );
  const events = (): [string, Record<string, unknown>][] =>
    written.map((each) => {
      const [, name = "", data = "{}"] = /^event: (\w+)\ndata: (.*)\n\n$/s.exec(each) ?? [];
      return [name, JSON.parse(data) as Record<string, unknown>];
    });
  const text = (): string =>
    JSON.stringify(events().find(([name]) => name === "result")?.[1]["content"]);
  return { calls, ended, events, text, reply };
}

const asksForm = (handlers: CallerOptions, signal: AbortSignal): unknown =>
  handlers.onElicitation?.({
    mode: "form",
    server: "s",
    message: "How old?",
    schema: SCHEMA,
    signal,
  });

describe("a question of a running call", () => {
  it("is answered by whoever makes the call", async () => {
    const { calls, ended, events, text } = callThatAsks(asksForm);
    expect(events()).toEqual([
      ["open", { call: "id1" }],
      ["question", { id: "id2", kind: "form", server: "s", message: "How old?", schema: SCHEMA }],
    ]);
    const content = { age: 20 };
    calls.answer({ call: "id1", question: "id2", action: "accept", content }, visitor("mine"));
    await ended;
    expect(text()).toContain(String.raw`{\"action\":\"accept\",\"content\":{\"age\":20}}`);
    expect(events()).toContainEqual(["answered", { id: "id2" }]);
  });

  it.each([
    ["of another visit", { call: "id1", question: "id2" }, "other"],
    ["of another call", { call: "id9", question: "id2" }, "mine"],
    ["that was not asked", { call: "id1", question: "id1" }, "mine"],
  ])("takes no answer %s", async (_, of, who) => {
    const { calls, ended, text } = callThatAsks(asksForm);
    const answer = { ...of, action: "accept", content: { age: 20 } };
    expect(() => calls.answer(answer, visitor(who))).toThrow("nobody waits for this answer");
    calls.answer({ call: "id1", question: "id2", action: "decline" }, visitor("mine"));
    await ended;
    expect(text()).toContain("decline");
  });

  it("takes one answer", async () => {
    const { calls, ended } = callThatAsks(asksForm);
    const answer = { call: "id1", question: "id2", action: "decline" };
    calls.answer(answer, visitor("mine"));
    await ended;
    expect(() => calls.answer(answer, visitor("mine"))).toThrow("nobody waits for this answer");
  });

  it("stays if its form does not take the answer", async () => {
    const { calls, ended, text } = callThatAsks(asksForm);
    const answer = (content: object): void =>
      calls.answer({ call: "id1", question: "id2", action: "accept", content }, visitor("mine"));
    expect(() => answer({})).toThrow("the field 'age' is missing");
    expect(() => answer({ age: 3 })).toThrow("the field 'age' is below 18");
    answer({ age: 18 });
    await ended;
    expect(text()).toContain("18");
  });

  it("ends with the page", async () => {
    const { calls, ended, text, reply } = callThatAsks(asksForm);
    reply.emit("close");
    await ended;
    expect(text()).toContain("cancel");
    const answer = { call: "id1", question: "id2", action: "decline" };
    expect(() => calls.answer(answer, visitor("mine"))).toThrow("nobody waits for this answer");
  });

  it("about a page that is required ends when the server says so", async () => {
    const { ended, text } = callThatAsks((handlers, signal) =>
      handlers.onElicitation?.({
        mode: "url",
        server: "s",
        message: "",
        url: "https://example.com/",
        required: true,
        completed: Promise.resolve(),
        signal,
      }),
    );
    await ended;
    expect(text()).toContain("accept");
  });

  it.each([
    [{ action: "accept", text: "Hello" }, '"model":"a person"'],
    [{ action: "decline" }, "declined"],
  ])("for a model is answered by a person: %j", async (given, expected) => {
    const { calls, ended, text, events } = callThatAsks((handlers, signal) => {
      const sample = handlers.onSampling;
      if (typeof sample !== "function") throw new Error("a handler is expected");
      return sample({
        server: "s",
        approvalRequired: true,
        messages: [{ role: "user", content: [{ type: "text", text: "Say hello" }] }],
        maxTokens: 5,
        signal,
      });
    });
    expect(events().at(-1)).toEqual([
      "question",
      {
        id: "id2",
        kind: "model",
        server: "s",
        messages: [{ role: "user", text: "Say hello" }],
        maxTokens: 5,
      },
    ]);
    calls.answer({ call: "id1", question: "id2", ...given }, visitor("mine"));
    await ended;
    expect(text()).toContain(JSON.stringify(expected).slice(1, -1));
  });
});
