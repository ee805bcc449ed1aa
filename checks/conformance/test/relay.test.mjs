import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { after, before, describe, it } from "node:test";
import { startRelay } from "../lib/relay.mjs";

describe("the relay", () => {
  let target;
  let relay;
  /** What arrived at the target, and the response it has not ended yet. */
  let seen;

  before(async () => {
    target = createServer((incoming, outgoing) => {
      seen = { headers: incoming.headers, url: incoming.url, body: "", outgoing };
      incoming.on("data", (chunk) => {
        seen.body += chunk;
      });
      incoming.on("end", () => {
        outgoing.writeHead(207, { "Mcp-Session-Id": "s" });
        outgoing.flushHeaders();
        if (incoming.headers.accept !== "text/event-stream") outgoing.end("the answer");
      });
    });
    target.listen(0, "127.0.0.1");
    await once(target, "listening");
    const { port } = target.address();
    relay = await startRelay({ target: `http://127.0.0.1:${port}/mcp`, token: "secret" });
  });
  after(async () => {
    await relay.close();
    target.close();
    target.closeAllConnections();
  });

  const send = async (headers, body) => {
    const sent = request(relay.url, { method: "POST", headers });
    sent.end(body);
    const [response] = await once(sent, "response");
    return { sent, response };
  };

  it("adds the token and changes nothing else", async () => {
    const headers = { Host: "evil.example", Origin: "http://evil.example", "X-One": "1" };
    const { response } = await send(headers, "the question");
    let body = "";
    for await (const chunk of response) body += chunk;
    assert.equal(seen.headers.authorization, "Bearer secret");
    assert.equal(seen.headers.host, "evil.example");
    assert.equal(seen.headers.origin, "http://evil.example");
    assert.equal(seen.headers["x-one"], "1");
    assert.equal(seen.url, "/mcp");
    assert.equal(seen.body, "the question");
    assert.equal(response.statusCode, 207);
    assert.equal(response.headers["mcp-session-id"], "s");
    assert.equal(body, "the answer");
  });

  it("opens a stream before anything is on it, and ends it when the client goes", async () => {
    const { sent, response } = await send({ Accept: "text/event-stream" }, "{}");
    assert.equal(response.statusCode, 207);
    const closed = once(seen.outgoing, "close");
    response.on("error", () => {});
    sent.destroy();
    await closed;
    assert.equal(seen.outgoing.writableFinished, false);
  });
});
