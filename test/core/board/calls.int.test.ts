// What a caller gives with one call, and what a server's words are when they arrive: on a board over real servers.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { ApprovalRequest } from "../../../src/core/types/approval.ts";
import type { Board, BoardCallOptions } from "../../../src/core/types/board.ts";
import type { CallerOptions, InputRequired } from "../../../src/core/types/caller-options.ts";
import type { LogEvent } from "../../../src/core/types/events.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import type { NativeTool } from "../../../src/core/types/tool.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { closeAll, serve } from "../../fixtures/http/client.ts";
import { closeBoards, fixture, openWith, textOf } from "../../support/boards.ts";

afterEach(closeAll);
// Last, so that it is done first.
closeBoards();

const ERAS = ["legacy", "modern"] as const;
const faithful = (era: string, ...args: string[]) => fixture("faithful", `--era=${era}`, ...args);

function toldBy(outcome: Parameters<typeof textOf>[0]): JsonObject & { _meta?: JsonObject } {
  return JSON.parse(textOf(outcome)) as JsonObject;
}

it("arguments that cannot be read are the caller's fault, and not the server's", async () => {
  const board = await openWith({ servers: { one: faithful("legacy") } });
  const args = Object.defineProperty({}, "x", {
    enumerable: true,
    get: () => {
      throw new TypeError("no x");
    },
  });
  for (const given of [args, { inside: args }]) {
    expect((await board.call("one/told", given)).failure).toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: expect.stringContaining(
        "the arguments cannot be read: no x; the tool was not called",
      ),
    });
  }
  await board.close();
});

describe("who calls", () => {
  it("is on record, and in the question whether the call may be made", async () => {
    const stateDir = temporaryDirectory();
    const asked: ApprovalRequest[] = [];
    const board = await openWith(
      { approval: "ask", servers: { one: faithful("legacy") } },
      { stateDir },
    );
    const own: BoardCallOptions = {
      caller: "laptop",
      onApproval: (request) => {
        asked.push(request);
        return "once";
      },
      // With a listener, the stages pass on a copy of the call.
      onUpdate: () => {},
    };
    expect((await board.call("one/told", {}, own)).failure).toBeUndefined();
    expect((await board.call("one/told", {}, { caller: "phone" })).failure?.code).toBe(
      "NOT_APPROVED",
    );
    await board.close();
    expect(asked.map(({ caller }) => caller)).toEqual(["laptop"]);
    const lines = (await readFile(join(stateDir, "audit.jsonl"), "utf8")).trim().split("\n");
    expect(
      lines
        .map((line) => JSON.parse(line) as JsonObject)
        .map(({ type, caller, outcome }) => ({ type, caller, outcome })),
    ).toEqual([
      { type: "call", caller: "laptop", outcome: "ok" },
      { type: "call", caller: "phone", outcome: "NOT_APPROVED" },
    ]);
  });
});

describe.each(ERAS)("a %s server", (era) => {
  it("gets what the caller adds to _meta, beside what is the host's", async () => {
    const board = await openWith({ servers: { one: faithful(era) } });
    const plain = toldBy(await board.call("one/told"))._meta ?? {};
    const meta = {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "example.com/call": { id: 7 },
      progressToken: "mine",
      "io.modelcontextprotocol/protocolVersion": "1999-01-01",
      other: true,
    };
    const { traceparent, "example.com/call": call } = meta;
    const told = toldBy(await board.call("one/told", {}, { meta }))._meta;
    expect(told).toEqual({
      ...plain,
      progressToken: expect.any(Number) as number,
      traceparent,
      "example.com/call": call,
    });
  });

  it("has its titles, icons and _meta on the board", async () => {
    const board = await openWith({ servers: { one: faithful(era) } });
    const about = (name: string): JsonObject => ({
      title: `The ${name}`,
      icons: [
        { src: `https://icons.example/${name}.png`, mimeType: "image/png", sizes: ["48x48"] },
      ],
      _meta: { "example.com/name": name },
    });
    expect(board.tools().find(({ name }) => name === "mcp__one__told")).toMatchObject({
      ...about("told"),
      ownDescription: "Returns the parameters of its request.",
      annotations: { readOnlyHint: true, title: "What was told" },
    });
    expect(await board.resources.list()).toEqual([
      {
        uri: "note:///a",
        name: "a",
        mimeType: "text/plain",
        size: 5,
        annotations: { audience: ["user"], priority: 0.5 },
        ...about("note"),
        server: "one",
        available: true,
      },
    ]);
    expect(await board.resources.templates()).toMatchObject([about("template")]);
    expect(await board.prompts.list()).toMatchObject([about("prompt")]);
    expect(await board.resources.read("note:///a")).toMatchObject({
      contents: [{ _meta: { part: 1 } }],
      _meta: { "example.com/whole": "read" },
    });
    expect(await board.prompts.get("greet")).toMatchObject({
      _meta: { "example.com/whole": "got" },
    });
  });
});

