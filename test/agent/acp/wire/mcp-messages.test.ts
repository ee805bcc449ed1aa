import { describe, expect, it } from "vitest";
import { McpMessages } from "../../../../src/agent/acp/wire/mcp-messages.ts";
import { deferred } from "../../../../src/util/deferred.ts";

const REQUEST = {
  serverId: "shop",
  requestId: "r1",
  method: "tools/call",
  params: { name: "saw" },
};

/** One request that waits for its answer. */
function setUp() {
  const answer = deferred<unknown>();
  const asked: unknown[] = [];
  const heard: unknown[] = [];
  const messages = new McpMessages((method, params) => {
    asked.push([method, params]);
    return answer.promise;
  });
  const { signal } = new AbortController();
  const sent = messages.send(REQUEST, {
    signal,
    onNotification: (method, params) => heard.push([method, params]),
  });
  return { messages, asked, heard, answer, sent };
}

function notification(params: unknown, more: object = {}): object {
  return { jsonrpc: "2.0", method: "mcp/message", params, ...more };
}

describe("a notification of the client", () => {
  const ours = { serverId: "shop", requestId: "r1", method: "notifications/progress" };

  it.each<[params: object, heard: unknown]>([
    [{ ...ours, params: { progress: 1 } }, { progress: 1 }],
    [ours, {}],
    [{ ...ours, params: null }, {}],
  ])("%j is heard by the request that it is about", (params, heard) => {
    const set = setUp();
    expect(set.messages.receive(notification(params))).toBe(true);
    expect(set.heard).toEqual([["notifications/progress", heard]]);
  });

  it.each([
    [{ ...ours, serverId: "other" }],
    [{ ...ours, method: 7 }],
    [{ ...ours, params: "words" }],
    [{ ...ours, params: [] }],
  ])("%j is about our request and means nothing", (params) => {
    const set = setUp();
    expect(set.messages.receive(notification(params))).toBe(true);
    expect(set.heard).toEqual([]);
  });

  it.each<[message: unknown]>([
    [notification({ ...ours, requestId: "another" })],
    [notification({ ...ours, requestId: undefined })],
    [notification(undefined)],
    [notification([ours])],
    [notification(ours, { id: 1 })],
    [{ ...notification(ours), method: "session/cancel" }],
    [null],
    ["words"],
  ])("%j is not for us", (message) => {
    const set = setUp();
    expect(set.messages.receive(message)).toBe(false);
    expect(set.heard).toEqual([]);
  });

  it("is not for us once the request is answered, or has failed", async () => {
    for (const end of ["resolve", "reject"] as const) {
      const { messages, asked, answer, sent } = setUp();
      answer[end](new Error("gone"));
      await sent.catch(() => {});
      expect(messages.receive(notification(ours))).toBe(false);
      expect(asked).toEqual([["mcp/message", REQUEST]]);
    }
  });

  it("is taken out of the client's messages, before the next one is read", async () => {
    const { messages, heard } = setUp();
    const next = { jsonrpc: "2.0", id: 1, result: {} };
    const reader = messages.taken(ReadableStream.from([notification(ours), next])).getReader();
    expect(await reader.read()).toEqual({ done: false, value: next });
    expect(heard).toHaveLength(1);
    expect(await reader.read()).toMatchObject({ done: true });
  });
});
