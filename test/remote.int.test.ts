// Servers behind a URL, over real sockets: every transport and era, and what a server can do wrong.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { openBoard } from "../src/core/board/board.ts";
import { parseAgentConfig } from "../src/core/config/parse.ts";
import type { Board } from "../src/core/types/board.ts";
import type { ServerConfig } from "../src/core/types/server-config.ts";
import { systemClock } from "../src/util/clock.ts";
import { closeAll, owned, serve, until } from "./fixtures/http/client.ts";
import type { McpHttp, McpHttpOptions } from "./fixtures/http/mcp.ts";
import { startSse } from "./fixtures/http/sse.ts";
import { closeBoards, open, reaches, statusOf, textOf } from "./support/boards.ts";
import { MovableClock } from "./support/movable-clock.ts";
import { temporaryDirectory } from "./support/directory.ts";

afterEach(closeAll);
// Last, so that it is done first.
closeBoards();

async function connect(options: McpHttpOptions = {}, config: ServerConfig = {}) {
  const server = await serve(options);
  const board = await open({ remote: { url: server.url, ...config } });
  return { server, board };
}

function methods(requests: readonly { body?: unknown }[]): unknown[] {
  return requests.map(({ body }) => (body as { method?: string } | undefined)?.method);
}

describe("every way to speak", () => {
  it.each<[string, McpHttpOptions, string]>([
    ["legacy, JSON answers", {}, "2025-11-25"],
    ["legacy, streamed answers", { answer: "sse" }, "2025-11-25"],
    ["legacy, JSON answers of type APPLICATION/JSON", { loudTypes: true }, "2025-11-25"],
    ["legacy, streams of type TEXT/EVENT-STREAM", { answer: "sse", loudTypes: true }, "2025-11-25"],
    ["legacy, without sessions", { sessions: false }, "2025-11-25"],
    ["legacy, without a GET stream", { get: false }, "2025-11-25"],
    ["legacy, strict about its session", { strictSession: true }, "2025-11-25"],
    ["2026-07-28, JSON answers", { era: "modern" }, "2026-07-28"],
    ["2026-07-28, streamed answers", { era: "modern", answer: "sse" }, "2026-07-28"],
    ["both: the stateless one is taken", { era: "both" }, "2026-07-28"],
  ])("%s", async (_, options, version) => {
    const { server, board } = await connect(options);
    expect(statusOf(board, "remote")).toMatchObject({
      state: { kind: "ready", protocolVersion: version },
      transport: "http",
    });
    expect(textOf(await board.call("remote/echo", { text: "grüße" }))).toBe("grüße");
    expect((await board.call("remote/fail")).isError).toBe(true);
    const updates: unknown[] = [];
    await board.call(
      "remote/progress",
      { steps: 3, ms: 10 },
      { onUpdate: (each) => updates.push(each) },
    );
    expect(updates.length === 3 || options.answer !== "sse").toBe(true);
    await board.close();
    expect(server.violations).toEqual([]);
    expect(server.sessions.size).toBe(0);
  });

  it("goes through the proxy of the configuration", async () => {
    const seen: string[] = [];
    const proxy = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.writeHead(502).end();
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void proxy.close());
    const { port } = proxy.address() as AddressInfo;
    const agent = parseAgentConfig({
      servers: { far: { url: "http://far.example/mcp", transport: "http", allowInsecure: true } },
    });
    const board = await openBoard({ ...agent, networkProxy: `http://127.0.0.1:${port}` });
    await board.close();
    expect(seen[0]).toBe("POST http://far.example/mcp");
  });

  it("the transport of 2024-11-05, found by itself and remembered", async () => {
    const server = owned(await startSse({}));
    const board = await open({ old: { url: server.url } });
    expect(textOf(await board.call("old/echo", { text: "hi" }))).toBe("hi");
    await board.restart("old");
    expect(textOf(await board.call("old/echo", { text: "again" }))).toBe("again");
    const posts = server.requests.filter(
      ({ method, path }) => method === "POST" && path.startsWith("/sse"),
    );
    expect(posts.length).toBeLessThanOrEqual(2);
  });

  it.each(["endpoint", "message"] as const)(
    "its address may be in an object, in an event called %s",
    async (wrapped) => {
      const server = owned(await startSse({ wrapped }));
      const board = await open({ old: { url: server.url, transport: "sse" } });
      expect(textOf(await board.call("old/echo", { text: "hi" }))).toBe("hi");
    },
  );

  it.each([undefined, "endpoint", "message"] as const)(
    "its address on another origin is refused, in an object too: %s",
    async (wrapped) => {
      const server = owned(await startSse({ endpoint: "foreign", wrapped }));
      const board = await open({ old: { url: server.url, transport: "sse" } });
      expect(statusOf(board, "old").lastError).toContain("another origin");
      expect(server.foreign).toEqual([]);
    },
  );

  it.each(["legacy", "modern"] as const)("list changes are heard (%s)", async (era) => {
    const { board } = await connect({ era });
    const changed = new Promise((resolve) => void board.on("tools", resolve));
    await board.call("remote/swap");
    await changed;
    expect(board.tools().map(({ name }) => name)).toContain("mcp__remote__extra");
  });

  it.each(["legacy", "modern"] as const)("a call is cancelled there too (%s)", async (era) => {
    const { server, board } = await connect({ era, answer: "sse" });
    const abort = new AbortController();
    const call = board.call("remote/sleep", { ms: 30_000, key: "nap" }, { signal: abort.signal });
    await until(() => server.calls.size > 0);
    abort.abort();
    expect((await call).failure?.code).toBe("CANCELLED");
    await until(() => server.cancelled.length > 0);
  });

  it("configured headers and tokens go along", async () => {
    const server = await serve({ auth: { token: "t0ken" } });
    const board = await open(
      {
        remote: {
          url: server.url,
          auth: { type: "bearer", token: "${TOKEN}" },
          headers: { "X-Team": "red" },
        },
      },
      { env: { TOKEN: "t0ken" } },
    );
    expect(textOf(await board.call("remote/echo", { text: "in" }))).toBe("in");
    expect(server.requests.every(({ headers }) => headers["x-team"] === "red")).toBe(true);
  });
});

