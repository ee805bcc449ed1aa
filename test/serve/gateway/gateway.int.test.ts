// What stays open for a client after its request was let in, and when it ends. Over real sockets.

import { connect } from "node:net";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Clock, systemClock, type Timer } from "../../../src/util/clock.ts";
import { MOST_STRANGERS } from "../../../src/serve/gateway/connections.ts";
import { LAST_REQUEST_MS } from "../../../src/serve/gateway/gateway.ts";
import { deferred } from "../../../src/util/deferred.ts";
import { INITIALIZE, legacy, modern, post } from "../endpoint/harness.ts";
import { fixture } from "../../support/boards.ts";
import { eventually } from "../../support/processes.ts";
import { openGateway } from "./rig.ts";

const LISTEN = modern("subscriptions/listen", { notifications: { toolsListChanged: true } });
const SLEEP = { name: "mcp__echo__sleep", arguments: { ms: 60_000 } };

/** Resolves when the answer ends or breaks. */
async function ending(response: Response): Promise<"ended"> {
  await response.text().catch(() => {});
  return "ended";
}

function send(url: URL, body: object, headers: Record<string, string>): Promise<Response> {
  const all = { "content-type": "application/json", ...headers };
  return fetch(url, { method: "POST", headers: all, body: JSON.stringify(body) });
}

it("whatever is open for a caller ends when the caller is no longer let in, and for others goes on", async () => {
  const gone = new Set<string>();
  const { url } = await openGateway(
    { servers: { echo: fixture("echo") } },
    { isGone: (caller) => gone.has(caller) },
  );
  const open = async (caller: string) => {
    const who = { "x-caller": caller };
    const { headers } = await post(url, legacy("initialize", INITIALIZE), who);
    const session = { ...who, "mcp-session-id": headers.get("mcp-session-id") ?? "" };
    const stream = await fetch(url, { headers: { ...session, accept: "text/event-stream" } });
    const listen = await send(url, LISTEN.body, { ...who, ...LISTEN.headers });
    const call = modern("tools/call", SLEEP);
    // No answer comes, so it ends with an error.
    const broken = send(url, call.body, { ...who, ...call.headers }).catch(() => "ended" as const);
    return { streams: [ending(stream), ending(listen)], broken };
  };
  const [revoked, other] = await Promise.all([open("revoked"), open("other")]);
  gone.add("token:revoked");
  expect(await Promise.all([...revoked.streams, revoked.broken])).toEqual([
    "ended",
    "ended",
    "ended",
  ]);
  const still = new Promise((resolve) => setImmediate(resolve, "open"));
  expect(await Promise.race([...other.streams, other.broken, still])).toBe("open");
  gone.add("token:other");
  await Promise.all([...other.streams, other.broken]);
});

it("a stream ends with the JWT that opened it, and a call that was made in time is answered", async () => {
  let skew = 0;
  const gatewayClock: Clock = { ...systemClock, now: () => systemClock.now() + skew };
  const { url } = await openGateway({ servers: { echo: fixture("echo") } }, { gatewayClock });
  const expires = { "x-expires": String(systemClock.now() + 3_600_000) };
  const listen = await send(url, LISTEN.body, { ...expires, ...LISTEN.headers });
  const call = modern("tools/call", { name: "mcp__echo__sleep", arguments: { ms: 1500 } });
  const answer = post(url, call.body, { ...expires, ...call.headers });
  skew = 3_700_000;
  expect(await ending(listen)).toBe("ended");
  expect((await answer).message?.["result"].content[0].text).toBe("slept 1500 ms");
});

