// How long the servers of a session live: through a load with the same servers, until a load with others, the
// session's end, or an hour without a call.

import { type McpServer, methods } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import type { NewResponder } from "../../../src/agent/acp/responder/responder.ts";
import { fixture } from "../../support/boards.ts";
import { eventually, isAlive } from "../../support/processes.ts";
import { mcpServer, useDesk } from "./harness.ts";

const desk = useDesk();
const { session } = methods.agent;
const echo = () => mcpServer("echo", "echo");

type Editor = Awaited<ReturnType<typeof desk.open>>;

async function pidOf(editor: Editor, sessionId: string, server = "echo"): Promise<number> {
  return Number(await editor.call(sessionId, `${server}/pid`));
}

/** Starts a call that runs until something ends it. */
async function longCall(editor: Editor, sessionId: string, ms = 60_000) {
  const turn = editor.prompt(sessionId, `/call echo/sleep {"ms": ${ms}}`);
  const isRunning = () =>
    editor.of(sessionId, "tool_call").some(({ title }) => title.includes("sleep"));
  await editor.until(isRunning);
  return turn;
}

describe("in the middle of a prompt", () => {
  it.each([
    ["load", session.load],
    ["resume", session.resume],
  ] as const)("a %s with the same servers changes nothing", async (_, method) => {
    const editor = await desk.open({ keeps: true });
    const sessionId = await editor.newSession([echo()], desk.directory);
    const pid = await pidOf(editor, sessionId);
    const turn = editor.prompt(sessionId, '/call echo/sleep {"ms": 300}');
    await editor.until(() => editor.of(sessionId, "tool_call").length === 2);
    await editor.agent.request(method, { sessionId, cwd: desk.directory, mcpServers: [echo()] });
    expect(await turn).toEqual({ stopReason: "end_turn" });
    expect(editor.of(sessionId, "tool_call_update").at(-1)).toMatchObject({ status: "completed" });
    expect(await pidOf(editor, sessionId)).toBe(pid);
  });

  it("a load with other servers cancels the prompt, and the record has its end", async () => {
    const pasts: string[] = [];
    const newResponder: NewResponder = (past) => {
      pasts.push(JSON.stringify(past));
      return { answer: async () => "end_turn" };
    };
    const editor = await desk.open({ keeps: true, newResponder });
    const sessionId = await editor.newSession([echo()], desk.directory);
    const pid = await pidOf(editor, sessionId);
    const turn = longCall(editor, sessionId);
    await editor.until(() => editor.of(sessionId, "tool_call").length === 2);
    const mcpServers = [mcpServer("other", "echo")];
    await editor.agent.request(session.load, { sessionId, cwd: desk.directory, mcpServers });
    expect(await turn).toEqual({ stopReason: "cancelled" });
    expect(isAlive(pid)).toBe(false);
    expect(await editor.ask(sessionId, "/mcp")).toBe("- other: ready, 11 tools");
    expect(pasts.at(-1)?.match(/"status":"failed"/g)).toHaveLength(1);
  });

  it("a load with invalid servers is refused, and changes nothing", async () => {
    const editor = await desk.open({ keeps: true });
    const sessionId = await editor.newSession([echo()], desk.directory);
    const pid = await pidOf(editor, sessionId);
    const nonsense: McpServer = { type: "http", name: "a", url: "nonsense", headers: [] };
    const params = { sessionId, cwd: desk.directory, mcpServers: [nonsense] };
    await expect(editor.agent.request(session.load, params)).rejects.toMatchObject({
      code: -32602,
      data: { path: "mcpServers[0].url" },
    });
    expect(await pidOf(editor, sessionId)).toBe(pid);
  });
});

