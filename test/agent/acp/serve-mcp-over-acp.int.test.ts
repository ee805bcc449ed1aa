// Servers that run in the editor: MCP over ACP, with the ACP SDK's own client and provider on the other side.

import { tmpdir } from "node:os";
import { PassThrough, Readable, Writable } from "node:stream";
import {
  client,
  McpOverAcpProvider,
  McpProtocolError,
  type McpRequestHandler,
  methods,
  ndJsonStream,
  RequestError,
} from "@agentclientprotocol/sdk/unstable";
import { describe, expect, it } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import { serveAcp } from "../../../src/agent/acp/serve.ts";
import { EditorServers, workshop } from "./editor-servers.ts";
import { mcpServer, useDesk } from "./harness.ts";

const desk = useDesk();

type Editor = Awaited<ReturnType<typeof desk.open>>;

async function openEditor(options: Parameters<typeof desk.open>[0] = {}) {
  const servers = new EditorServers();
  const editor = await desk.open({ mcpOverAcp: true, equip: servers.equip, ...options });
  return { editor, servers };
}

async function newSession(editor: Editor, ...mcpServers: object[]): Promise<string> {
  const params = { cwd: tmpdir(), mcpServers };
  const { sessionId } = await editor.agent.request<{ sessionId: string }>("session/new", params);
  return sessionId;
}

/** An editor with the workshop, and a session that has it as `shop`. */
async function openWorkshop(options: Parameters<typeof desk.open>[0] = {}) {
  const { editor, servers } = await openEditor(options);
  const shop = workshop();
  const registration = servers.register(editor.connection, "shop", shop.handler);
  const session = await newSession(editor, registration.declaration);
  return { editor, servers, shop, registration, session };
}

async function refusal(work: Promise<unknown>): Promise<RequestError> {
  const error = await work.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RequestError);
  return error as RequestError;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(condition()).toBe(true);
}

describe("a server in the editor", () => {
  it("is used like any other: tools, a resource, a prompt and a failure", async () => {
    const { editor, session } = await openWorkshop();
    expect(await editor.ask(session, "/mcp")).toBe("- shop (in the editor): ready, 5 tools");
    expect(await editor.call(session, "shop/shout", { text: "hey" })).toBe("HEY");
    expect(await editor.call(session, "shop/break")).toContain("the saw is blunt");
    expect(editor.ended(session).at(-1)?.status).toBe("failed");
    expect(await editor.ask(session, "/read workshop://plan")).toContain("first measure, then cut");
    expect(await editor.ask(session, "/shop:greet")).toContain("Hello, workshop");
    expect(editor.board.status()).toEqual([]);
  });

  it("reports the progress of a call before its answer", async () => {
    const { editor, session } = await openWorkshop();
    expect(await editor.call(session, "shop/count")).toBe("counted");
    // The client gets no more of it than it can show.
    const shown = JSON.stringify(editor.of(session, "tool_call_update"));
    expect(shown).toContain("1/3 number 1");
  });

  it("asks the user in the middle of a call", async () => {
    const { editor, session } = await openWorkshop({
      capabilities: { elicitation: { form: {} } },
      elicit: () => ({ action: "accept", content: { colour: "green" } }),
    });
    expect(await editor.call(session, "shop/form")).toContain("green");
    expect(editor.elicitations.map(({ message }) => message)).toEqual([
      expect.stringContaining("Which colour?"),
    ]);
  });

  it("hears of a cancelled call", async () => {
    const { editor, session, shop } = await openWorkshop();
    const answered = editor.prompt(session, '/call shop/wait {"id":"a"}');
    await until(() => shop.waiting.length > 0);
    await editor.agent.notify(methods.agent.session.cancel, { sessionId: session });
    expect(await answered).toEqual({ stopReason: "cancelled" });
    await until(() => shop.cancelled.length > 0);
    expect(await editor.call(session, "shop/shout", { text: "still here" })).toBe("STILL HERE");
  });

  it("can change its tools", async () => {
    const { editor, session, shop } = await openWorkshop();
    shop.addTool("glue");
    await editor.untilStatus(session, "- shop (in the editor): ready, 6 tools");
    expect(await editor.call(session, "shop/glue")).toBe("this is glue");
  });

  it("stands beside others, and each session has its own", async () => {
    const { editor, servers, session, registration } = await openWorkshop();
    const other = servers.register(editor.connection, "other", workshop().handler);
    const both = await newSession(
      editor,
      registration.declaration,
      other.declaration,
      mcpServer("echo", "echo"),
    );
    expect((await editor.ask(both, "/mcp")).split("\n")).toEqual([
      "- shop (in the editor): ready, 5 tools",
      "- other (in the editor): ready, 5 tools",
      expect.stringContaining("- echo: ready"),
      expect.stringContaining("- other: 5 of its tools are doubles of those of shop"),
    ]);
    expect(await editor.ask(session, "/mcp")).toBe("- shop (in the editor): ready, 5 tools");
    expect(
      await Promise.all([
        editor.call(session, "shop/shout", { text: "mine" }),
        editor.call(both, "shop/shout", { text: "ours" }),
      ]),
    ).toEqual(["MINE", "OURS"]);
    expect(await editor.call(both, "other/shout", { text: "too" })).toBe("TOO");
  });

  it("is not asked any more when its session is closed", async () => {
    const { editor, session, shop } = await openWorkshop();
    const answered = editor.prompt(session, '/call shop/wait {"id":"a"}');
    await until(() => shop.waiting.length > 0);
    await editor.agent.request(methods.agent.session.close, { sessionId: session });
    expect(await answered).toEqual({ stopReason: "cancelled" });
    await until(() => shop.cancelled.length > 0);
  });

  it("fails when the editor withdraws it, and says so", async () => {
    const { editor, session, registration } = await openWorkshop();
    await registration.dispose();
    expect(await editor.call(session, "shop/shout", { text: "hey" })).toContain(
      "the editor does not have this server any more",
    );
    await editor.untilStatus(
      session,
      "- shop: the editor does not have this server any more. Open a new session in the editor [failed]",
    );
  });

  it("ends with an editor that goes away in the middle of a call", async () => {
    const { editor, session, shop } = await openWorkshop();
    const answered = editor.prompt(session, '/call shop/wait {"id":"a"}').catch(() => "gone");
    await until(() => shop.waiting.length > 0);
    await editor.leave();
    expect(await answered).toBe("gone");
    await until(() => shop.cancelled.length > 0);
  });
});

