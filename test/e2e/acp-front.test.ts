// `plugboard acp -- <command …>`: an editor, the front, and another ACP agent behind it, each a process of its own.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  client,
  McpOverAcpProvider,
  methods,
  ndJsonStream,
} from "@agentclientprotocol/sdk/unstable";
import { describe, expect, it } from "vitest";
import { workshop } from "../agent/acp/editor-servers.ts";
import { startModel } from "../support/model/start.mjs";
import { eventually, isAlive, processesWith } from "../support/processes.ts";
import { plugboard, useAgents } from "./acp-agent.ts";

const desk = useAgents();
const { session } = methods.agent;
const scripted = fileURLToPath(new URL("../fixtures/agents/scripted-agent.mjs", import.meta.url));

/** The words after `acp`, for the scripted agent with these options. */
const behind = (...options: string[]) => ["--", process.execPath, scripted, ...options];
const marked = (): Record<string, string> => ({ ACP_E2E: desk.directory });
const operator = () => ({
  agents: { defaults: { mcp: { servers: { ours: desk.configured("echo") } } } },
});

describe("a turn", () => {
  it("the agent has the editor's and the operator's tools as one server, and is otherwise as it was started", async () => {
    const agent = await desk.start({
      config: operator(),
      env: { ...marked(), AGENT_KEY: "kept" },
      words: behind("--close", "--child"),
    });
    const sessionId = await agent.newSession(tmpdir(), [desk.server("theirs", "echo")]);
    const ask = (text: string): Promise<string> => agent.ask(sessionId, text);
    expect(await ask("servers")).toBe("plugboard:http");
    const tools = await ask("tools");
    for (const name of ["theirs__echo", "ours__echo"]) expect(tools).toContain(name);
    expect(await ask('call theirs__echo {"text":"hello"}')).toContain("hello");
    expect(await ask("env AGENT_KEY")).toBe("kept");
    expect(await ask("cwd")).toBe(realpathSync(desk.directory));
    expect(await ask("junk 3\nsay fine")).toBe("fine");
    await ask("stderr a word from the agent");
    await agent.until(() => agent.stderr.includes("a word from the agent\n"));
    // The server was asked for by the agent, and the editor shows the call as the agent tells it.
    expect(agent.of(sessionId, "tool_call")).toMatchObject([
      { title: "mcp__plugboard__theirs__echo", rawInput: { text: "hello" } },
    ]);
    await agent.agent.request(session.close, { sessionId });
    expect(await agent.leave()).toBe(0);
  });

  it.each<[string, { approval?: string }, number]>([
    ["only what the agent asks, and says so once", {}, 0],
    ["only what the agent asks, as its user wants it", { approval: "never" }, 0],
    ["about each call, whatever the agent has asked", { approval: "ask" }, 1],
  ])("the editor is asked %s: %j", async (_, tools, ours) => {
    const agent = await desk.start({
      config: { agents: { defaults: { tools } } },
      env: marked(),
      words: behind("--no-http"),
    });
    const sessionId = await agent.newSession(desk.directory, [desk.server("e", "echo")]);
    // One that takes no URLs starts a session program.
    expect(await agent.ask(sessionId, "servers")).toBe("plugboard:stdio");
    expect(await agent.ask(sessionId, 'call e__echo {"text":"one"}')).toContain("one");
    expect(agent.questions).toHaveLength(ours);
    expect(await agent.ask(sessionId, 'ask-call e__echo {"text":"two"}')).toContain("two");
    expect(agent.questions).toHaveLength(1 + 2 * ours);
    expect(await agent.leave()).toBe(0);
    const said = agent.stderr.split("\n").filter((line) => line.includes("runs its calls unasked"));
    expect(said).toHaveLength(tools.approval === undefined ? 1 : 0);
  });

  it("a prompt ends when the agent closes its stdout, and the next one has an agent again", async () => {
    const agent = await desk.start({ env: marked(), words: behind("--load", "--child") });
    const sessionId = await agent.newSession(desk.directory, []);
    const mute = await agent.failure(sessionId, "mute");
    expect(mute.message).toContain("The agent closed its stdout without ending");
    const next = await agent.newSession(desk.directory, []);
    expect(await agent.ask(next, "say here")).toBe("here");
    expect(await agent.leave()).toBe(0);
  });
});

