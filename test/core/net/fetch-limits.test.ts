import { createServer } from "node:net";
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { openBody } from "../../../src/core/net/body.ts";
import { Exchange } from "../../../src/core/net/exchange.ts";
import type { GuardedResponse } from "../../../src/core/net/fetch.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import { ManualClock, settle } from "../../support/manual-clock.ts";
import { failureOf, listen, openFetch, serve } from "./servers.ts";

const TEXT = "plugboard ".repeat(1000);

/** The two ways to read a body. */
const WAYS: [string, (response: GuardedResponse) => Promise<unknown>][] = [
  ["as a text", (response) => response.text()],
  [
    "in pieces",
    async ({ body }) => {
      let received = 0;
      for await (const chunk of body) received += chunk.length;
      return received;
    },
  ],
];

describe("a body", () => {
  it.each([
    ["none", undefined, Buffer.from(TEXT)],
    ["identity", "identity", Buffer.from(TEXT)],
    ["gzip", "gzip", gzipSync(TEXT)],
    ["x-gzip", "X-GZIP", gzipSync(TEXT)],
    ["deflate", "deflate", deflateSync(TEXT)],
    ["br", "br", brotliCompressSync(TEXT)],
    ["two layers", "gzip, br", brotliCompressSync(gzipSync(TEXT))],
  ])("is decoded: %s", async (_, encoding, bytes) => {
    const origin = await serve((__, response) => {
      if (encoding !== undefined) response.setHeader("content-encoding", encoding);
      response.end(bytes);
    });
    expect(await (await openFetch()(origin, { method: "GET" })).text()).toBe(TEXT);
  });

  it("is packed if every byte comes alone: an object for each of them would fill the memory", async () => {
    const source = new Readable({ read: () => {} });
    const exchange = new Exchange("x", {}, new ManualClock(), () => {});
    const { text } = openBody(source, { host: "x", encoding: undefined, maxBytes: 1e6, exchange });
    const read = text();
    await settle();
    const [first = "", ...rest] = TEXT;
    source.push(Buffer.from(first));
    // Whoever kept the chunks would have the last one many times.
    const chunk = Buffer.alloc(1);
    for (const each of rest) {
      chunk.write(each);
      source.push(chunk);
    }
    source.push(null);
    expect(await read).toBe(TEXT);
  });

  it.each([
    [202, { "content-length": "0" }],
    [204, {}],
  ])("may be empty, whatever its encoding (%s)", async (status, headers) => {
    const origin = await serve((_, response) =>
      response.writeHead(status, { "content-encoding": "gzip", ...headers }).end(),
    );
    expect(await (await openFetch()(origin, { method: "GET" })).text()).toBe("");
  });

  it.each([
    ["an unknown encoding", "zstd", Buffer.from("x")],
    ["too many layers", "gzip, gzip, gzip", Buffer.from("x")],
  ])("with %s is refused", async (_, encoding, bytes) => {
    const origin = await serve((__, response) =>
      response.writeHead(200, { "content-encoding": encoding }).end(bytes),
    );
    expect(await failureOf(openFetch()(origin, { method: "GET" }))).toMatchObject({
      code: "PROTOCOL",
    });
  });

  it.each([
    ["gzip", Buffer.from("not gzip"), "PROTOCOL"],
    ["br", Buffer.from("not brotli at all"), "PROTOCOL"],
    ["gzip", gzipSync(TEXT).subarray(0, 40), "NETWORK"],
  ])("in broken %s fails while it is read", async (encoding, bytes, code) => {
    const origin = await serve((_, response) =>
      response.writeHead(200, { "content-encoding": encoding }).end(bytes),
    );
    const response = await openFetch()(origin, { method: "GET" });
    expect(await failureOf(response.text())).toMatchObject({ code });
  });

  it("that breaks off fails while it is read", async () => {
    const port = await listen(
      createServer((socket) =>
        socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc")),
      ),
    );
    const response = await openFetch()(`http://127.0.0.1:${port}/`, { method: "GET" });
    expect(await failureOf(response.text())).toMatchObject({ code: "NETWORK" });
  });

  it.each(
    [
      ["plain", undefined, Buffer.alloc(1001)] as const,
      ["a gzip bomb", "gzip", gzipSync(Buffer.alloc(20_000_000))] as const,
      ["a brotli bomb", "br", brotliCompressSync(Buffer.alloc(20_000_000))] as const,
      ["a bomb in a bomb", "gzip, gzip", gzipSync(gzipSync(Buffer.alloc(20_000_000)))] as const,
    ].flatMap(([what, encoding, bytes]) =>
      WAYS.map(([how, way]) => [what, how, encoding, bytes, way] as const),
    ),
  )("above the cap ends the connection: %s, %s", async (_, __, encoding, bytes, way) => {
    let ended = () => {};
    const connectionEnded = new Promise<void>((resolve) => (ended = resolve));
    const origin = await serve((___, response) => {
      response.socket?.on("close", () => ended());
      if (encoding !== undefined) response.setHeader("content-encoding", encoding);
      // Never ended: only the reader can end it.
      response.write(bytes);
    });
    const response = await openFetch()(origin, { method: "GET", maxBodyBytes: 1000 });
    expect(await failureOf(way(response))).toMatchObject({
      code: "MESSAGE_TOO_LARGE",
      message: expect.stringContaining("larger than 1000 B"),
    });
    await connectionEnded;
  });

  it("above the reader's own bound is refused in its words, and ends the connection", async () => {
    let ended = () => {};
    const connectionEnded = new Promise<void>((resolve) => (ended = resolve));
    const origin = await serve((_, response) => {
      response.socket?.on("close", () => ended());
      response.write("x".repeat(11));
    });
    const error = () => new PlugboardError("MESSAGE_TOO_LARGE", "ten are enough");
    const response = await openFetch()(origin, { method: "GET" });
    expect(await failureOf(response.text({ maxBytes: 10, error }))).toMatchObject({
      message: "ten are enough",
    });
    await connectionEnded;
  });

  it.each([
    ["as large as the bound", Buffer.from("x".repeat(10)), "x".repeat(10)],
    ["without its byte order mark", Buffer.from("\uFEFF{}"), "{}"],
    ["of nothing", Buffer.alloc(0), ""],
  ])("is a text %s", async (_, bytes, text) => {
    const origin = await serve((__, response) => response.end(bytes));
    const response = await openFetch()(origin, { method: "GET" });
    const error = () => new PlugboardError("MESSAGE_TOO_LARGE", "ten are enough");
    expect(await response.text({ maxBytes: 10, error })).toBe(text);
  });

  it("is one text where it was cut within a character", async () => {
    let finish = () => {};
    const origin = await serve((_, response) => {
      response.write(Buffer.from([0xc3]));
      finish = () => response.end(Buffer.from([0xbc]));
    });
    const response = await openFetch()(origin, { method: "GET" });
    const text = response.text();
    finish();
    expect(await text).toBe("ü");
  });

  it.each(WAYS)("that has broken off before it is read fails: %s", async (_, way) => {
    let cut = () => {};
    const origin = await serve((__, response) => {
      response.write("abc");
      cut = () => response.socket?.destroy();
    });
    const response = await openFetch()(origin, { method: "GET" });
    cut();
    await setTimeout(20);
    expect(await failureOf(way(response))).toMatchObject({
      code: "NETWORK",
      message: expect.stringContaining("before its answer was complete"),
    });
  });

  it("of just the cap is whole", async () => {
    const origin = await serve((_, response) => response.end(Buffer.alloc(1000)));
    const response = await openFetch()(origin, { method: "GET", maxBodyBytes: 1000 });
    expect(await response.text()).toHaveLength(1000);
  });
});

