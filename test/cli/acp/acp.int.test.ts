// `plugboard acp` as an editor starts it: the protocol on stdout and nothing else, and an end that leaves
// nothing behind.

import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { ModelKeyFile } from "../../../src/core/state/model-key-file.ts";
import { fixture } from "../../support/boards.ts";
import { eventually, processesWith } from "../../support/processes.ts";
import { startModel } from "../../support/model/start.mjs";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

/** The command with a client that writes lines by hand. */
function start(
  argv: readonly string[] = [],
  env: Record<string, string> = {},
  flags: readonly string[] = [],
) {
  const stdin = new PassThrough();
  const stdout = new Sink();
  // The login shell is to read nobody's start files.
  const home = { HOME: scratch.directory, SHELL: "/bin/sh" };
  const running = scratch.start([...argv, "acp", ...flags], {
    stdin,
    stdout,
    env: { ...home, ...env },
  });
  let id = 0;
  const lines = () =>
    stdout.text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Record<string, never>);
  return {
    ...running,
    stdin,
    lines,
    async request(method: string, params: object): Promise<Record<string, never>> {
      id += 1;
      const mine = id;
      stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: mine, method, params })}\n`);
      const answer = () => lines().find((line) => line["id"] === mine && !("method" in line));
      await eventually(() => answer() !== undefined);
      return answer() ?? {};
    },
  };
}

const server = (name: string, file: string) => {
  const { command, args } = fixture(file);
  return { name, command, args, env: [{ name: "ACP_TEST", value: scratch.directory }] };
};

describe("plugboard acp", () => {
  it("ends with its stdin, and its servers with it", async () => {
    scratch.servers({ shared: fixture("echo") });
    const agent = start();
    expect(await agent.request("initialize", { protocolVersion: 1 })).toMatchObject({
      result: { protocolVersion: 1, agentInfo: { name: "plugboard" } },
    });
    const cwd = scratch.directory;
    const opened = await agent.request("session/new", { cwd, mcpServers: [server("own", "echo")] });
    const { sessionId } = opened["result"] as unknown as { sessionId: string };
    expect(processesWith(`ACP_TEST=${scratch.directory}`)).toHaveLength(1);
    const prompt = [{ type: "text", text: "/mcp" }];
    // `/mcp` says how they fare and waits for nobody.
    while (!agent.stdout.text.includes("- shared: ready, 11 tools")) {
      await agent.request("session/prompt", { sessionId, prompt });
    }
    expect(agent.stdout.text).toContain("- own: ready, 11 tools");
    agent.stdin.end();
    expect((await agent.done).code).toBe(0);
    expect(processesWith(`ACP_TEST=${scratch.directory}`)).toEqual([]);
  });

  it.each<[string, string[], object | undefined, object | undefined, boolean]>([
    ["nobody says so", [], {}, undefined, false],
    ["it is started with --owner", ["--owner"], {}, undefined, true],
    ["your own file says so", [], { acp: { owner: true } }, undefined, true],
    ["a project's file has none beneath it", [], undefined, { acp: { owner: true } }, false],
  ])("is for the owner or not: %s", async (_, options, own, project, isOwner) => {
    mkdirSync(join(scratch.directory, "home"), { mode: 0o700 });
    const agents = {
      defaults: { mcp: { servers: { echo: fixture("echo") } }, tools: { ownerOnly: ["echo/pid"] } },
    };
    if (own) scratch.file("home/plugboard.json", { agents, ...own });
    if (project) scratch.file("plugboard.json", { agents, ...project });
    if (project) expect((await scratch.run(["trust", "--yes"])).code).toBe(0);
    const agent = start(options);
    await agent.request("initialize", { protocolVersion: 1 });
    const { result } = await agent.request("session/new", {
      cwd: scratch.directory,
      mcpServers: [],
    });
    const { sessionId } = result as unknown as { sessionId: string };
    const prompt = [{ type: "text", text: "/tools pid" }];
    while (!agent.stdout.text.includes("echo/")) {
      await agent.request("session/prompt", { sessionId, prompt });
      prompt[0]!.text = "/tools";
    }
    expect(agent.stdout.text.includes("echo/pid")).toBe(isOwner);
    agent.stdin.end();
    const { stderr } = await agent.done;
    expect(stderr.includes("acp.owner is not used: only the file in Plugboard's home")).toBe(
      project !== undefined,
    );
  });

  it("takes servers that run in the editor with --mcp-over-acp", async () => {
    const agent = start([], {}, ["--mcp-over-acp"]);
    const results: Record<string, object> = {
      "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
      "tools/list": { tools: [{ name: "saw", inputSchema: { type: "object" } }] },
    };
    const answered = new Set<unknown>();
    const answering = setInterval(() => {
      for (const { id, method, params } of agent.lines()) {
        if (method !== "mcp/message" || answered.has(id)) continue;
        answered.add(id);
        const result = { result: { resultType: "complete", ...results[params?.["method"] ?? ""] } };
        agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
      }
    }, 5);
    try {
      expect(await agent.request("initialize", { protocolVersion: 1 })).toMatchObject({
        result: { agentCapabilities: { mcpCapabilities: { acp: true } } },
      });
      const mcpServers = [{ type: "acp", name: "shop", serverId: "shop:1" }];
      const { result } = await agent.request("session/new", { cwd: "/", mcpServers });
      const { sessionId } = result as unknown as { sessionId: string };
      const prompt = [{ type: "text", text: "/mcp" }];
      await agent.request("session/prompt", { sessionId, prompt });
      expect(agent.stdout.text).toContain("- shop (in the editor): ready, 1 tool");
    } finally {
      clearInterval(answering);
    }
    agent.stdin.end();
    expect((await agent.done).code).toBe(0);
  });

  it.each(["SIGTERM", "SIGINT"])("ends by %s with a call under way", async (signal) => {
    const agent = start();
    await agent.request("initialize", { protocolVersion: 1 });
    const mcpServers = [server("own", "never-initialize")];
    await agent.request("session/new", { cwd: scratch.directory, mcpServers });
    agent.events.emit(signal);
    const codes: Record<string, number> = { SIGTERM: 143, SIGINT: 130 };
    expect((await agent.done).code).toBe(codes[signal]);
    expect(processesWith(`ACP_TEST=${scratch.directory}`)).toEqual([]);
  });

  it("applies an edit of its configuration to sessions that are open, by itself and by SIGHUP", async () => {
    const home = join(scratch.directory, "home");
    mkdirSync(home, { mode: 0o700 });
    const write = (servers: object, settings: object = {}): void =>
      void scratch.file("home/plugboard.json", {
        agents: { defaults: { ...settings, mcp: { servers } } },
      });
    write({ first: fixture("echo") });
    const agent = start();
    await agent.request("initialize", { protocolVersion: 1 });
    const { result } = await agent.request("session/new", { cwd: "/", mcpServers: [] });
    const { sessionId } = result as unknown as { sessionId: string };
    const prompt = [{ type: "text", text: "/mcp" }];
    const shows = async (text: string): Promise<void> => {
      while (!agent.stdout.text.includes(text)) {
        await agent.request("session/prompt", { sessionId, prompt });
      }
    };
    await shows("- first: ready");
    write({ first: fixture("echo"), second: fixture("echo") }, { maxSteps: 7 });
    agent.events.emit("SIGHUP");
    await shows("- second: ready");
    await agent.stderr.until("maxSteps will be used when the editor starts the agent again");
    agent.stdin.end();
    expect((await agent.done).code).toBe(0);
  });

  it("refuses a question of a shared server, and says why, if it cannot tell whose call it is about", async () => {
    scratch.servers({ shared: { ...fixture("server-requests"), sampling: "allow" } });
    const agent = start();
    await agent.request("initialize", { protocolVersion: 1 });
    const { result } = await agent.request("session/new", { cwd: "/", mcpServers: [] });
    const { sessionId } = result as unknown as { sessionId: string };
    await agent.request("session/set_mode", { sessionId, modeId: "auto" });
    const prompt = [{ type: "text", text: "/call shared/answers {}" }];
    await agent.request("session/prompt", { sessionId, prompt });
    for (const method of ["elicitation/create", "sampling/createMessage"]) {
      expect(agent.stdout.text).toContain(`"${method}":{"code":-1,"message":"nobody was asked, `);
    }
    expect(agent.stderr.text).toContain("it is not clear which session it belongs to");
    agent.stdin.end();
    await agent.done;
  });

  it("logs each failed start and crash in a line, and a bounded part of what servers write", async () => {
    const broken = { ...fixture("stderr-then-exit"), maxRestarts: 0 };
    const flaky = fixture("flaky-start", "--fail=1", `--state=${scratch.directory}/count`);
    const noisy = fixture("stderr-flood", "--mb=1");
    scratch.servers({ broken, flaky, noisy, shaky: fixture("echo") });
    const agent = start();
    await agent.request("initialize", { protocolVersion: 1 });
    const { result } = await agent.request("session/new", { cwd: "/", mcpServers: [] });
    const { sessionId } = result as unknown as { sessionId: string };
    await agent.request("session/set_mode", { sessionId, modeId: "auto" });
    await agent.stderr.until("error flaky: start failed");
    const prompt = [{ type: "text", text: "/call shaky/crash {}" }];
    await agent.request("session/prompt", { sessionId, prompt });
    await agent.stderr.until(
      "warn  shaky: crashed: the server exited with code 7; next attempt in",
    );
    const lines = agent.stderr.text.trim().split("\n");
    expect(lines.filter((line) => line.includes("broken:"))).toEqual([
      expect.stringContaining(
        'error broken: start failed: the server exited with code 1: Error: API_KEY is not set (set API_KEY in its "env";',
      ),
    ]);
    expect(lines.filter((line) => line.includes("flaky:"))).toEqual([
      expect.stringMatching(/^error flaky: start failed: .*; next attempt in/),
    ]);
    expect(lines).toContain("broken | Error: API_KEY is not set");
    expect(lines.length).toBeLessThan(1000);
    agent.stdin.end();
    await agent.done;
  });

  it("keeps stdout for the protocol, whatever else is printed", async () => {
    const agent = start();
    await agent.request("initialize", { protocolVersion: 1 });
    agent.stdout.write("a library's chatter\n");
    await agent.request("session/list", {});
    expect(agent.lines()).toHaveLength(2);
    expect(agent.stderr.text).toContain("a library's chatter");
    agent.stdin.end();
    await agent.done;
    agent.stdout.write("a library's last words\n");
    expect(agent.lines()).toHaveLength(2);
    expect(agent.stderr.text).toContain("a library's last words");
  });

  it.each([
    ["no JSON", "{oops", -32700],
    ["a batch", "[]", -32600],
    ["a number", "42", -32600],
  ])("answers %s and goes on", async (_, line, code) => {
    const agent = start();
    await agent.request("initialize", { protocolVersion: 1 });
    agent.stdin.write(`${line}\n`);
    await eventually(() => agent.lines().some((each) => "error" in each));
    expect(agent.lines().at(-1)).toMatchObject({ error: { code } });
    expect(await agent.request("session/list", {})).toMatchObject({ result: { sessions: [] } });
    agent.stdin.end();
    await agent.done;
  });

  it("refuses an unknown method", async () => {
    const agent = start();
    await agent.request("initialize", { protocolVersion: 1 });
    expect(await agent.request("session/dance", {})).toMatchObject({ error: { code: -32601 } });
    agent.stdin.end();
    await agent.done;
  });

  it("has no servers without a configuration, not even the demo", async () => {
    const agent = start(["--exit-with-stdin"]);
    await agent.request("initialize", { protocolVersion: 1 });
    const { result } = await agent.request("session/new", { cwd: "/", mcpServers: [] });
    const { sessionId } = result as unknown as { sessionId: string };
    const prompt = [{ type: "text", text: "/mcp" }];
    await agent.request("session/prompt", { sessionId, prompt });
    expect(agent.stdout.text).toContain("There are no servers.");
    agent.stdin.end();
    expect((await agent.done).code).toBe(0);
  });

  it("starts nothing from an untrusted file, and says so", async () => {
    const { command, args } = fixture("echo");
    const servers = { local: { command, args } };
    scratch.file("plugboard.json", { agents: { defaults: { mcp: { servers } } } });
    const agent = start();
    await agent.request("initialize", { protocolVersion: 1 });
    const { result } = await agent.request("session/new", { cwd: "/", mcpServers: [] });
    expect(result).toBeDefined();
    await eventually(() => agent.stdout.text.includes("plugboard trust"));
    agent.stdin.end();
    await agent.done;
  });

  it("takes no model and no system prompt from an untrusted file", async () => {
    await using model = await startModel({ turns: [{ text: "42" }] });
    const scripted = { type: "anthropic", baseUrl: `${model.url}/v1`, apiKey: "${HOME}" };
    scratch.file("plugboard.json", {
      agents: { defaults: { model: "scripted/m", systemPrompt: "Obey." } },
      models: { providers: { scripted } },
    });
    const agent = start();
    await agent.request("initialize", { protocolVersion: 1 });
    const { result } = await agent.request("session/new", { cwd: "/", mcpServers: [] });
    const { sessionId } = result as unknown as { sessionId: string };
    const prompt = [{ type: "text", text: "What is it?" }];
    await agent.request("session/prompt", { sessionId, prompt });
    expect(agent.stdout.text).toContain("The configuration is not used");
    expect(model.requests).toEqual([]);
    agent.stdin.end();
    await agent.done;
  });

  it("says where to set a model if there is none", async () => {
    const agent = start();
    await agent.request("initialize", { protocolVersion: 1 });
    const { result } = await agent.request("session/new", { cwd: "/", mcpServers: [] });
    const { sessionId } = result as unknown as { sessionId: string };
    const prompt = [{ type: "text", text: "What is it?" }];
    await agent.request("session/prompt", { sessionId, prompt });
    expect(agent.stdout.text).toMatch(
      /To get answers, run `plugboard acp --sign-in model` .* or put .* into \S+plugboard\.json/,
    );
    agent.stdin.end();
    await agent.done;
  });

  describe("that cannot start", () => {
    it.each([
      ["for want of an agent", ["--agent", "nobody"], "there is no agent 'nobody'"],
      ["for a wrong configuration", ["--config", "bad.json"], "the configuration has 1 problem"],
    ])("%s answers its client with why, and ends", async (_, argv, reason) => {
      scratch.file("bad.json", "{");
      const agent = start(argv);
      agent.stdin.write("\nno JSON\n");
      expect(await agent.request("initialize", { protocolVersion: 1 })).toMatchObject({
        error: { code: -32603, message: expect.stringContaining(reason) },
      });
      const { code, stderr } = await agent.done;
      expect(code).toBe(2);
      expect(stderr).toContain(reason);
      expect(agent.lines()).toHaveLength(1);
    });

    it("does not wait for a client that has closed its end of the pipe", async () => {
      const agent = start(["--agent", "nobody"]);
      agent.stdin.end();
      expect(await agent.done).toMatchObject({ code: 2, stdout: "" });
    });

    it("can be interrupted", async () => {
      const agent = start(["--agent", "nobody"]);
      // Until then the system would end it.
      await eventually(() => agent.events.listenerCount("SIGTERM") > 0);
      agent.events.emit("SIGTERM");
      expect(await agent.done).toMatchObject({ code: 143, stdout: "" });
    });

    it("does not wait for a person at a terminal, and says what it is for", async () => {
      const stdin = Object.assign(new PassThrough(), { isTTY: true });
      const { code, stderr } = await scratch.start(["--agent", "nobody", "acp"], { stdin }).done;
      expect(code).toBe(2);
      expect(stderr).toContain("This command is for editors");
    });
  });
});

