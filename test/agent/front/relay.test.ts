import { describe, expect, it } from "vitest";
import { ManualClock } from "../../support/manual-clock.ts";
import { type FrontOptions, type Json, settled, SILENT, startFront } from "./memory-front.ts";

const RESUMES = { mcpCapabilities: { http: true }, sessionCapabilities: { resume: {} } };
const CLOSES = { mcpCapabilities: { http: true }, sessionCapabilities: { close: {} } };
const LOADS = { mcpCapabilities: { http: true }, loadSession: true };
const prompt = (sessionId: string) => ({ sessionId, prompt: [{ type: "text", text: "hi" }] });

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

const boardUrl = ([request]: Json[]): string => request?.["params"].mcpServers[0].url as string;

describe("what does not concern MCP passes as the very same bytes", () => {
  const ODD = [
    '{"jsonrpc":"2.0","method":"_x/y","params":{"b":1.0,"a":1e400,"n":-0,"big":12345678901234567890}}',
    ' {"params":{"text":"\\u00e4\\ud83d\\ude00/\\/"},"method":"session/update","jsonrpc":"2.0"}\r',
    '{"jsonrpc":"2.0","id":"7","method":"unknown/method","params":[1,2.50]}',
    '{"jsonrpc":"2.0","id":7.0,"method":"_a","_meta":{"x":null},"params":{"_meta":{"traceparent":"00"}}}',
    '{"jsonrpc":"2.0","id":null,"method":"_a"}',
    '[{"jsonrpc":"2.0","method":"a"}]',
    '{"neither":"request nor answer"}',
  ];

  it.each(ODD)("from the client: %s", async (line) => {
    const front = await startFront();
    front.send(line);
    await settled();
    expect(front.agent().lines.at(-1)).toBe(line);
  });

  it.each(ODD)("from the agent: %s", async (line) => {
    const front = await startFront();
    front.agent().say(line);
    await settled();
    expect(front.lines.at(-1)).toBe(line);
  });

  it.each([
    '{"jsonrpc":"2.0","id":5,"result":{"v":1.50,"x":"\\u0041"},"_meta":{"k":[]}}',
    '{"error":{"code":-1.0,"message":"no","data":{}},"id":5,"jsonrpc":"2.0"}',
  ])("the agent's answer: %s", async (line) => {
    const front = await startFront();
    front.send({ id: 5, method: "_ask" });
    await settled();
    front.agent().say(line);
    await settled();
    expect(front.lines.at(-1)).toBe(line);
  });

  it("the client's answer, under the agent's own id", async () => {
    const front = await startFront();
    front.agent().say({ id: 0, method: "fs/read_text_file", params: { path: "/x" } });
    await settled();
    const line = '{"id":0,"jsonrpc":"2.0","result":{"content":"a\\u0000b","n":1.0}}';
    front.send(line);
    await settled();
    expect(front.agent().lines.at(-1)).toBe(line);
  });

  it("a line of the client that is no message goes to the agent, which says so itself", async () => {
    const front = await startFront();
    front.send("{ this is no JSON");
    await settled();
    expect(front.agent().lines.at(-1)).toBe("{ this is no JSON");
  });
});

