// A session behind the front: a real board over real servers, an official MCP client in the agent's place, and the
// client's answers from the test.

import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ClientCapabilities, SessionUpdate } from "@agentclientprotocol/sdk";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import { declineUnattributed } from "../../../src/core/board/decline-unattributed.ts";
import type { SessionEndpoint } from "../../../src/serve/endpoint/session-endpoint.ts";
import { SessionEndpoints } from "../../../src/serve/endpoint/session-endpoints.ts";
import { FrontSession, type FrontSessionOptions } from "../../../src/agent/front/front-session.ts";
import type { SessionClient } from "../../../src/agent/acp/wire/client.ts";
import type { McpServerParams } from "../../../src/agent/acp/wire/params.ts";
import type { Board, SessionBoard } from "../../../src/core/types/board.ts";
import type { ApprovalMode } from "../../../src/core/types/guard-settings.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import { silentLogger } from "../../../src/core/types/logger.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { deferred } from "../../../src/util/deferred.ts";
import { fixture } from "../../support/boards.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { eventually, expectNoProcesses, startedProcesses } from "../../support/processes.ts";

let home: string;
/** The operator's board, which all sessions share. */
let board: Board;
let endpoints: SessionEndpoints;
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "front-"));
  board = await openBoard(
    {
      servers: {
        asks: { ...fixture("asks"), sampling: "ask" },
        echo: { ...fixture("echo"), env: { API_TOKEN: "secret://env/THE_TOKEN" } },
      },
      toolNames: "{server}__{tool}",
      approval: "ask",
      roots: true,
    },
    {
      ...declineUnattributed(silentLogger),
      stateDir: home,
      env: { ...process.env, THE_TOKEN: "s3cr3t-of-the-operator" },
    },
  );
  endpoints = new SessionEndpoints({
    clock: systemClock,
    logger: silentLogger,
    newId: randomUUID,
    random: randomBytes,
    program: { command: "node", args: [], env: {} },
    directory: join(home, "front"),
  });
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(async () => {
  await endpoints.close();
  await board.close();
  await rm(home, { recursive: true });
  expectNoProcesses();
});

type Asked = { method: string; params: JsonObject; signal: AbortSignal | undefined };
type Answer = (asked: Asked) => unknown;

/** The client as the relay gives it: the test answers, and everything is written down. */
class TestClient implements SessionClient {
  readonly asked: Asked[] = [];
  readonly updates: (SessionUpdate & { sessionId: string })[] = [];
  readonly #capabilities: ClientCapabilities;
  readonly #answer: Answer;

  constructor(answer: Answer, capabilities: ClientCapabilities) {
    this.#answer = answer;
    this.#capabilities = capabilities;
  }

  capabilities(): ClientCapabilities {
    return this.#capabilities;
  }

  showsNotices(): boolean {
    return Boolean(this.#capabilities.session?.notices);
  }

  async update(sessionId: string, update: SessionUpdate): Promise<void> {
    this.updates.push({ sessionId, ...update });
  }

  request(method: string, params: object, signal: AbortSignal | undefined): Promise<never> {
    const asked = { method, params: params as JsonObject, signal };
    this.asked.push(asked);
    return Promise.race([
      this.#answer(asked) as Promise<never>,
      new Promise<never>((_, reject) => {
        signal?.addEventListener("abort", () => reject(new Error("withdrawn")));
      }),
    ]);
  }

  async completeElicitation(): Promise<void> {}

  /** What the client shows as text, in order. */
  get told(): string[] {
    return this.updates.flatMap((update) =>
      update.sessionUpdate === "notice"
        ? [update.title]
        : update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
          ? [update.content.text.trim()]
          : [],
    );
  }
}

const choose = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });
const allow: Answer = () => choose("allow");

interface Opened {
  session: FrontSession;
  client: TestClient;
  endpoint: SessionEndpoint;
  agent: Client;
  call: (tool: string, args?: JsonObject) => Promise<string>;
}

interface Setup extends Partial<FrontSessionOptions> {
  answer?: Answer;
  capabilities?: ClientCapabilities;
  mcpServers?: McpServerParams[];
  additionalDirectories?: string[];
  /** Leaves the beginning of the session to the test. */
  isRaw?: boolean;
}

