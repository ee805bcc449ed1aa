import { describe, expect, it } from "vitest";
import { excerpt } from "../../../../src/util/text.ts";
import type { ErrorCode, PlugboardError } from "../../../../src/core/types/errors.ts";
import {
  type ConfiguredAuth,
  readRefusal,
  type Refusal,
  type RefusedAnswer,
} from "../../../../src/core/upstream/transport/http-refusal.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

function read(answer: Partial<RefusedAnswer>): Refusal {
  return readRefusal({
    status: 400,
    headers: {},
    body: "",
    method: "tools/call",
    inSession: false,
    sent: {},
    now,
    quote: (received, max) => excerpt(received, (text) => text, max),
    ...answer,
  });
}

function errorOf(refusal: Refusal): PlugboardError | undefined {
  return "error" in refusal ? refusal.error : undefined;
}

function rpc(message: unknown, code: unknown = -32000): string {
  return JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } });
}

describe("a lost session", () => {
  it.each<[string, Partial<RefusedAnswer>]>([
    ["404", { status: 404 }],
    ["404, whatever it says", { status: 404, body: rpc("no such page") }],
    [
      "404 with the id of the call that speaks of the session",
      { status: 404, body: JSON.stringify({ id: 7, error: { code: 1, message: "Session gone" } }) },
    ],
    ["400 that speaks of the session", { body: rpc("Bad Request: No valid session ID provided") }],
    [
      "400 with the id of the call that speaks of the session's id",
      {
        body: JSON.stringify({
          id: 7,
          error: { code: -32000, message: "Bad Request: No valid session ID provided" },
        }),
      },
    ],
    ["400 that does so without JSON", { body: "Unknown Session" }],
  ])("is %s, in a session", (_, answer) => {
    expect(read({ ...answer, inSession: true })).toMatchObject({ kind: "session-lost" });
  });

  it.each<[string, Partial<RefusedAnswer>, ErrorCode]>([
    ["404 without a session", { status: 404 }, "HTTP_STATUS"],
    ["400 without a session", { body: rpc("session required") }, "SERVER_ERROR"],
    ["400 about something else", { inSession: true, body: rpc("bad cursor") }, "SERVER_ERROR"],
    [
      "400 whose message is about something else, though its data is not",
      {
        inSession: true,
        body: JSON.stringify({ error: { code: 1, message: "bad cursor", data: "session" } }),
      },
      "SERVER_ERROR",
    ],
    [
      "400 with the id of the call, whose tool speaks of a session of its own",
      {
        inSession: true,
        body: JSON.stringify({ id: 1_000_000_001, error: { code: 1, message: "session busy" } }),
      },
      "SERVER_ERROR",
    ],
    [
      "404 with the id of the call, whose tool has not found something",
      {
        status: 404,
        inSession: true,
        body: JSON.stringify({ id: 1_000_000_001, error: { code: 1, message: "no such file" } }),
      },
      "SERVER_ERROR",
    ],
    ["400 that says nothing", { inSession: true }, "HTTP_STATUS"],
    ["500 that speaks of it", { status: 500, inSession: true, body: "session" }, "HTTP_STATUS"],
  ])("is not %s", (_, answer, code) => {
    expect(read(answer)).toMatchObject({ kind: "error", error: { code } });
  });
});

describe("whether the request can have run", () => {
  it.each<[string, Partial<RefusedAnswer>, boolean]>([
    ["a lost session", { status: 404, inSession: true }, true],
    ["429", { status: 429 }, true],
    ["400", { status: 400 }, true],
    ["413", { status: 413 }, true],
    ["408, which a proxy says while the server works", { status: 408 }, false],
    ["500", { status: 500 }, false],
    ["503", { status: 503 }, false],
    ["504", { status: 504, body: rpc("late") }, false],
  ])("%s", (_, answer, hasNotRun) => {
    expect(errorOf(read(answer))?.hasNotRun).toBe(hasNotRun);
  });
});

