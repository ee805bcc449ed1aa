import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { PlugboardError, withoutEffect } from "../../../../src/core/types/errors.ts";
import { deferred } from "../../../../src/util/deferred.ts";
import { settle } from "../../../support/manual-clock.ts";
import { openTransport, TIMEOUT } from "../../../support/stdio-peer.ts";

const RESULT = { content: [] };

it("reads nothing more until there is room for what the server asks", async () => {
  const { answer, forSdk, transport } = openTransport();
  const room = deferred();
  transport.room = () => room.promise;
  await answer(messageOf("first"));
  await answer(messageOf("second"));
  expect(forSdk).toEqual([messageOf("first")]);
  room.resolve();
  await settle();
  expect(forSdk).toEqual([messageOf("first"), messageOf("second")]);
});

describe("a batch", () => {
  it("is taken apart", async () => {
    const { answer, call, forSdk, junk } = openTransport();
    const { id, outcome } = await call();
    const note = { jsonrpc: "2.0", method: "notifications/message" };
    await answer([{ id, result: RESULT }, note, [note], 5], []);
    expect(await outcome).toEqual(RESULT);
    expect(forSdk).toEqual([note]);
    expect(junk).toHaveLength(1);
  });

  it("of nothing but junk ends at the limit, and is reported once", async () => {
    const { fatal, junk, write } = openTransport();
    await write(`[${"0,".repeat(50_000)}0]\n`);
    expect(junk).toHaveLength(1);
    expect(fatal).toMatchObject([{ code: "PROTOCOL" }]);
  });
});

describe("junk", () => {
  it.each([
    "Server listening on port 3000",
    '{"jsonrpc":"2.0","id":1,',
    "42",
    "null",
    '"text"',
    "{}",
    '{"jsonrpc":"2.0","id":5}',
    '{"jsonrpc":"2.0","method":5}',
    '{"jsonrpc":"2.0","id":"seven","result":{}}',
    "\u001b[32mready\u001b[0m",
  ])("is dropped and reported: %s", async (line) => {
    const { answer, call, fatal, forSdk, junk, write } = openTransport();
    const { id, outcome } = await call();
    await write(`${line}\n`);
    await answer({ id, result: RESULT });
    expect(await outcome).toEqual(RESULT);
    expect(junk).toEqual([line]);
    expect(forSdk).toEqual([]);
    expect(fatal).toEqual([]);
  });

  it("is not a message that ends in CR LF", async () => {
    const { call, junk, write } = openTransport();
    const { id, outcome } = await call();
    await write(`${JSON.stringify({ id, result: RESULT })}\r\n`);
    expect(await outcome).toEqual(RESULT);
    expect(junk).toEqual([]);
  });

  it("is still heard after the server's input broke, because it may say why", async () => {
    const { fatal, junk, stdin, write } = openTransport();
    stdin.destroy(new Error("EPIPE"));
    await settle();
    expect(fatal).toMatchObject([{ message: "the server does not take input" }]);
    const logged = '{"level":"error","message":"no key"}';
    await write(`usage: server <url>\n${logged}\n`);
    expect(junk).toEqual(["usage: server <url>", logged]);
  });

  it("is fatal after 10 000 lines in a row, once, and nothing is read afterwards", async () => {
    const { fatal, forSdk, junk, write } = openTransport();
    await write("junk\n".repeat(9_999));
    expect(fatal).toEqual([]);
    await write(`${"junk\n".repeat(5)}${JSON.stringify(messageOf("late"))}\n`);
    expect(fatal).toMatchObject([
      {
        code: "PROTOCOL",
        message: "10000 lines in a row on the server's stdout are not JSON-RPC",
      },
    ]);
    expect(junk).toHaveLength(10_000);
    expect(forSdk).toEqual([]);
  });

  it.each([
    ["a message for the SDK", true, () => messageOf("notifications/message")],
    ["an answer to a call", true, (id: number) => ({ id, result: 1 })],
    ["an answer that nobody waits for", false, () => ({ id: 999_999_999, result: 1 })],
  ])("is counted from zero after %s: %s", async (_, anew, message) => {
    const { answer, call, fatal, transport, write } = openTransport();
    const { id, outcome } = await call();
    await write("junk\n".repeat(9_999));
    await answer(message(id));
    await write("junk\n");
    expect(fatal).toHaveLength(anew ? 0 : 1);
    await transport.close();
    await outcome;
  });
});