describe("a server of 2026-07-28 that asks", () => {
  const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
  const first = {
    responses: { first: { action: "accept", content: { key: "a" } } },
    requestState: "first",
  };
  const last = { responses: { second: { action: "decline" } }, requestState: "second" };
  const asked = (round: string) => ({
    inputRequests: {
      [round]: { method: "elicitation/create", params: { message: `The ${round} key?` } },
    },
    requestState: round,
  });

  type Request = (
    board: Board,
    options: CallerOptions,
  ) => Promise<{ inputRequired?: InputRequired | undefined; text: string }>;
  const requests: [string, Request][] = [
    [
      "a tool",
      async (board, options) => {
        const outcome = await board.call("one/ask", {}, options);
        return { ...outcome, text: textOf(outcome) };
      },
    ],
    [
      "a resource",
      async (board, options) => {
        const reading = await board.resources.read("note:///locked", { server: "one", ...options });
        return { ...reading, text: reading.contents[0]?.text ?? "" };
      },
    ],
    [
      "a prompt",
      async (board, options) => {
        const result = await board.prompts.get("one/locked", {}, options);
        return {
          ...result,
          text: textOf({ content: result.messages.map(({ content }) => content) }),
        };
      },
    ],
  ];

  it.each(requests)("gets its answers from the caller, round by round: %s", async (_, request) => {
    const stateDir = temporaryDirectory();
    const board = await openWith({ servers: { one: faithful("modern") } }, { stateDir });
    const options: CallerOptions = { clientCapabilities: capabilities };
    const one = await request(board, { ...options, input: "return" });
    expect(one).toMatchObject({ inputRequired: asked("first"), text: "" });
    const two = await request(board, { ...options, input: first });
    expect(two).toMatchObject({ inputRequired: asked("second"), text: "" });
    const three = await request(board, { ...options, input: last });
    expect(three.inputRequired).toBeUndefined();
    expect(JSON.parse(three.text)).toMatchObject({
      inputResponses: last.responses,
      requestState: "second",
      // Nothing allows the server to use a model or to know of roots.
      _meta: { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } },
    });
    await board.close();
    const lines = (await readFile(join(stateDir, "audit.jsonl"), "utf8")).trim().split("\n");
    const entries = lines.map((line) => JSON.parse(line) as JsonObject);
    expect(entries.flatMap(({ outcome }) => outcome ?? [])).toEqual(["input", "input", "ok"]);
  });

  it("learns what the client can do, as far as the configuration allows it", async () => {
    const told = async (board: Board, options: CallerOptions): Promise<unknown> =>
      toldBy(await board.call("one/told", {}, options))._meta?.[
        "io.modelcontextprotocol/clientCapabilities"
      ];
    const client = { ...capabilities, sampling: { tools: {} }, tasks: {}, experimental: { a: {} } };
    const board = await openWith(
      { servers: { one: { ...faithful("modern"), sampling: "allow", roots: true } } },
      { onElicitation: () => ({ action: "decline" }) },
    );
    expect(await told(board, { input: "return", clientCapabilities: client })).toEqual({
      elicitation: { form: {} },
      sampling: { tools: {} },
      roots: {},
    });
    // Here the board answers, and it has no model.
    expect(await told(board, { clientCapabilities: client })).toEqual({
      elicitation: { form: {} },
      roots: {},
    });
    expect(await told(board, { clientCapabilities: {} })).toEqual({});
    expect(await told(board, {})).toEqual({
      elicitation: { form: {}, url: {} },
      roots: { listChanged: true },
    });
  });

  it("may not ask for what the configuration does not allow", async () => {
    const board = await openWith({ servers: { one: fixture("asks-modern") } });
    const inputRequests = { a: { method: "sampling/createMessage", params: {} } };
    const { failure } = await board.call("one/ask", { inputRequests }, { input: "return" });
    expect(failure).toMatchObject({
      code: "UNSUPPORTED",
      message: expect.stringContaining("(sampling/createMessage) that nobody can give") as string,
    });
  });

  it("has its secrets taken out of the questions, and its state left as it is", async () => {
    const env = { KEY: "s3cr3t-value-of-the-key" };
    const server = { ...fixture("asks-modern"), env: { KEY: "${KEY}" } };
    const board = await openWith({ servers: { one: server } }, { env: { ...process.env, ...env } });
    const inputRequests = { a: { method: "elicitation/create", params: { message: env.KEY } } };
    const { inputRequired } = await board.call("one/ask", { inputRequests }, { input: "return" });
    expect(JSON.stringify(inputRequired?.inputRequests)).not.toContain(env.KEY);
    expect(inputRequired?.requestState).toBe("state");
  });
});

