// An attached command sees what it would see on a board of its own: one suite of questions, put to the agent's own
// boards and to the boards at the other end of a channel.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBoard } from "../../../../src/core/board/board.ts";
import { parseAgentConfig } from "../../../../src/core/config/parse.ts";
import type { Board, BoardBase, SessionBoard } from "../../../../src/core/types/board.ts";
import type { SessionOptions } from "../../../../src/core/types/board-options.ts";
import type { TraceEntry } from "../../../../src/core/types/trace.ts";
import { openAttachedBoard } from "../../../support/attached.ts";
import { fixture } from "../../../support/boards.ts";
import { closeChannelsAfterAll, openChannel } from "../../../support/channels.ts";
import { eventually, expectNoProcesses } from "../../../support/processes.ts";
import { answer, heard, plain, type Question } from "../../../support/same-answers.ts";

const agent = parseAgentConfig({
  servers: {
    echo: fixture("echo"),
    library: fixture("library"),
    asks: fixture("asks"),
    apps: fixture("apps"),
    changing: fixture("list-changed"),
    off: { ...fixture("echo"), enabled: false },
  },
  tools: { deny: ["echo/env", "nothing/at-all"] },
});

let gateway: Board;
const boards: Record<string, Board> = {};
const sessions: Record<string, SessionBoard> = {};

closeChannelsAfterAll();

beforeAll(async () => {
  gateway = await openBoard(agent, { showsApps: true, owner: true });
  const channel = await openChannel({ [agent.agentId]: gateway });
  boards.local = gateway;
  boards.attached = await openAttachedBoard({ agent, channel, owner: true });
  const options: SessionOptions = { cwd: "/", owner: true };
  sessions.local = await gateway.openSession(options);
  sessions.attached = await boards.attached.openSession(options);
});

afterAll(async () => {
  await Promise.all(Object.values(boards).map((board) => board.close()));
  expectNoProcesses();
});

