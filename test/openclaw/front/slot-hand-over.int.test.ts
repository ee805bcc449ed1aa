import { randomBytes, randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import { SessionEndpoints } from "../../../src/serve/endpoint/session-endpoints.ts";
import type { HandOver, HandOverRequest, Prepared } from "../../../src/agent/front/hand-over.ts";
import { slotHandOver } from "../../../src/openclaw/front/slot-hand-over.ts";
import type { Board } from "../../../src/core/types/board.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import { type Logger, silentLogger } from "../../../src/core/types/logger.ts";
import { GatewayClient } from "../../../src/openclaw/gateway-client.ts";
import {
  readSlotRecord,
  type Slot,
  slotUrl,
  writeSlotRecord,
  writeSlots,
} from "../../../src/openclaw/slots.ts";
import { type Clock, systemClock } from "../../../src/util/clock.ts";
import {
  type FixtureGateway,
  type GatewayOptions,
  startGateway,
} from "../../fixtures/openclaw/gateway.ts";
import { recordingLogger } from "../../support/logger.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { freePorts } from "../../support/free-ports.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const STALE = {
  version: 1,
  sessionKey: "acp-bridge:old",
  gateway: "/state",
  since: 0,
  isOn: true,
} as const;

let home: string;
let slots: Slot[];
let gateway: FixtureGateway;
const boards: Board[] = [];
const left: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  home = temporaryDirectory();
  const ports = await freePorts(2);
  slots = ports.map((port, index) => ({
    name: `plugboard-${index + 1}`,
    port,
    token: randomUUID(),
  }));
  await writeSlots(home, { version: 1, basePort: 1, slots });
  gateway = await start();
});

afterEach(async () => {
  for (const end of left.splice(0).reverse()) await end();
  await Promise.all(boards.splice(0).map((board) => board.close()));
  await gateway.stop();
});

test("a new session gets a slot of its own, is told nothing of it, and has its tools from its first turn on", async () => {
  const front = openFront();
  const params = { cwd: "/", _meta: { title: "x" } };
  const one = await open(front, "alpha", { kind: "new", params }, "id-1");
  const two = await open(front, "beta", { kind: "new", params }, "id-2");
  expect(one.params).toEqual({ ...params, mcpServers: [] });
  expect(await turn("acp-bridge:id-1")).toEqual(["plugboard-1__alpha"]);
  expect(await turn("acp-bridge:id-2")).toEqual(["plugboard-2__beta"]);
  expect(await turn("acp-bridge:other")).toEqual(["plugboard__old"]);
  expect(overridesOf("acp-bridge:id-1")).toEqual({ "plugboard-1": true, plugboard: false });
  // Where the agent was started again, it is asked with the key.
  expect(await two.prepared.params()).toMatchObject({
    mcpServers: [],
    _meta: { title: "x", sessionKey: "agent:main:acp-bridge:id-2" },
  });
});

test("closing switches the slot off, and frees its port for the next session that finds no other", async () => {
  const front = openFront();
  const { prepared } = await open(front, "alpha", { kind: "new", params: {} }, "id-1");
  expect(await readSlotRecord(home, slots[0]!)).toMatchObject({ sessionKey: "acp-bridge:id-1" });
  await Promise.all([prepared.release(), prepared.release()]);
  expect(overridesOf("acp-bridge:id-1")).toBeUndefined();
  expect(await readSlotRecord(home, slots[0]!)).toMatchObject({ isOn: false });
  for (const [id, slot] of [
    ["id-2", "plugboard-2"],
    ["id-3", "plugboard-1"],
  ] as const) {
    await open(front, "beta", { kind: "new", params: {} }, id);
    expect(overridesOf(`acp-bridge:${id}`)).toMatchObject({ [slot]: true });
  }
  expect(await turn("acp-bridge:id-1")).toEqual(["plugboard__old"]);
});