describe("the end of a session", () => {
  it.each<[string, (editor: Editor, sessionId: string) => Promise<unknown>]>([
    ["close", (editor, sessionId) => editor.agent.request(session.close, { sessionId })],
    ["delete", (editor, sessionId) => editor.agent.request(session.delete, { sessionId })],
    [
      "a load with other servers",
      (editor, sessionId) =>
        editor.agent.request(session.load, { sessionId, cwd: desk.directory, mcpServers: [] }),
    ],
    [
      "a resume with other servers",
      (editor, sessionId) =>
        editor.agent.request(session.resume, { sessionId, cwd: desk.directory, mcpServers: [] }),
    ],
  ])("by %s ends its servers and its call, and nothing of other sessions", async (_, end) => {
    const editor = await desk.open({ keeps: true, servers: { shared: fixture("echo") } });
    const [first, second] = [
      await editor.newSession([echo()], desk.directory),
      await editor.newSession([echo()], desk.directory),
    ];
    const pids = [await pidOf(editor, first), await pidOf(editor, second)];
    const shared = await pidOf(editor, second, "shared");
    const turn = longCall(editor, first);
    await editor.until(() => editor.of(first, "tool_call").length === 2);
    await end(editor, first);
    expect(await turn).toEqual({ stopReason: "cancelled" });
    expect(pids.map(isAlive)).toEqual([false, true]);
    expect(await pidOf(editor, second)).toBe(pids[1]);
    expect(await pidOf(editor, second, "shared")).toBe(shared);
  });

  it("comes with the client's end: for sessions that are open, answering or still opening", async () => {
    const editor = await desk.open({ startupWait: 300 });
    const sessionId = await editor.newSession([echo()]);
    const pid = await pidOf(editor, sessionId);
    const turn = longCall(editor, sessionId).catch(() => "gone");
    await editor.until(() => editor.of(sessionId, "tool_call").length === 2);
    const opening = editor.newSession([mcpServer("slow", "never-initialize")]).catch(() => "gone");
    await editor.leave();
    expect(await Promise.all([turn, opening])).toEqual(["gone", "gone"]);
    expect(isAlive(pid)).toBe(false);
  });
});

describe("a session that is idle", () => {
  const idleTimeout = 150;

  it.each<[string, Parameters<typeof desk.open>[0], McpServer[]]>([
    ["its own", { config: { session: { idleTimeout } } }, [echo()]],
    [
      "those that the configuration gives to each session",
      { servers: { echo: { ...fixture("echo"), scope: "session", idleTimeout } } },
      [],
    ],
  ])("stops %s, and its next prompt starts them again", async (_, options, servers) => {
    const states: (string | undefined)[] = [];
    const outcomes: unknown[] = [];
    const newResponder: NewResponder = () => ({
      async answer({ board, tools, call }) {
        states.push(...board.status().map(({ state }) => state.kind));
        const tool = tools().find(({ name }) => name === "mcp__echo__pid");
        if (tool !== undefined) outcomes.push((await call(tool, {})).failure);
        return "end_turn";
      },
    });
    const editor = await desk.open({ ...options, newResponder });
    const sessionId = await editor.newSession(servers);
    const pid = await pidOf(editor, sessionId);
    await eventually(() => !isAlive(pid));
    await editor.untilStatus(sessionId, "- echo: idle, 11 tools");
    expect(await editor.ask(sessionId, "/tools crash")).toContain("echo/crash");
    await editor.prompt(sessionId, "Hello again");
    expect(states).toEqual(["starting"]);
    expect(outcomes).toEqual([undefined]);
  });

  it("keeps shared servers running, and lazy ones start only with a call", async () => {
    const states: string[] = [];
    const newResponder: NewResponder = () => ({
      async answer({ board }) {
        states.push(...board.status().map(({ name, state }) => `${name} ${state.kind}`));
        return "end_turn";
      },
    });
    const editor = await desk.open({
      newResponder,
      servers: { shared: { ...fixture("echo"), idleTimeout }, busy: fixture("echo") },
      config: { session: { idleTimeout, lazy: true } },
    });
    const sessionId = await editor.newSession([echo()]);
    const pids = [await pidOf(editor, sessionId), await pidOf(editor, sessionId, "shared")];
    const busy = await pidOf(editor, sessionId, "busy");
    await eventually(() => !pids.some(isAlive));
    await eventually(() => editor.board.status()[0]?.state.kind === "idle");
    await editor.untilStatus(sessionId, "- echo: idle, 11 tools");
    await editor.prompt(sessionId, "Hello again");
    expect(states).toEqual(["shared idle", "busy ready", "echo idle"]);
    expect(isAlive(busy)).toBe(true);
    expect(await pidOf(editor, sessionId)).not.toBe(pids[0]);
  });
});