describe("time", () => {
  it("ends a request that gets no headers", async () => {
    const clock = new ManualClock();
    const origin = await serve(() => {});
    const failing = failureOf(
      openFetch({ clock })(origin, { method: "GET", headersTimeout: 3000 }),
    );
    await clock.advance(3000);
    expect(await failing).toMatchObject({
      code: "TIMEOUT",
      message: `${new URL(origin).host} did not answer within 3 s`,
    });
    expect(clock.next()).toBeUndefined();
  });

  it("does not hold a body to the time for headers", async () => {
    const clock = new ManualClock();
    let finish = () => {};
    const origin = await serve((_, response) => {
      response.write("a");
      finish = () => response.end("b");
    });
    const response = await openFetch({ clock })(origin, { method: "GET", headersTimeout: 3000 });
    expect(clock.next()).toBeUndefined();
    finish();
    expect(await response.text()).toBe("ab");
  });

  it("ends a slow drip at the deadline", async () => {
    const clock = new ManualClock();
    let drip = () => {};
    let ended = () => {};
    const connectionEnded = new Promise<void>((resolve) => (ended = resolve));
    const origin = await serve((_, response) => {
      drip = () => response.write(".");
      drip();
      response.socket?.on("close", () => ended());
    });
    const response = await openFetch({ clock })(origin, { method: "GET", deadline: 5000 });
    let received = 0;
    const read = async () => {
      for await (const chunk of response.body) received += chunk.length;
    };
    const failing = failureOf(read());
    for (let second = 0; second < 5; second += 1) {
      drip();
      await settle();
      await clock.advance(1000);
    }
    expect(await failing).toMatchObject({
      code: "TIMEOUT",
      message: `${new URL(origin).host} did not finish its answer within 5 s`,
    });
    expect(received).toBeGreaterThan(0);
    await connectionEnded;
  });

  it("ends a body that nobody reads", async () => {
    const clock = new ManualClock();
    const origin = await serve((_, response) => response.write("a"));
    const response = await openFetch({ clock })(origin, { method: "GET", deadline: 5000 });
    await clock.advance(5000);
    expect(await failureOf(response.text())).toMatchObject({ code: "TIMEOUT" });
  });

  it("leaves no timer behind an answer", async () => {
    const clock = new ManualClock();
    const origin = await serve((_, response) => response.end("a"));
    const limits = { headersTimeout: 1000, deadline: 1000 };
    const response = await openFetch({ clock })(origin, { method: "GET", ...limits });
    expect(clock.next()).toBe(1000);
    await response.text();
    expect(clock.next()).toBeUndefined();
  });
});