test("a session gets the slot that it had last, also from another front and after a crash", async () => {
  const before = openFront();
  await open(before, "alpha", { kind: "new", params: {} }, "id-1");
  const { prepared } = await open(before, "beta", { kind: "new", params: {} }, "id-2");
  await turn("acp-bridge:id-2");
  await before.close();
  await prepared.release();
  const request = { kind: "load", params: {}, sessionId: "acp-bridge:id-2" } as const;
  await open(openFront(), "gamma", request);
  expect(await turn("acp-bridge:id-2")).toEqual(["plugboard-2__gamma"]);
});

test.each(["done", "running"])(
  "no turn is lost when OpenClaw ends its MCP session late: the session is %s",
  async (status) => {
    const front = openFront();
    const session = async (tool: string): Promise<Prepared> => {
      const request = { kind: "load", params: {}, sessionId: "acp-bridge:id-1" } as const;
      return (await open(front, tool, request)).prepared;
    };
    gateway.sessions.set("agent:main:acp-bridge:id-1", { status });
    const first = await session("alpha");
    expect(await turn("acp-bridge:id-1")).toEqual(["plugboard-1__alpha"]);
    // As `session/load` with other servers does it: the new board is there before the old one goes.
    const second = await session("beta");
    await first.release();
    expect(await turn("acp-bridge:id-1")).toEqual(["plugboard-2__beta"]);
    // The port is free once OpenClaw has ended its MCP session there.
    await expect.poll(() => fetch(slotUrl(slots[0]!)).catch(() => "free")).toBe("free");
    await second.release();
    // Only a session that does nothing is stopped for that, and does not need the front any more.
    const isStopped = gateway.calls.some(({ method }) => method === "sessions.abort");
    expect(isStopped).toBe(status === "done");
    if (isStopped) await front.close();
    expect(await turn("acp-bridge:id-1")).toEqual(["plugboard__old"]);
  },
);

test("a slot that OpenClaw still holds is given to another session if there is no other", async () => {
  const front = openFront();
  gateway.sessions.set("agent:main:acp-bridge:id-1", { status: "running" });
  const { prepared } = await open(front, "alpha", { kind: "new", params: {} }, "id-1");
  await turn("acp-bridge:id-1");
  await prepared.release();
  await open(front, "beta", { kind: "new", params: {} }, "id-2");
  await open(front, "gamma", { kind: "new", params: {} }, "id-3");
  expect(await turn("acp-bridge:id-3")).toEqual(["plugboard-1__gamma"]);
  expect(await turn("acp-bridge:id-1")).toEqual(["plugboard__old"]);
});

test("a session whose gateway has been gone for a minute does not need its servers", async () => {
  const clock = new ManualClock();
  const { prepared } = await open(
    openFront({ clock }),
    "alpha",
    { kind: "new", params: {} },
    "id-1",
  );
  let isGone = false;
  void prepared.gone?.then(() => (isGone = true));
  const look = async (): Promise<void> => {
    await expect.poll(() => clock.next()).toBeDefined();
    await clock.advance(15_000);
  };
  await look();
  const { port, sessions } = gateway;
  await gateway.stop();
  for (let n = 0; n < 3; n += 1) await look();
  gateway = await start({ port, sessions });
  await look();
  expect(isGone).toBe(false);
  await gateway.stop();
  for (let n = 0; n < 4; n += 1) await look();
  await expect.poll(() => isGone).toBe(true);
  gateway = await start({ port, sessions });
});

test("a session that gets the same slot again for other servers has the tools of those", async () => {
  const front = openFront();
  const { prepared } = await open(front, "alpha", { kind: "new", params: {} }, "id-1");
  expect(await turn("acp-bridge:id-1")).toEqual(["plugboard-1__alpha"]);
  await prepared.release();
  const request = { kind: "load", params: {}, sessionId: "acp-bridge:id-1" } as const;
  const again = await open(front, "beta", request);
  expect(again.prepared.endpoint.http.url).toBe(prepared.endpoint.http.url);
  expect(await turn("acp-bridge:id-1")).toEqual(["plugboard-1__beta"]);
});