/** What every board answers, whichever it is. */
const QUESTIONS: Record<string, Question<BoardBase>> = {
  tools: (board) => board.tools(),
  "tools with those of apps": (board) => board.tools({ all: true }),
  status: (board) => board.status(),
  instructions: (board) => board.instructions(),
  search: (board) => board.search("add two numbers"),
  "search with several questions": (board) => board.search(["sum", "page of text"], { limit: 3 }),
  "search in one server": (board) => board.search("text", { servers: ["echo"] }),
  "search among all tools": (board) => board.search("app", { all: true }),
  "search for a tool that the rules hide": (board) => board.search("env"),
  "search in no server": (board) => board.search("text", { servers: ["ehco"] }),
  "search for what is no text": (board) => board.search(1 as never),
  "whether models search": (board) => board.toolSearch,
  "add a tool that is not there": async (board) => board.include("echo/fial"),
  "remove a tool of an app": async (board) => board.exclude("apps/refresh"),
  "find by public name": (board) => board.find("mcp__echo__add"),
  "find by server and tool": (board) => board.find("echo/add"),
  "find by the tool's own name": (board) => board.find("progress"),
  "find a tool that the rules hide": (board) => board.find("echo/env"),
  "find a name of two tools": (board) => board.find("crash"),
  "find a mistyped tool": (board) => board.find("echo/ecoh"),
  "find a mistyped own name": (board) => board.find("progres"),
  "find a tool of a mistyped server": (board) => board.find("ehco/echo"),
  "find nothing near": (board) => board.find("qqqqqqqqqq"),
  call: (board) => board.call("echo/echo", { text: "hello" }),
  "call by public name": (board) => board.call("mcp__echo__add", { a: 1, b: 2 }),
  "call with unicode and newlines": (board) => board.call("echo/echo", { text: "ä\n\u2028 漢字" }),
  "call that reports an error": (board) => board.call("echo/fail"),
  "call that the server refuses": (board) => board.call("echo/rpc_error", { code: -32001 }),
  "call of a tool that the rules hide": (board) => board.call("echo/env"),
  "call of a mistyped tool": (board) => board.call("echo/ecoh"),
  "call of a tool of no server": (board) => board.call("nowhere/tool"),
  "call of a disabled server": (board) => board.call("off/echo"),
  "call with deep arguments": (board) => board.call("echo/echo", { text: nested(2000) }),
  "call of a megabyte": async (board) => size(await board.call("echo/big", { bytes: 2 ** 20 })),
  "call with progress": async (board) => {
    const updates: unknown[] = [];
    const onUpdate = (update: unknown): void => void updates.push(update);
    const outcome = await board.call("echo/progress", { steps: 2, ms: 1 }, { onUpdate });
    return { outcome, updates };
  },
  "call that is cancelled": async (board) => {
    const ending = new AbortController();
    const { signal } = ending;
    const outcome = board.call("echo/sleep", { ms: 60_000 }, { signal });
    const ofEcho = (): number | undefined =>
      gateway.status().find(({ name }) => name === "echo")?.calls.inFlight;
    await eventually(() => ofEcho() === 1);
    ending.abort();
    return outcome;
  },
  "call that was cancelled before": (board) =>
    board.call("echo/echo", { text: "x" }, { signal: AbortSignal.abort() }),
  execute: async (board) => (await board.find("echo/add")).execute("id-1", { a: 3, b: 4 }),
  "execute with an error": async (board) => (await board.find("echo/fail")).execute("id-2", {}),
  "execute with progress": async (board) => {
    const updates: unknown[] = [];
    const onUpdate = (update: unknown): void => void updates.push(update);
    const tool = await board.find("echo/progress");
    const result = await tool.execute("id-3", { steps: 2, ms: 1 }, undefined, onUpdate);
    return { result, updates };
  },
  "list resources": (board) => board.resources.list(),
  "list resources of a server": (board) => board.resources.list("library"),
  "list resources of no server": (board) => board.resources.list("libary"),
  "list templates": (board) => board.resources.templates(),
  "read a resource": (board) => board.resources.read("lib:///welcome"),
  "read from a server": (board) => board.resources.read("lib:///rules", { server: "library" }),
  "read by a template": (board) => board.resources.read("lib:///shelf/a"),
  "read a mistyped resource": (board) => board.resources.read("lib:///welcom"),
  "read what the server refuses": (board) =>
    board.resources.read("lib:///none", { server: "library" }),
  "complete a template": (board) =>
    board.resources.complete("lib:///shelf/{shelf}", "shelf", "a", { known: { x: "y" } }),
  "resources for a prompt": (board) => board.resources.block(),
  "resources for a small prompt": (board) => board.resources.context({ maxBytes: 700 }),
  subscribe: async (board) => {
    const write = async (): Promise<void> => {
      await board.resources.subscribe("lib:///rules");
      await board.call("library/write", { uri: "lib:///rules", text: "Be quiet." });
    };
    // Another server reports a change whenever somebody subscribes, as prompts have done just before.
    const event = await heard(board, "resources", write, ({ server }) => server === "library");
    await board.resources.unsubscribe("lib:///rules");
    return event;
  },
  "list prompts": (board) => board.prompts.list(),
  "get a prompt": (board) => board.prompts.get("library/greet", { who: "you" }),
  "get a prompt by its own name": (board) => board.prompts.get("greet", { who: "you" }),
  "get a mistyped prompt": (board) => board.prompts.get("gret", { who: "you" }),
  "a prompt for a model": async (board) =>
    board.prompts.forModel(await board.prompts.get("greet", { who: "you" })),
  "complete a prompt": (board) => board.prompts.complete("library/greet", "who", "a"),
  "events of a call": async (board) => {
    const events: unknown[] = [];
    const off = (["callStart", "call"] as const).map((name) =>
      board.on(name, (event) => void events.push({ ...event, durationMs: 0 })),
    );
    await board.call("echo/echo", { text: "x" }, { callId: "mine" });
    for (const each of off) each();
    return events;
  },
  "log messages": async (board) => {
    board.setLogLevel("debug");
    const event = await heard(board, "log", () =>
      board.call("asks/log", { level: "info", data: "said" }, { callId: "mine" }),
    );
    board.setLogLevel(undefined);
    return event;
  },
};

const SESSION_QUESTIONS: Record<string, Question<SessionBoard>> = {
  notices: (board) => board.notices,
  cwd: (board) => board.cwd,
  "restart a shared server": (board) => board.restart("echo"),
  "restart no server": (board) => board.restart("ecoh"),
  "disable and enable a server": async (board) => {
    const disabled = await board.setEnabled("echo", false);
    const without = board.tools().map(({ name }) => name);
    const call = await board.call("echo/echo", { text: "x" });
    const states = board.status().map(({ name, state }) => [name, state.kind]);
    const enabled = await board.setEnabled("echo", true);
    const withIt = board.tools().map(({ name }) => name);
    return { disabled, without, call, states, enabled, withIt };
  },
  "enable what the configuration disables": (board) => board.setEnabled("off", true),
  wake: (board) => board.wake(),
};