/** A directory for the state of a board, gone after the test. */
async function stateDirectory(): Promise<string> {
  const stateDir = temporaryDirectory();
  return stateDir;
}

const JSON_TYPE = { "content-type": "application/json" };
const NO_ID =
  '{"jsonrpc":"2.0","error":{"code":-32603,"message":"Error in httpTransport: "},"id":null}';

describe("an unusable answer to server/discover", () => {
  function discovered(code: number, body?: string, headers?: Record<string, string>) {
    return { status: [{ method: "server/discover", code, times: 1000, body, headers }] };
  }

  const remembered = "initialize";
  const askedAgain = "server/discover";

  it.each<[string, McpHttpOptions, first: string, ServerConfig?]>([
    ["HTTP 500 and an error without an id", discovered(500, NO_ID, JSON_TYPE), askedAgain],
    ["HTTP 503", discovered(503), askedAgain],
    ["HTTP 422", discovered(422), remembered],
    ["an error without an id", discovered(200, NO_ID, JSON_TYPE), remembered],
    ["JSON that is no message", discovered(200, '{"nonsense":true}', JSON_TYPE), remembered],
    ["JSON that is broken", discovered(200, "{", JSON_TYPE), remembered],
    ["a web page", discovered(200, "<p>hi", { "content-type": "text/html" }), remembered],
    ["nothing", discovered(202), remembered],
    [
      "nothing but an invalid session id",
      { ...discovered(202, "", { "mcp-session-id": "none" }), lostSession: 400 },
      remembered,
    ],
    ["a broken connection", { reset: ["server/discover"] }, remembered],
    ["silence", { never: ["server/discover"] }, remembered, { timeout: 3000 }],
  ])("leads to initialize in the same attempt: %s", async (_, options, first, config = {}) => {
    const stateDir = await stateDirectory();
    const server = await serve(options);
    const servers = { remote: { url: server.url, ...config } };
    const board = await open(servers, { stateDir });
    expect(statusOf(board, "remote")).toMatchObject({
      state: { kind: "ready", protocolVersion: "2025-11-25" },
      restarts: 0,
    });
    const asked = methods(server.requests);
    expect(asked.slice(0, 2)).toEqual(["server/discover", "initialize"]);
    await board.close();
    const before = server.requests.length;
    const again = await open(servers, { stateDir });
    expect(textOf(await again.call("remote/echo", { text: "hi" }))).toBe("hi");
    expect(methods(server.requests.slice(before))[0]).toBe(first);
  });

  it("is remembered for whatever is advertised, though the list of tools is not", async () => {
    const stateDir = await stateDirectory();
    const server = await serve({});
    const servers = { remote: { url: server.url } };
    await (await open(servers, { stateDir })).close();
    const before = server.requests.length;
    const onElicitation = () => Promise.resolve({ action: "cancel" } as const);
    const board = await open(servers, { stateDir, onElicitation, start: "none" });
    expect(statusOf(board, "remote")).toMatchObject({ cached: false, tools: 0 });
    await board.refresh();
    expect(methods(server.requests.slice(before))[0]).toBe("initialize");
  });

  it("is a refusal of the whole conversation with 429: nothing else is asked", async () => {
    const headers = { "retry-after": "0" };
    const status = [{ method: "server/discover", code: 429, times: 1000, headers }];
    const { server, board } = await connect({ status });
    expect(statusOf(board, "remote").lastError).toContain("HTTP 429");
    expect(methods(server.requests)).not.toContain("initialize");
  });
});