it("answers for a server that speaks an older version by now are refused, and nothing is called", async () => {
  const board = await openWith({ servers: { one: faithful("legacy") } });
  const input = { responses: {}, requestState: "first" };
  const { failure } = await board.call("one/told", {}, { input });
  expect(failure?.code).toBe("UNSUPPORTED");
  expect(failure?.message).toContain("it was not called");
});

describe("instructions", () => {
  it("are those of the servers that are ready, clean and without secrets", async () => {
    const env = { KEY: "s3cr3t-value-of-the-key" };
    const servers = {
      one: {
        ...faithful("legacy", `--instructions=Use ${env.KEY}\u202e well.`),
        env: { KEY: "${KEY}" },
      },
      two: faithful("modern"),
      mute: fixture("no-tools"),
      off: { ...faithful("legacy"), enabled: false },
    };
    const board = await openWith({ servers }, { env: { ...process.env, ...env } });
    expect(board.instructions()).toEqual([
      { server: "one", text: expect.stringMatching(/^Use \[.*\] well\.$/) as string },
      { server: "two", text: "Be careful." },
    ]);
    const session = await board.openSession({ cwd: "/", servers: { own: faithful("legacy") } });
    expect(session.instructions().map(({ server }) => server)).toEqual(["one", "two", "own"]);
  });

  it("are known from an earlier run, as tools are", async () => {
    const stateDir = temporaryDirectory();
    const servers = { one: faithful("legacy"), off: faithful("modern") };
    await (await openWith({ servers }, { stateDir })).close();
    const later = { ...servers, off: { ...servers.off, enabled: false } };
    const board = await openWith({ servers: later }, { stateDir, start: "none" });
    expect(board.status().map(({ state }) => state.kind)).toEqual(["idle", "disabled"]);
    expect(board.instructions()).toEqual([{ server: "one", text: "Be careful." }]);
  });
});

