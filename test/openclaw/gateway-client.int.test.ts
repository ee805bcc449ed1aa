import { createServer, type Server } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { GatewayClient } from "../../src/openclaw/gateway-client.ts";
import { systemClock } from "../../src/util/clock.ts";
import {
  type FixtureGateway,
  type GatewayOptions,
  startGateway,
} from "../fixtures/openclaw/gateway.ts";
import { ManualClock } from "../support/manual-clock.ts";

const left: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(left.splice(0).map((end) => end()));
});

async function start(options: GatewayOptions = {}): Promise<FixtureGateway> {
  const gateway = await startGateway(options);
  left.push(gateway.stop);
  return gateway;
}

function open(
  url: string,
  given: { token?: string; password?: string } = { token: "secret" },
  timeoutMs = 5000,
): GatewayClient {
  const client = new GatewayClient(
    { url, ...given },
    { clock: systemClock, version: "1.0.0", timeoutMs },
  );
  left.push(() => client.close());
  return client;
}

test("a call connects, with the gateway's token or password, and all calls share the connection", async () => {
  const gateway = await start();
  const client = open(gateway.url);
  const answers = await Promise.all(
    ["a", "b", "c"].map((key) => client.call("sessions.describe", { key })),
  );
  expect(answers).toEqual(
    Array.from({ length: 3 }, () => ({ kind: "result", result: { session: null } })),
  );
  expect(await client.hello()).toMatchObject({ version: "2026.9.6", scopes: ["operator.admin"] });
  expect(gateway.calls.filter(({ method }) => method === "connect")).toHaveLength(1);
  expect(gateway.calls[0]?.params).toMatchObject({
    minProtocol: 4,
    maxProtocol: 4,
    role: "operator",
  });
  await expect(open(gateway.url, { password: "secret" }).hello()).resolves.toMatchObject({});
});

test("a gateway is known by the directory of its state, unless that is too long for one", async () => {
  const [known, odd] = [await start(), await start({ stateDir: "x".repeat(2_000_000) })];
  expect(await open(known.url).hello()).toMatchObject({ id: "/state" });
  expect(await open(odd.url).hello()).toMatchObject({ id: odd.url });
});

test("what the gateway refuses is a value, with its own word for the reason", async () => {
  const gateway = await start();
  const answer = await open(gateway.url).call("sessions.patch", {
    key: "x",
    toolOverrides: null,
    expectedToolOverrides: { mcpServers: { a: true } },
  });
  expect(answer).toMatchObject({
    kind: "refused",
    reason: "session-changed",
    error: { code: "SERVER_ERROR" },
  });
});

test("a gateway that was restarted is connected to again", async () => {
  const gateway = await startGateway();
  const client = open(gateway.url);
  await client.hello();
  await gateway.stop();
  const again = await start({ port: gateway.port });
  await expect(client.call("sessions.describe", { key: "x" })).resolves.toMatchObject({
    kind: "result",
  });
  await again.stop();
  left.splice(left.indexOf(again.stop), 1);
  await expect
    .poll(async () => client.call("sessions.describe", { key: "x" }).catch(({ code }) => code))
    .toBe("NETWORK");
});

test("a gateway that is still starting is asked again", async () => {
  let refusals = 2;
  const error = { code: "UNAVAILABLE", message: "starting", retryAfterMs: 1 };
  const gateway = await start({
    intercept: ({ id, method }, peer) => {
      if (method !== "connect" || refusals === 0) return undefined;
      refusals -= 1;
      peer.send(JSON.stringify({ type: "res", id, ok: false, error }));
      return "handled";
    },
  });
  await expect(open(gateway.url).hello()).resolves.toMatchObject({ version: "2026.9.6" });
  expect(refusals).toBe(0);
});