test("what a person has switched for the session stays", async () => {
  const own = { mcpServers: { files: false }, webSearch: false };
  gateway.sessions.set("agent:main:work", { toolOverrides: own });
  const front = openFront();
  const request = { kind: "load", params: { _meta: { sessionKey: "agent:main:work" } } } as const;
  const one = await open(front, "alpha", request);
  const two = await open(front, "beta", request);
  expect(gateway.sessions.get("agent:main:work")?.toolOverrides).toMatchObject({
    mcpServers: { files: false, "plugboard-1": true, "plugboard-2": true, plugboard: false },
    webSearch: false,
  });
  await one.prepared.release();
  expect(await turn("agent:main:work")).toEqual(["plugboard-2__beta"]);
  await two.prepared.release();
  expect(gateway.sessions.get("agent:main:work")?.toolOverrides).toEqual(own);
});

test.each<
  [string, Omit<HandOverRequest, "params"> & { params?: JsonObject }, readonly string[], JsonObject]
>([
  [
    "an id of OpenClaw's, loaded",
    { kind: "load", sessionId: "150fedae-5e34-4971-9470-4fa362a868e0" },
    [],
    { sessionKey: "agent:main:acp-bridge:150fedae-5e34-4971-9470-4fa362a868e0" },
  ],
  [
    "an id of OpenClaw's, resumed",
    { kind: "resume", sessionId: "150fedae-5e34-4971-9470-4fa362a868e0" },
    [],
    { sessionKey: "agent:main:acp-bridge:150fedae-5e34-4971-9470-4fa362a868e0" },
  ],
  [
    "a key from the list of sessions",
    { kind: "resume", sessionId: "agent:main:work" },
    [],
    { sessionKey: "agent:main:work" },
  ],
  [
    "an id of a session that nobody has used yet, loaded",
    { kind: "load", sessionId: "250fedae-5e34-4971-9470-4fa362a868e0" },
    [],
    { sessionKey: "agent:main:acp-bridge:250fedae-5e34-4971-9470-4fa362a868e0" },
  ],
  [
    "a key that the client names",
    { kind: "new", params: { _meta: { sessionKey: "agent:b:x" } } },
    ["--session", "agent:c:x"],
    { sessionKey: "agent:b:x" },
  ],
  [
    "a label that the client names",
    { kind: "new", params: { _meta: { sessionLabel: "support inbox", resetSession: true } } },
    [],
    { sessionLabel: "support inbox", sessionKey: "agent:main:support", resetSession: true },
  ],
  [
    "a key on the agent's command line",
    { kind: "new" },
    ["--verbose", "--session", "agent:c:x"],
    { sessionKey: "agent:c:x" },
  ],
  [
    "a label on the agent's command line",
    { kind: "new" },
    ["--session-label=support inbox"],
    { sessionKey: "agent:main:support" },
  ],
])("%s is found, and switched on before OpenClaw hears of it", async (_, request, args, meta) => {
  gateway.sessions.set("agent:main:acp-bridge:150fedae-5e34-4971-9470-4fa362a868e0", {});
  gateway.sessions.set("agent:main:work", {});
  const { prepared, params } = await open(openFront({ args }), "alpha", { params: {}, ...request });
  expect(params).toEqual({ mcpServers: [], _meta: meta });
  expect(await turn(String(meta["sessionKey"]))).toEqual(["plugboard-1__alpha"]);
  await prepared.release();
  expect(overridesOf(String(meta["sessionKey"]))).toBeUndefined();
});

test.each(["agent:main:gone", "350fedae-5e34-4971-9470-4fa362a868e0"])(
  "a session that OpenClaw does not have cannot be resumed: %s",
  async (sessionId) => {
    const front = openFront();
    await expect(front.prepare({ kind: "resume", params: {}, sessionId })).rejects.toMatchObject({
      code: -32_002,
    });
    expect(gateway.sessions.size).toBe(0);
  },
);

