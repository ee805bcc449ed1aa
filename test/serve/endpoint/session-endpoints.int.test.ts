// Session endpoints over real sockets: who gets in, which session they reach, and what is left when it is over.

import { spawnSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { basename, join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SessionEndpoint } from "../../../src/serve/endpoint/session-endpoint.ts";
import {
  SessionEndpoints,
  type SessionEndpointsOptions,
} from "../../../src/serve/endpoint/session-endpoints.ts";
import type { Board } from "../../../src/core/types/board.ts";
import { silentLogger } from "../../../src/core/types/logger.ts";
import type { NativeTool } from "../../../src/core/types/tool.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { deferred } from "../../../src/util/deferred.ts";
import { closeBoards, fixture, open } from "../../support/boards.ts";
import { eventually } from "../../support/processes.ts";
import { INITIALIZE, legacy, modern, post, type RawAnswer } from "./harness.ts";
import { temporaryDirectory } from "../../support/directory.ts";

closeBoards();

let directory: string;
const closers: (() => unknown)[] = [];

beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function endpoints(options: Partial<SessionEndpointsOptions> = {}): SessionEndpoints {
  const opened = new SessionEndpoints({
    clock: systemClock,
    logger: silentLogger,
    newId: randomUUID,
    random: randomBytes,
    program: { command: "node", args: ["bin.js"], env: { LANG: "C" } },
    directory: join(directory, "front"),
    ...options,
  });
  closers.push(() => opened.close());
  return opened;
}

/** How many calls of `wait` are running. */
let waits = 0;

/** A board with one tool that says who it is, and one that answers only when it is cancelled. */
function boardOf(name: string): Promise<Board> {
  const parameters = { type: "object", properties: {} };
  const whoami: NativeTool = {
    name: "whoami",
    description: "Says which session this is.",
    parameters,
    execute: () => ({ content: [{ type: "text", text: name }] }),
  };
  const wait: NativeTool = {
    name: "wait",
    description: "Waits until it is cancelled.",
    parameters,
    execute: (_id, _args, signal) =>
      new Promise((resolve) => {
        waits += 1;
        signal?.addEventListener("abort", () => resolve({ content: [] }));
      }),
  };
  return open({}, { native: [whoami, wait] });
}

const tokenOf = ({ http }: SessionEndpoint): string => http.headers[0]?.value ?? "";
const withToken = (endpoint: SessionEndpoint): Record<string, string> => ({
  authorization: tokenOf(endpoint),
});
const urlOf = ({ http }: SessionEndpoint): URL => new URL(http.url);
const whoami = modern("tools/call", { name: "whoami", arguments: {} });

function call(endpoint: SessionEndpoint, headers = withToken(endpoint)): Promise<RawAnswer> {
  return post(urlOf(endpoint), whoami.body, { ...whoami.headers, ...headers });
}

const textIn = ({ message }: RawAnswer): unknown => message?.["result"]?.content[0]?.text;
const errorIn = ({ message }: RawAnswer): unknown => message?.["error"]?.message;

async function served(all: SessionEndpoints, name: string): Promise<SessionEndpoint> {
  const endpoint = await all.reserve();
  endpoint.serve(await boardOf(name));
  return endpoint;
}

/** Sends bytes as they are, and gives everything that comes back until the other side ends. */
function raw(endpoint: SessionEndpoint, text: string): Promise<string> {
  const { port } = urlOf(endpoint);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => (answer += String(chunk)));
    socket.on("error", () => {});
    socket.on("close", () => resolve(answer));
  });
}