describe("an agent that takes servers in the editor", () => {
  it("says so, and one that does not says how to switch it on", async () => {
    const { editor: on } = await openEditor({ raw: true });
    const off = await desk.open({ raw: true });
    const [yes, no] = await Promise.all([on.initialize(), off.initialize()]);
    expect(yes.agentCapabilities?.mcpCapabilities).toEqual({ http: true, sse: true, acp: true });
    expect(no.agentCapabilities?.mcpCapabilities).toEqual({ http: true, sse: true });
    const { code, message } = await refusal(
      newSession(off, { type: "acp", name: "shop", serverId: "1" }),
    );
    expect(code).toBe(-32602);
    expect(message).toContain("mcpServers[0].type: servers in the editor (MCP over ACP) are");
    expect(message).toContain("plugboard acp --mcp-over-acp");
  });

  it.each([
    [{ type: "acp", name: "shop" }, "mcpServers[0].serverId: is missing"],
    [
      { type: "acp", name: "shop", serverId: "" },
      "mcpServers[0].serverId: expected a text that is not empty",
    ],
    [
      { type: "acp", name: "shop", serverId: 7 },
      "mcpServers[0].serverId: expected a text that is not empty",
    ],
    [
      { type: "pipe", name: "shop", serverId: "1" },
      'unknown transport "pipe"; expected stdio, http, sse or acp',
    ],
  ])("refuses %j", async (server, message) => {
    const { editor } = await openEditor();
    const error = await refusal(newSession(editor, server));
    expect(error.code).toBe(-32602);
    expect(error.message).toContain(message);
  });

  it("opens the session although the editor serves none of its servers", async () => {
    const editor = await desk.open({ mcpOverAcp: true });
    const session = await newSession(editor, { type: "acp", name: "shop", serverId: "1" });
    expect(await editor.ask(session, "/mcp")).toBe(
      "- shop: the editor does not answer requests to its servers. Update the editor: it names a server that it does not serve (mcp/message) [failed]",
    );
  });

  it("keeps its servers when the session is loaded again, and takes the ids of another run", async () => {
    const { editor, servers, registration, session } = await openWorkshop({ keeps: true });
    const again = servers.register(editor.connection, "shop", workshop().handler);
    for (const { declaration } of [registration, again]) {
      const params = { sessionId: session, cwd: tmpdir(), mcpServers: [declaration] };
      await editor.agent.request("session/load", params);
      expect(await editor.call(session, "shop/shout", { text: "back" })).toBe("BACK");
    }
  });
});