test("sessions that open at once get different slots, and one more an error that says how to have more", async () => {
  const [front, other] = [openFront(), openFront()];
  const opening = [front, other, front].map((each) => each.prepare({ kind: "new", params: {} }));
  const outcomes = await Promise.allSettled(opening);
  const prepared = outcomes.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const urls = prepared.map(({ endpoint }) => endpoint.http.url);
  expect(urls.toSorted()).toEqual(slots.map(slotUrl).toSorted());
  expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({
    reason: {
      code: "SERVER_UNAVAILABLE",
      message: "all 2 slots of OpenClaw are in use, one for each open session",
      hint: "close a session, or set up more: 'plugboard openclaw setup --slots 4'",
    },
  });
  await Promise.all(prepared.map((each) => each.release()));
});

test("a slot that a crashed front has left on is switched off for its session before it serves another", async () => {
  const stale = { mcpServers: { "plugboard-1": true, plugboard: false } };
  gateway.sessions.set("agent:main:acp-bridge:old", { toolOverrides: stale });
  await writeSlotRecord(home, slots[0]!, STALE);
  const { prepared } = await open(openFront(), "alpha", { kind: "new", params: {} }, "new");
  expect(overridesOf("acp-bridge:old")).toBeUndefined();
  expect(await turn("acp-bridge:old")).toEqual(["plugboard__old"]);
  expect(await turn("acp-bridge:new")).toEqual(["plugboard-1__alpha"]);
  await prepared.release();
});

test("a session of a crashed front that is gone meanwhile is not made again", async () => {
  await writeSlotRecord(home, slots[0]!, STALE);
  const { prepared } = await open(openFront(), "alpha", { kind: "new", params: {} }, "new");
  expect(gateway.sessions.has("agent:main:acp-bridge:old")).toBe(false);
  await prepared.release();
});

test("a slot that the session of another OpenClaw has left on is not taken, and the log says what to do", async () => {
  await writeSlotRecord(home, slots[0]!, { ...STALE, gateway: "/other" });
  const logger = recordingLogger();
  const front = openFront({ logger });
  const { prepared } = await open(front, "alpha", { kind: "new", params: {} }, "new");
  expect(await turn("acp-bridge:new")).toEqual(["plugboard-2__alpha"]);
  const file = join(home, "openclaw", "slots", "plugboard-1.json");
  expect(logger.lines.map(({ message }) => message)).toEqual([
    `the slot plugboard-1 is left to a session of another OpenClaw; if that one is gone, delete ${file}`,
  ]);
  await prepared.release();
  expect(await readSlotRecord(home, slots[0]!)).toMatchObject({ gateway: "/other" });
});

test("without the gateway a session still closes; the next one on the slot clears what it has left", async () => {
  const front = openFront();
  const { prepared } = await open(front, "alpha", { kind: "new", params: {} }, "id-1");
  const { port, sessions } = gateway;
  await gateway.stop();
  await prepared.release();
  expect(await readSlotRecord(home, slots[0]!)).toMatchObject({ sessionKey: "acp-bridge:id-1" });
  await expect(front.prepare({ kind: "new", params: {} })).rejects.toMatchObject({
    code: "NETWORK",
  });
  gateway = await start({ port, sessions });
  expect(overridesOf("acp-bridge:id-1")).toBeDefined();
  const next = await open(front, "beta", { kind: "new", params: {} }, "id-2");
  expect(overridesOf("acp-bridge:id-1")).toBeUndefined();
  await next.prepared.release();
});

test("a gateway that was restarted has its sessions, and they have their tools", async () => {
  const { prepared } = await open(openFront(), "alpha", { kind: "new", params: {} }, "id-1");
  const { port, sessions } = gateway;
  await gateway.stop();
  gateway = await start({ port, sessions });
  expect(await turn("acp-bridge:id-1")).toEqual(["plugboard-1__alpha"]);
  await prepared.release();
  expect(overridesOf("acp-bridge:id-1")).toBeUndefined();
});