it("with --mcp-over-acp, a server in the editor itself reaches an agent that knows nothing of such servers", async () => {
  const front = plugboard(desk.directory, ["acp", "--mcp-over-acp", ...behind()], marked());
  const provider = new McpOverAcpProvider();
  const said = await client({ name: "editor" })
    .onRequest(methods.client.mcp.message, provider.handleRequest)
    .onRequest(methods.client.session.requestPermission, () => ({
      outcome: { outcome: "selected", optionId: "allow" },
    }))
    .connectWith(
      ndJsonStream(
        Writable.toWeb(front.stdin),
        Readable.toWeb(front.stdout) as ReadableStream<Uint8Array>,
      ),
      async (agent) => {
        const { agentCapabilities } = await agent.request(methods.agent.initialize, {
          protocolVersion: 1,
        });
        expect(agentCapabilities?.mcpCapabilities).toEqual({ http: true, sse: true, acp: true });
        const { handler } = workshop();
        const { declaration } = provider.registerServer(agent, { name: "shop", handler });
        const opened = await agent.buildSession(tmpdir()).withMcpServer(declaration).start();
        void opened.prompt('call shop__shout {"text":"hello"}');
        return opened.readText();
      },
    );
  expect(said).toContain("HELLO");
  front.stdin.end();
  expect(await once(front, "exit")).toEqual([0, null]);
});

describe("what comes up in a call", () => {
  const form = { type: "object", properties: { name: { type: "string" } } };
  const asked = (method: string, params: object): string =>
    `call asks__ask ${JSON.stringify({ method, params })}`;
  const ELICIT = asked("elicitation/create", { message: "Who?", requestedSchema: form });
  const SAMPLE = asked("sampling/createMessage", {
    messages: [{ role: "user", content: { type: "text", text: "A rhyme for cat?" } }],
    maxTokens: 50,
  });

  it("is answered by the person and with the operator's model, and the agent sees no secret", async () => {
    await using model = await startModel({ turns: [{ text: "A hat." }] });
    const { env } = desk.configured("echo") as { env: Record<string, string> };
    const agent = await desk.start({
      config: {
        agents: {
          defaults: {
            model: "scripted/m",
            tools: { approval: "ask" },
            mcp: {
              servers: {
                asks: { ...desk.configured("asks"), sampling: "ask" },
                echo: {
                  ...desk.configured("echo"),
                  env: { ...env, API_TOKEN: "secret://env/THE_TOKEN" },
                },
              },
            },
          },
        },
        models: {
          providers: { scripted: { type: "anthropic", baseUrl: `${model.url}/v1`, apiKey: "key" } },
        },
      },
      env: { ...marked(), THE_TOKEN: "s3cr3t-of-the-operator" },
      words: behind("--close"),
      fillsIn: { name: "Ada" },
    });
    const sessionId = await agent.newSession(desk.directory, []);
    const ask = (text: string): Promise<string> => agent.ask(sessionId, text);
    const environment = await ask("call echo__env");
    expect(environment).toContain("EXTERNAL_UNTRUSTED_CONTENT");
    expect(environment).toContain("API_TOKEN");
    expect(environment).not.toContain("s3cr3t");
    expect(await ask(ELICIT)).toContain("Ada");
    expect(agent.forms).toEqual(["asks asks during ask: Who?"]);
    expect(await ask(SAMPLE)).toContain("A hat.");
    expect(model.requests).toHaveLength(1);
    // Three calls, and the model.
    expect(agent.questions).toHaveLength(4);
    const line = readFileSync(join(desk.directory, "home", "audit.jsonl"), "utf8")
      .split("\n")
      .find((each) => each.includes('"type":"call"') && each.includes('"tool":"env"'));
    expect(JSON.parse(line ?? "{}")).toMatchObject({
      server: "echo",
      caller: expect.stringContaining("scripted"),
      decision: "approved",
    });
    expect(line).not.toContain("s3cr3t");
    expect(agent.stdout + agent.stderr).not.toContain("s3cr3t");
    expect(await agent.leave()).toBe(0);
  });

  it("is declined where there is neither a model nor a form", async () => {
    const agent = await desk.start({
      env: marked(),
      words: behind("--no-http"),
    });
    const theirs = desk.server("asks", "asks");
    const sessionId = await agent.newSession(desk.directory, [theirs]);
    expect(await agent.ask(sessionId, ELICIT)).toContain("decline");
    expect(await agent.ask(sessionId, SAMPLE)).not.toContain("A hat.");
    expect(agent.questions).toEqual([]);
    expect(await agent.leave()).toBe(0);
  });
});