describe("a call that gets no answer", () => {
  it.each<[string, before: string, meanwhile: string, shown: string]>([
    ["nothing, if nothing was dropped", "junk\n", "", ""],
    ["a log line", "", "busy\n", '; on stdout it wrote text that is not MCP: "busy"'],
    [
      "an answer to nobody, rather than a log line",
      "",
      '{"id":"seven","result":{}}\nbusy\n',
      String.raw`; on stdout it wrote a line that answers no request, because its id is another text: "{\"id\":\"seven\",\"result\":{}}"`,
    ],
    [
      "a line that ends with CR",
      "",
      '{"result":{}}\r',
      String.raw`; on stdout it wrote a line that ends with CR, but messages end with LF: "{\"result\":{}}\r"`,
    ],
    [
      "a line without an end",
      "",
      '{"result"',
      String.raw`; on stdout it wrote a line that has no end yet, after 9 B: "{\"result\""`,
    ],
  ])(
    "says with its timeout what was dropped meanwhile: %s",
    async (_, before, meanwhile, shown) => {
      const { call, clock, write } = openTransport();
      await write(before);
      await clock.advance(1);
      const { outcome } = await call();
      await write(meanwhile);
      await clock.advance(1001);
      expect(await outcome).toMatchObject({
        code: "TIMEOUT",
        message: `no answer to tools/call within 1 s${shown}`,
      });
    },
  );
});

describe("a message of a million keys", () => {
  const keys = Array.from({ length: 1_000_000 }, (_, at) => `"k${at}":${at}`).join(",");

  it("is not parsed: it fails its call, and the conversation goes on", async () => {
    const { answer, call, fatal, junk, write } = openTransport(64 * 1024 ** 2);
    const first = await call();
    const second = await call();
    await write(`{"jsonrpc":"2.0","id":${first.id},"result":{${keys}}}\n`);
    expect(await first.outcome).toMatchObject({
      code: "MESSAGE_TOO_LARGE",
      message: "the server sent a message of more than 262144 values",
      hint: expect.stringContaining("maxMessageBytes"),
    });
    await answer({ id: second.id, result: RESULT });
    expect(await second.outcome).toEqual(RESULT);
    expect(fatal).toEqual([]);
    expect(junk).toEqual([]);
  });

  it("that answers nothing is dropped", async () => {
    const { fatal, forSdk, junk, write } = openTransport(64 * 1024 ** 2);
    await write(`{"jsonrpc":"2.0","method":"notifications/message","params":{${keys}}}\n`);
    expect(junk).toHaveLength(1);
    expect(forSdk).toEqual([]);
    expect(fatal).toEqual([]);
  });

  it("has far more than one of 60 MB in one text, which is taken", async () => {
    const { call, write } = openTransport(64 * 1024 ** 2);
    const { id, outcome } = await call();
    const text = "x".repeat(60_000_000);
    await write(`${JSON.stringify({ id, result: { text } })}\n`);
    expect(((await outcome) as { text: string }).text.length).toBe(text.length);
  });
});