describe("the caller", () => {
  it("may have given up before the request", async () => {
    const signal = AbortSignal.abort();
    const fetch = openFetch({}, () => Promise.reject(new Error("nothing may be resolved")));
    expect(await failureOf(fetch("https://example.com/", { method: "GET", signal }))).toMatchObject(
      { code: "CANCELLED" },
    );
  });

  it("may give up while it waits for an answer", async () => {
    const caller = new AbortController();
    const origin = await serve(() => caller.abort());
    const { signal } = caller;
    expect(await failureOf(openFetch()(origin, { method: "GET", signal }))).toMatchObject({
      code: "CANCELLED",
    });
  });

  it.each([undefined, "gzip"])("may give up in mid-body (encoding %s)", async (encoding) => {
    const caller = new AbortController();
    let ended = () => {};
    const connectionEnded = new Promise<void>((resolve) => (ended = resolve));
    const origin = await serve((_, response) => {
      response.socket?.on("close", () => ended());
      if (encoding !== undefined) response.setHeader("content-encoding", encoding);
      response.write(encoding === undefined ? "a" : gzipSync(TEXT).subarray(0, 40));
    });
    const { signal } = caller;
    const response = await openFetch()(origin, { method: "GET", signal });
    const failing = failureOf(response.text());
    await settle();
    caller.abort();
    expect(await failing).toMatchObject({ code: "CANCELLED" });
    await connectionEnded;
  });

  it.each([
    ["cancels", (response: { cancel(): void }) => response.cancel()],
    [
      "stops reading",
      async (response: { body: AsyncIterable<Buffer> }) => {
        for await (const chunk of response.body) if (chunk.length > 0) break;
      },
    ],
  ])("ends the connection when it %s", async (_, leave) => {
    let ended = () => {};
    const connectionEnded = new Promise<void>((resolve) => (ended = resolve));
    const origin = await serve((__, response) => {
      response.socket?.on("close", () => ended());
      response.write("a");
    });
    const response = await openFetch()(origin, { method: "GET", deadline: 60_000 });
    await leave(response);
    await expect(connectionEnded).resolves.toBeUndefined();
    response.cancel();
  });

  it("reads CANCELLED from what it has cancelled", async () => {
    const origin = await serve((_, response) => response.write("a"));
    const response = await openFetch()(origin, { method: "GET" });
    response.cancel();
    expect(await failureOf(response.text())).toMatchObject({ code: "CANCELLED" });
  });
});
