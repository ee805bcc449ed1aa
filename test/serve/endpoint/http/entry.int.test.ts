// Clients of both eras and both versions of the SDK at one endpoint, over real sockets.

import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { McpEntry } from "../../../../src/serve/endpoint/http/entry.ts";
import { systemClock } from "../../../../src/util/clock.ts";
import { deferred } from "../../../../src/util/deferred.ts";
import { Shares, type Shortage } from "../../../../src/util/shares.ts";
import { Turns } from "../../../../src/util/turns.ts";
import { closeBoards, fixture, open } from "../../../support/boards.ts";
import {
  closeServed,
  connectLegacy,
  connectModern,
  connectOld,
  INITIALIZE,
  legacy,
  modern,
  newKept,
  post,
  serve,
} from "../harness.ts";

closeBoards();
closeServed();

/** `post` for a body that is not made of a value: making it would take as long as parsing it. */
async function postText(url: URL, body: string): Promise<{ status: number; message: string }> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body });
  const { error } = (await response.json()) as { error: { message: string } };
  return { status: response.status, message: error.message };
}

describe("clients at one endpoint", () => {
  it("of both eras and both SDKs see the same tools and call them at once", async () => {
    const board = await open({ echo: fixture("echo") });
    const { url } = await serve(board);
    const clients = await Promise.all([connectOld(url), connectLegacy(url), connectModern(url)]);
    const lists = await Promise.all(clients.map((client) => client.listTools()));
    const names = lists.map(({ tools }) => tools.map(({ name }) => name));
    expect(names[0]).toContain("mcp__echo__echo");
    expect(names[1]).toEqual(names[0]);
    expect(names[2]).toEqual(names[0]);
    // The clients count their requests alike, so their ids are the same.
    const calls = clients.flatMap((client, index) =>
      Array.from({ length: 20 }, async (_, call) => {
        const text = `${index}/${call}`;
        const result = await client.callTool({ name: "mcp__echo__echo", arguments: { text } });
        return [text, JSON.stringify(result.content)] as const;
      }),
    );
    for (const [text, content] of await Promise.all(calls)) expect(content).toContain(text);
  });

  it("without a session are served all the same", async () => {
    const board = await open({ echo: fixture("echo") });
    const { url, sessions } = await serve(board);
    const { status, message } = await post(
      url,
      legacy("tools/call", { name: "mcp__echo__echo", arguments: { text: "hi" } }),
    );
    expect([status, message?.["result"].content[0].text]).toEqual([200, "hi"]);
    expect(sessions.size).toBe(0);
  });

  it.each(["one by one", "in a batch"])(
    "without a session that go away leave no call behind: %s",
    async (how) => {
      const board = await open({ echo: fixture("echo") });
      const { url, sessions } = await serve(board);
      const text = "x".repeat(100 * 1024);
      const call = legacy("tools/call", {
        name: "mcp__echo__sleep",
        arguments: { ms: 600_000, text },
      });
      const body = JSON.stringify(how === "in a batch" ? [call] : call);
      const left = new AbortController();
      const headers = { "content-type": "application/json", accept: "application/json" };
      const calls = Array.from({ length: 40 }, () =>
        fetch(url, { method: "POST", headers, body, signal: left.signal }),
      );
      const inFlight = (): number | undefined => board.status()[0]?.calls.inFlight;
      await expect.poll(inFlight).toBe(40);
      left.abort();
      expect((await Promise.allSettled(calls)).every((each) => each.status === "rejected")).toBe(
        true,
      );
      await expect.poll(inFlight).toBe(0);
      expect(sessions.size).toBe(0);
    },
  );
});

/** Notes in which turn of the event loop something happens, until the test ends. */
function turnNotes(): { note: () => undefined; turns: number[] } {
  const turns: number[] = [];
  let turn = 0;
  let next = setImmediate(function count() {
    turn += 1;
    next = setImmediate(count);
  });
  onTestFinished(() => clearImmediate(next));
  const note = (): undefined => {
    turns.push(turn);
  };
  return { note, turns };
}

describe("everybody else gets a turn", () => {
  it("between the requests of a batch", async () => {
    const board = await open({ lib: fixture("library") });
    const { note, turns } = turnNotes();
    const { url } = await serve(board, { countCall: note });
    const batch = Array.from({ length: 20 }, (_, at) =>
      legacy("resources/read", { uri: `none://${at}` }),
    );
    const { message } = await post(url, batch);
    expect(message).toHaveLength(batch.length);
    expect(new Set(turns).size).toBe(batch.length);
  });

  it("between the resources that a client listens to, if they take long", async () => {
    // Of two, none is asked for what neither lists.
    const board = await open({ lib: fixture("library"), other: fixture("library") });
    const { note, turns } = turnNotes();
    const subscriptionShares = new (class extends Shares {
      override take(who: string | undefined): Shortage | undefined {
        note();
        return super.take(who);
      }
    })(100);
    let now = 0;
    const clock = { ...systemClock, monotonic: () => (now += 5) };
    const { url } = await serve(board, { subscriptionShares, clock });
    const client = await connectModern(url);
    const uris = Array.from({ length: 20 }, (_, at) => `none://${at}`);
    await client.listen({ resourceSubscriptions: uris });
    expect(turns).toHaveLength(uris.length);
    expect(new Set(turns).size).toBe(uris.length);
  });
});