describe("the conversation ends", () => {
  it("when a message is too large", async () => {
    const { answer, fatal, forSdk, write } = openTransport(1000);
    await write(`"${"x".repeat(1000)}`);
    expect(fatal).toMatchObject([
      {
        code: "MESSAGE_TOO_LARGE",
        message: "the server sent a message of more than 1000 B (maxMessageBytes)",
        hint: expect.stringContaining("maxMessageBytes"),
      },
    ]);
    await answer(messageOf("notifications/message"));
    expect(forSdk).toEqual([]);
    expect(fatal).toHaveLength(1);
  });

  it("when the server closes its output, after its last message", async () => {
    const { call, fatal, stdout } = openTransport();
    const { id, outcome } = await call();
    stdout.end(JSON.stringify({ id, result: RESULT }));
    expect(await outcome).toEqual(RESULT);
    await settle();
    expect(fatal).toMatchObject([
      { code: "CONNECTION_CLOSED", message: "the server closed its output" },
    ]);
  });

  it("when its output cannot be read", async () => {
    const { fatal, stdout } = openTransport();
    const cause = new Error("EIO");
    stdout.destroy(cause);
    await settle();
    expect(fatal).toMatchObject([{ code: "CONNECTION_CLOSED", message: "reading failed", cause }]);
  });

  it("when the server's input is gone (EPIPE)", async () => {
    const { call, fatal, stdin, transport } = openTransport();
    const cause = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
    stdin._write = (_chunk, _encoding, done) => done(cause);
    const outcome = transport.callTool("add", {}, TIMEOUT).catch((error: unknown) => error);
    await settle();
    expect(fatal).toMatchObject([
      { code: "CONNECTION_CLOSED", message: "the server does not take input", cause },
    ]);
    const after = transport.callTool("add", {}, TIMEOUT).catch((error: unknown) => error);
    await settle();
    expect(fatal).toHaveLength(1);
    const reason = new PlugboardError("CONNECTION_CLOSED", "the server exited with code 1");
    transport.end(reason);
    expect(await Promise.all([outcome, after, (await call()).outcome])).toEqual([
      reason,
      reason,
      withoutEffect(reason),
    ]);
  });

  it("but answers that the server wrote before it stopped reading still arrive, and nothing else", async () => {
    const { answer, call, fatal, forSdk, stdin } = openTransport();
    const { id, outcome } = await call();
    stdin.destroy(new Error("EPIPE"));
    await settle();
    expect(fatal).toHaveLength(1);
    await answer({ ...messageOf("sampling/createMessage"), id: 7 });
    await answer({ id, result: RESULT });
    expect(await outcome).toEqual(RESULT);
    expect(forSdk).toEqual([]);
  });

  it("in the middle of an answer, which then does not count as wrong", async () => {
    const { call, fatal, stdout, transport } = openTransport();
    const { id, outcome } = await call();
    const part = `{"jsonrpc":"2.0","id":${id},"result":{"content":[`;
    stdout.end(part);
    await settle();
    expect(fatal).toMatchObject([{ message: "the server closed its output" }]);
    expect(transport.droppedSince(0)).toMatchObject({ fault: "breaks off" });
    const reason = new PlugboardError("CONNECTION_CLOSED", "the server exited with code 1");
    transport.end(reason);
    expect(await outcome).toEqual(reason);
  });

  it("by `end`, once, with its reason for pending and later calls", async () => {
    const { answer, call, fatal, forSdk, stdin, stdout, transport } = openTransport();
    const closes: string[] = [];
    transport.onclose = () => closes.push("closed");
    const { id, outcome } = await call();
    const reason = new PlugboardError("CONNECTION_CLOSED", "stopped");
    transport.end(reason);
    transport.end(new PlugboardError("PROTOCOL", "another reason"));
    await transport.close();
    expect(await outcome).toBe(reason);
    await expect(transport.callTool("add", {}, TIMEOUT)).rejects.toEqual(withoutEffect(reason));
    const note = messageOf("notifications/initialized");
    await expect(transport.send(note)).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
    await answer({ id, result: RESULT }, note);
    stdin.destroy(new Error("EPIPE"));
    stdout.end();
    await settle();
    expect(forSdk).toEqual([]);
    expect(fatal).toEqual([]);
    expect(closes).toEqual(["closed"]);
  });

  it("after sending the rest: a cancellation must reach the server", async () => {
    const { call, stdin, transport } = openTransport();
    const controller = new AbortController();
    const { outcome } = await call({ ...TIMEOUT, signal: controller.signal });
    controller.abort();
    const other = transport.callTool("add", {}, TIMEOUT).catch((error: unknown) => error);
    await transport.close();
    await settle();
    expect(stdin.messages().map(({ method }) => method)).toEqual([
      "tools/call",
      "notifications/cancelled",
      "tools/call",
    ]);
    expect(await outcome).toMatchObject({ code: "CANCELLED" });
    expect(await other).toMatchObject({
      code: "CONNECTION_CLOSED",
      message: "the connection was closed",
    });
  });
});

function messageOf(method: string): JSONRPCMessage {
  return { jsonrpc: "2.0", method };
}
