import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import type { Progress } from "../../../../src/core/types/tool.ts";
import { settle } from "../../../support/manual-clock.ts";
import { openTransport, TIMEOUT } from "../../../support/stdio-peer.ts";

describe("what is sent", () => {
  it("is one line of JSON per message, whatever is in it", async () => {
    const { transport, stdin } = openTransport();
    const name = 'a "quoted"\nname\\\u2028😀';
    const args = { text: "two\nlines", deep: { list: [1, null, "é"] } };
    void transport.callTool(name, args, TIMEOUT).catch(() => {});
    void transport.request("tools/list", { cursor: "a\nb" }, TIMEOUT).catch(() => {});
    await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    await settle();
    const [call, list, note] = stdin.messages();
    expect(call).toEqual({
      jsonrpc: "2.0",
      id: expect.any(Number),
      method: "tools/call",
      params: { name, arguments: args, _meta: { progressToken: call?.id } },
    });
    expect(list).toEqual({
      jsonrpc: "2.0",
      id: expect.any(Number),
      method: "tools/list",
      params: { cursor: "a\nb" },
    });
    expect(note).toEqual({ jsonrpc: "2.0", method: "notifications/initialized" });
  });

  it("carries the `_meta` of 2026-07-28 once that is spoken", async () => {
    const { transport, call, stdin } = openTransport();
    const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
    transport.adoptMeta(meta);
    const controller = new AbortController();
    const { id, outcome } = await call({ ...TIMEOUT, signal: controller.signal });
    controller.abort();
    void transport.request("tools/list", { cursor: "2" }, TIMEOUT).catch(() => {});
    await settle();
    expect(stdin.messages().map(({ params }) => params)).toEqual([
      { name: "add", arguments: {}, _meta: { progressToken: id, ...meta } },
      { requestId: id, reason: "cancelled by the caller", _meta: meta },
      { cursor: "2", _meta: meta },
    ]);
    await outcome;
  });

  it("has the arguments as they were when somebody made JSON of them", async () => {
    const { transport, stdin } = openTransport();
    const call = transport.callTool("add", { n: 2 }, { ...TIMEOUT, argsJson: '{"n":1}' });
    expect(stdin.messages()).toMatchObject([{ params: { arguments: { n: 1 } } }]);
    await transport.close();
    await call.catch(() => {});
  });

  it("leaves at once if the server has nothing else to do; the others of a turn share a write", async () => {
    const { transport, stdin } = openTransport();
    const calls = [1, 2, 3].map((n) => transport.callTool("add", { n }, TIMEOUT));
    expect(stdin.messages()).toHaveLength(1);
    await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    await settle();
    expect(stdin.writes).toHaveLength(2);
    expect(stdin.messages()).toHaveLength(4);
    calls.push(transport.callTool("add", { n: 4 }, TIMEOUT));
    await settle();
    expect(stdin.writes).toHaveLength(3);
    await transport.close();
    await Promise.allSettled(calls);
  });

  it("does not wait for the end of the turn once there is enough for a write", async () => {
    const { transport, stdin } = openTransport();
    const calls = Array.from({ length: 1000 }, (_, n) => transport.callTool("add", { n }, TIMEOUT));
    const { length } = stdin.messages();
    expect([length > 980, stdin.writes.length > 20, stdin.writes.length < 200]).toEqual([
      true,
      true,
      true,
    ]);
    await settle();
    expect(stdin.messages().map(({ params }) => params)).toMatchObject(
      calls.map((_, n) => ({ arguments: { n } })),
    );
    await transport.close();
    await Promise.allSettled(calls);
  });

  it("waits in its turn while the server does not read, and is not text before", async () => {
    const { transport, stdin, answer } = openTransport(1000);
    stdin.hold();
    let made = 0;
    const large = {
      toJSON: () => {
        made += 1;
        return { text: "x".repeat(2000) };
      },
    };
    const calls = Array.from({ length: 50 }, () => transport.callTool("write", large, TIMEOUT));
    calls.push(transport.request("ping", {}, TIMEOUT));
    await settle();
    expect(made).toBe(1);
    expect(stdin.writes.join("")).toHaveLength(stdin.writableLength);
    stdin.release();
    await expect.poll(() => stdin.messages().length).toBe(51);
    const sent = stdin.messages();
    expect(sent.map(({ method }) => method)).toEqual([...Array(50).fill("tools/call"), "ping"]);
    expect(Math.max(...stdin.writes.map((text) => text.length))).toBeLessThan(4000);
    await answer(...sent.map(({ id }, n) => ({ id, result: n })));
    expect(await Promise.all(calls)).toEqual(sent.map((_, n) => n));
  });

  it("says that it was not sent if it waited until its timeout, and is not cancelled then", async () => {
    const { clock, transport, stdin } = openTransport(1000);
    stdin.hold();
    const failed = (error: unknown): unknown => error;
    const sent = transport.callTool("write", { text: "x".repeat(2000) }, TIMEOUT).catch(failed);
    const waits = transport.callTool("add", {}, TIMEOUT).catch(failed);
    const controller = new AbortController();
    const { signal } = controller;
    const aborted = transport.callTool("add", {}, { ...TIMEOUT, signal }).catch(failed);
    controller.abort();
    expect(await aborted).toMatchObject({ code: "CANCELLED" });
    await settle();
    await clock.advance(1001);
    expect(await sent).toMatchObject({ code: "TIMEOUT" });
    expect(await waits).toMatchObject({
      code: "SERVER_UNAVAILABLE",
      message:
        "the server does not read its input: tools/call could not be sent within 1 s, and has not run",
    });
    stdin.release();
    await settle();
    // The cancellation of the first would not fit either.
    expect(stdin.messages()).toHaveLength(1);
  });

  it("is refused, if it comes from the SDK, while more than the limit is unsent, in the same turn too", async () => {
    const { transport, stdin } = openTransport(1000);
    const note: JSONRPCMessage = { jsonrpc: "2.0", method: "x".repeat(300) };
    const notes = Array.from({ length: 100 }, () => transport.send(note));
    const results = await Promise.allSettled(notes);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(4);
    expect(results.at(-1)).toMatchObject({
      reason: { code: "SERVER_UNAVAILABLE", message: "the server does not read its input" },
    });
    await settle();
    await transport.send(note);
    await settle();
    expect(stdin.messages()).toHaveLength(5);
  });

  it.each<[string, () => JsonObject]>([
    ["a BigInt", () => ({ n: 1n })],
    [
      "a cycle",
      () => {
        const args: JsonObject = {};
        args.self = args;
        return args;
      },
    ],
  ])("is nothing if the arguments hold %s", async (_, args) => {
    const { transport, stdin } = openTransport();
    const call = transport.callTool("add", args(), TIMEOUT);
    await expect(call).rejects.toMatchObject({ code: "INVALID_ARGUMENTS" });
    await settle();
    expect(stdin.writes).toEqual([]);
  });
});

