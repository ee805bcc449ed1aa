// Many sessions, readers that do not read, bytes that are not HTTP: none of it costs the others anything.

import { EventEmitter } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { deferred } from "../../../../src/util/deferred.ts";
import { closeBoards, fixture, open } from "../../../support/boards.ts";
import { closeServed, INITIALIZE, legacy, post, serve } from "../harness.ts";

closeBoards();
closeServed();

async function begin(url: URL): Promise<Record<string, string>> {
  const { headers } = await post(url, legacy("initialize", INITIALIZE));
  return { "mcp-session-id": headers.get("mcp-session-id") ?? "" };
}

function heapInUse(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

describe("a thousand sessions", () => {
  it("cost little, are put away when idle, and come back", async () => {
    const board = await open({ echo: fixture("echo") });
    const { url, sessions } = await serve(board, { most: 500 });
    const first = await begin(url);
    const before = heapInUse();
    for (let batch = 0; batch < 20; batch += 1) {
      await Promise.all(Array.from({ length: 50 }, () => begin(url)));
    }
    // Those beyond the limit have been put away.
    expect(sessions.size).toBeLessThanOrEqual(500);
    expect((heapInUse() - before) / 1000).toBeLessThan(100_000);
    const call = legacy("tools/call", { name: "mcp__echo__echo", arguments: { text: "still" } });
    const { status, message } = await post(url, call, first);
    expect([status, message?.["result"].content[0].text]).toEqual([200, "still"]);
  });
});

describe("a client that does not read", () => {
  it("is cut off before it fills the memory, and another one is served", async () => {
    const board = await open({ echo: fixture("echo") });
    const { url, endpoint, sessions } = await serve(board);
    const session = await begin(url);
    const socket = connect(Number(url.port), "127.0.0.1");
    const head = [`GET ${url.pathname} HTTP/1.1`, `Host: ${url.host}`, "Accept: text/event-stream"];
    const id = `Mcp-Session-Id: ${session["mcp-session-id"]}`;
    socket.write([...head, id, "", ""].join("\r\n"));
    socket.pause();
    const [live] = sessions.list();
    await expect.poll(() => live?.stream !== undefined).toBe(true);
    const line = {
      jsonrpc: "2.0",
      method: "notifications/message",
      params: { data: "x".repeat(1_000_000) },
    };
    for (let sent = 0; sent < 64 && live?.stream?.isOver === false; sent += 1)
      live.client.send(line);
    await expect.poll(() => live?.stream?.isOver ?? true).toBe(true);
    expect(endpoint).toBeDefined();
    expect((await post(url, legacy("ping"), session)).status).toBe(200);
    socket.destroy();
  });
});

describe("a body of which every byte comes alone", () => {
  it("is packed: an object for each of sixteen million bytes would fill the memory", async () => {
    const board = await open({});
    const { server } = await serve(board);
    const headers = { "content-type": "application/json", accept: "application/json" };
    const request = Object.assign(new EventEmitter(), { method: "POST", headers });
    const answer = deferred<string>();
    const reply = Object.assign(new EventEmitter(), {
      writeHead: () => reply,
      end: answer.resolve,
    });
    server.emit("request", request, reply);
    const [first = "", ...rest] = JSON.stringify({
      ...legacy("ping"),
      params: { text: "x".repeat(20_000) },
    });
    request.emit("data", Buffer.from(first));
    // Whoever kept the chunks would have the last one many times.
    const chunk = Buffer.alloc(1);
    for (const each of rest) {
      chunk.write(each);
      request.emit("data", chunk);
    }
    request.emit("end");
    expect(JSON.parse(await answer.promise)).toMatchObject({ result: {} });
  });
});

describe("bytes that are not HTTP", () => {
  it.each([
    ["nothing but noise", "\u0000\u0001\u0002 hello\r\n\r\n"],
    ["a body that never comes", "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"],
    [
      "two lengths",
      "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
    ],
  ])("%s", async (_, bytes) => {
    const board = await open({});
    const { url } = await serve(board);
    const socket = connect(Number(url.port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(bytes);
    socket.end();
    expect((await post(url, legacy("ping"))).status).toBe(200);
    socket.destroy();
  });
});