describe("a legacy session", () => {
  it("goes on after a restart, with the same id", async () => {
    const board = await open({ echo: fixture("echo") });
    const kept = newKept();
    const before = await serve(board, { kept });
    const client = await connectOld(before.url);
    const port = Number(before.url.port);
    await before.close();
    await serve(board, { kept, port });
    const result = await client.callTool({ name: "mcp__echo__echo", arguments: { text: "again" } });
    expect(JSON.stringify(result.content)).toContain("again");
  });

  it.each([
    ["of another caller", { "x-caller": "mallory" }],
    ["that is not ours", { "mcp-session-id": "x".repeat(300) }],
  ])("%s is not found", async (_, headers) => {
    const board = await open({ echo: fixture("echo") });
    const { url } = await serve(board);
    const begun = await post(url, legacy("initialize", INITIALIZE));
    const id = begun.headers.get("mcp-session-id") ?? "";
    const { status } = await post(url, legacy("ping"), { "mcp-session-id": id, ...headers });
    expect(status).toBe(404);
    expect((await post(url, legacy("ping"), { "mcp-session-id": id })).status).toBe(200);
  });

  it("that was ended stays ended after a restart", async () => {
    const board = await open({ echo: fixture("echo") });
    const kept = newKept();
    const before = await serve(board, { kept });
    const begun = await post(before.url, legacy("initialize", INITIALIZE));
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    expect((await post(before.url, undefined, session, "DELETE")).status).toBe(204);
    expect((await post(before.url, legacy("ping"), session)).status).toBe(404);
    const { url } = await serve(board, { kept });
    expect((await post(url, legacy("ping"), session)).status).toBe(404);
  });
});

