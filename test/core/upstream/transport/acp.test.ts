// MCP over ACP, against a client that answers whatever a test wants.

import { describe, expect, it } from "vitest";
import type { PlugboardError } from "../../../../src/core/types/errors.ts";
import type { McpMessage, McpMessageHooks } from "../../../../src/core/types/mcp-message.ts";
import type { Tap, Tapped } from "../../../../src/core/upstream/tap.ts";
import { AcpTransport } from "../../../../src/core/upstream/transport/acp.ts";
import { excerpt } from "../../../../src/util/text.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

type Answer = (message: McpMessage, hooks: McpMessageHooks) => unknown;

class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

function refuse(code: number, message = "no"): never {
  throw new Refusal(code, message);
}

function setUp(answer: Answer, maxMessageBytes = 1000, tap?: Tap) {
  const clock = new ManualClock();
  const sent: McpMessage[] = [];
  const broken: PlugboardError[] = [];
  const heard: unknown[] = [];
  const transport = new AcpTransport(
    {
      serverId: "shop:1",
      idPrefix: "p",
      clock,
      maxMessageBytes,
      tap,
      quote: (received, max) => excerpt(received, (text) => text, max),
      send: async (message, hooks) => {
        sent.push(message);
        // As a connection does: whoever cancels is answered at once.
        const gone = new Promise((_, reject) => {
          hooks.signal.addEventListener("abort", () => reject(new Refusal(-32800, "cancelled")));
        });
        gone.catch(() => {});
        return Promise.race([gone, (async () => answer(message, hooks))()]);
      },
    },
    (error) => broken.push(error),
  );
  transport.onmessage = (message) => void heard.push(message);
  transport.adoptMeta({ revision: "new" });
  /** Makes a request; an error comes as the value. */
  const ask = (method = "tools/list", options: object = {}) =>
    transport.request(method, {}, { timeout: 1000, ...options }).catch((error: unknown) => error);
  return { clock, transport, sent, broken, heard, ask };
}

const never = () => new Promise(() => {});

