import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resultIn } from "../lib/mcp-over-http.mjs";

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
