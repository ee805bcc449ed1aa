// The gateway goes away under an attached board: another one takes over, or the command runs the servers itself.

import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { connect as connectTo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openBoard } from "../../../../src/core/board/board.ts";
import { connectChannel } from "../../../../src/serve/attach/greeting.ts";
import type { Link } from "../../../../src/serve/attach/link.ts";
import { systemClock } from "../../../../src/util/clock.ts";
import { deferred } from "../../../../src/util/deferred.ts";
import { parseAgentConfig } from "../../../../src/core/config/parse.ts";
import type { Board, SessionBoard } from "../../../../src/core/types/board.ts";
import type { BoardEvents } from "../../../../src/core/types/events.ts";
import { type AttachedBoardOptions, openAttachedBoard } from "../../../support/attached.ts";
import { fixture, textOf } from "../../../support/boards.ts";
import {
  closeChannels,
  counted,
  openChannel,
  type TestChannel,
} from "../../../support/channels.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { eventually, expectNoProcesses } from "../../../support/processes.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

const agent = parseAgentConfig({
  servers: {
    echo: fixture("echo"),
    library: fixture("library"),
    mine: { ...fixture("echo"), scope: "session" },
  },
});

const boards: Board[] = [];
const relays: Server[] = [];
let stateDir: string;

beforeEach(() => {
  stateDir = temporaryDirectory();
});

afterEach(async () => {
  await Promise.all(boards.splice(0).map((board) => board.close()));
  for (const relay of relays.splice(0)) relay.close();
  expectNoProcesses();
});

closeChannels();

interface Gateway {
  board: Board;
  channel: TestChannel;
}

async function gateway(config = agent): Promise<Gateway> {
  const board = await openBoard(config, { onlyInSessions: true, stateDir });
  boards.push(board);
  return { board, channel: await openChannel({ [config.agentId]: board }) };
}

/** As if its process were gone. */
async function kill({ board, channel }: Gateway): Promise<void> {
  await channel.channel.close();
  await board.close();
}

interface Face {
  board: Board;
  session: SessionBoard;
  told: string[];
  states: string[];
}

async function attached(
  { channel }: Gateway,
  reattach?: () => Promise<TestChannel | undefined>,
  options: Partial<AttachedBoardOptions> = {},
): Promise<Face> {
  const told: string[] = [];
  const states: string[] = [];
  const board = await openAttachedBoard({
    agent,
    channel,
    onlyInSessions: true,
    stateDir,
    ...(reattach && { reattach }),
    onLost: (message) => void told.push(message),
    ...options,
  });
  boards.push(board);
  const session = await board.openSession({ cwd: "/" });
  session.on("server", ({ server, state }) => void states.push(`${server} ${state.kind}`));
  return { board, session, told, states };
}

const pidOf = async (board: Pick<Board, "call">): Promise<number> =>
  Number(textOf(await board.call("echo/pid")));