async function openSession({
  answer = allow,
  capabilities = {},
  mcpServers = [],
  additionalDirectories = [],
  isRaw = false,
  ...options
}: Setup = {}): Promise<Omit<Opened, "agent" | "call">> {
  const client = new TestClient(answer, capabilities);
  const endpoint = await endpoints.reserve();
  const session = await FrontSession.open(
    { cwd: home, additionalDirectories, mcpServers },
    {
      client,
      clock: systemClock,
      logger: silentLogger,
      openSession: (request) => board.openSession(request),
      endpoint,
      agentName: () => "scripted-agent",
      ...options,
    },
  );
  closers.push(() => session.close());
  if (!isRaw) {
    session.begin("sess-1");
    session.promptBegins();
  }
  return { session, client, endpoint };
}

async function connect({ http }: SessionEndpoint): Promise<Client> {
  const agent = new Client({ name: "agent", version: "1" });
  const headers = Object.fromEntries(http.headers.map(({ name, value }) => [name, value]));
  const requestInit = { headers };
  await agent.connect(new StreamableHTTPClientTransport(new URL(http.url), { requestInit }));
  closers.push(() => agent.close());
  return agent;
}

/** A session in the middle of a prompt, with an agent that has connected. */
async function open(setup: Setup = {}): Promise<Opened> {
  const opened = await openSession(setup);
  const agent = await connect(opened.endpoint);
  const call = async (name: string, args: JsonObject = {}): Promise<string> =>
    JSON.stringify((await agent.callTool({ name, arguments: args })).content);
  return { ...opened, agent, call };
}

const HI = { text: "hi" };
const SHOWN = {
  sessionUpdate: "tool_call",
  toolCallId: "call-7",
  title: "mcp__plugboard__echo__echo",
  rawInput: HI,
};

describe("approval", () => {
  it.each<[string, { approval?: ApprovalMode }, Partial<ServerConfig>, number]>([
    ["nothing", {}, {}, 0],
    ["never", { approval: "never" }, {}, 0],
    ["ask", { approval: "ask" }, {}, 1],
    // The server is not trusted.
    ["destructive", { approval: "destructive" }, {}, 1],
    ["ask for the server", {}, { approval: "ask" }, 1],
    ["ask for the tool", {}, { approval: { tools: { echo: "ask" } } }, 1],
    ["ask for another tool", {}, { approval: { tools: { add: "ask" } } }, 0],
    ["never for the server", { approval: "ask" }, { approval: "never" }, 0],
  ])("where the configuration sets %s", async (_, general, ofServer, questions) => {
    const servers = { echo: { ...fixture("echo"), ...ofServer } };
    const own = await openBoard({ ...general, servers, toolNames: "{server}__{tool}" });
    closers.push(() => own.close());
    const { session, client, call } = await open({
      openSession: (request) => own.openSession(request),
    });
    // What the agent shows and asks by itself counts for nothing.
    session.sawUpdate(SHOWN);
    expect(await call("echo__echo", HI)).toContain("hi");
    expect(client.asked).toHaveLength(questions);
  });

  it.each<[string, string, string]>([
    ["allow", "hi", "completed"],
    ["reject", "was not approved", "failed"],
  ])(
    "a question shows the call under an id that the agent does not know, and ends it: %s",
    async (option, text, status) => {
      const { session, client, call } = await open({ answer: () => choose(option) });
      session.sawUpdate(SHOWN);
      expect(await call("echo__echo", HI)).toContain(text);
      const toolCallId = expect.stringMatching(/^plugboard-/) as string;
      expect(client.asked).toMatchObject([
        {
          method: "session/request_permission",
          params: {
            sessionId: "sess-1",
            toolCall: { toolCallId, name: "echo__echo", rawInput: HI },
          },
        },
      ]);
      await eventually(() => client.updates.length === 1);
      expect(client.updates).toMatchObject([
        { sessionUpdate: "tool_call_update", toolCallId, status },
      ]);
    },
  );

  it("nobody is asked between prompts, nor before the session has begun", async () => {
    const { session, client, call, endpoint } = await open();
    session.promptEnds();
    expect(await call("echo__echo", HI)).toContain("nobody can be asked between prompts");
    const early = await openSession({ isRaw: true });
    const agent = await connect(early.endpoint);
    const { content } = await agent.callTool({ name: "echo__echo", arguments: HI });
    expect(JSON.stringify(content)).toContain("nobody can be asked between prompts");
    expect([...client.asked, ...early.client.asked]).toEqual([]);
    expect(endpoint.isConnected).toBe(true);
  });

  it.each<[string, (session: FrontSession) => unknown]>([
    ["its prompt is cancelled", (session) => session.cancel()],
    ["its prompt ends", (session) => session.promptEnds()],
    ["its session closes", (session) => session.close()],
  ])("an open question is withdrawn when %s", async (_, end) => {
    const { session, client, agent } = await open({ answer: () => new Promise(() => {}) });
    const call = agent.callTool({ name: "echo__echo", arguments: HI }).catch(String);
    await eventually(() => client.asked.length === 1);
    await end(session);
    expect(client.asked[0]?.signal?.aborted).toBe(true);
    expect(JSON.stringify(await call)).not.toContain('"hi"');
  });

  it("progress says what the call waits for", async () => {
    const { agent } = await open();
    const said: unknown[] = [];
    const onprogress = ({ message }: { message?: string }): void => void said.push(message);
    await agent.callTool({ name: "echo__echo", arguments: HI }, { onprogress });
    expect(said).toContain("waits for approval of echo/echo");
  });
});