function nested(levels: number): unknown {
  let value: unknown = "deep";
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

describe("an answer", () => {
  it.each<[answer: unknown, outcome: unknown]>([
    [{ result: { tools: [] } }, { tools: [] }],
    [{ result: null }, null],
    [{ result: 1, error: { code: 1, message: "x" }, more: true }, 1],
    [
      { error: { code: -32602, message: "no such tool" } },
      { code: "SERVER_ERROR", message: "no such tool (-32602)" },
    ],
    [{ error: {} }, { code: "SERVER_ERROR", message: "no message" }],
    ...[undefined, null, "words", 7, [], {}, { error: null }, { error: "late" }].map(
      (answer): [unknown, unknown] => [
        answer,
        {
          code: "PROTOCOL",
          message: expect.stringContaining("tools/list has neither a result nor an error"),
        },
      ],
    ),
    [{ result: "x".repeat(2000) }, { code: "MESSAGE_TOO_LARGE" }],
    [{ result: Array.from({ length: 2000 }, () => 0) }, { code: "MESSAGE_TOO_LARGE" }],
  ])("%j gives %j", async (answer, outcome) => {
    const { ask, broken } = setUp(() => answer);
    const got = await ask();
    if (got instanceof Error) expect(got).toMatchObject(outcome as object);
    else expect(got).toEqual(outcome);
    expect(broken).toEqual([]);
  });

  it("of any depth is bounded", async () => {
    const { ask } = setUp(() => nested(200_000));
    expect(await ask()).toMatchObject({ code: "MESSAGE_TOO_LARGE" });
  });
});

describe("a client that refuses a request", () => {
  it.each([
    [-33001, { code: "SERVER_UNAVAILABLE", hasNotRun: true, permanent: true }, true],
    [-32601, { code: "UNSUPPORTED", hasNotRun: true, permanent: true }, true],
    [-32800, { code: "CONNECTION_CLOSED", hasNotRun: false }, false],
    [-33002, { code: "SERVER_ERROR", quote: "it fell over", hasNotRun: false }, false],
    [-32602, { code: "SERVER_ERROR", quote: "it fell over" }, false],
  ])("with %i: %j", async (code, failure, ends) => {
    const { ask, broken } = setUp(() => refuse(code, "it fell over"));
    const error = await ask();
    expect(error).toMatchObject(failure);
    expect(broken).toEqual(ends ? [error] : []);
  });

  it("because it is gone ends the conversation", async () => {
    const { ask, broken } = setUp(() => {
      throw new Error("ACP connection closed");
    });
    const error = await ask();
    expect(error).toMatchObject({ code: "CONNECTION_CLOSED", hasNotRun: false });
    expect(broken).toEqual([error]);
  });

  it("because it has too many is asked again, until the call's time is over", async () => {
    let free = false;
    const { ask, clock, sent, broken } = setUp(() => (free ? { result: "now" } : refuse(-33000)));
    const patient = ask();
    await clock.advance(400);
    expect(sent.length).toBeGreaterThan(2);
    free = true;
    await clock.advance(400);
    expect(await patient).toBe("now");
    free = false;
    const late = ask();
    await clock.advance(2000);
    expect(await late).toMatchObject({ code: "SERVER_UNAVAILABLE", hasNotRun: true });
    expect(broken).toEqual([]);
  });

  it("and one that never answers: a call ends when its time is over, and the client hears that nobody waits any more", async () => {
    let signal: AbortSignal | undefined;
    const { ask, clock, broken } = setUp((_, hooks) => {
      ({ signal } = hooks);
      return never();
    });
    const answer = ask();
    await clock.advance(1001);
    expect(await answer).toMatchObject({ code: "TIMEOUT" });
    expect(signal?.aborted).toBe(true);
    expect(broken).toEqual([]);
  });
});

describe("a request", () => {
  it("has an id of its own, the method, and what 2026-07-28 wants in it", async () => {
    const { ask, transport, sent } = setUp(() => ({ result: {} }));
    await ask();
    await transport.callTool("saw", { wood: 1 }, { timeout: 1000 });
    expect(sent).toEqual([
      {
        serverId: "shop:1",
        requestId: "p:1",
        method: "tools/list",
        params: { _meta: { revision: "new" } },
      },
      {
        serverId: "shop:1",
        requestId: "p:2",
        method: "tools/call",
        params: {
          name: "saw",
          arguments: { wood: 1 },
          _meta: { revision: "new", progressToken: expect.any(Number) },
        },
      },
    ]);
  });

  it("is cancelled with its caller, and with the conversation", async () => {
    const signals: AbortSignal[] = [];
    const { ask, transport } = setUp((_, { signal }) => {
      signals.push(signal);
      return never();
    });
    const controller = new AbortController();
    const [first, second] = [ask("tools/list", { signal: controller.signal }), ask()];
    controller.abort();
    expect(await first).toMatchObject({ code: "CANCELLED" });
    await transport.close();
    expect(await second).toMatchObject({ code: "CONNECTION_CLOSED" });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(await ask()).toMatchObject({ code: "CONNECTION_CLOSED", hasNotRun: true });
  });

  it("hears of its progress, which gives it more time, and of no notification that is too large", async () => {
    const hooks: McpMessageHooks[] = [];
    const progress: unknown[] = [];
    const { transport, clock, heard } = setUp((_, given) => {
      hooks.push(given);
      return never();
    });
    const call = transport
      .callTool("saw", {}, { timeout: 1000, ceiling: 5000, onProgress: (at) => progress.push(at) })
      .catch((error: unknown) => error);
    const report = (params: object) =>
      hooks[0]?.onNotification("notifications/progress", { progressToken: 100_000_000, ...params });
    await clock.advance(900);
    report({ progress: 1 });
    await clock.advance(900);
    report({ progress: 2, message: "x".repeat(2000) });
    await clock.advance(101);
    expect(await call).toMatchObject({ code: "TIMEOUT" });
    expect(progress).toEqual([{ progress: 1 }]);
    report({ progress: 3 });
    expect([progress.length, heard]).toEqual([1, []]);
  });
});

describe("a request of the SDK's", () => {
  const LISTEN = { jsonrpc: "2.0" as const, id: "listen:0", method: "subscriptions/listen" };
  const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

  it("hears of its subscription under its own id, then its answer", async () => {
    const { transport, heard } = setUp((message, { onNotification }) => {
      onNotification("notifications/subscriptions/acknowledged", {
        notifications: {},
        _meta: { [SUBSCRIPTION]: message.requestId, more: 1 },
      });
      onNotification("notifications/tools/list_changed", { _meta: { [SUBSCRIPTION]: "another" } });
      return { result: {} };
    });
    await transport.send(LISTEN);
    await expect.poll(() => heard.length).toBe(3);
    expect(heard).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: {}, _meta: { [SUBSCRIPTION]: "listen:0", more: 1 } },
      },
      {
        jsonrpc: "2.0",
        method: "notifications/tools/list_changed",
        params: { _meta: { [SUBSCRIPTION]: "another" } },
      },
      { jsonrpc: "2.0", id: "listen:0", result: {} },
    ]);
  });

  it.each<[what: string, answer: Answer, error: object]>([
    ["refused", () => refuse(-33002, "fell over"), { code: -32000 }],
    ["answered with words", () => "words", { code: -32000 }],
    [
      "answered with half an error",
      () => ({ error: { code: "x" } }),
      { code: -32000, message: "no message" },
    ],
  ])("that is %s is answered with an error that the SDK can read", async (_, answer, error) => {
    const { transport, heard } = setUp(answer);
    await transport.send(LISTEN);
    await expect.poll(() => heard.length).toBe(1);
    expect(heard).toEqual([
      {
        jsonrpc: "2.0",
        id: "listen:0",
        error: expect.objectContaining({ message: expect.any(String), ...error }),
      },
    ]);
  });

  it("is not answered any more once it was given up", async () => {
    const { transport, heard } = setUp(never);
    const controller = new AbortController();
    await transport.send(LISTEN, { requestSignal: controller.signal });
    controller.abort();
    await new Promise(setImmediate);
    expect(heard).toEqual([]);
  });
});

it("the tap hears requests, notifications and answers, each under the id that it has over ACP", async () => {
  const tapped: Tapped[] = [];
  const { ask } = setUp(
    (_, { onNotification }) => {
      onNotification("notifications/message", { data: "x" });
      return { result: { tools: [] } };
    },
    1000,
    { listener: (each) => tapped.push(each) },
  );
  await ask();
  const heard = tapped.map((each) => [each.kind, "text" in each && JSON.parse(each.text)]);
  const jsonrpc = "2.0";
  expect(heard).toEqual([
    ["sent", { jsonrpc, id: "p:1", method: "tools/list", params: { _meta: { revision: "new" } } }],
    ["received", { jsonrpc, method: "notifications/message", params: { data: "x" } }],
    ["received", { jsonrpc, id: "p:1", result: { tools: [] } }],
  ]);
});
