// Every method of the protocol over the child process, in both directions, and what is no good request.

import { methods, RequestError } from "@agentclientprotocol/sdk";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { useAgents } from "./acp-agent.ts";

const desk = useAgents();
const { session } = methods.agent;

describe("initialize", () => {
  it("comes first, and answers the version that is spoken to any that is asked for", async () => {
    const agent = await desk.start({ raw: true });
    await expect(agent.newSession(desk.directory)).rejects.toMatchObject({ code: -32600 });
    expect(await agent.initialize(99)).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: "plugboard" },
      agentCapabilities: {
        loadSession: true,
        mcpCapabilities: { http: true, sse: true },
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
    });
    expect(await agent.newSession(desk.directory)).toMatch(/./);
    expect(await agent.leave()).toBe(0);
  });
});

describe("the methods of a session", () => {
  it("each do what they say, in one life of it; a result that is too large is shown in part", async () => {
    const agent = await desk.start();
    const { agent: ask } = agent;
    const mcpServers = [desk.server("echo", "echo")];
    const { directory: cwd } = desk;

    const { sessionId, modes } = await ask.request(session.new, { cwd, mcpServers });
    expect(modes).toMatchObject({ currentModeId: "ask" });
    await agent.until(() => agent.of(sessionId, "available_commands_update").length > 0);

    await agent.prompt(sessionId, '/call echo/echo {"text": "one"}');
    expect(agent.result(sessionId)).toBe("one");
    expect(agent.questions).toMatchObject([{ sessionId, toolCall: { rawInput: { text: "one" } } }]);

    await ask.request(session.setMode, { sessionId, modeId: "read-only" });
    await agent.until(() => agent.of(sessionId, "config_option_update").length > 0);
    await agent.prompt(sessionId, '/call echo/echo {"text": "two"}');
    expect(agent.result(sessionId)).toContain("read-only mode");

    const option = { sessionId, configId: "mode", value: "auto" };
    expect(await ask.request(session.setConfigOption, option)).toMatchObject({
      configOptions: [{ id: "mode", currentValue: "auto" }],
    });
    await agent.until(() => agent.of(sessionId, "current_mode_update").length > 0);

    const turn = agent.prompt(sessionId, '/call echo/sleep {"ms": 600000}');
    await agent.until(() => agent.of(sessionId, "tool_call").length === 3);
    await ask.notify(session.cancel, { sessionId });
    expect(await turn).toEqual({ stopReason: "cancelled" });
    expect(agent.questions).toHaveLength(1);

    const given = new AbortController();
    const prompt = [{ type: "text" as const, text: '/call echo/sleep {"ms": 600000}' }];
    const request = ask.request(
      session.prompt,
      { sessionId, prompt },
      { cancellationSignal: given.signal },
    );
    await agent.until(() => agent.of(sessionId, "tool_call").length === 4);
    // As `$/cancel_request`.
    given.abort();
    expect(await request).toEqual({ stopReason: "cancelled" });

    const { sessions } = await ask.request(session.list, { cwd: desk.directory });
    expect(sessions.map((each) => each.sessionId)).toEqual([sessionId]);
    await ask.request(session.close, { sessionId });
    await expect(agent.prompt(sessionId, "/mcp")).rejects.toMatchObject({ code: -32002 });

    const heard = agent.of(sessionId, "user_message_chunk").length;
    await ask.request(session.resume, { sessionId, cwd: desk.directory });
    expect(agent.of(sessionId, "user_message_chunk")).toHaveLength(heard);
    expect(await agent.ask(sessionId, "/mcp")).toBe("There are no servers.");
    await ask.request(session.load, { sessionId, cwd, mcpServers });
    expect(agent.of(sessionId, "user_message_chunk").map(({ content }) => content)).toMatchObject([
      { text: '/call echo/echo {"text": "one"}' },
      { text: '/call echo/echo {"text": "two"}' },
      { text: '/call echo/sleep {"ms": 600000}' },
      { text: '/call echo/sleep {"ms": 600000}' },
      { text: "/mcp" },
    ]);
    await agent.prompt(sessionId, '/call echo/echo {"text": "three"}');
    expect(agent.result(sessionId)).toBe("three");

    // Larger than a message may be.
    await agent.prompt(sessionId, `/call echo/big {"bytes": ${33 * 2 ** 20}}`);
    expect(agent.result(sessionId)).toMatch(/^x+\n\(31 MiB more not shown\)$/);
    await agent.prompt(sessionId, '/call echo/echo {"text": "still here"}');
    expect(agent.result(sessionId)).toBe("still here");

    await ask.request(session.delete, { sessionId });
    expect(await ask.request(session.list, {})).toEqual({ sessions: [] });
    expect(await agent.leave()).toBe(0);
  });
});