describe("401 and 403", () => {
  it.each([
    [401, "", ""],
    [403, "", ""],
    [401, rpc("who are you?"), ": who are you?"],
  ])("%i needs auth, says what to do and is not tried again", (status, body, said) => {
    expect(read({ status, body, inSession: true })).toMatchObject({
      kind: "error",
      error: {
        code: "NEEDS_AUTH",
        status,
        permanent: true,
        message: `the server requires authentication (HTTP ${status})${said}`,
        hint: expect.stringContaining("Authorization"),
      },
    });
  });

  it.each<[string, string, Record<string, string>, string]>([
    ["a JSON-RPC error", rpc("token revoked"), {}, ": token revoked"],
    ["a message", '{"message":"Bad credentials","status":"401"}', {}, ": Bad credentials"],
    [
      "OAuth's words",
      '{"error":"x","error_description":"not in your plan"}',
      {},
      ": not in your plan",
    ],
    ["an error alone", '{"error":"invalid key"}', {}, ": invalid key"],
    ["a problem's detail", '{"title":"No","detail":"expired"}', {}, ": expired"],
    [
      "plain text",
      "Invalid API key\nkeys begin with ak_\n",
      {},
      ": Invalid API key keys begin with ak_",
    ],
    [
      "the challenge",
      "",
      { "www-authenticate": 'Bearer error="invalid_token", error_description="expired yesterday"' },
      ": expired yesterday",
    ],
    ["a page", "<!doctype html><title>401</title>", {}, ""],
    ["numbers", '{"message":401}', {}, ""],
    ["an escape", "\u001b[31mno\u001b[0m", {}, ": no"],
    ["a long text", "x".repeat(5000), {}, `: ${"x".repeat(199)}…`],
  ])("repeats what the server says about a wrong token: %s", (_, body, headers, said) => {
    const sent = { Authorization: "Bearer wrong" };
    expect(errorOf(read({ status: 401, body, headers, sent }))).toMatchObject({
      code: "NEEDS_AUTH",
      message: `the server refuses the configured credentials (HTTP 401)${said}`,
      hint: expect.stringContaining('check the value in "headers" (Authorization): it may be'),
    });
  });

  it.each<[Record<string, string>, string | undefined, string]>([
    [{ Authorization: "Bearer x" }, "Authorization", 'check the value in "auth": it may be wrong'],
    [{ "X-Odd": "x" }, "X-Odd", 'check the value in "auth": it may be wrong'],
    [{ "X-API-Key": "x", Accept: "y" }, undefined, 'the value in "headers" (X-API-Key): it may be'],
    [{ Cookie: "x", Authorization: "y" }, "Authorization", 'in "headers" (Cookie) and "auth": it'],
    [{ Accept: "y" }, undefined, "give it a token in headers"],
  ])("names the place of the refused credentials: %j with auth %s", (sent, header, hint) => {
    const auth: ConfiguredAuth | undefined =
      header === undefined ? undefined : { header, key: "auth" };
    expect(errorOf(read({ status: 401, sent, auth }))?.hint).toContain(hint);
  });

  it("names the place of a worker's token", () => {
    const sent = { Authorization: "Bearer x" };
    const auth = { header: "Authorization", key: "worker.token" } as const;
    const error = errorOf(read({ status: 401, sent, auth }));
    expect(error?.hint).toContain('check the value in "worker.token": it may be wrong');
  });
});

