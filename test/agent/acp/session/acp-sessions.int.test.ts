// Sessions with their own servers: what a client can send, what it gets, and that nothing is left afterwards.

import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type McpServer, methods } from "@agentclientprotocol/sdk";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/util/clock.ts";
import { fixture } from "../../../support/boards.ts";
import { isAlive } from "../../../support/processes.ts";
import { closeAll, owned } from "../../../fixtures/http/client.ts";
import { startMcpHttp } from "../../../fixtures/http/mcp.ts";
import { header } from "../../../fixtures/http/recorded.ts";
import { startSse } from "../../../fixtures/http/sse.ts";
import { mcpServer, useDesk } from "../harness.ts";

const desk = useDesk();
afterEach(closeAll);

describe("initialize", () => {
  it("says what the agent can do", async () => {
    const editor = await desk.open({ raw: true });
    expect(await editor.initialize()).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: "plugboard" },
      agentCapabilities: {
        loadSession: true,
        mcpCapabilities: { http: true, sse: true },
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
    });
  });

  it.each([0, 2, 99])("answers version %i with the supported one", async (protocolVersion) => {
    const editor = await desk.open({ raw: true });
    const answer = await editor.agent.request(methods.agent.initialize, { protocolVersion });
    expect(answer.protocolVersion).toBe(1);
  });

  it("comes before everything else", async () => {
    const editor = await desk.open({ raw: true });
    await expect(editor.newSession()).rejects.toMatchObject({ code: -32600 });
    await editor.initialize();
    expect(await editor.newSession()).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("what a client may not send", () => {
  const stdio = { name: "a", command: "x", args: [], env: [] };
  it.each([
    ["a relative cwd", { cwd: "here", mcpServers: [] }, "cwd"],
    ["no cwd", { mcpServers: [] }, "cwd"],
    ["no mcpServers", { cwd: "/" }, "mcpServers"],
    [
      "a server without args",
      { cwd: "/", mcpServers: [{ ...stdio, args: undefined }] },
      "mcpServers[0].args",
    ],
    [
      "a server without env",
      { cwd: "/", mcpServers: [{ ...stdio, env: undefined }] },
      "mcpServers[0].env",
    ],
    [
      "args that are no texts",
      { cwd: "/", mcpServers: [{ ...stdio, args: [1] }] },
      "mcpServers[0].args[0]",
    ],
    [
      "a server without a command",
      { cwd: "/", mcpServers: [{ ...stdio, command: undefined }] },
      "mcpServers[0].command",
    ],
    [
      "a url without headers",
      { cwd: "/", mcpServers: [{ type: "http", name: "a", url: "http://localhost" }] },
      "mcpServers[0].headers",
    ],
    [
      "an unknown transport",
      { cwd: "/", mcpServers: [stdio, { ...stdio, name: "b", type: "acp" }] },
      "mcpServers[1].type",
    ],
    ["two servers of one name", { cwd: "/", mcpServers: [stdio, stdio] }, "mcpServers[1].name"],
    [
      "a secret of the agent's",
      { cwd: "/", mcpServers: [{ ...stdio, env: [{ name: "A", value: "secret://env/HOME" }] }] },
      "mcpServers[0].env[0].value",
    ],
    [
      "a relative directory",
      { cwd: "/", mcpServers: [], additionalDirectories: ["x"] },
      "additionalDirectories[0]",
    ],
  ])("%s is −32602 with the path", async (_, params, path) => {
    const editor = await desk.open();
    await expect(editor.agent.request("session/new", params)).rejects.toMatchObject({
      code: -32602,
      data: { path, code: "INVALID_ARGUMENTS" },
    });
  });

  it.each([
    ["session/prompt", { prompt: [] }],
    ["session/close", {}],
    ["session/set_mode", { modeId: "auto" }],
    ["session/set_config_option", { configId: "mode", value: "auto" }],
    ["session/load", { cwd: "/", mcpServers: [] }],
    ["session/resume", { cwd: "/" }],
  ])("an unknown session in %s is −32002", async (method, params) => {
    const editor = await desk.open({ keeps: true });
    const sessionId = "11111111-2222-3333-4444-555555555555";
    const answer = editor.agent.request<unknown, object>(method, { ...params, sessionId });
    // The SDK's client treats a session that does not exist like one that was closed.
    if (method === "session/close") await expect(answer).resolves.toEqual({});
    else await expect(answer).rejects.toMatchObject({ code: -32002, data: { sessionId } });
  });

  it("an id without end is cut in the answer", async () => {
    const editor = await desk.open({ keeps: true });
    for (const method of ["session/prompt", "session/load"]) {
      const params = { sessionId: "x".repeat(100_000), cwd: "/", mcpServers: [], prompt: [] };
      const answer = editor.agent.request<unknown, object>(method, params);
      const sessionId = `${"x".repeat(99)}…`;
      await expect(answer).rejects.toMatchObject({ code: -32002, data: { sessionId } });
    }
  });

  it("malformed blocks of a prompt are −32602", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession();
    const prompt = [{ type: "text" }];
    const answer = editor.agent.request<unknown, object>("session/prompt", { sessionId, prompt });
    await expect(answer).rejects.toMatchObject({ code: -32602, data: { path: "prompt[0].text" } });
  });

  it("a path as a session's id finds nothing", async () => {
    const editor = await desk.open({ keeps: true });
    const params = { sessionId: "../../etc/passwd", cwd: "/", mcpServers: [] };
    const answer = editor.agent.request(methods.agent.session.load, params);
    await expect(answer).rejects.toMatchObject({ code: -32002 });
  });
});

describe("servers of a session", () => {
  it("are started in its directory, with and without a type", async () => {
    const editor = await desk.open();
    const cwd = join(desk.directory, "project");
    mkdirSync(cwd);
    const typed = { ...mcpServer("typed", "echo"), type: "stdio" };
    const sessionId = await editor.newSession([mcpServer("plain", "echo"), typed as never], cwd);
    await editor.ask(sessionId, "/call plain/cwd");
    await editor.ask(sessionId, "/call typed/cwd");
    const results = editor.ended(sessionId).map(({ content }) => content);
    const shown = [{ type: "content", content: { type: "text", text: realpathSync(cwd) } }];
    expect(results).toEqual([shown, shown]);
  });

  it("get their environment literally", async () => {
    const editor = await desk.open();
    const server = {
      ...mcpServer("echo", "echo"),
      env: [{ name: "GIVEN", value: "${HOME} and $${HOME}" }],
    };
    const sessionId = await editor.newSession([server]);
    await editor.prompt(sessionId, "/call echo/env");
    const [update] = editor.ended(sessionId);
    expect(JSON.stringify(update?.content)).toContain("${HOME} and $${HOME}");
  });

  it.each(["http", "sse"] as const)("are reached over %s with their headers", async (type) => {
    const remote = owned(type === "http" ? await startMcpHttp({}) : await startSse({}));
    const editor = await desk.open();
    const headers = [{ name: "X-Given", value: "yes" }];
    const sessionId = await editor.newSession([{ type, name: "remote", url: remote.url, headers }]);
    expect(await editor.ask(sessionId, "/tools echo")).toContain("remote/echo");
    expect(remote.requests.every((request) => header(request, "x-given") === "yes")).toBe(true);
  });

  it("with an invalid name are left out with a notice", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([
      mcpServer("a/b", "echo"),
      mcpServer("echo", "echo"),
    ]);
    await editor.until(() => editor.said(sessionId).includes('"a/b" was left out'));
    expect(await editor.ask(sessionId, "/mcp")).toBe("- echo: ready, 11 tools");
  });

  it("replace the agent's servers of the same name, with a notice", async () => {
    const editor = await desk.open({ servers: { echo: fixture("slow-start", "--ms=0") } });
    const sessionId = await editor.newSession([mcpServer("echo", "echo")]);
    await editor.until(() => /echo/.test(editor.said(sessionId)));
    expect(await editor.ask(sessionId, "/tools crash")).toContain("echo/crash");
  });

  it("are separate from those of another session, and end with their own", async () => {
    const editor = await desk.open();
    const pidIn = async (sessionId: string): Promise<number> => {
      await editor.prompt(sessionId, "/call echo/pid");
      const content = editor.of(sessionId, "tool_call_update").at(-1)?.content?.[0];
      return Number(
        content?.type === "content" && content.content.type === "text" && content.content.text,
      );
    };
    const first = await editor.newSession([mcpServer("echo", "echo")]);
    const second = await editor.newSession([mcpServer("echo", "echo")]);
    const [one, two] = [await pidIn(first), await pidIn(second)];
    expect(one).not.toBe(two);
    await editor.agent.request(methods.agent.session.close, { sessionId: first });
    expect([isAlive(one), isAlive(two)]).toEqual([false, true]);
    expect(await pidIn(second)).toBe(two);
    await expect(editor.prompt(first, "/mcp")).rejects.toMatchObject({ code: -32002 });
  });

  it("twenty sessions at once have twenty servers, and none after the client is gone", async () => {
    const editor = await desk.open({ servers: { shared: fixture("echo") } });
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => editor.newSession([mcpServer("own", "echo")])),
    );
    const pids = async (server: string): Promise<Set<string>> => {
      await Promise.all(ids.map((id) => editor.prompt(id, `/call ${server}/pid`)));
      return new Set(
        ids.map((id) => JSON.stringify(editor.of(id, "tool_call_update").at(-1)?.content)),
      );
    };
    expect((await pids("own")).size).toBe(20);
    expect((await pids("shared")).size).toBe(1);
    await editor.leave();
    expect(editor.board.status().map(({ state }) => state.kind)).toEqual(["ready"]);
  });
});