describe("a request that is wrong", () => {
  const good = modern("tools/list");
  it.each<[string, unknown, Record<string, string>, number, number]>([
    ["not JSON", "{", {}, 400, -32700],
    ["not JSON-RPC", { hello: 1 }, {}, 400, -32600],
    ["an empty batch", [], {}, 400, -32600],
    ["another media type", "{}", { "content-type": "text/plain" }, 415, -32600],
    ["a client that accepts nothing of ours", "{}", { accept: "text/html" }, 406, -32600],
    [
      "an unknown version in the header",
      legacy("ping"),
      { "mcp-protocol-version": "1999-01-01" },
      400,
      -32600,
    ],
    ["an unknown method", legacy("nope"), {}, 200, -32601],
    ["an unknown method of 2026-07-28", modern("nope").body, modern("nope").headers, 404, -32601],
    ["ping in 2026-07-28", modern("ping").body, modern("ping").headers, 404, -32601],
    [
      "another method in the header",
      good.body,
      { ...good.headers, "mcp-method": "x" },
      400,
      -32020,
    ],
    ["a missing header", good.body, { "mcp-protocol-version": "2026-07-28" }, 400, -32020],
    ["a header without the body's version", legacy("tools/list"), good.headers, 400, -32602],
  ])("%s", async (_, body, headers, status, code) => {
    const board = await open({});
    const { url } = await serve(board);
    const answer = await post(url, body, headers);
    expect([answer.status, answer.message?.["error"].code]).toEqual([status, code]);
  });

  it("names the versions that are spoken", async () => {
    const board = await open({});
    const { url } = await serve(board);
    const version = { "io.modelcontextprotocol/protocolVersion": "v999.0.0" };
    const { body, headers } = modern("server/discover", { _meta: version });
    const answer = await post(url, body, { ...headers, "mcp-protocol-version": "v999.0.0" });
    expect(answer.status).toBe(400);
    expect(answer.message?.["error"]).toMatchObject({
      code: -32022,
      data: { supported: ["2026-07-28"], requested: "v999.0.0" },
    });
  });

  it.each([
    ["of many values", `{"list":[${"1,".repeat(60_000)}1]}`, 413, "more than 50000 values;"],
    [
      "of many keys, for a tool that is not there",
      JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, at]))),
      413,
      "more than 50000 values;",
    ],
    [
      "nested too deep",
      `{"deep":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      400,
      "more than 1000 levels deep",
    ],
  ])("is refused before it is parsed: one %s", async (_, args, status, why) => {
    const board = await open({});
    const { url } = await serve(board, { maxBodyBytes: 20_000_000 });
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":${args}}}`;
    const answer = await postText(url, body);
    expect([answer.status, answer.message]).toEqual([status, expect.stringContaining(why)]);
  });

  it("is not kept once it has too many values", async () => {
    const bodies = new Shares(4_000_000, 1_000_000);
    const { url } = await serve(await open({}), { maxBodyBytes: 20_000_000, bodies });
    const args = `[${"1,".repeat(3_000_000)}1]`;
    const answer = await postText(url, `{"jsonrpc":"2.0","id":1,"method":"x","params":${args}}`);
    expect([answer.status, answer.message]).toEqual([
      413,
      expect.stringContaining("more than 50000 values;"),
    ]);
  });

  it.each([
    ["many bytes", { text: "x".repeat(400_000) }, 3],
    ["letters of several bytes", { text: "ü€".repeat(200_000) }, 3],
    ["many values", { text: "x", more: Array.from({ length: 6000 }, () => 0) }, 3],
    ["neither", { text: "x".repeat(100_000) }, 0],
  ])("has turns of its own if it has %s", async (_, args, turns) => {
    const run = vi.spyOn(Turns.prototype, "run");
    const board = await open({ echo: fixture("echo") });
    const { url } = await serve(board, { maxBodyBytes: 20_000_000 });
    const call = legacy("tools/call", { name: "mcp__echo__echo", arguments: args });
    const { message } = await post(url, call);
    expect(message?.["result"].content[0].text).toBe(args.text);
    expect(run).toHaveBeenCalledTimes(turns);
    run.mockRestore();
  });

  it("calls nothing if its client goes before there is an endpoint", async () => {
    const { endpoint, sessions } = await serve(await open({ echo: fixture("echo") }));
    const answer = vi.spyOn(endpoint, "answer");
    const asked = deferred();
    const released = deferred();
    const entry = new McpEntry({ sessions, maxBodyBytes: 1_000_000 });
    const server = createServer((request, reply) => {
      const endpointFor = async () => {
        asked.resolve();
        await once(reply, "close");
        return { endpoint, release: () => released.resolve() };
      };
      const caller = { id: "token:alice", label: "alice" };
      void entry.handle(request, reply, { caller, agent: "default", endpointFor });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { body, headers } = modern("tools/call", { name: "mcp__echo__echo", arguments: {} });
    const type = { "content-type": "application/json", accept: "application/json" };
    const options = { port, method: "POST", headers: { ...type, ...headers } };
    const sent = httpRequest(options).on("error", () => {});
    sent.end(JSON.stringify(body));
    await asked.promise;
    sent.destroy();
    await released.promise;
    server.close();
    expect(answer).not.toHaveBeenCalled();
  });

  it("is refused before it is read if its caller has sent too much", async () => {
    const { url } = await serve(await open({}), { countBytes: () => 5000 });
    const socket = connect(Number(url.port), url.hostname);
    const head = "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json";
    // The body never comes.
    socket.write(`${head}\r\nContent-Length: 500000\r\n\r\n`);
    const answer = await textOf(socket);
    expect(answer).toMatch(/^HTTP\/1.1 429 .*Retry-After: 5.*gateway\.limits\.bytesPerMinute/s);
  });

  it("is refused while it is read if it comes in more pieces than its caller may send bytes", async () => {
    const counted: number[] = [];
    const countBytes = (bytes: number): number => (counted.push(bytes) < 3 ? 0 : 5000);
    const { url } = await serve(await open({}), { countBytes });
    const socket = connect(Number(url.port), url.hostname).on("error", () => {});
    const head = "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json";
    // The body never ends.
    socket.write(`${head}\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\n \r\n".repeat(10_000)}`);
    const answer = await textOf(socket);
    expect(answer).toMatch(/^HTTP\/1.1 429 .*Retry-After: 5.*gateway\.limits\.bytesPerMinute/s);
    expect(counted).toEqual([1_024_000, 1_024_000, 1_024_000]);
  });

  it("may be a text of 15 MB", async () => {
    const board = await open({ echo: fixture("echo") });
    const { url } = await serve(board, { maxBodyBytes: 16 * 1024 * 1024 });
    const text = '"[{,'.repeat(3_000_000);
    const call = legacy("tools/call", { name: "mcp__echo__echo", arguments: { text } });
    const { message } = await post(url, call);
    expect(message?.["result"].content[0].text === text).toBe(true);
  });

  it("waits for no memory that others fill, and fills no more than its caller's part", async () => {
    const board = await open({ echo: fixture("echo") });
    const { url } = await serve(board, { bodies: new Shares(400_000) });
    const sleep = (caller: string) =>
      post(
        url,
        legacy("tools/call", {
          name: "mcp__echo__sleep",
          arguments: { ms: 300, pad: "x".repeat(60_000) },
        }),
        { "x-caller": caller },
      );
    const answers = await Promise.all(["greedy", "greedy", "other"].map(sleep));
    const refused = answers.find(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(answers[2]?.status).toBe(200);
    expect(refused?.message?.["error"].message).toMatch(/of this caller.* fill the memory/);
    // What was answered is free again.
    expect((await sleep("greedy")).status).toBe(200);
  });

  it("is refused before all of it is read if it is too large", async () => {
    const board = await open({});
    const { url } = await serve(board, { maxBodyBytes: 1000 });
    const answer = await post(url, legacy("tools/call", { name: "x".repeat(2000) }));
    expect(answer.status).toBe(413);
  });
});
