// A session of an attached command with servers and tools of its own is like the same session on one board.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBoard } from "../../../../src/core/board/board.ts";
import { parseAgentConfig } from "../../../../src/core/config/parse.ts";
import type { Board, SessionBoard } from "../../../../src/core/types/board.ts";
import type { SessionOptions } from "../../../../src/core/types/board-options.ts";
import type { NativeTool } from "../../../../src/core/types/tool.ts";
import { openAttachedBoard } from "../../../support/attached.ts";
import { fixture } from "../../../support/boards.ts";
import { closeChannelsAfterAll, openChannel } from "../../../support/channels.ts";
import { eventually, expectNoProcesses } from "../../../support/processes.ts";
import { answer, heard, plain, type Question } from "../../../support/same-answers.ts";

const agent = parseAgentConfig({
  servers: {
    echo: fixture("echo"),
    library: fixture("library"),
    mine: { ...fixture("library", "--scheme=mine"), scope: "session" },
  },
  tools: { deny: ["*/crash", "notes/subscriptions"] },
});

const greet: NativeTool = {
  name: "greet",
  description: "Greets.",
  parameters: { type: "object" },
  execute: (id, args) => ({ content: [{ type: "text", text: `${id} ${JSON.stringify(args)}` }] }),
};

/** Brings a server, and one that replaces the agent's. */
const brought: SessionOptions = {
  cwd: "/",
  servers: { notes: fixture("library", "--scheme=notes"), echo: fixture("list-changed") },
  native: [greet],
};

const boards: Record<string, Board> = {};
const sessions: Record<string, SessionBoard> = {};

closeChannelsAfterAll();

beforeAll(async () => {
  const options = { onlyInSessions: true, resourceTools: true } as const;
  boards.gateway = await openBoard(agent, options);
  boards.local = await openBoard(agent, options);
  const channel = await openChannel({ [agent.agentId]: boards.gateway });
  boards.attached = await openAttachedBoard({ agent, channel, ...options });
  sessions.local = await boards.local.openSession(brought);
  sessions.attached = await boards.attached.openSession(brought);
});

afterAll(async () => {
  await Promise.all(Object.values(boards).map((board) => board.close()));
  expectNoProcesses();
});