describe("another gateway takes over", () => {
  it("calls in flight fail, those made meanwhile wait, and everything goes on", async () => {
    const first = await gateway();
    const next: { gateway?: Gateway } = {};
    const { board, session, told, states } = await attached(
      first,
      async () => next.gateway?.channel,
    );
    const mine = textOf(await session.call("mine/pid"));
    const traced: string[] = [];
    const endTrace = board.trace((entry) => void traced.push(JSON.stringify(entry)));
    const running = session.call("echo/sleep", { ms: 60_000 });
    await eventually(() => traced.some((entry) => entry.includes('"name":"sleep"')));
    // A trace is no request that a gateway would wait for when it stops.
    expect(first.channel.channel.inFlight).toBe(1);
    await kill(first);
    expect(await running).toMatchObject({
      isError: true,
      failure: { code: "SERVER_UNAVAILABLE", mayHaveRun: true },
    });
    // These wait for the next gateway, which does not run yet.
    const waiting = [
      session.call("echo/echo", { text: "waited" }),
      board.call("echo/echo", { text: "waited" }),
      session.resources.read("lib:///rules"),
      board.find("progress"),
    ] as const;
    expect(session.status().find(({ name }) => name === "echo")?.state.kind).toBe("starting");
    expect(textOf(await session.call("mine/pid"))).toBe(mine);
    next.gateway = await gateway();
    const [one, other, reading, tool] = await Promise.all(waiting);
    expect([textOf(one), textOf(other)]).toEqual(["waited", "waited"]);
    expect(reading.contents).toMatchObject([{ text: "Be quiet." }]);
    expect(tool.name).toBe("mcp__echo__progress");
    await endTrace();
    expect(traced.some((entry) => entry.includes('"text":"waited"'))).toBe(true);
    expect(await pidOf(session)).toBe(await pidOf(next.gateway.board));
    expect(told).toEqual([
      "the gateway that runs the servers of agent 'default' has stopped; calls wait for what takes its place",
      "another gateway runs the servers of agent 'default' now",
    ]);
    const ofEcho = states.filter((each) => each.startsWith("echo"));
    expect([ofEcho[0], ofEcho.at(-1)]).toEqual(["echo starting", "echo ready"]);
    expect(textOf(await session.call("mine/pid"))).toBe(mine);
  });

  it("the session is as it was: disabled servers, log level, subscriptions", async () => {
    const first = await gateway();
    const next: { gateway?: Gateway } = {};
    const { session } = await attached(first, async () => next.gateway?.channel);
    const events: unknown[] = [];
    session.on("resources", (event) => void events.push(event));
    await session.resources.subscribe("lib:///rules");
    await session.setEnabled("echo", false);
    await kill(first);
    next.gateway = await gateway();
    expect(await session.call("echo/echo", { text: "x" })).toMatchObject({
      failure: { code: "SERVER_UNAVAILABLE", message: expect.stringContaining("disabled") },
    });
    events.length = 0;
    const { board } = next.gateway;
    let subscribed = "";
    while (subscribed === "") subscribed = textOf(await board.call("library/subscriptions"));
    await board.call("library/write", { uri: "lib:///rules", text: "Be quiet!" });
    await eventually(() => events.some((event) => JSON.stringify(event).includes("updated")));
    await session.setEnabled("echo", true);
    expect(textOf(await session.call("echo/echo", { text: "back" }))).toBe("back");
  });

  it("tools that were listed before work, and only what differs is told", async () => {
    const first = await gateway();
    const next: { gateway?: Gateway } = {};
    const { session } = await attached(first, async () => next.gateway?.channel);
    const events: BoardEvents["tools"][] = [];
    session.on("tools", (event) => void events.push(event));
    const tool = session.tools().find(({ name }) => name === "mcp__echo__add");
    await kill(first);
    next.gateway = await gateway({
      ...agent,
      servers: agent.servers.filter((each) => each.name !== "library"),
    });
    expect(await tool?.execute("id", { a: 1, b: 2 })).toMatchObject({
      content: [{ type: "text" }],
    });
    await eventually(() => events.length > 0);
    expect(events).toMatchObject([{ added: [], changed: [] }]);
    expect(events[0]?.removed).toContain("mcp__library__write");
    expect(events[0]?.removed).not.toContain("mcp__echo__add");
  });

  it("a gateway that stops in peace ends the running calls, and the next ones wait", async () => {
    const first = await gateway();
    const next: { gateway?: Gateway } = {};
    const { session, told } = await attached(first, async () => next.gateway?.channel);
    const running = session.call("echo/sleep", { ms: 150 });
    await eventually(() => first.channel.channel.inFlight === 1);
    first.channel.channel.drain();
    await eventually(() => told.length > 0);
    expect(told).toEqual([
      "the gateway that runs the servers of agent 'default' is stopping; calls wait for what takes its place",
    ]);
    const waiting = session.call("echo/echo", { text: "next" });
    next.gateway = await gateway();
    expect(textOf(await running)).toBe("slept 150 ms");
    await kill(first);
    expect(textOf(await waiting)).toBe("next");
  });

  it("and another one again when that one goes away", async () => {
    const first = await gateway();
    const next: { gateway?: Gateway } = {};
    const { session, told } = await attached(first, async () => next.gateway?.channel);
    for (let round = 0; round < 2; round += 1) {
      const before = next.gateway ?? first;
      delete next.gateway;
      await kill(before);
      const waiting = session.call("echo/echo", { text: `round ${round}` });
      next.gateway = await gateway();
      expect(textOf(await waiting)).toBe(`round ${round}`);
    }
    expect(told.filter((each) => each.includes("another"))).toHaveLength(2);
  });
});