const BOARD_QUESTIONS: Record<string, Question<Board>> = {
  "rules that match nothing": (board) => board.unmatchedRules(),
  refresh: (board) => board.refresh(),
  restart: (board) => board.restart("library"),
  "restart no server": (board) => board.restart("libary"),
  "stop a server, call it and start it again": async (board) => {
    const stopped = await board.stop("library");
    const call = await board.call("library/read", {});
    return { stopped, call, started: await board.restart("library") };
  },
  "stop no server": (board) => board.stop("libary"),
  "sign in to a program": (board) => board.signIn("echo"),
  "sign out of a program": (board) => board.signOut("echo"),
  "a session without a cwd": (board) => board.openSession({ cwd: "relative" }),
};

describe("the attached session is like a local one", () => {
  it.each(Object.entries({ ...QUESTIONS, ...SESSION_QUESTIONS }))("%s", async (_, question) => {
    const expected = await answer(sessions.local, question);
    expect(await answer(sessions.attached, question)).toEqual(expected);
  });
});

describe("the attached board is like a local one", () => {
  it.each(Object.entries({ ...QUESTIONS, ...BOARD_QUESTIONS }))("%s", async (_, question) => {
    const expected = await answer(boards.local, question);
    expect(await answer(boards.attached, question)).toEqual(expected);
  });
});

it.each([
  ["remove a shared server", (board: SessionBoard) => board.remove("echo")],
  ["remove no server", (board: SessionBoard) => board.remove("ecoh")],
])("the attached session is like a local one: %s", async (_, question) => {
  const expected = await answer(sessions.local, question);
  expect(await answer(sessions.attached, question)).toEqual(expected);
});

it.each([
  ["changing/swap", "tools"],
  ["apps/add", "appTools"],
] as const)("all boards hear what %s changes, and list it then", async (tool, event) => {
  const all = [...Object.values(boards), ...Object.values(sessions)];
  const listed = all.map(
    (board) =>
      new Promise((resolve) => {
        const off = board.on(event, (change) => {
          off();
          resolve({ change, tools: plain(board.tools({ all: true })) });
        });
      }),
  );
  await gateway.call(tool);
  const [first, ...others] = await Promise.all(listed);
  for (const each of others) expect(each).toEqual(first);
});

function size({ content }: { content: unknown[] }): number {
  return JSON.stringify(content).length;
}

function nested(levels: number): unknown {
  let value: unknown = "x";
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

describe("a trace", () => {
  it.each(["local", "attached"])("tells the messages of a server, %s", async (which) => {
    const board = boards[which] as Board;
    expect(() => board.trace(() => {}, { server: "ecco" })).toThrow(
      expect.objectContaining({ code: "UNKNOWN_SERVER" }),
    );
    const entries: TraceEntry[] = [];
    const end = board.trace((entry) => entries.push(entry), { server: "echo", maxSize: 1000 });
    await board.call("echo/add", { a: 1, b: 2 });
    await board.call("asks/echo", { text: "of another server" });
    await board.call("echo/big", { bytes: 5000 });
    await end();
    await board.call("echo/add", { a: 3, b: 4 });
    const seen = entries.map((each) => [each.server, each.kind, "from" in each && each.from]);
    expect(seen).toEqual([
      ["echo", "message", "board"],
      ["echo", "message", "server"],
      ["echo", "message", "board"],
      ["echo", "cut", "server"],
    ]);
    expect(entries[1]).toMatchObject({ message: { result: { structuredContent: { sum: 3 } } } });
  });
});

describe("tools that a session adds to those of models, and removes from them", () => {
  const chosen: Question<SessionBoard> = async (session) => {
    const changes: unknown[] = [];
    const off = session.on("tools", (change) => changes.push(change));
    session.include("echo/fail");
    session.exclude("mcp__echo__rpc_error");
    off();
    const tools = session.tools().map(({ name, include }) => [name, include]);
    const found = await session.find("echo/fail");
    return { changes, tools, found, hits: await session.search("fail with an error") };
  };

  it("are the same in an attached one, and in no other session", async () => {
    const options: SessionOptions = { cwd: "/", owner: true };
    await using local = await gateway.openSession(options);
    await using attached = await boards["attached"]!.openSession(options);
    const expected = await answer(local, chosen);
    expect(JSON.stringify(expected)).toContain('["mcp__echo__fail","always"]');
    expect(await answer(attached, chosen)).toEqual(expected);
    const others = sessions["attached"]?.tools().filter(({ include }) => include !== undefined);
    expect(others).toEqual([]);
  });
});