describe("an editor that misbehaves", () => {
  const DISCOVERED = {
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: "private",
  };
  const LISTED = { resultType: "complete", ttlMs: 0, cacheScope: "private" };

  /** A server that answers each method with what `results` has for it. */
  function scripted(results: Record<string, unknown>): McpRequestHandler {
    return ({ method }) => {
      const all: Record<string, unknown> = { "server/discover": DISCOVERED, ...results };
      const given = all[method];
      if (given === undefined) throw new McpProtocolError(-32601, "Method not found");
      return given === "never" ? new Promise<never>(() => {}) : { result: given };
    };
  }

  it.each<[what: string, results: Record<string, unknown>, line: string]>([
    [
      "has a server of another era",
      { "server/discover": undefined },
      "the server does not know server/discover, with which MCP over ACP begins. Update the editor, or whatever in it brings the server [failed]",
    ],
    [
      "has a server of another version",
      { "server/discover": { ...DISCOVERED, supportedVersions: ["2027-01-01"] } },
      "the server speaks protocol version 2027-01-01; Plugboard speaks",
    ],
    [
      "answers with something else",
      { "server/discover": "hello" },
      "the server's answer to server/discover is malformed. Check that it is an MCP server, and update it [backoff]",
    ],
    [
      "never answers",
      { "server/discover": "never" },
      "the server did not answer within 150 ms. It runs in the editor: see there why it does not answer [backoff]",
    ],
    [
      "lists no tools",
      { "tools/list": "never" },
      "the server did not list its tools within 150 ms",
    ],
  ])("%s", async (_, results, line) => {
    const { editor, servers } = await openEditor();
    const { declaration } = servers.register(editor.connection, "bad", scripted(results));
    const meta = { _meta: { plugboard: { timeout: 150 } } };
    const session = await newSession(editor, { ...declaration, ...meta });
    await expect.poll(() => editor.ask(session, "/mcp")).toContain(line);
  });

  it("loses only the parts of an answer that are wrong, and only the calls that fail", async () => {
    let deep: unknown = "end";
    for (let level = 0; level < 3000; level += 1) deep = [deep];
    const tools = [
      { name: "deep", inputSchema: { type: "object" } },
      { name: "bare", inputSchema: "none" },
      7,
    ];
    const { editor, servers } = await openEditor();
    const { declaration } = servers.register(
      editor.connection,
      "bad",
      scripted({
        "tools/list": { ...LISTED, tools },
        "tools/call": { content: [], structuredContent: { deep } },
      }),
    );
    const session = await newSession(editor, declaration);
    expect(await editor.ask(session, "/mcp")).toContain("- bad (in the editor): ready, 1 tool");
    await editor.call(session, "bad/deep");
    expect(editor.ended(session).at(-1)).toMatchObject({
      status: "failed",
      rawOutput: {
        failure: {
          code: "SERVER_ERROR",
          message: expect.stringContaining("nested more than 1000 levels deep"),
        },
      },
    });
  });

  it("can notify what it likes about requests that nobody made", async () => {
    const { editor, session } = await openWorkshop();
    for (const params of [
      undefined,
      null,
      "words",
      {},
      { serverId: "shop", requestId: "none", method: "notifications/progress", params: {} },
      { serverId: 1, requestId: {}, method: [], params: 7 },
    ]) {
      await editor.agent.notify("mcp/message", params);
    }
    expect(await editor.call(session, "shop/shout", { text: "fine" })).toBe("FINE");
  });
});

it("serves the SDK's own client, from its builder of sessions", async () => {
  const provider = new McpOverAcpProvider();
  const board = await openBoard({ servers: {} });
  const [toAgent, toClient] = [new PassThrough(), new PassThrough()];
  const served = serveAcp({
    input: Readable.toWeb(toAgent) as ReadableStream<Uint8Array>,
    output: Writable.toWeb(toClient),
    openSession: (request) => board.openSession(request),
    mcpOverAcp: true,
  });
  const fromAgent = Readable.toWeb(toClient) as ReadableStream<Uint8Array>;
  const said = await client({ name: "editor" })
    .onRequest(methods.client.mcp.message, provider.handleRequest)
    .connectWith(ndJsonStream(Writable.toWeb(toAgent), fromAgent), async (agent) => {
      await agent.request(methods.agent.initialize, { protocolVersion: 1 });
      const { handler } = workshop();
      const { declaration } = provider.registerServer(agent, { name: "shop", handler });
      const session = await agent.buildSession(tmpdir()).withMcpServer(declaration).start();
      void session.prompt("/read workshop://plan");
      return session.readText();
    });
  toAgent.end();
  await served;
  await board.close();
  expect(said).toContain("first measure, then cut");
});