describe("an agent that dies", () => {
  it("is started again with the next prompt, and goes on with its session and its tools", async () => {
    const history = join(desk.directory, "history");
    mkdirSync(history);
    const agent = await desk.start({
      env: marked(),
      words: behind("--load", "--history", history),
    });
    const sessionId = await agent.newSession(desk.directory, [desk.server("e", "echo")]);
    /** The server's, in the frame around its words. */
    const serverPid = async (): Promise<string | undefined> =>
      /^\d+$/m.exec(await agent.ask(sessionId, "call e__pid"))?.[0];
    const [agentPid, before] = [await agent.ask(sessionId, "pid"), await serverPid()];
    expect(before).toBeDefined();
    const died = await agent.failure(sessionId, "stderr last words\ndie 7");
    expect(died.message).toContain("The agent exited with code 7 before it answered");
    expect(died.message).toContain("last words");
    const seen = agent.updates.length;
    const next = await agent.ask(sessionId, "pid");
    expect(next).not.toBe(agentPid);
    expect(agent.updates).toHaveLength(seen + 1);
    expect(await serverPid()).toBe(before);
    const killed = await agent.failure(sessionId, "kill");
    expect(killed.message).toContain("was ended by SIGKILL");
    expect(isAlive(Number(next))).toBe(false);
    expect(await agent.ask(sessionId, "say still here")).toBe("still here");
    expect(await agent.leave()).toBe(0);
  });

  it("at its start, or does not exist, gives the reason to the editor's first request; so does an invalid configuration", async () => {
    const dead = await desk.start({
      env: marked(),
      words: behind("--exit-at-start", "4"),
      raw: true,
    });
    await expect(dead.initialize()).rejects.toThrow(
      /exited with code 4.*cannot find its settings/s,
    );
    expect(await dead.leave()).toBe(0);
    const missing = await desk.start({ words: ["--", "no-such-agent"], raw: true });
    await expect(missing.initialize()).rejects.toThrow("command 'no-such-agent' was not found");
    expect((await missing.exited)[0]).toBe(3);
    const invalid = await desk.start({ config: { agents: 1 }, words: behind(), raw: true });
    await expect(invalid.initialize()).rejects.toThrow("the configuration has 1 problem");
    expect((await invalid.exited)[0]).toBe(2);
  });
});

describe("an agent that never reads the servers of a session", () => {
  it("has a process for each session, with a file that names the board", async () => {
    const template = join(desk.directory, "agent.template.json");
    const servers = { plugboard: { url: "{url}", headers: { Authorization: "Bearer {token}" } } };
    writeFileSync(template, JSON.stringify({ mcpServers: servers }));
    const agent = await desk.start({
      env: { ...marked(), TMPDIR: desk.directory },
      words: [
        "--agent-config",
        template,
        ...behind("--servers", "{config}", "--connect", "await", "--close"),
      ],
    });
    const one = await agent.newSession(desk.directory, [desk.server("one", "echo")]);
    const two = await agent.newSession(desk.directory, [desk.server("two", "echo")]);
    expect([one, two]).toEqual(["session-1", "session-1-2"]);
    const [first, second] = await Promise.all([agent.ask(one, "tools"), agent.ask(two, "tools")]);
    expect(first).toContain("one__echo");
    expect(first).not.toContain("two__");
    expect(second).toContain("two__echo");
    const pid = Number(await agent.ask(one, "pid"));
    await agent.agent.request(session.close, { sessionId: one });
    await eventually(() => !isAlive(pid));
    expect(await agent.ask(two, "say here")).toBe("here");
    expect(await agent.leave()).toBe(0);
    expect(
      readdirSync(desk.directory).filter((name) => name.startsWith("plugboard-agent")),
    ).toEqual([]);
  });
});