test("a session that is closed while it opens leaves nothing switched on", async () => {
  const front = openFront();
  const prepared = await front.prepare({ kind: "new", params: {} });
  const outcomes = await Promise.allSettled([prepared.opened?.("id-1"), prepared.release()]);
  expect(outcomes[1]).toMatchObject({ status: "fulfilled" });
  expect(overridesOf("acp-bridge:id-1")).toBeUndefined();
  expect(await readSlotRecord(home, slots[0]!)).toMatchObject({ isOn: false });
  await expect(prepared.opened?.("id-1")).resolves.toBeUndefined();
});

test.each<[string, () => Promise<void>, object]>([
  [
    "no slots",
    () => rm(join(home, "openclaw"), { recursive: true }),
    {
      code: "CONFIG_INVALID",
      message: "no slots are set up in OpenClaw's configuration",
      hint: "set them up with 'plugboard openclaw setup'",
    },
  ],
  [
    "slots that OpenClaw does not have",
    () => writeSlots(home, { version: 1, basePort: 1, slots: [{ ...slots[0]!, name: "other" }] }),
    {
      code: "CONFIG_INVALID",
      message: expect.stringContaining("has no server 'other' at http://127.0.0.1:"),
      hint: "write the slots into it with 'plugboard openclaw setup'",
    },
  ],
])("with %s the client is told what to do", async (_, prepare, expected) => {
  await prepare();
  await expect(openFront().prepare({ kind: "new", params: {} })).rejects.toMatchObject(expected);
});

function openFront({
  args = [],
  logger = silentLogger,
  clock = systemClock,
}: { args?: readonly string[]; logger?: Logger; clock?: Clock } = {}): HandOver {
  const endpoints = new SessionEndpoints({
    clock: systemClock,
    logger: silentLogger,
    newId: randomUUID,
    random: randomBytes,
    program: { command: "none", args: [], env: {} },
    directory: home,
  });
  const { url } = gateway;
  const client = new GatewayClient(
    { url, token: "secret" },
    { clock: systemClock, version: "0", timeoutMs: 3000 },
  );
  const front = slotHandOver({
    endpoints,
    gateway: client,
    home,
    args,
    newId: randomUUID,
    clock,
    logger,
  });
  left.push(() => front.close());
  return front;
}

/** As the front does it: the board, then what the agent is asked, then its answer. */
async function open(
  front: HandOver,
  tool: string,
  request: HandOverRequest,
  sessionId = request.sessionId ?? "id",
): Promise<{ prepared: Prepared; params: JsonObject }> {
  const prepared = await front.prepare(request);
  left.push(() => prepared.release());
  const native = {
    name: tool,
    description: tool,
    parameters: { type: "object" },
    execute: async () => ({ content: [{ type: "text" as const, text: "done" }] }),
  };
  const board = await openBoard({ servers: {} }, { native: [native] });
  boards.push(board);
  prepared.endpoint.serve(board);
  const params = await prepared.params();
  await prepared.opened?.(sessionId);
  return { prepared, params };
}

/** The tools of the session's next turn. */
async function turn(key: string): Promise<unknown> {
  const client = new GatewayClient(
    { url: gateway.url, token: "secret" },
    { clock: systemClock, version: "0" },
  );
  try {
    const answer = await client.call("fixture.turn", { key });
    return answer.kind === "result" ? answer.result["tools"] : answer.error;
  } finally {
    await client.close();
  }
}

function overridesOf(key: string): unknown {
  const full = key.startsWith("agent:") ? key : `agent:main:${key}`;
  return gateway.sessions.get(full)?.toolOverrides?.mcpServers;
}

function start(options: GatewayOptions = {}): Promise<FixtureGateway> {
  const servers = slots.map((slot) => [
    slot.name,
    { url: slotUrl(slot), token: slot.token, enabled: false },
  ]);
  return startGateway({
    servers: { ...Object.fromEntries(servers), plugboard: { tools: ["old"] } },
    ...options,
  });
}