describe("what the server says", () => {
  it("is taken from a JSON-RPC error in the body", () => {
    const error = errorOf(read({ body: rpc("Unknown tool", -32602) }));
    expect(error).toMatchObject({
      code: "SERVER_ERROR",
      message: "Unknown tool (-32602)",
      status: 400,
      permanent: false,
      cause: { method: "tools/call", error: { code: -32602, message: "Unknown tool" } },
    });
  });

  it.each([
    ["no code", rpc("broken", "E1"), "broken"],
    ["no message", rpc(undefined, -32603), "no message (-32603)"],
    ["a message that is no text", rpc({ a: 1 }, -32603), "no message (-32603)"],
    ["escapes and lines", rpc("\u001b[31mred\u001b[0m\nline", 1), "red line (1)"],
  ])("with %s is still plain text", (_, body, message) => {
    expect(errorOf(read({ body }))).toMatchObject({ code: "SERVER_ERROR", message });
  });

  it("is cut when it is long", () => {
    expect(errorOf(read({ body: rpc("x".repeat(50_000)) }))?.message.length).toBeLessThan(2100);
  });

  it.each<[string, Partial<RefusedAnswer>, message: string]>([
    ["nothing", { status: 405 }, "the server answered tools/call with HTTP 405"],
    [
      "a page",
      { headers: { "content-type": "text/html; charset=utf-8" }, body: "<html>", status: 404 },
      "the server answered tools/call with HTTP 404 and text/html",
    ],
    ["an array", { body: "[1]" }, "the server answered tools/call with HTTP 400"],
    ["another object", { body: '{"error":"no"}' }, "the server answered tools/call with HTTP 400"],
    ["null", { body: "null" }, "the server answered tools/call with HTTP 400"],
    [
      "an error of an outage",
      { status: 503, body: rpc("down") },
      "the server answered tools/call with HTTP 503",
    ],
    [
      "a redirect that leads nowhere",
      { status: 304, method: "ping" },
      "the server answered ping with HTTP 304",
    ],
  ])("is ignored as %s: the status counts", (_, answer, message) => {
    expect(errorOf(read(answer))).toMatchObject({
      code: "HTTP_STATUS",
      status: answer.status ?? 400,
      permanent: false,
      message,
    });
  });

  it.each([
    [404, "initialize", ""],
    [405, "GET", ""],
    [404, "server/discover", rpc("no such page")],
  ])("is the wrong path, where a first request is refused: %i to %s", (status, method, body) => {
    const hint = 'check the path in "url": most servers answer at /mcp, older ones at /sse';
    expect(errorOf(read({ status, method, body }))).toMatchObject({ status, hint });
  });

  it.each([
    [404, "tools/call"],
    [400, "initialize"],
  ])("is not about the path: %i to %s", (status, method) => {
    expect(errorOf(read({ status, method }))?.hint).toBeUndefined();
  });

  it("is safe to show, its content type too", () => {
    const type = `text/\u001b[31m${"x".repeat(1000)}`;
    const message = errorOf(read({ headers: { "content-type": type } }))?.message ?? "";
    expect(message).not.toContain("\u001b");
    expect(message.length).toBeLessThan(150);
  });
});

describe("429", () => {
  it.each<[string, string | undefined, afterMs: number]>([
    ["as many seconds as told", "7", 7000],
    ["parts of a second", "0.5", 500],
    ["a moment even when told not to", "0", 250],
    ["until a date", "Thu, 01 Jan 2026 00:00:05 GMT", 5000],
    ["a moment for a date that has passed", "Wed, 31 Dec 2025 00:00:00 GMT", 250],
    ["a second when not told", undefined, 1000],
    ["a second for what cannot be read", "soon", 1000],
    ["a day if it must be", "86400", 86_400_000],
  ])("waits %s", (_, value, afterMs) => {
    const headers: Record<string, string> = {};
    if (value !== undefined) headers["retry-after"] = value;
    expect(read({ status: 429, headers, inSession: true })).toMatchObject({
      kind: "later",
      afterMs,
      error: { code: "HTTP_STATUS", status: 429 },
    });
  });

  it("keeps the server's message", () => {
    const refusal = read({ status: 429, body: rpc("slow down", -32000) });
    expect(errorOf(refusal)).toMatchObject({
      code: "SERVER_ERROR",
      message: "slow down (-32000) (HTTP 429); the call has not run",
    });
  });

  it.each<[string, string | undefined, hint: string]>([
    ["tools/call", "120", "the server asks for a wait of 2 min: try again then"],
    ["tools/call", undefined, "the server takes no more requests for now: try again later"],
    ["initialize", "120", "the server asks for a wait of 2 min: try again then"],
  ])("says what to do, and whether a call has run (%s, %s)", (method, value, hint) => {
    const headers: Record<string, string> = value === undefined ? {} : { "retry-after": value };
    const effect = method === "tools/call" ? "; the call has not run" : "";
    expect(errorOf(read({ status: 429, headers, method }))).toMatchObject({
      status: 429,
      message: `the server answered ${method} with HTTP 429${effect}`,
      hint,
    });
  });
});