describe("the transport", () => {
  it("of an earlier run is asked first", async () => {
    const stateDir = await stateDirectory();
    const old = owned(await startSse({}));
    const servers = { moved: { url: old.url } };
    await (await open(servers, { stateDir })).close();
    const before = old.requests.length;
    const again = await open(servers, { stateDir });
    expect(textOf(await again.call("moved/echo", { text: "hi" }))).toBe("hi");
    await again.close();
    const asked = old.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
    expect(asked[0]).toBe("GET /sse");
  });

  it("that was remembered wrongly is dropped, in the same attempt", async () => {
    const stateDir = await stateDirectory();
    const server = await serve({ get: false });
    const servers = { moved: { url: server.url } };
    await (await open(servers, { stateDir })).close();
    const [name = ""] = await readdir(join(stateDir, "catalog"));
    const file = join(stateDir, "catalog", name);
    const entry = JSON.parse(await readFile(file, "utf8")) as { identity: object };
    expect(entry.identity).toMatchObject({ transport: "http" });
    const wrong = { ...entry, identity: { ...entry.identity, transport: "sse" } };
    await writeFile(file, JSON.stringify(wrong));
    const board = await open(servers, { stateDir });
    expect(textOf(await board.call("moved/echo", { text: "new" }))).toBe("new");
    expect(statusOf(board, "moved")).toMatchObject({ restarts: 0, diagnostics: [] });
  });

  const streamable = async (options: McpHttpOptions = {}) => serve(options);
  const page = { "content-type": "text/html" };

  it.each<[string, "http" | "sse", () => Promise<McpHttp>, remark: string]>([
    [
      "sse, on Streamable HTTP alone",
      "sse",
      () => streamable({ get: false }),
      'answers over Streamable HTTP, not over SSE: set "transport" to "http"',
    ],
    [
      "sse, on Streamable HTTP of 2026-07-28",
      "sse",
      () => streamable({ era: "modern" }),
      'answers over Streamable HTTP, not over SSE: set "transport" to "http"',
    ],
    [
      "sse, where GET gives a web page",
      "sse",
      () => streamable({ status: [{ method: "GET", code: 200, times: 1, headers: page }] }),
      'answers over Streamable HTTP, not over SSE: set "transport" to "http"',
    ],
    [
      "http, on SSE alone",
      "http",
      async () => owned(await startSse({})),
      'answers over SSE, not over Streamable HTTP: set "transport" to "sse"',
    ],
  ])("that is configured wrongly is named, and the other is used: %s", async (_, ...given) => {
    const [transport, start, message] = given;
    const stateDir = await stateDirectory();
    const server = await start();
    const servers = { remote: { url: server.url, transport } };
    const board = await open(servers, { stateDir });
    expect(textOf(await board.call("remote/echo", { text: "hi" }))).toBe("hi");
    expect(statusOf(board, "remote")).toMatchObject({
      restarts: 0,
      diagnostics: [{ server: "remote", message, kind: "transport" }],
    });
    await board.close();
    const before = server.requests.length;
    const again = await open(servers, { stateDir });
    expect(textOf(await again.call("remote/echo", { text: "again" }))).toBe("again");
    const asked = server.requests.slice(before).map(({ method }) => method);
    expect(asked[0]).toBe(transport === "sse" ? "POST" : "GET");
    expect(statusOf(again, "remote").diagnostics).toEqual([
      { server: "remote", message, kind: "transport" },
    ]);
  });

  it("is named as editors name it, for a server that a session brings", async () => {
    const { url } = await streamable({ get: false });
    const board = await open({});
    const session = await board.openSession({
      cwd: await stateDirectory(),
      servers: { remote: { url, transport: "sse" } },
    });
    expect(textOf(await session.call("remote/echo", { text: "hi" }))).toBe("hi");
    expect(session.status()[0]?.diagnostics).toMatchObject([
      { message: 'answers over Streamable HTTP, not over SSE: set "type" to "http"' },
    ]);
  });

  it("sse, on a stream that names no address: the other is used after some seconds", async () => {
    const clock = {
      ...systemClock,
      later: (ms: number, task: () => void) => systemClock.later(ms === 5000 ? 50 : ms, task),
    };
    // Without sessions, anybody may open the stream of Streamable HTTP.
    const server = await serve({ sessions: false });
    const board = await open({ remote: { url: server.url, transport: "sse" } }, { clock });
    expect(textOf(await board.call("remote/echo", { text: "hi" }))).toBe("hi");
    expect(statusOf(board, "remote").diagnostics).toMatchObject([
      { message: expect.stringContaining("answers over Streamable HTTP") },
    ]);
  });

  it("of which neither answers report the first refusal, with a hint about the path", async () => {
    const server = await serve({});
    const url = server.url.replace("/mcp", "/elsewhere");
    for (const transport of [undefined, "http", "sse"] as const) {
      const board = await open({ remote: { url, ...(transport && { transport }) } });
      const asked = transport === "sse" ? "GET" : "initialize";
      expect(statusOf(board, "remote").state).toMatchObject({
        kind: "backoff",
        error: {
          message: `the server answered ${asked} with HTTP 404`,
          hint: 'check the path in "url": most servers answer at /mcp, older ones at /sse',
        },
      });
      await board.close();
    }
  });

  it("that needs a sign-in is told, though the configured one is refused before", async () => {
    const status = [{ method: "GET", code: 405, times: 1000 }];
    const { board } = await connect({ status, auth: { token: "t" } }, { transport: "sse" });
    expect(statusOf(board, "remote").state.kind).toBe("needs-auth");
  });
});