describe("initialize", () => {
  const answer = (result: string): FrontOptions => ({
    raw: true,
    script: {
      initialize: (_, agent) => {
        agent.say(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
        return SILENT;
      },
    },
  });

  it.each<[said: string, told: string]>([
    [
      '{"protocolVersion":1.0,"agentCapabilities":{"sessionCapabilities":{"close":{}},"mcpCapabilities":{"http":false,"x":1.0}}}',
      '{"protocolVersion":1.0,"agentCapabilities":{"sessionCapabilities":{"close":{}},"mcpCapabilities":{"http":true,"x":1.0,"sse":true}}}',
    ],
    [
      '{"protocolVersion":1}',
      '{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"close":{}},"mcpCapabilities":{"http":true,"sse":true}}}',
    ],
    [
      '{"agentCapabilities":{"sessionCapabilities":{"list":{}},"mcpCapabilities":null}}',
      '{"agentCapabilities":{"sessionCapabilities":{"list":{},"close":{}},"mcpCapabilities":{"http":true,"sse":true}}}',
    ],
    // The front takes all servers from the client, and none that is in the client.
    [
      '{"agentCapabilities":{"mcpCapabilities":{"acp":true}}}',
      '{"agentCapabilities":{"mcpCapabilities":{"acp":false,"http":true,"sse":true},"sessionCapabilities":{"close":{}}}}',
    ],
  ])("the client hears of http, sse and session/close, and of %s otherwise", async (said, told) => {
    const front = await startFront(answer(said));
    front.send('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}');
    await front.next();
    expect(front.lines).toEqual([`{"jsonrpc":"2.0","id":1,"result":${told}}`]);
  });

  it("servers in the client are advertised where they are taken", async () => {
    const front = await startFront({ takesAcpServers: true, raw: true });
    const { result } = await front.request("initialize");
    expect(result.agentCapabilities.mcpCapabilities).toEqual({ http: true, sse: true, acp: true });
  });

  it("the client's line reaches the agent as it is", async () => {
    const front = await startFront({ raw: true });
    const line = '{"id":1,"method":"initialize","params":{"clientCapabilities":{"fs":{"x":1.0}}}}';
    front.send(line);
    await front.next();
    expect(front.agent().lines).toEqual([line]);
  });
});

describe("opening a session", () => {
  it("gives an agent that takes URLs one server, and leaves the rest of the line as it is", async () => {
    const front = await startFront();
    front.send(
      '{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"n":1.0,"mcpServers":[],"cwd":"/","_meta":{"a":"\\u0041"}}}',
    );
    expect(await front.next()).toEqual({ jsonrpc: "2.0", id: 9, result: { sessionId: "s1" } });
    const [line] = front.agent().lines.slice(-1);
    const [, server = "{}"] = /"mcpServers":\[(.*)\],"cwd"/.exec(line ?? "") ?? [];
    expect(JSON.parse(server)).toEqual({
      type: "http",
      name: "plugboard",
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\//),
      headers: [{ name: "Authorization", value: expect.stringMatching(/^Bearer .{40}/) }],
    });
    expect(line?.replace(server, "")).toBe(
      '{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"n":1.0,"mcpServers":[],"cwd":"/","_meta":{"a":"\\u0041"}}}',
    );
  });

  it("gives an agent that takes none a program", async () => {
    const front = await startFront({ capabilities: {} });
    await front.newSession();
    const [{ params }] = front.agent().asked("session/new") as [Json];
    expect(params.mcpServers).toMatchObject([
      { name: "plugboard", command: "plugboard", args: ["serve", "--session", expect.any(String)] },
    ]);
  });

  it.each<[method: string, params: object, path: string]>([
    ["session/new", { cwd: "/", mcpServers: [{ name: "a", command: "x" }] }, "mcpServers[0].args"],
    ["session/new", { cwd: "/" }, "mcpServers"],
    ["session/new", { cwd: "here", mcpServers: [] }, "cwd"],
    [
      "session/new",
      { cwd: "/", mcpServers: [{ type: "acp", name: "a", serverId: "1" }] },
      "mcpServers[0].type",
    ],
    ["session/load", { cwd: "/", mcpServers: [] }, "sessionId"],
    ["session/resume", { sessionId: "s", cwd: "/", mcpServers: [{}] }, "mcpServers[0].name"],
  ])("%s with %j is refused before the agent hears of it", async (method, params, path) => {
    const front = await startFront();
    const { error } = await front.request(method, params);
    expect(error).toMatchObject({ code: -32602, data: { path, code: "INVALID_ARGUMENTS" } });
    expect(front.agent().asked(method)).toEqual([]);
  });

  it.each([
    `{"jsonrpc":"2.0","id":5,"method":"session/new","params":{"mcpServers":[{"name":"a","command":"/a","args":[],"env":[]}],"cwd":"/","mcpServers":[]}}`,
    `{"jsonrpc":"2.0","id":5,"method":"session/new","params":{"cwd":"/"},"p\\u0061rams":{"cwd":"/","mcpServers":[]}}`,
  ])(
    "an object with a key twice is refused: the agent might see another one than we: %s",
    async (line) => {
      const front = await startFront();
      front.send(line);
      const { error } = await front.next(({ id }) => id === 5);
      expect(error).toMatchObject({ code: -32602 });
      expect(error.message).toContain("the same key twice");
      expect(front.agent().asked("session/new")).toEqual([]);
    },
  );

  it("the agent's refusal reaches the client as it is", async () => {
    const front = await startFront({
      script: { "session/new": () => Object.assign(new Error("no"), { code: -32077 }) },
    });
    const answer = await front.request("session/new", { cwd: "/", mcpServers: [] });
    expect(answer["error"]).toEqual({ code: -32077, message: "no" });
  });

  it("updates that the agent writes together with its answer come after it", async () => {
    const front = await startFront({
      script: {
        "session/new": (_, agent, { id }) => {
          agent.say({ id, result: { sessionId: "s1" } });
          agent.say({ method: "session/update", params: { sessionId: "s1", update: {} } });
          return SILENT;
        },
      },
    });
    await front.newSession();
    await settled();
    expect(JSON.parse(front.lines.at(-1) ?? "")).toMatchObject({ method: "session/update" });
  });

  it("a fork has a board of its own, and the session that it came from keeps its", async () => {
    const front = await startFront({ script: { "session/fork": () => ({ sessionId: "other" }) } });
    const sessionId = await front.newSession();
    const answer = await front.request("session/fork", { sessionId, cwd: "/" });
    expect(answer["result"]).toEqual({ sessionId: "other" });
    const [fork] = front.agent().asked("session/fork") as [Json];
    expect(fork.params).toMatchObject({ sessionId, mcpServers: [{ name: "plugboard" }] });
    const first = boardUrl(front.agent().asked("session/new"));
    expect(boardUrl([fork])).not.toBe(first);
    await front.request("session/close", { sessionId: "other" });
    await expect.poll(() => statusOf(boardUrl([fork]))).toBe(404);
    await expect.poll(() => statusOf(first)).toBe(401);
  });

  it("a prompt right behind session/load waits for it", async () => {
    const front = await startFront({ capabilities: LOADS });
    front.send({
      id: 1,
      method: "session/load",
      params: { sessionId: "old", cwd: "/", mcpServers: [] },
    });
    front.send({ id: 2, method: "session/prompt", params: prompt("old") });
    await front.next(({ id }) => id === 2);
    const seen = front.agent().received.map(({ method }) => method as string);
    expect(seen).toEqual(["initialize", "session/load", "session/prompt"]);
  });

  it("loading an open session with the same servers keeps its board, and with others replaces it", async () => {
    const front = await startFront({ capabilities: LOADS });
    const sessionId = await front.newSession();
    const urlOf = (number: number): string =>
      front.agent().received.filter(({ params }) => params?.mcpServers)[number]?.["params"]
        .mcpServers[0].url;
    await front.request("session/load", { sessionId, cwd: "/", mcpServers: [] });
    expect(urlOf(1)).toBe(urlOf(0));
    await front.request("session/load", { sessionId, cwd: "/tmp", mcpServers: [] });
    expect(urlOf(2)).not.toBe(urlOf(0));
    await expect.poll(() => statusOf(urlOf(0))).toBe(404);
    await expect.poll(() => statusOf(urlOf(2))).toBe(401);
  });

  it.each(["session/close", "session/delete"])(
    "%s ends the board after the agent's answer, which the client gets when nothing is left",
    async (method) => {
      const front = await startFront({
        capabilities: CLOSES,
        script: { "session/delete": () => ({}) },
      });
      const sessionId = await front.newSession();
      const url = boardUrl(front.agent().asked("session/new"));
      expect(await front.request(method, { sessionId })).toMatchObject({ result: {} });
      expect(front.agent().asked(method)).toHaveLength(1);
      expect(await statusOf(url)).toBe(404);
    },
  );

  it("session/close of an agent that has none is offered and done by the front, and stops the prompt", async () => {
    const front = await startFront({ raw: true, script: { "session/prompt": () => SILENT } });
    const { result } = await front.request("initialize", { protocolVersion: 1 });
    expect(result.agentCapabilities.sessionCapabilities).toEqual({ close: {} });
    const sessionId = await front.newSession();
    const url = boardUrl(front.agent().asked("session/new"));
    front.send({ id: 1, method: "session/prompt", params: prompt(sessionId) });
    expect(await front.request("session/close", { sessionId })).toMatchObject({ result: {} });
    expect(await statusOf(url)).toBe(404);
    expect(front.agent().asked("session/close")).toEqual([]);
    expect(front.agent().asked("session/cancel")).toMatchObject([{ params: { sessionId } }]);
  });
});

describe("an agent that prints lines that are not messages", () => {
  it("has them logged up to a limit, and the client gets none", async () => {
    const front = await startFront();
    for (let n = 0; n < 100; n += 1) front.agent().say(`INFO starting ${n}`);
    front.agent().say("17");
    front.agent().say("");
    await settled();
    expect(front.lines).toHaveLength(1);
    const logged = front.logger.lines.filter(({ level }) => level === "warn");
    expect(logged).toHaveLength(21);
    expect(logged[0]?.message).toBe(
      "the agent wrote a line that is not a message: INFO starting 0",
    );
  });
});

describe("a program that is no agent", () => {
  it("is told to the client with what it wrote, and what to check", async () => {
    const front = await startFront({ raw: true, script: { initialize: () => SILENT } });
    front.send({ id: 1, method: "initialize", params: { protocolVersion: 1 } });
    await settled();
    front.agent().say("usage: agent [--acp]");
    front.agent().end({ code: 2 });
    const { error } = await front.next();
    expect(error.message).toBe(
      "The agent exited with code 2 before it answered. Your next request starts it again. Check that its command " +
        "starts an ACP agent: some need an option for that, such as gemini --acp. It wrote last:\nusage: agent [--acp]",
    );
  });

  it("has the log say what to check, if it has not answered for 30 seconds", async () => {
    const clock = new ManualClock();
    const front = await startFront({ clock, raw: true, script: { initialize: () => SILENT } });
    front.send({ id: 1, method: "initialize", params: { protocolVersion: 1 } });
    await settled();
    const warnings = () => front.logger.lines.filter(({ level }) => level === "warn");
    await clock.advance(29_000);
    expect(warnings()).toEqual([]);
    await clock.advance(1000);
    expect(warnings()).toMatchObject([
      { message: expect.stringContaining("has not answered for 30 s. Check that its command") },
    ]);
    const answered = await startFront({ clock });
    await clock.advance(60_000);
    expect(answered.logger.lines.filter(({ level }) => level === "warn")).toEqual([]);
  });
});

describe.each([
  ["of more than 32 MiB", `"${"x".repeat(33 * 1024 * 1024)}"`, "is larger than 32 MiB"],
  ["of more than 250,000 values", `[${"0,".repeat(300_000)}0]`, "has more than 250000 values"],
])("a message %s", (_name, large, reason) => {
  it("is refused if the client sends it, and everything goes on", async () => {
    const front = await startFront();
    front.send(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":${large}}`);
    expect(await front.next()).toMatchObject({ id: 3, error: { code: -32600 } });
    expect(await front.request("session/prompt", prompt("s"))).toHaveProperty("result");
  });

  it("is an error for whoever waits for it if the agent sends it", async () => {
    const front = await startFront({
      script: {
        _big: (_params, agent, { id }) => {
          agent.say(`{"jsonrpc":"2.0","id":${id},"result":${large}}`);
          agent.say(`{"jsonrpc":"2.0","id":"mine","method":"_ask","params":${large}}`);
          return SILENT;
        },
      },
    });
    const { error } = await front.request("_big");
    expect(error.message).toContain(`the message ${reason}`);
    await settled();
    expect(front.agent().received.at(-1)).toMatchObject({ id: "mine", error: { code: -32600 } });
  });
});

describe("a call that the agent has shown and not ended", () => {
  type Front = Awaited<ReturnType<typeof startFront>>;
  const failed = { code: -32603, message: "Gateway disconnected: 1006" };

  it.each<[string, (front: Front) => void, object]>([
    ["failed", (front) => front.agent().say({ id: 1, error: failed }), failed],
    ["lost its agent", (front) => front.agent().end({ code: 1 }), { code: -32010 }],
  ])("ends before the client hears that its prompt %s", async (_, end, error) => {
    const front = await startFront({ script: { "session/prompt": () => SILENT } });
    const sessionId = await front.newSession();
    front.send({ id: 1, method: "session/prompt", params: prompt(sessionId) });
    await settled();
    const update = { sessionUpdate: "tool_call", toolCallId: "c", title: "x", status: "pending" };
    front.agent().say({ method: "session/update", params: { sessionId, update } });
    await front.next();
    end(front);
    expect(await front.next()).toMatchObject({
      method: "session/update",
      params: {
        sessionId,
        update: { sessionUpdate: "tool_call_update", toolCallId: "c", status: "failed" },
      },
    });
    expect(await front.next()).toMatchObject({ id: 1, error });
  });
});

describe("after the agent has ended", () => {
  it("requests without an answer get the reason, and questions of the agent are withdrawn", async () => {
    const front = await startFront({ script: { "session/prompt": () => SILENT } });
    const sessionId = await front.newSession();
    front.send({ id: 1, method: "session/prompt", params: prompt(sessionId) });
    await settled();
    front.agent().say({ id: 0, method: "session/request_permission", params: { sessionId } });
    await settled();
    front.agent().end({ code: 3, stderr: ["panic: out of luck"] });
    const { error } = await front.next(({ id }) => id === 1);
    expect(error).toEqual({
      code: -32010,
      message:
        "The agent exited with code 3 before it answered. Your next request starts it again. It wrote last:\npanic: out of luck",
      data: { exitCode: 3, signal: null, stderr: ["panic: out of luck"] },
    });
    expect(await front.next()).toEqual({
      jsonrpc: "2.0",
      method: "$/cancel_request",
      params: { requestId: 0 },
    });
  });

  it("notifications start nothing; a request starts it once, with initialize and nothing else", async () => {
    const front = await startFront();
    front.agent().end({ signal: "SIGKILL" });
    await settled();
    front.send({ method: "session/cancel", params: { sessionId: "s1" } });
    front.send({ method: "_note" });
    await settled();
    expect(front.agents).toHaveLength(1);
    front.send({ id: "a", method: "_a" });
    front.send({ id: "b", method: "_b" });
    await settled();
    expect(front.agents).toHaveLength(2);
    expect(front.agent().received.map(({ method, params }) => [method, params])).toEqual([
      ["initialize", { protocolVersion: 1 }],
      ["_a", undefined],
      ["_b", undefined],
    ]);
    expect(front.agent().received[0]?.["id"]).toMatch(/^plugboard-[0-9a-f]{24}-\d+$/);
    // Its answer is not for the client.
    expect(front.lines).toHaveLength(1);
  });

  it.each<[string, object, string]>([
    ["resumes a session", { ...RESUMES, loadSession: true }, "session/resume"],
    ["loads a session", LOADS, "session/load"],
  ])("%s, and the client sees nothing of it", async (_, capabilities, method) => {
    const replay = (params: Json, agent: { say(message: object): void }): object => {
      agent.say({
        method: "session/update",
        params: { sessionId: params["sessionId"], update: { n: 1 } },
      });
      return {};
    };
    const front = await startFront({
      capabilities: capabilities as never,
      script: { "session/load": replay },
    });
    const sessionId = await front.newSession();
    const [first] = front.agent().asked("session/new");
    front.agent().end({ code: 1 });
    await settled();
    const before = front.lines.length;
    expect(await front.request("session/prompt", prompt(sessionId))).toHaveProperty("result");
    expect(front.lines).toHaveLength(before + 1);
    const [again] = front.agent().asked(method);
    expect(again?.["params"]).toEqual({ ...first?.["params"], sessionId });
    expect(front.agent().received.map((each) => each["method"])).toEqual([
      "initialize",
      method,
      "session/prompt",
    ]);
    front.agent().say({ method: "session/update", params: { sessionId, update: { n: 2 } } });
    await settled();
    expect(JSON.parse(front.lines.at(-1) ?? "")).toMatchObject({ params: { update: { n: 2 } } });
  });

  it("without session/resume and session/load, the session is over and a new one works", async () => {
    const front = await startFront();
    const sessionId = await front.newSession();
    front.agent().end({ code: 1 });
    await settled();
    const { error } = await front.request("session/prompt", prompt(sessionId));
    expect(error).toEqual({
      code: -32010,
      message:
        "The agent exited with code 1, and it cannot open its sessions again. Open a new session.",
    });
    const other = await front.newSession();
    expect(await front.request("session/prompt", prompt(other))).toHaveProperty("result");
    expect(await front.request("session/close", { sessionId })).toMatchObject({ result: {} });
  });

  it("a session that the agent cannot open again is over, and says why", async () => {
    const front = await startFront({
      capabilities: LOADS,
      script: { "session/load": () => new Error("no such file") },
    });
    const sessionId = await front.newSession();
    front.agent().end({ code: 1 });
    await settled();
    const { error } = await front.request("session/prompt", prompt(sessionId));
    expect(error.message).toBe(
      "The agent was started again and cannot go on with this session: it says: no such file. Open a new session.",
    );
    const again = await front.request("session/prompt", prompt(sessionId));
    expect(again["error"].message).toBe(error.message);
    expect(front.agent().asked("session/load")).toHaveLength(1);
  });

  it("boards wait for it ten minutes, and are opened anew after that", async () => {
    const clock = new ManualClock();
    const front = await startFront({ capabilities: RESUMES, clock });
    const sessionId = await front.newSession();
    const url = boardUrl(front.agent().asked("session/new"));
    front.agent().end({ code: 1 });
    await clock.advance(9 * 60_000);
    await expect.poll(() => statusOf(url)).toBe(401);
    await clock.advance(2 * 60_000);
    await expect.poll(() => statusOf(url)).toBe(404);
    expect(await front.request("session/prompt", prompt(sessionId))).toHaveProperty("result");
    const [again] = front.agent().asked("session/resume") as [Json];
    expect(again.params).toMatchObject({ sessionId, cwd: "/" });
    expect(again.params.mcpServers[0].url).not.toBe(url);
    await expect.poll(() => statusOf(again.params.mcpServers[0].url)).toBe(401);
  });

  it("an answer to the process before does not reach the next one, which uses the same ids", async () => {
    const front = await startFront({ script: { "session/prompt": () => SILENT } });
    const ask = { method: "session/request_permission", params: { sessionId: "s" } };
    front.agent().say({ id: 0, ...ask });
    await settled();
    front.agent().end({ code: 1 });
    await settled();
    front.send({ id: 1, method: "_wake" });
    await settled();
    front.agent().say({ id: 0, ...ask });
    const second = await front.next(({ method, id }) => method === ask.method && id !== 0);
    front.send({ id: 0, result: { outcome: "for the first" } });
    front.send({ id: second["id"], result: { outcome: "for the second" } });
    await settled();
    expect(front.agent().received.filter(({ result }) => result)).toEqual([
      { jsonrpc: "2.0", id: 0, result: { outcome: "for the second" } },
    ]);
  });

  it("what the ended process still writes does not answer a request a second time", async () => {
    const front = await startFront({ script: { "session/prompt": () => SILENT } });
    front.send({ id: 1, method: "_slow" });
    await settled();
    const first = front.agent();
    first.end({ code: 1 });
    await front.next(({ id }) => id === 1);
    first.say({ id: 1, result: "late" });
    await settled();
    expect(front.lines.filter((line) => line.includes('"id":1,'))).toHaveLength(1);
  });

  it("one that cannot be started again says so with each request, and is tried each time", async () => {
    const front = await startFront({ missing: [2, 3] });
    front.agent().end({ code: 1 });
    await settled();
    for (const method of ["_a", "_b"]) {
      const { error } = await front.request(method);
      expect(error.message).toContain("command 'agent' was not found on PATH");
    }
    expect(await front.request("session/prompt", prompt("s"))).toHaveProperty("result");
  });

  it("one that ends while it starts again leaves nobody waiting", async () => {
    let starts = 0;
    const front = await startFront({
      script: {
        initialize: (_, agent) => {
          starts += 1;
          if (starts === 2) agent.end({ code: 9, stderr: ["no disk"] });
          return starts === 2 ? SILENT : { protocolVersion: 1 };
        },
      },
    });
    front.agent().end({ code: 1 });
    await settled();
    const { error } = await front.request("_a");
    expect(error.message).toContain("exited with code 9");
    expect(error.message).toContain("no disk");
  });

  it("a sign-in that it has forgotten is repeated", async () => {
    const needed = (): Error =>
      Object.assign(new Error("Authentication required"), { code: -32000 });
    const signedIn = new Set<unknown>();
    const open = (_: Json, agent: object): object =>
      signedIn.has(agent) ? { sessionId: "s1" } : needed();
    const front = await startFront({
      capabilities: RESUMES,
      script: {
        authenticate: (_, agent) => signedIn.add(agent) && {},
        "session/new": open,
        "session/resume": open,
      },
    });
    const refused = await front.request("session/new", { cwd: "/", mcpServers: [] });
    expect(refused["error"]).toEqual({ code: -32000, message: "Authentication required" });
    await front.request("authenticate", { methodId: "word" });
    const sessionId = await front.newSession();
    front.agent().end({ code: 1 });
    await settled();
    expect(await front.request("session/prompt", prompt(sessionId))).toHaveProperty("result");
    front.agent().end({ code: 1 });
    await settled();
    await front.newSession();
    expect(front.agent().asked("authenticate")).toMatchObject([{ params: { methodId: "word" } }]);
  });
});

describe("with a process for each session", () => {
  const same: FrontOptions = {
    isPerSession: true,
    script: { "session/new": () => ({ sessionId: "the-session" }) },
  };

  it("each gets its own, after its board is there, and no servers in session/new", async () => {
    const front = await startFront(same);
    await front.newSession();
    await front.newSession();
    expect(front.agents.map(({ endpoint }) => endpoint === undefined)).toEqual([
      true,
      false,
      false,
    ]);
    expect(front.agent(2).endpoint?.http.url).not.toBe(front.agent(3).endpoint?.http.url);
    expect(front.agent(2).received).toMatchObject([
      { method: "initialize", params: { protocolVersion: 1 } },
      { method: "session/new", params: { mcpServers: [] } },
    ]);
  });

  it("the same session id of two processes becomes two for the client", async () => {
    const front = await startFront(same);
    const ids = [await front.newSession(), await front.newSession()];
    expect(ids).toEqual(["the-session", "the-session-2"]);
    await front.request("session/prompt", prompt("the-session-2"));
    expect(front.agent(2).asked("session/prompt")).toEqual([]);
    expect(front.agent(3).asked("session/prompt")).toMatchObject([
      { params: { sessionId: "the-session" } },
    ]);
    const params = { sessionId: "the-session", update: {} };
    front.agent(3).say({ method: "session/update", params });
    expect(await front.next(({ method }) => method === "session/update")).toMatchObject({
      params: { sessionId: "the-session-2" },
    });
  });

  it("the same id of two questions becomes two for the client, and each answer finds its process", async () => {
    const front = await startFront(same);
    await front.newSession();
    await front.newSession();
    const ask = {
      id: 0,
      method: "session/request_permission",
      params: { sessionId: "the-session" },
    };
    front.agent(2).say(ask);
    front.agent(3).say(ask);
    const one = await front.next(({ method }) => method === ask.method);
    const two = await front.next(({ method }) => method === ask.method);
    expect(one).toMatchObject({ id: 0, params: { sessionId: "the-session" } });
    expect(two).toMatchObject({ params: { sessionId: "the-session-2" } });
    front.agent(3).say({ method: "$/cancel_request", params: { requestId: 0 } });
    expect(await front.next()).toMatchObject({ params: { requestId: two["id"] } });
    front.send({ id: two["id"], result: "two" });
    front.send({ id: 0, result: "one" });
    await settled();
    expect(front.agent(2).received.at(-1)).toEqual({ jsonrpc: "2.0", id: 0, result: "one" });
    expect(front.agent(3).received.at(-1)).toEqual({ jsonrpc: "2.0", id: 0, result: "two" });
  });

  it("a process cannot withdraw a question of another, nor get an answer to it", async () => {
    const front = await startFront(same);
    await front.newSession();
    const ask = { id: 0, method: "any/question", params: {} };
    front.agent(2).say(ask);
    await front.next(({ method }) => method === ask.method);
    front.agent(1).say(ask);
    const { id } = await front.next(({ method }) => method === ask.method);
    front.send({ id, result: "one" });
    await settled();
    // Its own was answered just now, so this can only be about that of the other.
    front.agent(1).say({ method: "$/cancel_request", params: { requestId: 0 } });
    front.agent(1).say({ ...ask, method: "any/second" });
    const next = await front.next();
    expect(next).toMatchObject({ method: "any/second" });
    front.send({ id: 0, result: "first answer" });
    front.send({ id: 0, result: "the same question answered again" });
    await settled();
    expect(front.agent(2).received.at(-1)).toMatchObject({ result: "first answer" });
    expect(front.agent(1).received.at(-1)).toMatchObject({ result: "one" });
  });

  it("a process says nothing in a session of another, whatever id it gives", async () => {
    const front = await startFront(same);
    await front.newSession();
    const lines = front.lines.length;
    const params = { sessionId: "the-session", update: {} };
    // The first process has no session; one whose session is about to open gives an id that there is already.
    front.agent(1).say({ method: "session/update", params });
    front.agent(1).say({ id: 7, method: "session/request_permission", params });
    front.agent(1).say({ method: "session/update", params: { ...params, sessionId: "unknown" } });
    await settled();
    expect(front.lines.slice(lines).map((line) => JSON.parse(line) as object)).toMatchObject([
      { params: { sessionId: "unknown" } },
    ]);
    expect(front.agent(1).received.at(-1)).toMatchObject({ id: 7, error: { code: -32002 } });
  });

  it("what belongs to no session goes to the main process, which has no board", async () => {
    const front = await startFront({
      ...same,
      script: { ...same.script, "session/list": () => ({ sessions: [] }) },
    });
    await front.newSession();
    expect(await front.request("session/list")).toMatchObject({ result: { sessions: [] } });
    expect(front.agent(1).asked("session/list")).toHaveLength(1);
  });

  it("closing a session ends its process, and when one process dies, the others go on", async () => {
    const front = await startFront({ ...same, capabilities: RESUMES });
    await front.newSession();
    await front.newSession();
    await front.request("session/close", { sessionId: "the-session" });
    await settled();
    expect(front.agents.map(({ isStopped }) => isStopped)).toEqual([false, true, false]);
    front.agent(3).end({ code: 1 });
    await settled();
    expect(await front.request("session/prompt", prompt("the-session-2"))).toHaveProperty("result");
    expect(front.agents).toHaveLength(4);
    expect(front.agent(4).endpoint).toBe(front.agent(3).endpoint);
    expect(front.agent(4).asked("session/resume")).toMatchObject([
      { params: { sessionId: "the-session", mcpServers: [] } },
    ]);
  });

  it("a prompt that the process leaves unanswered when its session is closed is cancelled", async () => {
    const front = await startFront({
      ...same,
      script: { ...same.script, "session/prompt": () => SILENT },
    });
    const sessionId = await front.newSession();
    front.send({ id: 1, method: "session/prompt", params: prompt(sessionId) });
    front.send({ id: 2, method: "session/close", params: { sessionId } });
    const { error } = await front.next(({ id }) => id === 1);
    expect(error).toEqual({ code: -32800, message: "The session was closed." });
    expect(await front.next(({ id }) => id === 2)).toMatchObject({ result: {} });
  });

  it("a session that does not open leaves no process", async () => {
    const front = await startFront({ ...same, script: { "session/new": () => new Error("no") } });
    await front.request("session/new", { cwd: "/", mcpServers: [] });
    await settled();
    expect(front.agents.map(({ isStopped }) => isStopped)).toEqual([false, true]);
  });
});

describe("the end", () => {
  it.each<[string, (front: Awaited<ReturnType<typeof startFront>>) => void]>([
    ["the client leaves", (front) => front.input.end()],
    ["the front is told to end", (front) => front.ending.abort()],
  ])("comes when %s, and takes every process and board along", async (_, leave) => {
    const front = await startFront({
      isPerSession: true,
      script: { "session/prompt": () => SILENT },
    });
    const sessionId = await front.newSession();
    front.send({ id: 1, method: "session/prompt", params: prompt(sessionId) });
    front.send({ id: 2, method: "session/new", params: { cwd: "/", mcpServers: [] } });
    await settled();
    leave(front);
    await front.done;
    expect(front.agents.map(({ isStopped }) => isStopped)).not.toContain(false);
    await expect(fetch(front.agent(2).endpoint?.http.url ?? "")).rejects.toThrow("fetch failed");
  });

  it("comes although the agent has answered nothing, not even initialize", async () => {
    const front = await startFront({ raw: true, script: { initialize: () => SILENT } });
    front.send({ id: 1, method: "initialize", params: {} });
    front.send({ id: 2, method: "session/new", params: { cwd: "/", mcpServers: [] } });
    await settled();
    front.input.end();
    await front.done;
    expect(front.agent().isStopped).toBe(true);
  });

  it("an agent that cannot be started at all ends the front before it reads anything", async () => {
    const front = await startFront({ missing: [1], raw: true });
    await expect(front.done).rejects.toThrow("command 'agent' was not found on PATH");
  });
});