describe("the same conversation, with the agent alone and behind the front", () => {
  /** Odd in every way that JSON allows, and one method that nobody knows. */
  const CONVERSATION = [
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}}',
    '{"jsonrpc":"2.0","id":"one","method":"session/new","params":{"cwd":"/","mcpServers":[],"_meta":{"b":1.0,"a":"\\u00e4"}}}',
    ' {"params":{"prompt":[{"text":"say h\\u00e9\\/llo \\ud83d\\ude00","type":"text"}],"sessionId":"session-1"},"method":"session/prompt","id":2.0,"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"session-1","prompt":[{"type":"text","text":"raw {\\"method\\":\\"session/update\\",\\"params\\":{\\"sessionId\\":\\"{session}\\",\\"update\\":{\\"sessionUpdate\\":\\"_new\\",\\"n\\":1.50e+3,\\"x\\":\\"\\\\u0041\\",\\"big\\":123456789012345678901}},\\"jsonrpc\\":\\"2.0\\"}"}]}}',
    '{"jsonrpc":"2.0","id":4,"method":"_scripted/echo","params":{"z":[null,true],"a":{"_meta":{}}}}',
    '{"jsonrpc":"2.0","id":5,"method":"nobody/knows","params":{}}',
    '{"jsonrpc":"2.0","method":"_note","params":{"n":-0.0}}',
    "{ this is no JSON",
    '{"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"sessionId":"session-1","prompt":[{"type":"text","text":"permission"}]}}',
    '{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"allow"},"_meta":{"k":1.0}}}',
    '{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"session-1","prompt":[{"type":"text","text":"fail on purpose"}]}}',
    '{"jsonrpc":"2.0","id":8,"method":"session/prompt","params":{"sessionId":"nobody","prompt":[]}}',
  ];
  /** So many lines answer each of them. */
  const ANSWERED = [1, 1, 2, 2, 1, 1, 0, 1, 1, 2, 1, 1];

  async function record(start: (recorded: string) => ReturnType<typeof plugboard>) {
    const recorded = join(desk.directory, `recorded-${Math.random()}`);
    const child = start(recorded);
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
    const count = (): number => said.split("\n").length - 1;
    for (const [index, line] of CONVERSATION.entries()) {
      const before = count();
      child.stdin.write(`${line}\n`);
      await eventually(() => count() >= before + (ANSWERED[index] ?? 0));
    }
    const exited = once(child, "exit");
    child.stdin.end();
    await exited;
    return { said: said.split("\n"), heard: readFileSync(recorded, "utf8").split("\n") };
  }

  it("is byte for byte the same, but for what concerns MCP", async () => {
    const bare = await record((file) =>
      spawn(process.execPath, [scripted, "--connect", "never", "--record", file]),
    );
    const fronted = await record((file) =>
      plugboard(
        desk.directory,
        ["acp", ...behind("--connect", "never", "--record", file)],
        marked(),
      ),
    );
    const [hello = "", ...rest] = fronted.said;
    expect(rest).toEqual(bare.said.slice(1));
    const asSaid = hello
      .replace('{"http":true,"sse":true}', '{"http":true}')
      .replace('{"close":{}}', "{}");
    expect(asSaid).toBe(bare.said[0]);
    const handed = fronted.heard.map((line) =>
      line.replace(
        /"mcpServers":\[\{"type":"http","name":"plugboard".*?\}\]\}\]/,
        '"mcpServers":[]',
      ),
    );
    expect(handed).toEqual(bare.heard);
    expect(fronted.heard).not.toEqual(bare.heard);
  });
});

it("SIGTERM in the middle of a prompt: nothing is left, not even what ignores the end of its stdin", async () => {
  const agent = await desk.start({ env: marked(), words: behind("--ignores-eof", "--child") });
  const sessionId = await agent.newSession(desk.directory, [desk.server("e", "echo")]);
  await agent.ask(sessionId, "tools");
  void agent.prompt(sessionId, "hang").catch(() => {});
  agent.process.kill("SIGTERM");
  expect((await agent.exited)[0]).toBe(143);
  expect(processesWith(desk.marker)).toEqual([]);
});