describe("an endpoint at a URL", () => {
  it("gives each session its own board, to official clients of both eras", async () => {
    const all = endpoints();
    const [one, two] = await Promise.all([served(all, "one"), served(all, "two")]);
    for (const [endpoint, name] of [
      [one, "one"],
      [two, "two"],
    ] as const) {
      for (const mode of ["legacy", { pin: "2026-07-28" }] as const) {
        const client = new Client({ name: "t", version: "1" }, { versionNegotiation: { mode } });
        const requestInit = { headers: withToken(endpoint) };
        await client.connect(new StreamableHTTPClientTransport(urlOf(endpoint), { requestInit }));
        const { content } = await client.callTool({ name: "whoami", arguments: {} });
        expect(content).toMatchObject([{ text: name }]);
        await client.close();
      }
    }
    expect(urlOf(one).pathname).not.toBe(urlOf(two).pathname);
    expect(urlOf(one).host).toBe(urlOf(two).host);
  });

  it("has resources and prompts only if a server of the board has some", async () => {
    const all = endpoints();
    const capabilitiesOf = async (board: Board): Promise<string[]> => {
      const endpoint = await all.reserve();
      endpoint.serve(board);
      const headers = withToken(endpoint);
      const begun = await post(urlOf(endpoint), legacy("initialize", INITIALIZE), headers);
      const asked = modern("server/discover");
      const found = await post(urlOf(endpoint), asked.body, { ...asked.headers, ...headers });
      const capabilities = begun.message?.["result"].capabilities;
      expect(found.message?.["result"].capabilities).toEqual(capabilities);
      return Object.keys(capabilities).toSorted();
    };
    const ALL = ["completions", "logging", "prompts", "resources", "tools"];
    expect(await capabilitiesOf(await boardOf("none"))).toEqual(["logging", "tools"]);
    expect(await capabilitiesOf(await open({ library: fixture("library") }))).toEqual(ALL);
    // What a server has that was not started yet is not known.
    expect(await capabilitiesOf(await open({ echo: fixture("echo") }, { start: "none" }))).toEqual(
      ALL,
    );
  });

  it("listens on loopback alone, at a path and with a token that nobody can guess", async () => {
    const endpoint = await endpoints().reserve();
    const { hostname, pathname, search } = urlOf(endpoint);
    expect(hostname).toBe("127.0.0.1");
    expect(pathname).toMatch(/^\/session\/[\w-]{24}\/mcp$/);
    expect(search).toBe("");
    expect(tokenOf(endpoint)).toMatch(/^Bearer [\w-]{43}$/);
  });

  it.each<[string, (own: SessionEndpoint, other: SessionEndpoint) => Promise<RawAnswer>, number]>([
    ["no token", (own) => call(own, {}), 401],
    ["a wrong token", (own) => call(own, { authorization: `Bearer ${"x".repeat(43)}` }), 401],
    ["a part of it", (own) => call(own, { authorization: tokenOf(own).slice(0, -1) }), 401],
    ["another scheme", (own) => call(own, { authorization: `Basic ${tokenOf(own)}` }), 401],
    ["another session's token", (own, other) => call(own, withToken(other)), 401],
    [
      "the token in the URL",
      (own) => {
        const url = new URL(`?token=${tokenOf(own).slice(7)}`, urlOf(own));
        return post(url, whoami.body, whoami.headers);
      },
      401,
    ],
    [
      "another path",
      (own) => {
        const headers = { ...whoami.headers, ...withToken(own) };
        return post(new URL("/mcp", urlOf(own)), whoami.body, headers);
      },
      404,
    ],
    ["a page's Origin", (own) => call(own, { ...withToken(own), origin: "https://e.com" }), 403],
    [
      "a page's site",
      (own) => call(own, { ...withToken(own), "sec-fetch-site": "cross-site" }),
      403,
    ],
  ])("%s is refused with a sentence", async (_, send, status) => {
    const all = endpoints();
    const [own, other] = await Promise.all([served(all, "own"), served(all, "other")]);
    const answer = await send(own, other);
    expect(answer.status).toBe(status);
    expect(errorIn(answer)).toMatch(/\w+ \w+ \w+/);
    expect(JSON.stringify(answer.message)).not.toContain(tokenOf(own).slice(7));
    // Whoever was refused is not the agent.
    expect(own.isConnected).toBe(false);
    expect(textIn(await call(own))).toBe("own");
    expect(own.isConnected).toBe(true);
    expect(other.isConnected).toBe(false);
  });

  it("a name that was rebound to this machine is refused, whatever the token", async () => {
    const own = await served(endpoints(), "own");
    const answer = await raw(
      own,
      `POST ${urlOf(own).pathname} HTTP/1.1\r\nHost: evil.example:${urlOf(own).port}\r\n` +
        `Authorization: ${tokenOf(own)}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toContain("403 Forbidden");
    expect(own.isConnected).toBe(false);
  });

  it("bounds headers, bodies and connections", async () => {
    const all = endpoints({ limits: { bodyBytes: 2000, maxConnections: 3 } });
    const own = await served(all, "own");
    const large = { ...whoami.headers, ...withToken(own) };
    expect((await post(urlOf(own), "x".repeat(3000), large)).status).toBe(413);
    const header = `X: ${"x".repeat(20_000)}\r\n`;
    expect(await raw(own, `GET / HTTP/1.1\r\nHost: localhost\r\n${header}\r\n`)).toContain("400");
    // Those that say nothing are not let in without end, and do not keep the place of the agent.
    const silent = Array.from({ length: 20 }, () => connect(Number(urlOf(own).port), "127.0.0.1"));
    const ended = silent.map((socket) => closed(socket));
    await Promise.all(ended.slice(3));
    for (const socket of silent) socket.destroy();
    await Promise.all(ended);
    await eventually(() => silent.every(({ destroyed }) => destroyed));
    expect(textIn(await call(own))).toBe("own");
  });

  it("ends a request that arrives too slowly", async () => {
    const all = endpoints({ limits: { headersTimeout: 100, lookInterval: 50 } });
    const own = await served(all, "own");
    expect(await raw(own, "POST / HTTP/1.1\r\nHost: local")).toMatch(/^(HTTP\/1.1 4|$)/);
    expect(await raw(own, "")).toMatch(/^(HTTP\/1.1 4|$)/);
  });

  it.each([
    ["sends nothing", ""],
    ["sends what is not HTTP", "GARBAGE\r\n\r\n"],
  ])("lets nobody keep a connection who %s and never hangs up", async (_, text) => {
    const limits = { headersTimeout: 50, lookInterval: 10 };
    const { http } = await endpoints({ limits }).reserve();
    const { port, hostname: host } = new URL(http.url);
    // Its own half stays open when the server has ended the other.
    const socket = connect({ port: Number(port), host, allowHalfOpen: true }).resume();
    closers.push(() => socket.destroy());
    socket.write(text);
    const refused = new Promise((resolve) => socket.once("error", resolve));
    await new Promise((resolve) => socket.once("end", resolve));
    // A connection that is gone answers the next bytes with a reset.
    const writing = setInterval(() => socket.write("x"), 10);
    closers.push(() => clearInterval(writing));
    expect(await refused).toMatchObject({
      code: expect.stringMatching(/ECONNRESET|EPIPE/) as string,
    });
  });

  it("waits until the session is there, and no longer than it may", async () => {
    const all = endpoints({ serveWithin: 50 });
    const never = await all.reserve();
    expect((await call(never)).status).toBe(503);
    expect(never.isConnected).toBe(true);
    const late = await endpoints().reserve();
    const answer = call(late);
    await late.connected;
    late.serve(await boardOf("late"));
    expect(textIn(await answer)).toBe("late");
  });

  it("ends calls and streams when it closes, and says later that the session is over", async () => {
    const all = endpoints();
    const [own, other] = await Promise.all([served(all, "own"), served(all, "other")]);
    const { url, headers } = { url: urlOf(own), headers: withToken(own) };
    const begun = await post(url, legacy("initialize", INITIALIZE), headers);
    const inSession = { ...headers, "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    const stream = await fetch(url, {
      headers: { ...inSession, accept: "text/event-stream" },
    });
    waits = 0;
    const waiting = modern("tools/call", { name: "wait", arguments: {} });
    const calls = Promise.allSettled([
      post(url, waiting.body, { ...waiting.headers, ...headers }),
      post(url, legacy("tools/call", { name: "wait", arguments: {} }), inSession),
    ]);
    await eventually(() => waits === 2);
    const reserved = await all.reserve();
    const early = call(reserved);
    await reserved.connected;
    await Promise.all([own.close(), own.close(), reserved.close()]);
    expect((await calls).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect((await early).status).toBe(404);
    expect(await stream.text()).toContain(": open");
    const after = await call(own);
    expect(after.status).toBe(404);
    expect(errorIn(after)).toContain("has ended");
    expect(textIn(await call(other))).toBe("other");
  });
});

describe("a fixed address", () => {
  it("is claimed by listening, is the endpoint's alone, and is free again when it closes", async () => {
    const all = endpoints();
    const any = await all.reserve();
    const probe = await endpoints().reserve();
    const port = Number(urlOf(probe).port);
    const fixed = { port, path: "/mcp/plugboard-1", token: "a-token-of-a-slot" };
    await expect(all.reserve(fixed)).rejects.toMatchObject({
      code: "SYSTEM_ERROR",
      cause: { code: "EADDRINUSE" },
    });
    await closers.pop()?.();
    const slot = await all.reserve(fixed);
    slot.serve(await boardOf("slot"));
    expect(slot.http).toMatchObject({
      url: `http://127.0.0.1:${port}/mcp/plugboard-1`,
      headers: [{ name: "Authorization", value: "Bearer a-token-of-a-slot" }],
    });
    expect(textIn(await call(slot))).toBe("slot");
    // Neither port answers for the other's paths.
    const elsewhere = new URL("/mcp/plugboard-1", any.http.url);
    const headers = { ...whoami.headers, ...withToken(slot) };
    expect((await post(elsewhere, whoami.body, headers)).status).toBe(404);
    const onSlot = new URL(urlOf(any).pathname, slot.http.url);
    const others = { ...whoami.headers, ...withToken(any) };
    expect((await post(onSlot, whoami.body, others)).status).toBe(404);
    await slot.close();
    const again = await endpoints().reserve(fixed);
    again.serve(await boardOf("again"));
    expect(textIn(await call(again))).toBe("again");
  });
});