describe("a request that is wrong", () => {
  const cwd = "/";
  const nobody = { sessionId: "nobody" };
  const stdio = { name: "s", command: "c", args: [], env: [] };
  const wrong: [method: string, params: unknown, path: string][] = [
    ["authenticate", {}, "methodId"],
    ["authenticate", { methodId: "made-up" }, "methodId"],
    ["session/new", {}, "cwd"],
    ["session/new", { cwd: "relative", mcpServers: [] }, "cwd"],
    ["session/new", { cwd }, "mcpServers"],
    [
      "session/new",
      { cwd, mcpServers: [{ name: "s", command: "c", env: [] }] },
      "mcpServers[0].args",
    ],
    [
      "session/new",
      { cwd, mcpServers: [{ ...stdio, env: [{ name: "A" }] }] },
      "mcpServers[0].env[0].value",
    ],
    ["session/new", { cwd, mcpServers: [stdio, stdio] }, "mcpServers[1].name"],
    [
      "session/new",
      { cwd, mcpServers: [{ ...stdio, type: "carrier-pigeon" }] },
      "mcpServers[0].type",
    ],
    [
      "session/new",
      { cwd, mcpServers: [{ type: "http", name: "h", headers: [] }] },
      "mcpServers[0].url",
    ],
    [
      "session/new",
      { cwd, mcpServers: [], additionalDirectories: ["x"] },
      "additionalDirectories[0]",
    ],
    ["session/load", { cwd, mcpServers: [] }, "sessionId"],
    ["session/resume", nobody, "cwd"],
    ["session/list", { cwd: "relative" }, "cwd"],
    ["session/close", {}, "sessionId"],
    ["session/delete", { sessionId: 5 }, "sessionId"],
    ["session/set_mode", nobody, "modeId"],
    ["session/set_config_option", { ...nobody, configId: "mode" }, "value"],
    ["session/prompt", nobody, "prompt"],
    ["session/prompt", { ...nobody, prompt: [{ type: "text" }] }, "prompt[0].text"],
  ];
  const unknown: [method: string, params: unknown][] = [
    ["session/load", { ...nobody, cwd, mcpServers: [] }],
    ["session/resume", { ...nobody, cwd }],
    ["session/set_mode", { ...nobody, modeId: "auto" }],
    ["session/set_config_option", { ...nobody, configId: "mode", value: "auto" }],
    ["session/prompt", { ...nobody, prompt: [] }],
  ];

  it("is told where: −32602 with the path, −32002 for a session, −32601 for a method", async () => {
    const agent = await desk.start();
    const refusal = async (method: string, params: unknown): Promise<unknown> => {
      const error: unknown = await agent.agent.request(method, params).catch((e: unknown) => e);
      return error instanceof RequestError ? [error.code, error.data] : error;
    };
    for (const [method, params, path] of wrong) {
      const message = expect.stringMatching(/./);
      expect(await refusal(method, params), method).toEqual([
        -32602,
        { path, message, code: "INVALID_ARGUMENTS" },
      ]);
    }
    for (const [method, params] of unknown) {
      expect(await refusal(method, params), method).toEqual([-32002, nobody]);
    }
    // The SDK's client takes what is not there for closed.
    await agent.agent.request(session.close, nobody);
    expect(agent.stdout.trimEnd().split("\n").at(-1)).toContain('"code":-32002');
    expect(await refusal("session/made_up", {})).toMatchObject([-32601, {}]);
    const open = await agent.newSession(desk.directory);
    for (const [method, params, path] of [
      ["session/set_mode", { sessionId: open, modeId: "wild" }, "modeId"],
      ["session/set_config_option", { sessionId: open, configId: "mode", value: "wild" }, "value"],
      ["session/set_config_option", { sessionId: open, configId: "x", value: "y" }, "configId"],
    ] as const) {
      expect(await refusal(method, params), method).toMatchObject([-32602, { path }]);
    }
    expect(await agent.leave()).toBe(0);
  });

  it("may be no message at all, or enormous: it alone is refused and not kept, and the agent goes on", async () => {
    const agent = await desk.start();
    const sessionId = await agent.newSession(desk.directory);
    // The SDK's client prints answers that are to nobody.
    const print = vi.spyOn(console, "error").mockReturnValue();
    onTestFinished(() => print.mockRestore());
    for (const line of ["{ not json", "[]", "17", "", '{"jsonrpc":"2.0"}', "\u0000"]) {
      agent.process.stdin.write(`${line}\n`);
    }
    const { agent: ask } = agent;
    await ask.notify("session/cancel", { sessionId: "nobody" });
    await ask.notify("session/made_up", {});
    expect(await agent.ask(sessionId, "/mcp")).toBe("There are no servers.");
    expect(agent.stdout).toContain('"code":-32700');

    const huge = agent.prompt(sessionId, "x".repeat(100 * 2 ** 20));
    const tooLarge = "the message is larger than 32 MiB";
    await expect(huge).rejects.toMatchObject({ code: -32600, message: tooLarge });
    expect(await agent.ask(sessionId, "/mcp")).toBe("There are no servers.");
    await agent.until(() => agent.stderr.includes(tooLarge));
    expect(await agent.leave()).toBe(0);
  });
});