describe("a bad server", () => {
  it("that never answers delays neither the session nor other servers", async () => {
    const editor = await desk.open({ startupWait: 200 });
    const sessionId = await editor.newSession([
      mcpServer("hangs", "never-initialize"),
      mcpServer("echo", "echo"),
    ]);
    await editor.untilStatus(sessionId, "- echo: ready, 11 tools");
    expect(await editor.ask(sessionId, "/mcp")).toContain("- hangs: starting");
    const first = editor.prompt(sessionId, "/call echo/pid");
    await editor.until(() => editor.of(sessionId, "agent_thought_chunk").length > 0);
    expect(editor.of(sessionId, "agent_thought_chunk")[0]?.content).toMatchObject({
      text: "Waiting for hangs to start.\n",
    });
    await editor.agent.notify(methods.agent.session.cancel, { sessionId });
    expect(await first).toEqual({ stopReason: "cancelled" });
    expect(await editor.ask(sessionId, "/call echo/pid")).toContain("Done.");
  });

  it("that is slow is ready for the first prompt", async () => {
    const editor = await desk.open({ startupWait: 0 });
    const sessionId = await editor.newSession([mcpServer("slow", "slow-start", "--ms=100")]);
    expect(await editor.ask(sessionId, '/call slow/echo {"text": "late"}')).toBe("Done.");
  });

  it("that is still starting after the wait is reported, and the prompt continues", async () => {
    const clock = {
      ...systemClock,
      after: (ms: number, task: () => void) => systemClock.after(ms / 1000, task),
    };
    const editor = await desk.open({ clock, startupWait: 0 });
    const sessionId = await editor.newSession([mcpServer("hangs", "never-initialize")]);
    expect(await editor.ask(sessionId, "/tools")).toBe(
      "hangs: still starting; the tools can be used once it is ready\n\nThere are no tools.",
    );
    expect(await editor.ask(sessionId, "/tools")).toBe("There are no tools.");
  });

  it.each<[string, McpServer, string]>([
    [
      "a variable that would run code in it",
      { ...mcpServer("a", "echo"), env: [{ name: "NODE_OPTIONS", value: "-r x" }] },
      "mcpServers[0].env.NODE_OPTIONS",
    ],
    [
      "an invalid address",
      { type: "http", name: "a", url: "nonsense", headers: [] },
      "mcpServers[0].url",
    ],
  ])("with %s is −32602, and nothing of the session is left", async (_, server, path) => {
    const editor = await desk.open({ keeps: true });
    await expect(editor.newSession([server])).rejects.toMatchObject({
      code: -32602,
      data: { path },
    });
    const { sessions } = await editor.agent.request(methods.agent.session.list, {});
    expect(sessions).toEqual([]);
  });

  it("that is missing is reported once with the cause", async () => {
    const editor = await desk.open();
    const missing = { name: "gone", command: "/no/such/program", args: [], env: [] };
    const sessionId = await editor.newSession([missing]);
    await editor.until(() => editor.said(sessionId) !== "");
    expect(editor.said(sessionId)).toMatch(/^gone: .*\/no\/such\/program/);
    expect(await editor.ask(sessionId, "/tools")).toBe("There are no tools.");
  });

  it("is reported in a notice if the client shows notices", async () => {
    const editor = await desk.open({ capabilities: { session: { notices: {} } } });
    const missing = { name: "gone", command: "/no/such/program", args: [], env: [] };
    const sessionId = await editor.newSession([missing]);
    await editor.until(() => editor.of(sessionId, "notice").length > 0);
    expect(editor.of(sessionId, "notice")).toMatchObject([{ severity: "warning" }]);
    expect(editor.said(sessionId)).toBe("");
  });

  it("that crashes in a call fails only that call", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([mcpServer("a", "echo"), mcpServer("b", "echo")]);
    expect(await editor.ask(sessionId, "/call a/crash")).toBe("The call failed.");
    expect(editor.of(sessionId, "tool_call_update").at(-1)).toMatchObject({ status: "failed" });
    expect(await editor.ask(sessionId, "/call b/pid")).toContain("Done.");
  });
});

describe("the end", () => {
  it("of the client ends what is still starting", async () => {
    const editor = await desk.open({ startupWait: 300 });
    const opening = editor.newSession([mcpServer("hangs", "never-initialize")]).catch(() => "gone");
    await editor.leave();
    expect(await opening).toBe("gone");
  });
});