test.each<[string, GatewayOptions, { token?: string }, object]>([
  [
    "a wrong token",
    {},
    { token: "wrong" },
    {
      code: "NEEDS_AUTH",
      message: expect.stringContaining("does not accept our token or password"),
      hint: expect.stringContaining("OPENCLAW_GATEWAY_TOKEN"),
    },
  ],
  [
    "no token",
    {},
    {},
    {
      code: "NEEDS_AUTH",
      message: expect.stringContaining("asks for a token or password"),
      hint: expect.stringContaining("OPENCLAW_GATEWAY_TOKEN"),
    },
  ],
  [
    "too few rights",
    { scopes: ["operator.read"] },
    { token: "secret" },
    {
      code: "NEEDS_AUTH",
      message: expect.stringContaining("it has given operator.read, not operator.admin"),
      hint: expect.stringContaining("on this machine"),
    },
  ],
  [
    "rights without end",
    { scopes: ["x".repeat(100_000)] },
    { token: "secret" },
    { code: "NEEDS_AUTH", message: expect.not.stringMatching(/x{300}/) },
  ],
  [
    "a version without the method",
    { methods: ["sessions.list"] },
    { token: "secret" },
    { code: "UNSUPPORTED_VERSION", hint: "use OpenClaw 2026.9.6 or later" },
  ],
  [
    "another protocol",
    {
      intercept: ({ id }, peer) => {
        const details = { code: "PROTOCOL_MISMATCH", expectedProtocol: 7 };
        const error = { code: "INVALID_REQUEST", message: "protocol mismatch", details };
        peer.send(JSON.stringify({ type: "res", id, ok: false, error }));
        return "handled";
      },
    },
    { token: "secret" },
    {
      code: "UNSUPPORTED_VERSION",
      message: expect.stringContaining("speaks protocol 7, and this Plugboard 4"),
    },
  ],
  [
    "no greeting",
    { mute: true },
    { token: "secret" },
    { code: "TIMEOUT", message: expect.stringContaining("has not sent its greeting") },
  ],
  [
    "no answer",
    { intercept: () => "handled" },
    { token: "secret" },
    { code: "TIMEOUT", message: expect.stringContaining("has not sent its answer to connect") },
  ],
  [
    "words that are no message",
    {
      intercept: (_, peer) => {
        peer.send("hello");
        return "handled";
      },
    },
    { token: "secret" },
    { code: "PROTOCOL", message: expect.stringContaining("not a message of OpenClaw") },
  ],
  [
    "bytes",
    {
      intercept: (_, peer) => {
        peer.sendFrame(2, Buffer.from([1, 2]));
        return "handled";
      },
    },
    { token: "secret" },
    { code: "PROTOCOL" },
  ],
  [
    "a message without end",
    {
      intercept: (_, peer) => {
        peer.announce(2 ** 40);
        return "handled";
      },
    },
    { token: "secret" },
    { code: "PROTOCOL" },
  ],
  [
    "a connection that ends",
    {
      intercept: (_, peer) => {
        peer.destroy();
        return "handled";
      },
    },
    { token: "secret" },
    { code: "PROTOCOL" },
  ],
])("%s is an error that says what to do", async (_, options, given, expected) => {
  const gateway = await start(options);
  const client = open(
    gateway.url,
    given,
    "code" in expected && expected.code === "TIMEOUT" ? 300 : 10_000,
  );
  await expect(client.hello()).rejects.toMatchObject(expected);
  await expect.poll(() => gateway.connections).toBe(0);
});

test("a gateway on a busy machine has a minute for an answer", async () => {
  let asked = 0;
  const gateway = await start({
    intercept: ({ method }) => {
      if (method !== "sessions.patch") return undefined;
      asked += 1;
      return "handled";
    },
  });
  const clock = new ManualClock();
  const client = new GatewayClient({ url: gateway.url, token: "secret" }, { clock, version: "1" });
  left.push(() => client.close());
  let outcome = "waits";
  const call = client.call("sessions.patch", { key: "x" }).catch((error: Error) => {
    outcome = error.message;
  });
  await expect.poll(() => asked).toBe(1);
  await clock.advance(59_000);
  expect(outcome).toBe("waits");
  await clock.advance(1000);
  await call;
  expect(outcome).toContain("has not sent its answer to sessions.patch in 60 s");
});

test("a missing gateway is told apart from a server that is not a gateway", async () => {
  const server: Server = createServer((socket) =>
    socket.resume().end("HTTP/1.1 404 Not Found\r\n\r\n"),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await expect(open(`ws://127.0.0.1:${port}`).hello()).rejects.toMatchObject({
    code: "PROTOCOL",
    hint: "check the address: --openclaw <ws-url>",
  });
  server.close();
  await once(server, "close");
  await expect(open(`ws://127.0.0.1:${port}`).hello()).rejects.toMatchObject({
    code: "NETWORK",
    message: `no gateway of OpenClaw is at ws://127.0.0.1:${port}`,
    hint: expect.stringContaining("openclaw gateway run"),
  });
});

test("closing rejects what is open, and later calls", async () => {
  const gateway = await start({
    intercept: ({ method }) => (method === "sessions.describe" ? "handled" : undefined),
  });
  const client = open(gateway.url);
  await client.hello();
  const call = client.call("sessions.describe", { key: "x" });
  const [outcome] = await Promise.allSettled([call, client.close()]);
  expect(outcome).toMatchObject({ reason: { code: "CONNECTION_CLOSED" } });
  await expect(client.hello()).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
  await expect.poll(() => gateway.connections).toBe(0);
});