describe("no other gateway comes", () => {
  it("the command runs the servers itself, once", async () => {
    const first = await gateway();
    const { board, session, told } = await attached(first);
    const other = await board.openSession({ cwd: "/" });
    const before = session.tools().map(({ name }) => name);
    await kill(first);
    const pids = await Promise.all([pidOf(session), pidOf(other), pidOf(board)]);
    expect(new Set(pids).size).toBe(1);
    expect(session.tools().map(({ name }) => name)).toEqual(before);
    expect(told.at(-1)).toBe(
      "no other gateway has come, so the servers of agent 'default' run in this process now",
    );
    expect(await board.restart("echo")).toMatchObject({ state: { kind: "ready" } });
    expect(await pidOf(session)).not.toBe(pids[0]);
    const late = await board.openSession({ cwd: "/" });
    expect(await pidOf(late)).toBe(await pidOf(session));
    expect(await board.refresh()).toHaveLength(3);
    expect(board.unmatchedRules()).toEqual([]);
  });

  it("a gateway that cannot be used is treated as if there were none", async () => {
    const first = await gateway();
    const empty = await openChannel({});
    const { session } = await attached(first, async () => empty, { reattachFor: 100 });
    await kill(first);
    expect(await pidOf(session)).toBeGreaterThan(0);
  });

  it("a board that closes meanwhile starts nothing", async () => {
    const first = await gateway();
    const { board, session, told } = await attached(first, async () => undefined);
    await kill(first);
    await eventually(() => told.length === 1);
    const waiting = session.call("echo/echo", { text: "x" });
    await board.close();
    expect(await waiting).toMatchObject({ isError: true, failure: { code: "CANCELLED" } });
    expect(told).toHaveLength(1);
  });

  it("a call that waits can be cancelled", async () => {
    const first = await gateway();
    const { session } = await attached(first, async () => undefined);
    await kill(first);
    const ending = new AbortController();
    const waiting = session.call("echo/echo", { text: "x" }, { signal: ending.signal });
    ending.abort();
    expect(await waiting).toMatchObject({ failure: { code: "CANCELLED" } });
  });
});

it("a board that closes while the next gateway is being attached to leaves no link", async () => {
  const [first, second] = [await gateway(), await gateway()];
  const { channel: counting, links } = counted(second.channel);
  const [asked, held] = [deferred(), deferred()];
  const connect = async (): Promise<Link> => {
    asked.resolve();
    await held.promise;
    return counting.connect();
  };
  const { board } = await attached(first, async () => ({ ...second.channel, connect }));
  await kill(first);
  await asked.promise;
  await board.close();
  held.resolve();
  await eventually(() => links.length > 0 && links.every(({ isOpen }) => !isOpen));
});

it("a session that closes while it is being opened leaves none in the gateway", async () => {
  const first = await gateway();
  const { channel: counting, links } = counted(first.channel);
  const { board } = await attached({ ...first, channel: { ...first.channel, ...counting } });
  const [asked, held, closed] = [deferred(), deferred(), deferred()];
  const open = first.board.openSession.bind(first.board);
  first.board.openSession = async (options) => {
    asked.resolve();
    await held.promise;
    const opened = await open(options);
    const close = opened.close.bind(opened);
    opened.close = () => close().then(closed.resolve);
    return opened;
  };
  const opening = board.openSession({ cwd: "/" }).catch(() => undefined);
  await asked.promise;
  const closing = board.close();
  held.resolve();
  await Promise.all([opening, closing, closed.promise]);
  await eventually(() => links.length === 1 && links.every(({ isOpen }) => !isOpen));
});

it("a link that breaks is opened again, with all sessions", async () => {
  const first = await gateway();
  const { address } = first.channel;
  const relay = await relayTo(address.path);
  const me = { command: "test", pid: process.pid, cwd: "/" };
  const connect = (): Promise<Link> =>
    connectChannel({ ...address, path: relay.path }, me, { clock: systemClock });
  const through = { ...first.channel, connect };
  const { session, told } = await attached({ ...first, channel: through }, async () => through);
  const pid = await pidOf(session);
  expect(first.channel.commands).toHaveLength(1);
  // For the servers, the board and the session.
  expect(relay.sockets).toHaveLength(1);
  relay.sockets.at(-1)?.destroy();
  await eventually(() => told.length === 2);
  expect(told[1]).toContain("another gateway");
  expect(await pidOf(session)).toBe(pid);
  expect(relay.sockets.filter(({ destroyed }) => !destroyed)).toHaveLength(1);
  expect(first.channel.commands).toHaveLength(1);
});