describe("calls that the agent leaves open", () => {
  const [begun, goesOn, done, failed] = ["begun", "goes-on", "done", "failed"];
  const show = ({ session }: Pick<Opened, "session">): void => {
    const say = (kind: string, toolCallId: string, status?: string): void =>
      session.sawUpdate({ sessionUpdate: kind, toolCallId, title: "x", status });
    for (const id of [begun, goesOn, done, failed]) say("tool_call", id);
    say("tool_call_update", goesOn, "in_progress");
    say("tool_call_update", done, "completed");
    say("tool_call_update", failed, "failed");
    say("tool_call_update", done);
  };

  it.each<[string, (session: FrontSession) => void, string[]]>([
    ["a prompt that failed", (session) => session.promptEnds(true), [begun, goesOn]],
    ["the end of the agent", (session) => session.agentEnded(), [begun, goesOn]],
    // Some agents go on with calls in the background, and say later how they ended.
    ["a prompt that was answered", (session) => session.promptEnds(), []],
    [
      "a prompt that failed while another is being answered",
      (session) => {
        session.promptBegins();
        session.promptEnds(true);
      },
      [],
    ],
    [
      "a prompt that failed after another, which left them open",
      (session) => {
        session.promptEnds();
        session.promptBegins();
        session.promptEnds(true);
      },
      [],
    ],
  ])("after %s", async (_, end, ended) => {
    const opened = await openSession();
    show(opened);
    end(opened.session);
    const updates = ended.map((toolCallId) => ({
      sessionId: "sess-1",
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "failed",
    }));
    expect(opened.client.updates).toEqual(updates);
  });

  it("are not remembered without end", async () => {
    const { session, client } = await openSession();
    for (let n = 0; n < 5000; n += 1)
      session.sawUpdate({ sessionUpdate: "tool_call", toolCallId: `c${n}`, title: "x" });
    session.agentEnded();
    expect(client.updates).toHaveLength(1000);
    expect(client.updates.at(-1)).toMatchObject({ toolCallId: "c4999" });
  });
});

const FORM = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const ELICIT = { method: "elicitation/create", params: { message: "Who?", requestedSchema: FORM } };
const SAMPLE = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: "Hm?" } }], maxTokens: 9 },
};