describe("a server's log", () => {
  const messages = [
    { level: "info", logger: "db", data: { rows: 3 } },
    { level: "error", data: "The key is s3cr3t-value-of-the-key." },
  ];

  it.each(ERAS)("is an event of the board, without secrets: %s", async (era) => {
    const env = { KEY: "s3cr3t-value-of-the-key" };
    const server = { ...faithful(era), env: { KEY: "${KEY}" } };
    const board = await openWith({ servers: { one: server } }, { env: { ...process.env, ...env } });
    const logged: LogEvent[] = [];
    board.on("log", (event) => void logged.push(event));
    await board.call("one/log", { messages });
    // The messages come before the answer to the next call.
    await board.call("one/level");
    expect(logged).toEqual([
      { server: "one", level: "info", logger: "db", data: { rows: 3 } },
      {
        server: "one",
        level: "error",
        data: expect.stringMatching(/^The key is \[.*\]\.$/) as string,
      },
    ]);
  });

  it.each(ERAS)("begins at the level that anybody wants: %s", async (era) => {
    const board = await openWith({ servers: { one: faithful(era) } });
    const level = async (): Promise<string> => textOf(await board.call("one/level"));
    expect(await level()).toBe("warning");
    board.setLogLevel("debug");
    expect(await level()).toBe("debug");
    const session = await board.openSession({ cwd: "/" });
    board.setLogLevel("critical");
    session.setLogLevel("notice");
    expect(await level()).toBe("notice");
    await session.close();
    expect(await level()).toBe("warning");
    board.setLogLevel("info");
    await board.restart("one");
    expect(await level()).toBe("info");
  });

  it("names its call where the message comes with the answer, and is for the board that made it", async () => {
    const server = await serve({ era: "modern", answer: "sse", raw: true });
    const board = await openWith({ servers: { one: { url: server.url } } });
    const session = await board.openSession({ cwd: "/" });
    const heard: string[] = [];
    board.on("log", ({ callId, data }) => heard.push(`board ${callId} ${String(data)}`));
    session.on("log", ({ callId, data }) => heard.push(`session ${callId} ${String(data)}`));
    const say = (data: string): JsonObject => {
      const params = JSON.stringify({ level: "error", data });
      const note = `{"jsonrpc":"2.0","method":"notifications/message","params":${params}}`;
      return { line: `[${note},{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}]` };
    };
    await Promise.all([
      board.call("one/raw", say("a"), { callId: "call_a" }),
      session.call("one/raw", say("b"), { callId: "call_b" }),
    ]);
    expect(heard.toSorted()).toEqual(["board call_a a", "session call_b b"]);
  });

  it("reaches every board that shares the server, where its call is not known", async () => {
    const board = await openWith({ servers: { one: faithful("legacy") } });
    const session = await board.openSession({ cwd: "/" });
    const heard: string[] = [];
    board.on("log", ({ server, data }) => heard.push(`board ${server} ${String(data)}`));
    session.on("log", ({ server, data }) => heard.push(`session ${server} ${String(data)}`));
    await session.call("one/log", { messages: [{ level: "error", data: "x" }] });
    await session.call("one/level");
    expect(heard).toEqual(["board one x", "session one x"]);
  });
});

describe("with the tool names {tool}", () => {
  const TOOLS = ["told", "ask", "log", "level"];

  it("the tools of one server keep their names, and rules may use them", async () => {
    const rules = { allow: ["told", "lo*"], deny: ["log"] };
    const board = await openWith({
      toolNames: "{tool}",
      tools: rules,
      servers: { one: faithful("legacy") },
    });
    expect(board.tools().map(({ name }) => name)).toEqual(["told"]);
    expect((await board.call("told")).failure).toBeUndefined();
    expect((await board.call("log")).failure?.code).toBe("REFUSED_BY_POLICY");
  });

  it("the tools of two servers have their server in front", async () => {
    const servers = { one: faithful("legacy"), two: faithful("legacy") };
    const board = await openWith({ toolNames: "{tool}", servers });
    expect(board.tools().map(({ name }) => name)).toEqual(
      ["one", "two"].flatMap((server) => TOOLS.map((tool) => `${server}__${tool}`)),
    );
  });
});

it("names are as long as the configuration allows", async () => {
  const server = "a_server_with_a_long_name";
  const board = await openWith({
    toolNameLength: 32,
    servers: { [server]: faithful("legacy") },
  });
  const names = board.tools().map(({ name }) => name);
  expect(names).toEqual(names.map(() => expect.stringMatching(/^.{1,23}_[0-9a-f]{8}$/) as string));
  expect(new Set(names).size).toBe(names.length);
});