describe("the host's own calls", () => {
  it("get the answer of their id, whatever comes in between", async () => {
    const { answer, call, forSdk } = openTransport();
    const first = await call();
    const second = await call();
    await answer(
      { jsonrpc: "2.0", id: second.id, result: { n: 2 } },
      { jsonrpc: "2.0", method: "notifications/message", params: {} },
      { jsonrpc: "2.0", id: first.id, error: { code: -32602, message: "bad" } },
    );
    expect(await second.outcome).toEqual({ n: 2 });
    expect(await first.outcome).toMatchObject({ code: "SERVER_ERROR", message: "bad (-32602)" });
    expect(forSdk).toHaveLength(1);
  });

  it("drop late and repeated answers silently", async () => {
    const { answer, call, clock, forSdk, junk } = openTransport();
    const answered = await call();
    await answer({ id: answered.id, result: 1 }, { id: answered.id, result: 2 });
    const late = await call();
    await clock.advance(1000);
    await answer({ id: late.id, result: 3 });
    expect(await answered.outcome).toBe(1);
    expect(await late.outcome).toMatchObject({ code: "TIMEOUT" });
    expect(forSdk).toEqual([]);
    expect(junk).toEqual([]);
  });

  it.each([
    ["no id", {}],
    ["the id null", { id: null }],
  ])("fail at once with an error that has %s, if it can be for no other", async (_, id) => {
    const { answer, call } = openTransport();
    const { outcome } = await call();
    await answer({ jsonrpc: "2.0", ...id, error: { code: -1, message: "boom" } });
    expect(await outcome).toMatchObject({ code: "SERVER_ERROR", message: "boom (-1)" });
  });

  it.each([-1, 1.5])("fail within a moment of an answer whose id is %d", async (id) => {
    const { answer, call, clock } = openTransport();
    const { outcome } = await call();
    await answer({ jsonrpc: "2.0", id, result: { content: [] } });
    await clock.advance(500);
    expect(await outcome).toMatchObject({
      code: "PROTOCOL",
      message: expect.stringContaining("because its id is no number that a request has"),
    });
  });

  const boom = { jsonrpc: "2.0", error: { code: -1, message: "boom" } };
  const unknown = { jsonrpc: "2.0", error: { code: -32601, message: "boom" } };
  it.each<[string, number, boolean, typeof boom]>([
    ["another call waits", 2, false, boom],
    ["an earlier call was given up", 1, true, boom],
    ["it may be about a notification", 1, false, unknown],
  ])("quote an error without an id when they time out, if %s", async (_, count, gaveUp, error) => {
    const { answer, call, clock } = openTransport();
    if (gaveUp) {
      await call({ timeout: 10 });
      await clock.advance(20);
    }
    const calls = [];
    for (let n = 0; n < count; n += 1) calls.push(await call());
    await answer(error);
    await clock.advance(1000);
    for (const { outcome } of calls) {
      expect(await outcome).toMatchObject({
        code: "TIMEOUT",
        message: expect.stringMatching(/^no answer to .*boom/),
      });
    }
  });

  it("tell the server when they are cancelled or time out", async () => {
    const { call, clock, stdin } = openTransport();
    const controller = new AbortController();
    const cancelled = await call({ ...TIMEOUT, signal: controller.signal });
    controller.abort();
    const late = await call();
    await clock.advance(1000);
    expect(stdin.messages().filter(({ id }) => id === undefined)).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: cancelled.id, reason: "cancelled by the caller" },
      },
      {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: late.id, reason: "timed out" },
      },
    ]);
    expect(await cancelled.outcome).toMatchObject({ code: "CANCELLED" });
  });

  it("get progress, which extends their time", async () => {
    const { answer, call, clock, forSdk } = openTransport();
    const heard: Progress[] = [];
    const onProgress = (progress: Progress) => heard.push(progress);
    const { id, outcome } = await call({ timeout: 1000, ceiling: 5000, onProgress });
    for (const progress of [1, 2, 3]) {
      await clock.advance(800);
      const params = { progressToken: id, progress, total: 3, message: "working" };
      await answer({ jsonrpc: "2.0", method: "notifications/progress", params });
    }
    await answer({ id, result: "done" });
    expect(await outcome).toBe("done");
    expect(heard.map(({ progress }) => progress)).toEqual([1, 2, 3]);
    expect(heard[0]).toEqual({ progress: 1, total: 3, message: "working" });
    expect(forSdk).toEqual([]);
  });
});
