// The servers that a client sends: all forms, what is refused, what is left out with a notice, and `_meta`.

import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { McpServer } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { fixture } from "../../../support/boards.ts";
import { mcpServer, useDesk } from "../harness.ts";
import { useScripted } from "../scripted.ts";

const desk = useDesk();
const scripted = useScripted();

/** The tools that the model got first. */
const offered = (): string[] => (scripted.requests[0]?.tools ?? []).map(({ name }) => name);

const stdio = { name: "a", command: "x", args: [], env: [] };

describe("a list of servers", () => {
  it("may be null", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession(null as never);
    expect(await editor.ask(sessionId, "/mcp")).toBe("There are no servers.");
  });

  it("may have the board itself in it, which the agent has anyway", async () => {
    const editor = await desk.open();
    const board = { name: "plugboard", command: "plugboard", args: ["serve"], env: [] };
    const sessionId = await editor.newSession([board]);
    expect(await editor.ask(sessionId, "/mcp")).toBe("There are no servers.");
  });

  it("beyond the limit is cut, and a notice says which were left out", async () => {
    const editor = await desk.open({ config: { limits: { sessionServers: 1 } } });
    const servers = ["one", "two", "three"].map((name) => mcpServer(name, "echo"));
    const sessionId = await editor.newSession(servers);
    await editor.until(() => editor.said(sessionId) !== "");
    expect(editor.said(sessionId)).toBe(
      "2 servers of the session are left out, the limit is 1: two, three; " +
        "raise it with limits.sessionServers or PLUGBOARD_MAX_SESSION_SERVERS\n\n",
    );
    expect(await editor.ask(sessionId, "/mcp")).toBe("- one: ready, 11 tools");
  });

  it("that shadows the agent's servers wins, with a warning", async () => {
    const editor = await desk.open({ servers: { echo: fixture("crlf") } });
    const sessionId = await editor.newSession([mcpServer("echo", "echo")]);
    await editor.until(() => editor.said(sessionId) !== "");
    expect(editor.said(sessionId)).toBe(
      "the session's server 'echo' replaces the agent's server of that name\n\n",
    );
    expect(await editor.call(sessionId, "echo/add", { a: 1, b: 2 })).toBe("3");
  });
});

describe("a command", () => {
  it("is looked up on PATH by its bare name, otherwise relative to the session's directory", async () => {
    const cwd = join(realpathSync(desk.directory), "project");
    mkdirSync(cwd);
    const { args = [] } = fixture("echo");
    const script = `#!/bin/sh\nexec "${process.execPath}" "${args.join('" "')}"\n`;
    writeFileSync(join(cwd, "serve.sh"), script, { mode: 0o700 });
    symlinkSync(process.execPath, join(desk.directory, "my-node"));
    const editor = await desk.open({ board: { env: { PATH: `${desk.directory}:/usr/bin:/bin` } } });
    const sessionId = await editor.newSession(
      [
        { name: "bare", command: "my-node", args, env: [] },
        { name: "relative", command: "./serve.sh", args: [], env: [] },
      ],
      cwd,
    );
    expect(await editor.call(sessionId, "bare/cwd")).toBe(cwd);
    expect(await editor.call(sessionId, "relative/cwd")).toBe(cwd);
  });

  it.each<[string, McpServer, string, RegExp]>([
    [
      "that is nowhere on PATH",
      { ...stdio, command: "no-such-program" },
      "",
      /^a: command 'no-such-program' was not found on PATH\. Install it or give an absolute path/,
    ],
    [
      "that is not in the session's directory",
      { ...stdio, command: "./nothing.sh" },
      "",
      /^a: command '\.\/nothing\.sh' does not exist\. Correct the path; it is taken from /,
    ],
    [
      "in a directory that does not exist",
      { ...mcpServer("a", "echo") },
      "gone",
      /^a: working directory '.*gone' does not exist\. Create it, or set 'cwd' to another one/,
    ],
  ])("%s is reported, and the session continues", async (_, server, under, words) => {
    const editor = await desk.open({ servers: { other: fixture("echo") } });
    const sessionId = await editor.newSession([server], join(desk.directory, under));
    await editor.until(() => editor.said(sessionId) !== "");
    expect(editor.said(sessionId)).toMatch(words);
    expect(await editor.call(sessionId, "other/add", { a: 1, b: 2 })).toBe("3");
    expect(editor.said(sessionId).split("a: ")).toHaveLength(2);
  });
});