describe("a server's question", () => {
  it("goes to the client as a form, with the call that it was asked about", async () => {
    const { client, call } = await open({
      capabilities: { elicitation: { form: {} } },
      answer: ({ method }) =>
        method === "elicitation/create"
          ? { action: "accept", content: { name: "Ada" } }
          : choose("allow"),
    });
    expect(await call("asks__ask", ELICIT)).toContain("Ada");
    expect(client.asked.at(-1)).toMatchObject({
      method: "elicitation/create",
      params: {
        sessionId: "sess-1",
        toolCallId: expect.stringMatching(/^plugboard-/) as string,
        message: "asks asks during ask: Who?",
      },
    });
  });

  it("is declined with a notice if the client cannot show it", async () => {
    const { client, call } = await open();
    expect(await call("asks__ask", ELICIT)).toContain("decline");
    expect(client.told).toEqual([expect.stringContaining("which this editor cannot show")]);
  });

  it.each<[string, string, string]>([
    ["permits it", "allow", "Well."],
    ["does not", "reject", "declined"],
  ])("for a model goes to the operator's, if the client %s", async (_, option, text) => {
    const { client, call } = await open({
      sampling: { handler: () => ({ model: "m", content: { type: "text", text: "Well." } }) },
      answer: ({ params }) =>
        choose(JSON.stringify(params).includes("asks the model") ? option : "allow"),
    });
    expect((await call("asks__ask", SAMPLE)).toLowerCase()).toContain(text.toLowerCase());
    expect(client.asked).toHaveLength(2);
  });

  it("for a model is declined without one, and the client is told how to set one", async () => {
    const { client, call } = await open();
    expect((await call("asks__ask", SAMPLE)).toLowerCase()).toContain("declined");
    expect(client.asked).toHaveLength(1);
    expect(client.told).toEqual([expect.stringContaining('set "model" in the configuration')]);
  });

  it("for roots is answered with the session's directories", async () => {
    const mine = fixture("asks");
    const { call } = await open({
      additionalDirectories: ["/srv/shared"],
      mcpServers: [{ name: "mine", command: mine.command, args: mine.args, env: [] }],
    });
    const roots = await call("mine__ask", { method: "roots/list", params: {} });
    expect(roots).toContain(pathToFileURL(home).href);
    expect(roots).toContain("file:///srv/shared");
  });
});

describe("what the agent gets", () => {
  it("is framed and audited under its name, and no secret of the operator", async () => {
    const { call, agent } = await open({ agentName: () => "some-agent" });
    const environment = await call("echo__env");
    expect(environment).toContain("EXTERNAL_UNTRUSTED_CONTENT");
    // The server has it, and the agent is not shown it.
    expect(environment).toContain("API_TOKEN");
    expect(environment).not.toContain("s3cr3t");
    const { tools } = await agent.listTools();
    expect(JSON.stringify(tools)).not.toContain("s3cr3t");
    const audited = (): JsonObject | undefined =>
      readFileSync(join(home, "audit.jsonl"), "utf8")
        .split("\n")
        .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as JsonObject]))
        .find(({ type, tool }) => type === "call" && tool === "env");
    await eventually(() => audited() !== undefined);
    expect(audited()).toMatchObject({
      server: "echo",
      caller: "some-agent",
      rule: "approval: once",
    });
  });

  it("is the operator's servers and the session's own, and none of the editor's tools", async () => {
    const mine = fixture("echo");
    const { agent } = await open({
      capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
      mcpServers: [{ name: "mine", command: mine.command, args: mine.args, env: [] }],
    });
    const { tools } = await agent.listTools();
    const servers = new Set(tools.map(({ name }) => name.split("__")[0]));
    expect(servers).toEqual(new Set(["asks", "echo", "mine"]));
  });

  it.each<[string, McpServerParams, string]>([
    [
      "a secret of the operator",
      { name: "m", command: "x", args: ["secret://env/THE_TOKEN"], env: [] },
      "mcpServers[0].args[0]: secret:// is allowed only",
    ],
    ["a transport that is unknown", { name: "m", type: "pipe" }, "mcpServers[0].type"],
    ["a server in the client", { name: "m", type: "acp", serverId: "1" }, "mcpServers[0]"],
  ])(
    "a session that brings %s is refused, and its endpoint can be given back",
    async (_, server, message) => {
      const endpoint = await endpoints.reserve();
      closers.push(() => endpoint.close());
      const opening = openSession({ mcpServers: [server], endpoint });
      await expect(opening).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining(message),
      });
      await endpoint.close();
    },
  );
});