describe("with a model", () => {
  it("answers a question", async () => {
    await using model = await startModel({ turns: [{ text: "42" }] });
    const scripted = { type: "anthropic", baseUrl: `${model.url}/v1`, apiKey: "k" };
    const config = scratch.file("model.json", {
      agents: { defaults: { model: "scripted/m", maxSteps: 3 } },
      models: { providers: { scripted } },
    });
    const agent = start(["--config", config]);
    await agent.request("initialize", { protocolVersion: 1 });
    const { result } = await agent.request("session/new", { cwd: "/", mcpServers: [] });
    const { sessionId } = result as unknown as { sessionId: string };
    const prompt = [{ type: "text", text: "What is it?" }];
    expect(await agent.request("session/prompt", { sessionId, prompt })).toMatchObject({
      result: { stopReason: "end_turn" },
    });
    expect(agent.stdout.text).toContain('"text":"42"');
    agent.stdin.end();
    await agent.done;
  });

  it("another model can be chosen", async () => {
    await using model = await startModel({ turns: [{ text: "42" }] });
    const scripted = { type: "anthropic", baseUrl: `${model.url}/v1`, apiKey: "k" };
    const config = scratch.file("model.json", {
      agents: { defaults: { models: ["scripted/one", "scripted/two"] } },
      models: { providers: { scripted } },
    });
    const agent = start(["--config", config]);
    await agent.request("initialize", { protocolVersion: 1 });
    const { result } = await agent.request("session/new", { cwd: "/", mcpServers: [] });
    expect(result).toMatchObject({
      configOptions: [{ id: "mode" }, { id: "model", currentValue: "scripted/one" }],
    });
    const { sessionId } = result as unknown as { sessionId: string };
    const choice = { sessionId, configId: "model", value: "scripted/two" };
    await agent.request("session/set_config_option", choice);
    const prompt = [{ type: "text", text: "What is it?" }];
    await agent.request("session/prompt", { sessionId, prompt });
    expect(model.requests.map((request) => request.model)).toEqual(["two"]);
    agent.stdin.end();
    expect((await agent.done).code).toBe(0);
  });

  it("that nobody has chosen, a key decides, and the user is told", async () => {
    const key = "from-the-environment";
    await using model = await startModel({ turns: () => ({ text: "hello" }), apiKey: key });
    const anthropic = { type: "anthropic", baseUrl: `${model.url}/v1` };
    const config = scratch.file("keyed.json", { models: { providers: { anthropic } } });
    const env = { ANTHROPIC_API_KEY: key, GEMINI_API_KEY: "other" };
    const says = "using anthropic/claude-sonnet-5, because ANTHROPIC_API_KEY is set";
    for (const [flags, id] of [
      [[], "anthropic/claude-sonnet-5"],
      [["--model", "anthropic/other"], "anthropic/other"],
    ] as const) {
      const agent = start(["--config", config], env, flags);
      await agent.request("initialize", {
        protocolVersion: 1,
        clientCapabilities: { session: { notices: {} } },
      });
      const { result } = await agent.request("session/new", { cwd: "/", mcpServers: [] });
      const { sessionId, configOptions } = result as unknown as {
        sessionId: string;
        configOptions: { id: string; currentValue: string }[];
      };
      expect(configOptions.find((option) => option.id === "model")?.currentValue).toBe(id);
      const prompt = [{ type: "text", text: `Hello, is ${key} my key?` }];
      await agent.request("session/prompt", { sessionId, prompt });
      expect(agent.stdout.text.includes(says)).toBe(flags.length === 0);
      expect(agent.stderr.text.includes(says)).toBe(flags.length === 0);
      agent.stdin.end();
      await agent.done;
    }
    expect(model.requests.map((request) => request.model)).toEqual(["claude-sonnet-5", "other"]);
    const sessions = join(scratch.directory, "home", "sessions");
    const kept = readdirSync(sessions).map((name) => readFileSync(join(sessions, name), "utf8"));
    const asked = "Hello, is [REDACTED] my key?";
    expect(kept).toEqual([asked, asked].map((text) => expect.stringContaining(text)));
    expect(kept.join()).not.toContain(key);
  });

  it("for which you give a key while the agent runs, until you take it back", async () => {
    const key = "sk-ant-0123456789abcdef";
    await using model = await startModel({ turns: () => ({ text: "hello" }), apiKey: key });
    const anthropic = { type: "anthropic", baseUrl: `${model.url}/v1` };
    const config = scratch.file("keyed.json", {
      models: { providers: { anthropic } },
      agents: { defaults: { mcp: { servers: { echo: fixture("echo") } } } },
    });
    const agent = start(["--config", config]);
    const open = async () => {
      const { result } = await agent.request("session/new", { cwd: "/", mcpServers: [] });
      return (result as unknown as { sessionId: string }).sessionId;
    };
    const ask = (sessionId: string, text: string) =>
      agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    await agent.request("initialize", { protocolVersion: 1 });
    expect(await ask(await open(), "Hello?")).toHaveProperty("error");
    expect(await agent.request("authenticate", { methodId: "model-key" })).toHaveProperty("error");

    await new ModelKeyFile(join(scratch.directory, "home")).store("anthropic", {
      kind: "key",
      key,
    });
    const sessionId = await open();
    expect(await ask(sessionId, "Hello?")).toMatchObject({ result: { stopReason: "end_turn" } });
    expect(agent.stderr.text).toContain("because you gave a key for anthropic");
    expect(await agent.request("authenticate", { methodId: "model-key" })).toHaveProperty("result");
    await agent.request("session/set_mode", { sessionId, modeId: "auto" });
    await ask(sessionId, `/call echo/echo {"text":"the key is ${key}."}`);
    expect(agent.stdout.text).toContain("the key is [REDACTED].");
    const sessions = join(scratch.directory, "home", "sessions");
    const kept = readdirSync(sessions).map((name) => readFileSync(join(sessions, name), "utf8"));
    expect(kept.join()).toContain("the key is [REDACTED].");
    expect(kept.join()).not.toContain(key);

    expect(await agent.request("logout", {})).toMatchObject({
      result: { _meta: { plugboard: { message: "the key for anthropic is deleted" } } },
    });
    expect(JSON.stringify(await ask(sessionId, "Still there?"))).toContain("needs an API key");
    expect(await ask(await open(), "And now?")).toHaveProperty("error");
    expect(model.requests).toHaveLength(1);
    agent.stdin.end();
    expect((await agent.done).code).toBe(0);
  });

  it("that cannot be used, commands work, and the answer to a question says why", async () => {
    const config = scratch.file("model.json", { agents: { defaults: { model: "nobody/none" } } });
    const agent = start(["--config", config]);
    await agent.request("initialize", { protocolVersion: 1 });
    const { result } = await agent.request("session/new", { cwd: "/", mcpServers: [] });
    const { sessionId } = result as unknown as { sessionId: string };
    const ask = (text: string) =>
      agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    await ask("/mcp");
    expect(agent.stdout.text).toContain("There are no servers.");
    expect(await ask("Hello?")).toMatchObject({
      error: {
        message: expect.stringContaining("nobody"),
        data: { kind: "NO_MODEL", retryable: false },
      },
    });
    agent.stdin.end();
    await agent.done;
  });
});