describe("a call whose caller's time is over", () => {
  const hang: NativeTool = {
    name: "hang",
    description: "",
    parameters: { type: "object" },
    execute: () => new Promise(() => {}),
  };
  type Way = (board: Board, signal: AbortSignal) => Promise<unknown>;
  const WAYS: Record<string, Way> = {
    "a tool of a server": (board, signal) => board.call("echo/sleep", { ms: 60_000 }, { signal }),
    "a native tool": (board, signal) => board.call("hang", {}, { signal }),
    "a session": async (board, signal) => {
      const session = await board.openSession({ cwd: temporaryDirectory() });
      return session.call("echo/sleep", { ms: 60_000 }, { signal });
    },
    "an approval": (board, signal) => board.call("asking/echo", { text: "hi" }, { signal }),
  };

  it.each(Object.entries(WAYS))("ends with TIMEOUT: %s", async (_, call) => {
    const asking = { ...fixture("echo"), approval: "ask" as const };
    const board = await openWith(
      { servers: { echo: fixture("echo"), asking } },
      { native: [hang], onApproval: () => new Promise(() => {}) },
    );
    expect(await call(board, AbortSignal.timeout(50))).toMatchObject({
      failure: { code: "TIMEOUT", message: expect.stringContaining("the caller's time was over") },
    });
    const controller = new AbortController();
    const calling = call(board, controller.signal);
    controller.abort(new Error("enough"));
    expect(await calling).toMatchObject({ failure: { code: "CANCELLED" } });
  });

  it("rejects with the reason of the signal as the cause", async () => {
    const board = await openWith({ servers: { library: fixture("library") } });
    const reason = new Error("enough");
    const reading = board.resources.read("lib:///rules", { signal: AbortSignal.abort(reason) });
    await expect(reading).rejects.toMatchObject({ code: "CANCELLED", cause: reason });
  });
});

describe("a call in a session", () => {
  it("is an event of the session's board, and with the session of the agent's board", async () => {
    const board = await openWith({ servers: { echo: fixture("echo") } });
    const session = await board.openSession({ cwd: temporaryDirectory(), id: "mine" });
    const heard: [string, string, string | undefined][] = [];
    for (const [name, from] of [
      ["board", board],
      ["session", session],
    ] as const) {
      from.on("callStart", (event) => heard.push([name, "start", event.session]));
      from.on("call", (event) => heard.push([name, event.tool, event.session]));
    }
    await session.call("echo/echo", { text: "hi" });
    expect(heard).toEqual([
      ["session", "start", undefined],
      ["board", "start", "mine"],
      ["session", "mcp__echo__echo", undefined],
      ["board", "mcp__echo__echo", "mine"],
    ]);
    await board.call("echo/echo", { text: "hi" });
    expect(heard.slice(4)).toEqual([
      ["board", "start", undefined],
      ["board", "mcp__echo__echo", undefined],
    ]);
  });
});

describe("a watcher", () => {
  it("sees the calls that it admits, with all that is known of them, and nothing of others", async () => {
    const say: NativeTool = {
      name: "say",
      description: "Says it.",
      parameters: { type: "object" },
      execute: async (_, { text }) => ({ content: [{ type: "text", text: String(text) }] }),
    };
    const board = await openWith({ servers: {} }, { native: [say] });
    const seen: unknown[] = [];
    let asked = 0;
    const off = board.watchCalls({
      admits: () => {
        asked += 1;
        return asked === 2;
      },
      started: ({ callId }) => seen.push(`${callId} starts`),
      ended: ({ callId, steps, read }) => {
        seen.push(
          callId,
          steps.map(({ stage }) => stage),
          read().args,
        );
        throw new Error("no matter");
      },
    });
    for (const callId of ["1", "2", "3"]) await board.call("say", { text: callId }, { callId });
    off();
    await board.call("say", {}, { callId: "4" });
    expect(asked).toBe(3);
    expect(seen).toEqual(["2 starts", "2", expect.arrayContaining(["the tool"]), { text: "2" }]);
  });
});
