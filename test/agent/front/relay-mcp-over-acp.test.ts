// Servers that run in the client, for an agent that knows nothing of them.

import { client, type ClientApp, type ClientConnection } from "@agentclientprotocol/sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import type { Board } from "../../../src/core/types/board.ts";
import { textOf } from "../../support/boards.ts";
import { EditorServers, workshop } from "../acp/editor-servers.ts";
import { type FrontOptions, type Json, settled, SILENT, startFront } from "./memory-front.ts";

/** The SDK's client before a front. */
async function openEditor(options: FrontOptions = {}) {
  const front = await startFront({ takesAcpServers: true, ...options });
  const servers = new EditorServers();
  const app: ClientApp = client({ name: "editor" }).onRequest(
    "session/request_permission",
    ({ params }) => ({
      outcome: {
        outcome: "selected",
        optionId: params.options.find(({ kind }) => kind === "allow_once")?.optionId ?? "",
      },
    }),
  );
  servers.equip(app);
  const connection: ClientConnection = app.connect({
    readable: new ReadableStream<never>({
      pull: async (controller) => controller.enqueue((await front.next()) as never),
    }),
    writable: new WritableStream<object>({ write: (message) => front.send(message) }),
  });
  return { front, servers, connection };
}

/** A session with the workshop as `shop`, the agent's request for it, and a prompt that stays unanswered. */
async function openWorkshop() {
  const { front, servers, connection } = await openEditor({
    script: { "session/prompt": () => SILENT },
  });
  const shop = workshop();
  const { declaration } = servers.register(connection, "shop", shop.handler);
  const opening = { cwd: "/", mcpServers: [declaration] };
  const { sessionId } = await connection.agent.request<Json>("session/new", opening);
  const [asked = {}] = front.agent().asked("session/new");
  const params = { sessionId, prompt: [{ type: "text", text: "hi" }] };
  const prompt = (): void => {
    void connection.agent.request("session/prompt", params).catch(() => {});
  };
  return { front, shop, asked, prompt };
}

/** The one server that the agent was given, as a board of the agent's own. */
async function openAgentBoard({ params }: Json): Promise<Board> {
  const [{ url, headers }] = params.mcpServers;
  const entries = headers.map(({ name, value }: Json) => [name, value]);
  const board = await openBoard({ servers: { p: { url, headers: Object.fromEntries(entries) } } });
  onTestFinished(() => board.close());
  return board;
}

it("servers in the client are on the board of the session like any other", async () => {
  const { shop, asked, prompt } = await openWorkshop();
  expect(asked["params"].mcpServers).toEqual([
    expect.objectContaining({ type: "http", name: "plugboard" }),
  ]);
  const board = await openAgentBoard(asked);
  prompt();
  const shout = await board.find("p/mcp__shop__shout");
  expect(textOf(await shout.execute("1", { text: "hey" }))).toContain("HEY");
  const controller = new AbortController();
  const waiting = board.call("p/mcp__shop__wait", { id: "a" }, { signal: controller.signal });
  await expect.poll(() => shop.waiting).toEqual(["a"]);
  controller.abort();
  expect(await waiting).toMatchObject({ failure: { code: "CANCELLED" } });
  await expect.poll(() => shop.cancelled).toEqual(["a"]);
  shop.addTool("glue");
  await expect
    .poll(() =>
      board
        .tools()
        .map(({ name }) => name)
        .join(),
    )
    .toContain("glue");
});

it("servers in the client are refused where the front does not take them, and the agent hears nothing of the session", async () => {
  const front = await startFront();
  const mcpServers = [{ type: "acp", name: "shop", serverId: "1" }];
  const { error } = await front.request("session/new", { cwd: "/", mcpServers });
  expect(error).toMatchObject({
    code: -32602,
    message: expect.stringContaining("plugboard acp --mcp-over-acp"),
  });
  expect(front.agent().asked("session/new")).toEqual([]);
});

it("a call ends with a client that goes away", async () => {
  const { front, shop, asked, prompt } = await openWorkshop();
  const board = await openAgentBoard(asked);
  prompt();
  const waiting = board.call("p/mcp__shop__wait", { id: "a" });
  await expect.poll(() => shop.waiting).toEqual(["a"]);
  await front.close();
  expect(await waiting).toMatchObject({ isError: true });
});

describe("what an agent itself asks of a server in the client", () => {
  const message = { serverId: "1", requestId: "r", method: "tools/list", params: {} };

  it("passes both ways as the very same bytes", async () => {
    const front = await startFront({ takesAcpServers: true });
    const request = `{"id":7.0,"jsonrpc":"2.0","method":"mcp/message","params":${JSON.stringify(message)}}`;
    front.agent().say(request);
    await settled();
    expect(front.lines.at(-1)).toBe(request);
    const notification = request.replace('"id":7.0,', "");
    const answer = '{"id":7.0,"jsonrpc":"2.0","result":{"result":{"n":1.0}}}';
    for (const line of [notification, answer, notification]) front.send(line);
    await settled();
    expect(front.agent().lines.slice(-3)).toEqual([notification, answer, notification]);
  });

  it("is refused if the server is on a board, where rules and approval hold", async () => {
    const front = await startFront({ takesAcpServers: true });
    await front.newSession([{ type: "acp", name: "shop", serverId: "1" }]);
    const before = front.lines.length;
    const call = { ...message, method: "tools/call", params: { name: "delete", arguments: {} } };
    front.agent().say({ id: "x", method: "mcp/message", params: call });
    front.agent().say({ method: "mcp/message", params: call });
    await settled();
    expect(front.agent().received.at(-1)).toMatchObject({ id: "x", error: { code: -33001 } });
    // The board's own requests to the server have other ids.
    const passed = front.lines.slice(before).map((line): Json => JSON.parse(line));
    expect(passed.filter(({ params }) => params.requestId === message.requestId)).toEqual([]);
  });

  it("is answered and notified to the process that has asked", async () => {
    const front = await startFront({ takesAcpServers: true, isPerSession: true });
    const opened = [await front.newSession(), await front.newSession()];
    expect(new Set(opened).size).toBe(2);
    const [first, second] = front.agents.slice(-2);
    first?.say({ id: "x", method: "mcp/message", params: message });
    await settled();
    front.send({ method: "mcp/message", params: message });
    await settled();
    expect([first, second].map((agent) => agent?.asked("mcp/message").length)).toEqual([1, 0]);
  });
});
