import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { httpClient, parseResponse } from "../lib/http-client.mjs";
import { resultIn } from "../lib/mcp-over-http.mjs";

const bytes = (...lines) => Buffer.from(lines.join("\r\n"));

describe("a response", () => {
  const sized = bytes("HTTP/1.1 200 OK", "Content-Length: 5", "", "hello");
  const chunked = bytes(
    "HTTP/1.1 200 OK",
    "Transfer-Encoding: chunked\r\n",
    "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
  );
  for (const { name, given } of [
    { name: "with a length", given: sized },
    { name: "in chunks", given: chunked },
  ]) {
    it(`${name} is there when its last byte is`, () => {
      assert.equal(parseResponse(given).body, "hello");
      for (let length = 0; length < given.length; length += 1) {
        assert.equal(parseResponse(given.subarray(0, length)), undefined);
      }
    });
  }

  it("says whether its connection can be used again", () => {
    const closing = bytes(
      "HTTP/1.1 202 Accepted",
      "Connection: close",
      "Content-Length: 0",
      "",
      "",
    );
    assert.equal(parseResponse(sized).isReusable, true);
    assert.equal(parseResponse(closing).isReusable, false);
  });

  it("of unknown length is an error, not a wait for ever", () => {
    assert.throws(() => parseResponse(bytes("HTTP/1.1 200 OK", "", "")), /unknown length/);
  });
});

describe("the client", () => {
  it("reuses its sockets, and opens one more only where all are busy", async () => {
    let sockets = 0;
    const server = createServer((request, response) => {
      request.resume().on("end", () => response.end(request.headers["x-number"]));
    });
    server.on("connection", () => {
      sockets += 1;
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = httpClient({ port: server.address().port, path: "/" });
    try {
      const ask = (number) => client.request("POST", { "X-Number": number }, "{}");
      for (let i = 0; i < 5; i += 1) assert.equal((await ask(i)).body, String(i));
      assert.equal(sockets, 1);
      const bodies = (await Promise.all([1, 2, 3].map(ask))).map(({ body }) => body);
      assert.deepEqual(bodies, ["1", "2", "3"]);
      assert.equal(sockets, 3);
    } finally {
      client.close();
      server.close();
    }
  });
});

describe("a connection", () => {
  it("that the server closes while it is idle is an error for none but the next request", async () => {
    const server = createServer((request, response) => {
      request.resume().on("end", () => response.end("here"));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = httpClient({ port: server.address().port, path: "/" });
    try {
      const ask = () => client.request("POST", {}, "{}");
      assert.equal((await ask()).body, "here");
      server.closeAllConnections();
      await delay(50);
      await assert.rejects(ask(), /closed between two requests/);
      assert.equal((await ask()).body, "here");
    } finally {
      client.close();
      server.close();
    }
  });
});

describe("an MCP answer", () => {
  const message = '{"jsonrpc":"2.0","id":7,"result":{"a":1}}';
  const json = { status: 200, headers: { "content-type": "application/json" }, body: message };
  const events = {
    status: 200,
    headers: { "content-type": "text/event-stream" },
    body: `event: message\ndata: {"method":"x"}\n\ndata: ${message}\n\n`,
  };
  it("is found in JSON and among events", () => {
    assert.deepEqual(resultIn(json, 7), { a: 1 });
    assert.deepEqual(resultIn(events, 7), { a: 1 });
  });

  it("of another request, or an error, is none", () => {
    assert.throws(() => resultIn(json, 8), /HTTP 200/);
    const body = '{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}';
    assert.throws(() => resultIn({ ...json, body }, 7), /no/);
  });
});