describe("recovery", () => {
  it.each([404, 400] as const)(
    "a lost session (%i) is opened again once, for all calls",
    async (lostSession) => {
      const { server, board } = await connect({ lostSession });
      await board.call("remote/echo", { text: "before" });
      server.forgetSessions();
      const before = methods(server.requests).filter((method) => method === "initialize").length;
      const calls = Array.from({ length: 10 }, (_, index) =>
        board.call("remote/count", { key: `k${index}` }),
      );
      const outcomes = await Promise.all(calls);
      expect(outcomes.every(({ isError }) => !isError)).toBe(true);
      expect([...server.calls.values()].every((times) => times === 1)).toBe(true);
      const after = methods(server.requests).filter((method) => method === "initialize").length;
      expect(after - before).toBe(1);
    },
  );

  it.each<McpHttpOptions>([
    { answer: "json" },
    { answer: "sse" },
    { era: "modern", answer: "json" },
    { era: "modern", answer: "sse" },
  ])("an answer that is cut fails at once, and the call has run once (%o)", async (options) => {
    const { server, board } = await connect(options);
    const outcome = await board.call("remote/drop", { key: "once" });
    expect(outcome.failure?.code).toBe("CONNECTION_CLOSED");
    expect(textOf(outcome)).toContain("may have taken effect");
    expect(server.calls.get("once")).toBe(1);
    expect(textOf(await board.call("remote/echo", { text: "still here" }))).toBe("still here");
  });

  it("an answer that is cut is resumed where the server gives event ids", async () => {
    const { server, board } = await connect({ answer: "sse", eventIds: true });
    const outcome = await board.call("remote/drop", { key: "resumed" });
    expect(outcome.isError).toBeUndefined();
    expect(server.calls.get("resumed")).toBe(1);
  });

  it("429 waits as told and repeats", async () => {
    const { server, board } = await connect({
      status: [{ tool: "count", code: 429, times: 2, headers: { "retry-after": "0" } }],
    });
    expect((await board.call("remote/count", { key: "later" })).isError).toBeUndefined();
    expect(server.calls.get("later")).toBe(1);
  });

  it("429 that asks for more than the time left fails at once, and says that the call has not run", async () => {
    const { server, board } = await connect({
      status: [
        {
          tool: "count",
          code: 429,
          times: 1,
          headers: { "retry-after": "600" },
          body: "slow down",
        },
      ],
    });
    const outcome = await board.call("remote/count", { key: "not now" });
    expect(outcome.failure).toMatchObject({
      code: "HTTP_STATUS",
      message:
        "server 'remote': the server answered tools/call with HTTP 429: slow down; the call has not run (the server asks for a wait of 10 min: try again then)",
    });
    expect(server.calls.get("not now")).toBeUndefined();
    expect((await board.call("remote/count", { key: "now" })).isError).toBeUndefined();
  });

  it("calls beyond maxMessageBytes wait until others are answered, unserialised", async () => {
    const server = await serve();
    const clock = new MovableClock();
    const config = { url: server.url, maxMessageBytes: 100_000, toolTimeout: 60_000 };
    const board = await open({ remote: config }, { clock });
    const text = "x".repeat(40_000);
    const calls = Array.from({ length: 50 }, () => board.call("remote/echo", { text }));
    const outcomes = await Promise.all(calls);
    expect(outcomes.filter(({ isError }) => isError)).toEqual([]);
    expect(server.calls.get(text)).toBe(50);
    // Three of them fill the room and never end; the others say so.
    const slow = Array.from({ length: 5 }, () =>
      board.call("remote/sleep", { ms: 600_000, key: "slow", text }),
    );
    await until(() => server.calls.get("slow") === 3);
    clock.forward(60_000);
    const failures = (await Promise.all(slow)).map(({ failure }) => failure?.message);
    expect(failures.filter((each) => each?.includes("may have taken effect"))).toHaveLength(3);
    const unsent =
      "server 'remote': the server has not answered earlier requests: tools/call could not be sent within 60 s, and has not run";
    expect(failures.filter((each) => each === unsent)).toHaveLength(2);
    expect(textOf(await board.call("remote/echo", { text: "again" }))).toBe("again");
  });

  it("429 without an end is an error, not a hammer", async () => {
    const { server, board } = await connect({
      status: [{ tool: "count", code: 429, times: 1000, headers: { "retry-after": "0" } }],
    });
    const before = server.requests.length;
    const outcome = await board.call("remote/count", { key: "never" });
    expect(textOf(outcome)).toContain("HTTP 429");
    expect(server.requests.length - before).toBeLessThanOrEqual(6);
  });

  it("a 400 that only speaks of sessions is the server's own error", async () => {
    const message = "unknown argument sessionName";
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32602, message } });
    const headers = { "content-type": "application/json" };
    const { board } = await connect({
      status: [{ tool: "count", code: 400, times: 1000, headers, body }],
    });
    expect(textOf(await board.call("remote/count", { key: "x" }))).toContain(message);
  });

  it("5xx: a list is asked for again, a call is not", async () => {
    const { server, board } = await connect({
      status: [
        { method: "tools/list", code: 503, times: 1 },
        { tool: "count", code: 502, times: 1 },
      ],
    });
    expect(statusOf(board, "remote").state.kind).toBe("ready");
    const outcome = await board.call("remote/count", { key: "never" });
    expect(outcome.failure).toMatchObject({ code: "HTTP_STATUS" });
    expect(textOf(outcome)).toContain("HTTP 502");
    expect(server.calls.get("never")).toBeUndefined();
  });

  it("401 ends in needs-auth with the remedy, without a loop", async () => {
    const { server, board } = await connect({ auth: { token: "t0ken" } });
    expect(statusOf(board, "remote").state).toMatchObject({ kind: "needs-auth" });
    const asked = server.requests.length;
    const outcome = await board.call("remote/echo", { text: "x" });
    expect(outcome.failure?.code).toBe("NEEDS_AUTH");
    expect(textOf(outcome)).toMatch(/give it a token in headers.*plugboard login remote/);
    // One look whether somebody has signed in meanwhile, and the metadata it might have published.
    expect(server.requests.slice(asked).filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  it.each<[string, McpHttpOptions, string]>([
    ["HTML instead of JSON", { html: true }, "text/html"],
    ["nothing but 500", { status: [{ code: 500, times: 1000 }] }, "HTTP 500"],
  ])("%s: the reason is named, and it is tried again", async (_, options, reason) => {
    const { board } = await connect(options);
    const { state, lastError } = statusOf(board, "remote");
    expect(state.kind).toBe("backoff");
    expect(lastError).toContain(reason);
  });

  it("a call that is never answered ends by its timeout alone", async () => {
    const { board } = await connect({ never: ["tools/call"] }, { toolTimeout: 300 });
    expect((await board.call("remote/echo", { text: "x" })).failure?.code).toBe("TIMEOUT");
    expect(statusOf(board, "remote").state.kind).toBe("ready");
  });

  it("an answer above maxMessageBytes fails that call", async () => {
    const { board } = await connect({}, { maxMessageBytes: 100_000 });
    expect((await board.call("remote/big", { bytes: 200_000 })).failure?.code).toBe(
      "MESSAGE_TOO_LARGE",
    );
    expect(textOf(await board.call("remote/echo", { text: "on" }))).toBe("on");
  });

  it.each(["json", "sse", "sse for all"] as const)(
    "an answer of a million values fails that call: %s",
    async (kind) => {
      const server =
        kind === "sse for all" ? owned(await startSse({})) : await serve({ answer: kind });
      const board = await open({ remote: { url: server.url } });
      const { failure } = await board.call("remote/big", { bytes: 1, zeros: 1_000_000 });
      expect(failure).toMatchObject({
        code: "MESSAGE_TOO_LARGE",
        message: expect.stringContaining("a message of more than 262144 values"),
      });
      const some = await board.call("remote/big", { bytes: 1, zeros: 200_000 });
      expect(some.failure).toBeUndefined();
    },
  );

  it("nobody there: backoff, without an end", async () => {
    const server = await serve();
    const { url } = server;
    await server.close();
    const board = await open({ remote: { url } });
    const { state } = statusOf(board, "remote");
    expect(state).toMatchObject({ kind: "backoff", error: { code: "NETWORK" } });
    expect(state).not.toHaveProperty("of");
    await server.restart();
    await reaches(board, "remote", "ready");
  });

  it.each(["legacy", "modern"] as const)(
    "a server that dies is noticed without a call (%s)",
    async (era) => {
      const { server, board } = await connect({ era });
      await server.close();
      await reaches(board, "remote", "backoff");
      await server.restart();
      await reaches(board, "remote", "ready");
      expect(textOf(await board.call("remote/echo", { text: "back" }))).toBe("back");
    },
  );
});

it("20 restarts of the remote under 50 calls in flight: every call ends, none runs twice", async () => {
  const server = await serve({});
  // A clock that hurries: the pauses between attempts are not what is tested.
  const clock = {
    ...systemClock,
    later: (ms: number, task: () => void) => systemClock.later(Math.min(ms, 20), task),
    after: (ms: number, task: () => void) =>
      systemClock.after(ms > 60_000 ? ms : Math.min(ms, 2000), task),
  };
  const board: Board = await openBoard(
    { servers: { remote: { url: server.url, timeout: 5000 } } },
    { clock },
  );
  const lane = { calling: true };
  let made = 0;
  const lanes = Array.from({ length: 50 }, async (_, index) => {
    for (let count = 0; lane.calling; count += 1) {
      const outcome = await board.call("remote/count", { key: `${index}-${count}` });
      made += 1;
      if (outcome.isError) {
        expect(outcome.failure?.message).toMatch(/^server 'remote'/);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  });
  try {
    for (let restart = 0; restart < 20; restart += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      await server.restart();
      await reaches(board, "remote", "ready");
      await until(() => statusOf(board, "remote").state.kind === "ready");
    }
  } finally {
    lane.calling = false;
    await Promise.all(lanes);
    await board.close();
  }
  expect(made).toBeGreaterThan(500);
  expect([...server.calls].filter(([, times]) => times > 1)).toEqual([]);
  expect(statusOf(board, "remote").tools).toBeGreaterThan(0);
});