it("a caller who leaves its calls behind cannot make any number of them, and others can", async () => {
  const most = 5;
  const { url, board } = await openGateway(
    { servers: { echo: fixture("echo") } },
    { maxConnections: 4 * most },
  );
  const inFlight = (): number => board.status()[0]?.calls.inFlight ?? 0;
  // In a session, calls go on without their connection: the client may come back.
  const hasty = { "x-caller": "hasty" };
  const { headers } = await post(url, legacy("initialize", INITIALIZE), hasty);
  const session = headers.get("mcp-session-id") ?? "";
  for (let count = 1; count <= most; count += 1) {
    const body = JSON.stringify(legacy("tools/call", SLEEP));
    const head = `POST /mcp HTTP/1.1\r\nHost: x\r\nX-Caller: hasty\r\nMcp-Session-Id: ${session}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    const socket = connect(Number(url.port), url.hostname);
    socket.write(`${head}\r\n\r\n${body}`);
    await eventually(() => inFlight() === count);
    socket.destroy();
    await once(socket, "close");
  }
  const ping = legacy("ping");
  const refused = await send(url, ping, hasty);
  expect([refused.status, await refused.text()]).toEqual([
    429,
    "this caller would have more than 5 requests that are being answered, a quarter of gateway.limits.connections; wait for some of them to end\n",
  ]);
  expect((await send(url, ping, { "x-caller": "other" })).status).toBe(200);
  // A batch counts as many requests as it holds, until it is answered.
  const batch = (size: number) =>
    send(
      url,
      Array.from({ length: size }, () => ping),
      { "x-caller": "other" },
    );
  expect((await batch(most)).status).toBe(200);
  const large = await batch(most + 1);
  expect([large.status, await large.text()]).toEqual([
    429,
    expect.stringMatching(/this caller would have more than 5 .*; a batch counts as many/u),
  ]);
  expect((await batch(most)).status).toBe(200);
  // Otherwise the gateway would wait for the calls.
  await board.close();
});

describe("who shows no token", () => {
  /** Connections on which somebody has sent that much. */
  async function strangers(url: URL, count: number, text: string) {
    const sockets = Array.from({ length: count }, () => connect(Number(url.port), url.hostname));
    for (const socket of sockets) socket.on("error", () => {}).resume();
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    for (const socket of sockets) socket.write(text);
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    return sockets;
  }

  it.each([
    ["asks for something open", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["says nothing", ""],
    ["never ends a request", "POST /mcp HTTP/1.1\r\nHost: x\r\n"],
  ])("takes no place of the others: one who %s", async (_, text) => {
    const { url } = await openGateway({ servers: {} }, { maxConnections: 8 });
    await strangers(url, MOST_STRANGERS + 200, text);
    for (let call = 0; call < 3; call += 1)
      expect((await send(url, legacy("ping"), {})).status).toBe(200);
  });

  it("gets one answer on a connection", async () => {
    const { url } = await openGateway({ servers: {} });
    const sockets = await strangers(url, 3, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    await Promise.all(sockets.map((socket) => once(socket, "close")));
    const { headers } = await send(url, legacy("ping"), {});
    expect(headers.get("connection")).toBe("keep-alive");
  });
});

it("a caller has a quarter of the connections, and others the rest", async () => {
  const { url } = await openGateway({ servers: {} }, { maxConnections: 8 });
  const body = JSON.stringify(legacy("ping"));
  const ask = async (caller: string): Promise<string> => {
    const socket = connect(Number(url.port), url.hostname);
    onTestFinished(() => void socket.destroy());
    const head = `POST /mcp HTTP/1.1\r\nHost: x\r\nX-Caller: ${caller}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    socket.write(`${head}\r\n\r\n${body}`);
    const [chunk] = await once(socket, "data");
    return String(chunk).split(" ")[1] ?? "";
  };
  const statuses = [];
  for (const caller of ["a", "a", "a", "b"]) statuses.push(await ask(caller));
  expect(statuses).toEqual(["200", "200", "429", "200"]);
});

it("behind a proxy, whose connections are for everybody, a caller has a quarter of the streams", async () => {
  const { url } = await openGateway({ servers: {} }, { maxConnections: 8, behindProxy: true });
  const who = { "x-caller": "greedy" };
  const open = async (): Promise<Response> => {
    const { headers } = await post(url, legacy("initialize", INITIALIZE), who);
    const session = { ...who, "mcp-session-id": headers.get("mcp-session-id") ?? "" };
    return fetch(url, { headers: { ...session, accept: "text/event-stream" } });
  };
  const first = await open();
  await open();
  const refused = await send(url, legacy("ping"), who);
  expect([refused.status, await refused.text()]).toEqual([
    429,
    expect.stringMatching(/^this caller would have more than 2 requests/),
  ]);
  expect((await send(url, legacy("ping"), { "x-caller": "other" })).status).toBe(200);
  // A place that is free again.
  await first.body?.cancel();
  await expect.poll(async () => (await send(url, legacy("ping"), who)).status).toBe(200);
});

it("a stream that was asked for behind another one takes no place once its connection is gone", async () => {
  const { url } = await openGateway({ servers: {} }, { maxConnections: 8, behindProxy: true });
  const who = { "x-caller": "hasty" };
  const newSession = async (): Promise<string> => {
    const { headers } = await post(url, legacy("initialize", INITIALIZE), who);
    return headers.get("mcp-session-id") ?? "";
  };
  const ask = (id: string): string =>
    `GET /mcp HTTP/1.1\r\nHost: x\r\nX-Caller: hasty\r\nMcp-Session-Id: ${id}\r\nAccept: text/event-stream\r\n\r\n`;
  const socket = connect(Number(url.port), url.hostname).on("error", () => {});
  socket.write(ask(await newSession()) + ask(await newSession()));
  expect(String(await once(socket, "data"))).toContain("200 OK");
  socket.destroy();
  await once(socket, "close");
  const open = async (): Promise<Response> => {
    const session = { ...who, "mcp-session-id": await newSession() };
    return fetch(url, { headers: { ...session, accept: "text/event-stream" } });
  };
  // Both of its places are free again.
  await expect.poll(async () => (await send(url, legacy("ping"), who)).status).toBe(200);
  expect((await open()).status).toBe(200);
  await expect.poll(async () => (await open()).status).toBe(200);
});