describe("what the client is told", () => {
  const broken = fixture("exit-at-once");
  const mcpServers: McpServerParams[] = [
    { name: "a/b", command: "x", args: [], env: [] },
    { name: "broken", command: broken.command, args: broken.args, env: [] },
  ];

  it("is said at once to one that shows notices, after the session has begun, and once", async () => {
    const capabilities = { session: { notices: {} } };
    const { session, client } = await openSession({ capabilities, mcpServers, isRaw: true });
    expect(client.updates).toEqual([]);
    session.begin("sess-1");
    await eventually(() => client.updates.length === 2);
    session.promptBegins();
    session.promptEnds();
    session.promptBegins();
    expect(client.updates).toMatchObject([
      { sessionId: "sess-1", sessionUpdate: "notice", title: expect.stringContaining("a/b") },
      { sessionUpdate: "notice", title: expect.stringMatching(/^broken: /) },
    ]);
  });

  it("is said to others with the next prompt, and once", async () => {
    const { session, client } = await openSession({ mcpServers, isRaw: true });
    session.begin("sess-1");
    const { endpoint } = await openSession();
    await connect(endpoint);
    // The agent's list waits for the servers, so that their fate is known by then.
    expect(client.updates).toEqual([]);
    await eventually(() => {
      session.promptBegins();
      session.promptEnds();
      return client.updates.length >= 2;
    });
    session.promptBegins();
    expect(client.told).toEqual([
      expect.stringContaining("a/b"),
      expect.stringMatching(/^broken: /),
    ]);
    expect(client.updates).toMatchObject([
      { sessionUpdate: "agent_message_chunk" },
      { sessionUpdate: "agent_message_chunk" },
    ]);
  });

  it("is said at the end of the prompt, if it was not known when that began", async () => {
    const opened = deferred<SessionBoard>();
    const { session, client } = await openSession({
      mcpServers: mcpServers.slice(1),
      openSession: async (request) => {
        const own = await board.openSession(request);
        opened.resolve(own);
        return own;
      },
    });
    const own = await opened.promise;
    await eventually(() =>
      own.status().some(({ name, state }) => name === "broken" && state.kind === "backoff"),
    );
    expect(client.updates).toEqual([]);
    session.sawUpdate({ sessionUpdate: "agent_message_chunk" });
    session.promptEnds();
    const text = expect.stringMatching(/^\n\nbroken: .*\n\n$/) as string;
    expect(client.updates).toMatchObject([{ content: { text } }]);
  });

  it("has why the tools are missing, if the agent does not connect within ten seconds", async () => {
    const clock = new ManualClock();
    const capabilities = { session: { notices: {} } };
    const [silent, plain, late] = await Promise.all([
      openSession({ clock, capabilities }),
      openSession({ clock }),
      openSession({ clock }),
    ]);
    for (const { session } of [plain, late]) session.promptEnds();
    await connect((await openSession({ clock, capabilities })).endpoint);
    await clock.advance(9000);
    expect(silent.client.told).toEqual([]);
    await clock.advance(2000);
    const missing = expect.stringMatching(
      /^scripted-agent has not connected to its board after 10 s, so .* because .* --agent-config/,
    );
    expect(silent.client.told).toEqual([missing]);
    // One that has connected by the time of its prompt needs no such word.
    await connect(late.endpoint);
    for (const { session } of [plain, late]) session.promptBegins();
    expect([plain.client.told, late.client.told]).toEqual([[missing], []]);
    await clock.advance(60_000);
    expect(silent.client.told).toHaveLength(1);
  });

  it("waits for some time after the first prompt, if the agent connects with its first prompt", async () => {
    const clock = new ManualClock();
    const capabilities = { session: { notices: {} } };
    const lateConnection = { withinMs: 30_000, hint: "because it is slow." };
    const { session, client } = await openSession({
      clock,
      capabilities,
      lateConnection,
      isRaw: true,
    });
    session.begin("sess-1");
    await clock.advance(100_000);
    session.promptBegins();
    session.promptBegins();
    await clock.advance(29_000);
    expect(client.told).toEqual([]);
    await clock.advance(2000);
    expect(client.told).toEqual([
      "scripted-agent has not connected to its board after 30 s, so it has none of its tools, because it is slow.",
    ]);
  });
});

describe("the end", () => {
  it("leaves nothing of the session's servers, and nothing at its address", async () => {
    const mine = fixture("echo");
    const before = startedProcesses();
    const { session, endpoint, call } = await open({
      mcpServers: [{ name: "mine", command: mine.command, args: mine.args, env: [] }],
    });
    await call("mine__echo", HI);
    expect(startedProcesses()).toHaveLength(before.length + 1);
    await Promise.all([session.close(), session.close()]);
    expect(startedProcesses()).toEqual(before);
    expect((await fetch(endpoint.http.url, { method: "POST" })).status).toBe(404);
    expect(board.status().map(({ name }) => name)).toEqual(["asks", "echo"]);
  });
});