/** Resolves when the socket is closed. */
function closed(socket: Socket): Promise<void> {
  const ended = deferred();
  socket.on("error", () => {});
  socket.on("close", () => ended.resolve());
  socket.resume();
  return ended.promise;
}

describe("the socket of the session program", () => {
  const envOf = ({ stdio }: SessionEndpoint): Record<string, string> =>
    Object.fromEntries(stdio.env.map(({ name, value }) => [name, value]));
  const pathOf = (endpoint: SessionEndpoint): string =>
    envOf(endpoint)["PLUGBOARD_SESSION_SOCKET"] ?? "";
  const helloOf = (endpoint: SessionEndpoint): object => ({
    session: endpoint.stdio.args.at(-1),
    token: envOf(endpoint)["PLUGBOARD_SESSION_TOKEN"],
  });

  /** Sends lines, and gives all that comes back. Ends its half of the connection after `until` has come. */
  function reach(endpoint: SessionEndpoint, lines: unknown[], until?: string): Promise<string> {
    return new Promise((resolve) => {
      let answer = "";
      const socket = connect({ path: pathOf(endpoint), allowHalfOpen: true });
      for (const line of lines) {
        socket.write(typeof line === "string" ? line : `${JSON.stringify(line)}\n`);
      }
      socket.on("data", (chunk) => {
        answer += String(chunk);
        if (until !== undefined && answer.includes(until)) socket.end();
      });
      socket.on("error", () => {});
      socket.on("end", () => socket.end());
      socket.on("close", () => resolve(answer));
    });
  }

  it("tells the program what to start with, keeps others out, and is gone afterwards", async () => {
    const all = endpoints();
    const own = await all.reserve();
    expect(own.stdio).toMatchObject({
      name: "plugboard",
      command: "node",
      args: ["bin.js", "serve", "--session", expect.any(String)],
    });
    expect(envOf(own)).toMatchObject({ LANG: "C" });
    const path = pathOf(own);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, "front")).mode & 0o777).toBe(0o700);
    await all.close();
    expect(readdirSync(join(directory, "front"))).toEqual([]);
    await expect(all.reserve()).rejects.toMatchObject({ code: "SYSTEM_ERROR" });
  });

  it("serves the board of the session whose token it shows, in one connection", async () => {
    const all = endpoints();
    const [one] = await Promise.all([served(all, "one"), served(all, "two")]);
    const request = legacy("tools/call", { name: "whoami", arguments: {} });
    const answer = await reach(one, [helloOf(one), legacy("ping"), request], '"text":"one"');
    const [first, ...messages] = answer.trim().split("\n");
    expect(first).toBe('{"admitted":true}');
    expect(messages).toHaveLength(2);
    expect(one.isConnected).toBe(true);
  });

  it.each<[string, (own: SessionEndpoint, other: SessionEndpoint) => unknown]>([
    ["a wrong token", (own) => ({ ...helloOf(own), token: "x" })],
    ["another session's token", (own, other) => ({ ...helloOf(other), ...idOf(own) })],
    ["a session that is not there", (own) => ({ ...helloOf(own), session: "x" })],
  ])("%s is refused with a sentence", async (_, hello) => {
    const all = endpoints();
    const [own, other] = await Promise.all([served(all, "own"), served(all, "other")]);
    const answer = await reach(own, [hello(own, other), legacy("ping")]);
    expect(JSON.parse(answer)).toEqual({ refused: expect.stringContaining("session has ended") });
    expect([own.isConnected, other.isConnected]).toEqual([false, false]);
  });

  function idOf(endpoint: SessionEndpoint): object {
    return { session: endpoint.stdio.args.at(-1) };
  }

  it.each([
    ["what is no greeting", ["GET / HTTP/1.1\r\n"]],
    ["a greeting without an end", ["x".repeat(5000)]],
    ["a greeting of other types", [{ session: 1, token: {} }]],
  ])("%s is cut off", async (_, lines) => {
    expect(await reach(await served(endpoints(), "own"), lines)).toBe("");
  });

  it("ends when the session does", async () => {
    const own = await served(endpoints(), "own");
    const answer = reach(own, [helloOf(own), legacy("ping")]);
    await own.connected;
    await own.close();
    expect(await answer).toContain('"admitted":true');
    expect(await reach(own, [helloOf(own)])).toContain("session has ended");
  });

  it("removes the sockets of those that were killed, and nothing else", async () => {
    const one = pathOf(await endpoints().reserve());
    const dead = join(directory, "front", "session-dead.sock");
    const script = `require("net").createServer().listen(${JSON.stringify(dead)}, () => process.kill(process.pid, "SIGKILL"))`;
    spawnSync(process.execPath, ["-e", script]);
    expect(statSync(dead).isSocket()).toBe(true);
    await writeFile(join(directory, "front", "notes.txt"), "");
    const two = pathOf(await endpoints().reserve());
    const left = readdirSync(join(directory, "front")).toSorted();
    expect(left).toEqual([basename(one), basename(two), "notes.txt"].toSorted());
  });

  it("is a problem only of agents that need it", async () => {
    const own = await endpoints({ directory: "/dev/null/front" }).reserve();
    own.serve(await boardOf("own"));
    expect(textIn(await call(own))).toBe("own");
    expect(() => own.stdio).toThrow(/cannot be opened/);
  });
});