describe("answers that nobody reads", () => {
  const BYTES = 30_000_000;
  const BIG = legacy("tools/call", { name: "mcp__echo__big", arguments: { bytes: BYTES } });

  /** A clock with which the gateway looks ten times a second at what is open. */
  function fast() {
    let skew = 0;
    let looks = 0;
    const gatewayClock: Clock = {
      ...systemClock,
      monotonic: () => systemClock.monotonic() + skew,
      later: (ms, task) => {
        looks += 1;
        return systemClock.later(ms / 10, task);
      },
    };
    const looked = (times: number): Promise<void> => {
      const before = looks;
      return eventually(() => looks >= before + times);
    };
    return { gatewayClock, looked, skip: (ms: number) => void (skew += ms) };
  }

  /** Asks for a large answer and reads no more than its beginning. Returns what reads the rest, and how much all of it is. */
  async function askFor(url: URL, caller: string): Promise<() => Promise<number>> {
    const body = JSON.stringify(BIG);
    const socket = connect(Number(url.port), url.hostname).on("error", () => {});
    onTestFinished(() => void socket.destroy());
    const head = `POST /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Caller: ${caller}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    socket.write(`${head}\r\n\r\n${body}`);
    const [first] = (await once(socket, "data")) as [Buffer];
    socket.pause();
    return async () => {
      let got = first.length;
      socket.on("data", (chunk: Buffer) => (got += chunk.length)).resume();
      await once(socket, "close");
      return got;
    };
  }

  it("are given up after a while", async () => {
    const { gatewayClock, looked, skip } = fast();
    const { url } = await openGateway({ servers: { echo: fixture("echo") } }, { gatewayClock });
    const read = await askFor(url, "slow");
    // The first look notices that the answer is complete, a later one that it still is not read.
    await looked(2);
    skip(400_000);
    await looked(2);
    const got = await read();
    expect(got).toBeGreaterThan(1000);
    expect(got).toBeLessThan(BYTES);
  });

  it("are given up at once where one caller has too many, and those of others are not", async () => {
    const { gatewayClock, looked } = fast();
    const { url } = await openGateway({ servers: { echo: fixture("echo") } }, { gatewayClock });
    const reads = [await askFor(url, "other")];
    for (let count = 0; count < 3; count += 1) reads.push(await askFor(url, "greedy"));
    await looked(4);
    const got = await Promise.all(reads.map((read) => read()));
    const whole = got.map((bytes) => bytes > BYTES);
    expect(whole[0]).toBe(true);
    // 90 MB are more than 64 MiB, and 60 MB are not.
    expect(whole.slice(1).filter((isWhole) => isWhole)).toHaveLength(2);
  });
});

it("whoever sends what is not HTTP cannot keep the connection by never hanging up", async () => {
  const { url } = await openGateway({ servers: {} });
  const { hostname: host, port } = url;
  // Its own half stays open when the gateway has ended the other.
  const socket = connect({ host, port: Number(port), allowHalfOpen: true }).resume();
  socket.write("GARBAGE\r\n\r\n");
  await once(socket, "end");
  // A connection that is gone answers the next bytes with a reset.
  const writing = setInterval(() => socket.write("x"), 10);
  const [error] = await once(socket, "error").catch((reason: unknown) => [reason]);
  clearInterval(writing);
  expect(error).toMatchObject({ code: expect.stringMatching(/ECONNRESET|EPIPE/) as string });
});

it("whoever hangs up in the middle of a stream has sent nothing malformed", async () => {
  const refused: string[] = [];
  const { url } = await openGateway(
    { servers: {} },
    { onRefusedConnection: (kind) => refused.push(kind) },
  );
  const open = () => connect(Number(url.port), url.hostname).on("error", () => {});
  const { headers } = await post(url, legacy("initialize", INITIALIZE), { "x-caller": "a" });
  const stream = open();
  const session = `X-Caller: a\r\nMcp-Session-Id: ${headers.get("mcp-session-id")}`;
  stream.write(`GET /mcp HTTP/1.1\r\nHost: x\r\n${session}\r\nAccept: text/event-stream\r\n\r\n`);
  expect(String(await once(stream, "data"))).toContain("200 OK");
  stream.resetAndDestroy();
  await once(stream, "close");
  const garbage = open().resume();
  garbage.write("GARBAGE\r\n\r\n");
  await once(garbage, "close");
  expect(refused).toEqual(["malformed"]);
});

it("leaves first: not ready any more, and everything is served; then streams end complete and calls are answered", async () => {
  const gateway = await openGateway({ servers: { counts: fixture("counts-calls") } });
  const { url } = gateway;
  const ready = new URL("/readyz", url);
  const call = (tool: string) => {
    const made = modern("tools/call", {
      name: `mcp__counts__${tool}`,
      arguments: tool === "hold" ? { key: "a" } : {},
    });
    return post(url, made.body, made.headers);
  };
  const listen = await send(url, LISTEN.body, LISTEN.headers);
  const held = call("hold");
  await eventually(() => gateway.board.status()[0]?.calls.inFlight === 1);
  expect((await fetch(ready)).status).toBe(200);

  gateway.gateway.leave();
  expect((await fetch(ready)).status).toBe(503);
  expect((await fetch(new URL("/healthz", url))).status).toBe(200);
  const report = await call("report");
  expect(report.message?.["result"].content[0].text).toContain('"now":1');
  expect(report.headers.get("connection")).toBe("close");

  const closed = gateway.close();
  const events = await listen.text();
  expect(events).toContain(`"id":${LISTEN.body["id"]}`);
  expect(events).toContain('"result"');
  await gateway.board.call("counts/release", {});
  expect((await held).message?.["result"].content[0].text).toBe("a");
  await closed;
  await expect(fetch(ready)).rejects.toThrow("fetch failed");
});

it("stops at once where no connection is open on which a request could come", async () => {
  // What waits for this clock waits for ever.
  const gatewayClock: Clock = { ...systemClock, after: () => ({ cancel: () => {} }) };
  const gateway = await openGateway({ servers: {} }, { gatewayClock });
  await post(gateway.url, legacy("ping"), { connection: "close" });
  await gateway.close();
  await expect(fetch(gateway.url)).rejects.toThrow("fetch failed");
});

it.each([
  ["only when no request has come for a while on the connections that a load balancer keeps", true],
  ["after one such while without a load balancer, whoever still asks", false],
])("stops %s", async (_, behindProxy) => {
  const ends: (() => void)[] = [];
  const after = (ms: number, task: () => void): Timer => {
    if (ms === LAST_REQUEST_MS) ends.push(task);
    return { cancel: () => {} };
  };
  const gatewayClock = { ...systemClock, after };
  const gateway = await openGateway({ servers: {} }, { gatewayClock, behindProxy });
  const [used, first, second] = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const kept = keepConnection(gateway.url);
      expect(await kept.ask()).not.toContain("close");
      return kept;
    }),
  );
  const closed = gateway.gateway.close();
  const asking = behindProxy ? [first, second] : [first];
  for (const [times, next] of asking.entries()) {
    await eventually(() => ends.length === times + 1);
    expect(await next?.ask()).toContain("close");
    ends[times]?.();
  }
  if (behindProxy) {
    await eventually(() => ends.length === 3);
    ends[2]?.();
  }
  await closed;
  await eventually(() => used?.isClosed() === true);
});

it("clients that hang up while they are verified take no place for good", async () => {
  const verified = deferred();
  let isVerifying = true;
  let asked = 0;
  const { url, gateway } = await openGateway(
    { servers: {} },
    {
      maxConnections: 8,
      verified: async () => {
        asked += 1;
        if (isVerifying) await verified.promise;
      },
    },
  );
  const HANGING = 20;
  const body = JSON.stringify(legacy("ping"));
  const sockets = Array.from({ length: HANGING }, () => connect(Number(url.port), "127.0.0.1"));
  for (const socket of sockets) {
    socket.on("error", () => {});
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Caller: ci\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
    );
  }
  await eventually(() => asked === HANGING);
  for (const socket of sockets) socket.destroy();
  await eventually(() => gateway.traffic.connections === 0);
  isVerifying = false;
  verified.resolve();
  for (let call = 0; call < 3; call += 1) {
    expect((await send(url, legacy("ping"), { "x-caller": "ci" })).status).toBe(200);
  }
});

/** A connection that stays open. `ask` resolves to the header that says whether it stays so after this request. */
function keepConnection(url: URL): { ask: () => Promise<string>; isClosed: () => boolean } {
  const socket = connect(Number(url.port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  const body = JSON.stringify(legacy("ping"));
  return {
    ask: async () => {
      socket.write(
        `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Caller: ci\r\nContent-Type: application/json\r\n` +
          `Accept: application/json, text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      const [answer] = (await once(socket, "data")) as [Buffer];
      return /^connection:.*$/im.exec(String(answer))?.[0] ?? "";
    },
    isClosed: () => socket.closed,
  };
}