it("a gateway that answers nothing any more is given up after the time of the call", async () => {
  const first = await gateway();
  const { address } = first.channel;
  const relay = await relayTo(address.path);
  const clock = new ManualClock();
  const me = { command: "test", pid: process.pid, cwd: "/" };
  const connect = (): Promise<Link> =>
    connectChannel({ ...address, path: relay.path }, me, { clock });
  const through = { ...first.channel, connect };
  const { session, told } = await attached({ ...first, channel: through }, undefined, {
    toolTimeout: 300,
  });
  const call = session.call("echo/sleep", { ms: 60_000 });
  await eventually(() => first.channel.channel.inFlight === 1);
  for (const socket of relay.sockets) socket.unpipe();
  await clock.advance(300);
  expect(told).toEqual([]);
  await clock.advance(5000);
  expect(textOf(await call)).toBe("the gateway does not answer any more; the call may have run");
  expect(await call).toMatchObject({ failure: { code: "SERVER_UNAVAILABLE", mayHaveRun: true } });
  expect(await pidOf(session)).not.toBe(await pidOf(first.board));
});

/** A way to a socket that can be cut. */
async function relayTo(path: string): Promise<{ path: string; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const other = connectTo(path);
    sockets.push(socket);
    for (const each of [socket, other]) each.on("error", () => {});
    socket.pipe(other).pipe(socket);
    socket.on("close", () => other.destroy());
  });
  const own = join(stateDir, "relay.sock");
  server.listen(own);
  await once(server, "listening");
  relays.push(server);
  return { path: own, sockets };
}

it("a board whose signal aborts is closed, and so is its link", async () => {
  const first = await gateway();
  const ending = new AbortController();
  const { session } = await attached(first, undefined, { signal: ending.signal });
  ending.abort();
  await eventually(() => first.channel.commands.length === 0);
  expect((await session.call("echo/echo")).isError).toBe(true);
});

describe("an edit that only the command has applied", () => {
  it("is in force: nothing is left to a gateway with other rules", async () => {
    const first = await gateway();
    const found: { channel?: TestChannel } = { channel: first.channel };
    const board = await openAttachedBoard({
      agent,
      channel: first.channel,
      onlyInSessions: true,
      reattach: async () => found.channel,
    });
    boards.push(board);
    expect(textOf(await board.call("echo/add", { a: 1, b: 2 }))).toContain("3");
    delete found.channel;
    const rules = [{ place: "tools", deny: ["echo/add"] }];
    await board.reload({ ...agent, guard: { ...agent.guard, rules } });
    expect(await board.call("echo/add", { a: 1, b: 2 })).toMatchObject({
      failure: { code: "REFUSED_BY_POLICY" },
    });
    expect(await pidOf(board)).not.toBe(await pidOf(first.board));
  });

  it("does not wait for itself where the gateway is lost at the same time", async () => {
    const first = await gateway();
    const { board } = await attached(first);
    await kill(first);
    const more = agent.servers.slice(0, 1).map((server) => ({ ...server, name: "more" }));
    const report = await board.reload({ ...agent, servers: [...agent.servers, ...more] });
    expect(report.added).toEqual(["more"]);
    expect(textOf(await board.call("more/echo", { text: "x" }))).toBe("x");
  });
});

it("servers that cannot be taken over fail with the reason, and the board goes on", async () => {
  const path = join(stateDir, "tools.mjs");
  writeFileSync(path, "export default [];");
  const withModule = { ...agent, nativeModules: [{ path, written: "../tools.mjs" }] };
  const first = await gateway(withModule);
  const told: string[] = [];
  const board = await openAttachedBoard({
    agent: withModule,
    channel: first.channel,
    onLost: (message) => void told.push(message),
  });
  boards.push(board);
  rmSync(path);
  await kill(first);
  await eventually(() => told.some((each) => each.startsWith("nothing has taken its place")));
  expect(await board.call("echo/pid")).toMatchObject({ failure: { code: "CONFIG_INVALID" } });
  expect(board.status().find(({ name }) => name === "echo")?.state.kind).toBe("failed");
  expect(textOf(await board.call("mine/echo", { text: "own" }))).toBe("own");
});