describe("_meta.plugboard", () => {
  const opened = (meta: unknown, server: object = stdio) => ({
    cwd: "/",
    mcpServers: [{ ...server, _meta: { plugboard: meta } }],
  });

  it.each<[string, unknown, string, string]>([
    ["no object", 7, "", "is a number; expected an object"],
    ["a timeout of no time", { timeout: 0 }, ".timeout", "is 0; expected a whole number"],
    ["a timeout in words", { timeout: "5s" }, ".timeout", "is a string; expected a whole number"],
    ["an unknown mode", { include: "alwys" }, ".include", 'did you mean "always"?'],
    ["an unknown mode of a tool", { include: { tools: { x: 1 } } }, ".include.tools.x", "expected"],
    ["what is the operator's", { approval: "never" }, ".approval", "unknown key"],
  ])("refuses %s", async (_, meta, path, message) => {
    const editor = await desk.open();
    await expect(editor.agent.request("session/new", opened(meta))).rejects.toMatchObject({
      code: -32602,
      data: {
        path: `mcpServers[0]._meta.plugboard${path}`,
        message: expect.stringContaining(message),
      },
    });
  });

  it.each([null, undefined, {}])("may be %j", async (meta) => {
    const editor = await desk.open();
    const params = opened(meta, mcpServer("echo", "echo"));
    const { sessionId } = await editor.agent.request<{ sessionId: string }, object>(
      "session/new",
      params,
    );
    expect(await editor.ask(sessionId, "/mcp")).toBe("- echo: ready, 11 tools");
  });

  it("sets how long a server may take to start", async () => {
    const editor = await desk.open({ config: { session: { timeout: 30_000 } } });
    const meta = { _meta: { plugboard: { timeout: 200 } } };
    const sessionId = await editor.newSession([
      { ...mcpServer("hangs", "never-initialize"), ...meta },
    ]);
    await editor.until(() => editor.said(sessionId) !== "");
    expect(editor.said(sessionId)).toMatch(/^hangs: .*200 ms/);
  });

  it("sets which tools the model gets; the user can still call all of them", async () => {
    const newResponder = await scripted.script([{ text: "ok" }]);
    const editor = await desk.open({
      newResponder,
      servers: { agents: fixture("crlf"), mine: { ...fixture("crlf"), include: "manual" } },
    });
    const include = (value: unknown) => ({ _meta: { plugboard: { include: value } } });
    const sessionId = await editor.newSession([
      { ...mcpServer("hidden", "crlf"), ...include("manual") },
      { ...mcpServer("shown", "crlf"), ...include("always") },
      { ...mcpServer("some", "echo"), ...include({ default: "manual", tools: { add: "always" } }) },
      { ...mcpServer("most", "list-changed"), ...include({ tools: { swap: "manual" } }) },
    ]);
    await editor.prompt(sessionId, "Hello");
    expect(offered()).toEqual([
      "mcp__agents__echo",
      "mcp__shown__echo",
      "mcp__some__add",
      "mcp__most__before",
      "mcp__most__stays",
    ]);
    expect(await editor.call(sessionId, "hidden/echo", { text: "hi" })).toBe("hi");
    expect(await editor.call(sessionId, "mine/echo", { text: "hi" })).toBe("hi");
    expect(await editor.ask(sessionId, "/tools hidden")).toContain("hidden/echo");
  });

  it("overrides the configuration; with `agent` the model searches", async () => {
    const queries = ["return the text"];
    const newResponder = await scripted.script([
      { toolCalls: [{ name: "search_tools", arguments: { queries } }] },
      { text: "ok" },
    ]);
    const editor = await desk.open({ newResponder, config: { session: { include: "manual" } } });
    const sessionId = await editor.newSession([
      { ...mcpServer("a", "crlf"), _meta: { plugboard: { include: "agent" } } },
      mcpServer("b", "crlf"),
    ]);
    await editor.prompt(sessionId, "Hello");
    expect(offered()).toEqual(["search_tools"]);
    expect(scripted.requests[1]?.tools.map(({ name }) => name)).toEqual([
      "search_tools",
      "mcp__a__echo",
    ]);
  });
});