const QUESTIONS: Record<string, Question<SessionBoard>> = {
  tools: (board) => board.tools(),
  status: (board) => board.status(),
  notices: (board) => board.notices,
  instructions: (board) => board.instructions(),
  "find a native tool": (board) => board.find("greet"),
  "find a shared tool": (board) => board.find("library/write"),
  "find a session's tool": (board) => board.find("notes/write"),
  "find a tool of the server that replaces another": (board) => board.find("echo/swap"),
  "find a tool of the server that is replaced": (board) => board.find("echo/add"),
  "find a name that both parts have": (board) => board.find("write"),
  "find a tool of the session by its own name": (board) => board.find("swap"),
  "find a mistyped tool of the session": (board) => board.find("notes/wrote"),
  "find a mistyped shared tool": (board) => board.find("library/wrote"),
  "find a tool of a mistyped server": (board) => board.find("nots/write"),
  "find nothing near": (board) => board.find("qqqqqqqqqq"),
  "call a native tool": (board) => board.call("greet", { a: 1 }, { callId: "c1" }),
  "call it by its canonical name": (board) => board.call("native/greet", {}, { callId: "c2" }),
  "call a shared tool": (board) => board.call("library/asked"),
  "call a session's tool": (board) => board.call("notes/asked"),
  "call a configured session server": (board) => board.call("mcp__mine__asked"),
  "call the server that replaces another": (board) => board.call("echo/stays", { text: "x" }),
  "call the server that is replaced": (board) => board.call("echo/add", { a: 1, b: 2 }),
  "call a tool that the rules hide": (board) => board.call("notes/subscriptions"),
  "call a shared tool that the rules hide": (board) => board.call("library/crash"),
  "call nothing": (board) => board.call("mcp__notes__wrote"),
  "execute a native tool": async (board) => (await board.find("greet")).execute("c3", { b: 2 }),
  "list resources": async (board) => (await board.resources.list()).sort(byUri),
  "list resources of each server": (board) =>
    Promise.all(["library", "notes", "mine"].map((name) => board.resources.list(name))),
  "list resources of no server": (board) => board.resources.list("note"),
  "read a shared resource": (board) => board.resources.read("lib:///welcome"),
  "read a session's resource": (board) => board.resources.read("notes:///welcome"),
  "read by a session's template": (board) => board.resources.read("notes:///shelf/x"),
  "read by a shared template": (board) => board.resources.read("lib:///shelf/x"),
  "read a mistyped resource": (board) => board.resources.read("notes:///welcom"),
  "read what nobody lists": (board) => board.resources.read("zzz:///q"),
  "complete a session's template": (board) =>
    board.resources.complete("notes:///shelf/{shelf}", "shelf", "a"),
  "complete a shared template": (board) =>
    board.resources.complete("lib:///shelf/{shelf}", "shelf", "a"),
  "subscribe to a session's resource": async (board) => {
    const event = await heard(board, "resources", async () => {
      await board.resources.subscribe("notes:///rules");
      await board.call("notes/write", { uri: "notes:///rules", text: "Be quiet." });
    });
    await board.resources.unsubscribe("notes:///rules");
    return event;
  },
  "resources for a prompt": async (board) =>
    (await board.resources.block()).shown.map(({ uri }) => uri).sort(),
  "a model lists resources": (board) =>
    board.call("list_resources", { query: "welcome notes" }, { callId: "c4" }),
  "a model reads a shared resource": (board) =>
    board.call("read_resource", { uri: "lib:///rules" }, { callId: "c5" }),
  "a model reads a session's resource": (board) =>
    board.call("read_resource", { uri: "notes:///rules" }, { callId: "c6" }),
  "a model reads what is not offered": (board) =>
    board.call("read_resource", { uri: "notes:///picture" }, { callId: "c7" }),
  "list prompts": async (board) =>
    (await board.prompts.list()).map(({ server, name }) => `${server}/${name}`).sort(),
  "get prompts": (board) =>
    Promise.all(
      ["notes/greet", "library/greet"].map((name) => board.prompts.get(name, { who: "you" })),
    ),
  "a session's prompt for a model": async (board) =>
    board.prompts.forModel(await board.prompts.get("notes/greet", { who: "you" })),
  "get a mistyped prompt": (board) => board.prompts.get("notes/gret", { who: "you" }),
  "restart a session's server": (board) => board.restart("notes"),
  "restart a shared server": (board) => board.restart("library"),
  "disable and enable a session's server": (board) => withoutServer(board, "notes"),
  "disable and enable a shared server": (board) => withoutServer(board, "library"),
  "add a server that is there": (board) => board.add("notes", fixture("echo")),
  "add an invalid server": (board) => board.add("bad", { command: "" }),
  "remove a configured server": (board) => board.remove("mine"),
  wake: (board) => board.wake(),
};

describe("the attached session is like one on one board", () => {
  it.each(Object.entries(QUESTIONS))("%s", async (_, question) => {
    const expected = await answer(sessions.local, question);
    expect(await answer(sessions.attached, question)).toEqual(expected);
  });

  it("when the server that replaces another leaves and comes back, too", async () => {
    const removed: unknown[] = [];
    for (const board of [sessions.local, sessions.attached]) {
      await board?.remove("echo");
      // The gateway is told, and tells what it has now.
      await eventually(() => board?.tools().some(({ name }) => name === "mcp__echo__add") ?? false);
      removed.push(await answer(board, look));
      await board?.add("echo", fixture("list-changed"));
      removed.push(await answer(board, look));
    }
    expect(removed.slice(2)).toEqual(removed.slice(0, 2));
  });

  it("tells of the board's own status where session servers are", async () => {
    const expected = await answer(boards.local, (board) => board.status());
    expect(await answer(boards.attached, (board) => board.status())).toEqual(expected);
  });
});

async function look(board: SessionBoard): Promise<unknown> {
  return plain({
    tools: board.tools().map(({ name }) => name),
    notices: board.notices,
    status: board.status(),
    add: await board.call("echo/add", { a: 1, b: 2 }),
    stays: await board.call("echo/stays", { text: "x" }),
  });
}

async function withoutServer(board: SessionBoard, server: string): Promise<unknown> {
  const disabled = await board.setEnabled(server, false);
  const tools = board.tools().map(({ name }) => name);
  const states = board.status().map(({ name, state }) => [name, state.kind]);
  const call = await board.call(`${server}/asked`);
  const enabled = await board.setEnabled(server, true);
  return { disabled, tools, states, call, enabled };
}

function byUri({ uri: one }: { uri: string }, { uri: other }: { uri: string }): number {
  return one < other ? -1 : 1;
}
