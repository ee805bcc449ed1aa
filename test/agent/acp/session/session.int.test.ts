// What happens in a prompt: commands, calls as an editor shows them, permission, modes and cancelling.

import { tmpdir } from "node:os";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import type { ServerConfig } from "../../../../src/core/types/server-config.ts";
import { fixture } from "../../../support/boards.ts";
import { choose, mcpServer, useDesk } from "../harness.ts";

const desk = useDesk();
const echo = () => mcpServer("echo", "echo");

describe("without a model", () => {
  it.each(["How are you?", "/etc/hosts is what?"])(
    "a question fails, which says what can be done, and how to set a model: %s",
    async (question) => {
      const editor = await desk.open();
      const sessionId = await editor.newSession([echo()]);
      const { code, message, data } = await editor.failure(sessionId, question);
      expect(message).toContain("has no model");
      expect(message).toContain("11 tools can be used");
      expect(message).toContain("set `model` in agents.defaults");
      expect({ code, data }).toEqual({
        code: -32010,
        data: { kind: "NO_MODEL", retryable: false },
      });
      expect(editor.said(sessionId)).toBe("");
    },
  );

  it.each([
    ["/status", "There is no command /status; did you mean /mcp? /help lists the commands."],
    ["/tool add", "There is no command /tool; did you mean /tools? /help lists the commands."],
    ["/zzzz", "There is no command /zzzz. /help lists the commands."],
    ["/tools", "- echo/add: [echo] Adds two numbers."],
    ["/tools ADDS numbers", "- echo/add: [echo] Adds two numbers."],
    ["/tools nothing-like-it", "No tool matches."],
    ["/mcp", "- echo: ready, 11 tools"],
    ["/mcp status", "- echo: ready, 11 tools"],
    ["/mcp reconnect echo", "- echo: ready, 11 tools"],
    ["/mcp reconnect nobody", "nobody"],
    ["/mcp dance", "/mcp dance is unknown or incomplete"],
    ["/call", "/call needs the name of a tool"],
    ["/call mcp__echo__ad", "did you mean 'mcp__echo__add'?"],
    ["/call echo/add {a: 1}", "the argument is not valid JSON: unexpected 'a'"],
    ["/call echo/add [1]", "a: expected number, got '[1]'"],
    ["/call echo/add a=1", "1 argument missing:"],
    ["/call echo/add a=x b=1", "a: expected number, got 'x'"],
    ["/call echo/echo text=it's", "the quote ' at column 18 is never closed"],
    ["/call echo/echo text=@/etc/passwd", "/call does not read files"],
    ["/call echo/add -", "/call has no stdin"],
    ["/help", "- `/call <tool> key=value …`: Call a tool"],
    ["/help call", '- `text="two words"`: a value with spaces in quotes'],
    ["/help /read", "- `/read [server] <uri>`: Read a resource"],
    ["/help echo/add", "    /call echo/add a=1 b=1"],
    ["/tools echo/add", "- `a` number, required"],
    ["/call echo/add --help", "Claims to only read (unverified)."],
    ["/help nosuch", "there is no tool named 'nosuch'"],
    ["/resources", "The servers have no resources."],
    ["/read", "/read needs a URI"],
    ["/read nothing://there", "nothing://there"],
  ])("%s", async (line, answer) => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([echo()]);
    expect(await editor.ask(sessionId, line)).toContain(answer);
  });

  it("/mcp says that there are no servers", async () => {
    const editor = await desk.open();
    expect(await editor.ask(await editor.newSession(), "/mcp")).toBe("There are no servers.");
  });

  it("/mcp adds a server to the session and removes it", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession();
    const server = echo();
    const line = "command" in server ? [server.command, ...server.args].join(" ") : "";
    expect(await editor.ask(sessionId, `/mcp add more ${line}`)).toBe("- more: ready, 11 tools");
    expect(await editor.ask(sessionId, "/call more/pid")).toBe("Done.");
    expect(await editor.ask(sessionId, "/mcp remove more")).toContain("more was removed");
    expect(await editor.ask(sessionId, "/tools")).toBe("There are no tools.");
    expect(await editor.ask(sessionId, "/mcp add far http://127.0.0.1:1/")).toContain("far: ");
  });

  it("resources are listed and read", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([mcpServer("library", "library")]);
    const list = await editor.ask(sessionId, "/resources");
    expect(list).toMatch(/^- lib:.*\{.*\}.*: \[library\] /m);
    const uri = /^- (\S+): /.exec(list)?.[1] ?? "";
    expect(uri).not.toBe("");
    const text = await editor.ask(sessionId, `/read ${uri}`);
    expect(text).not.toBe("");
    expect(await editor.ask(sessionId, `/read library ${uri}`)).toBe(text);
    expect(await editor.ask(sessionId, `/read elsewhere ${uri}`)).toContain("elsewhere");
  });

  it("a failure that /mcp shows is not reported again", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession();
    await editor.prompt(sessionId, "/mcp add gone http://127.0.0.1:1/");
    const before = editor.said(sessionId);
    expect(before.split("gone: ")).toHaveLength(2);
    expect((await editor.ask(sessionId, "/mcp")).split("gone: ")).toHaveLength(2);
    expect(await editor.ask(sessionId, "/tools")).toBe("There are no tools.");
  });

  it("the commands are sent again only if they have changed", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession();
    await editor.until(() => editor.of(sessionId, "available_commands_update").length > 0);
    await editor.prompt(sessionId, "/mcp");
    const { command = "", args = [] } = fixture("library");
    await editor.prompt(sessionId, `/mcp add library ${[command, ...args].join(" ")}`);
    const told = () => editor.of(sessionId, "available_commands_update");
    await editor.until(() => JSON.stringify(told().at(-1)).includes("library:"));
    expect(told()).toHaveLength(2);
    // The client may show the session in a new place.
    const same = { sessionId, cwd: tmpdir(), mcpServers: [] };
    await editor.agent.request(methods.agent.session.load, same);
    await editor.until(() => told().length === 3);
  });

  it("prompts of servers become commands when the servers are ready", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([mcpServer("lib", "library")]);
    const named = () =>
      editor
        .of(sessionId, "available_commands_update")
        .at(-1)
        ?.availableCommands.map(({ name }) => name) ?? [];
    await editor.until(() => named().some((name) => name.startsWith("lib:")));
    expect(named().slice(0, 5)).toEqual(["tools", "mcp", "call", "resources", "read"]);
    expect(named()[5]).toBe("help");
    const commands = editor.of(sessionId, "available_commands_update").at(-1)?.availableCommands;
    const filled = commands?.find(({ input }) => input?.hint.includes("=…") === true);
    expect(await editor.ask(sessionId, `/${filled?.name}`)).toMatch(/needs: \w+/);
    const said = await editor.ask(sessionId, `/${filled?.name} some words`);
    expect(said).not.toContain("needs:");
    expect(said).not.toContain("has no model");
  });
});

describe("a call", () => {
  it("is shown from start to end, with its progress", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([echo()]);
    await editor.prompt(sessionId, '/call echo/progress {"steps": 2, "ms": 1}');
    const [start] = editor.of(sessionId, "tool_call");
    expect(start).toMatchObject({
      title: "echo: progress steps=2 ms=1",
      name: "mcp__echo__progress",
      kind: "other",
      status: "pending",
      rawInput: { steps: 2, ms: 1 },
    });
    const updates = editor.of(sessionId, "tool_call_update");
    expect(updates.every(({ toolCallId }) => toolCallId === start?.toolCallId)).toBe(true);
    expect(updates[0]).not.toHaveProperty("content");
    expect(JSON.stringify(updates[1]?.content)).toContain("1/2 step 1 of 2");
    expect(updates.at(-1)).toMatchObject({
      status: "completed",
      content: [{ type: "content", content: { type: "text", text: "2 steps done" } }],
    });
  });

  it("shows its result unframed, and its structured content", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([echo()]);
    await editor.prompt(sessionId, '/call echo/add {"a": 1, "b": 2}');
    expect(editor.of(sessionId, "tool_call_update").at(-1)).toMatchObject({
      content: [{ type: "content", content: { type: "text", text: "3" } }],
      rawOutput: { sum: 3 },
    });
  });

  it.each([
    ["a server that is not trusted", {}, "other"],
    ["a trusted server", { trusted: true }, "read"],
  ])("of %s has one kind, wherever it is shown", async (_, settings, kind) => {
    const editor = await desk.open({ servers: { own: { ...fixture("echo"), ...settings } } });
    const sessionId = await editor.newSession();
    await editor.prompt(sessionId, '/call own/add {"a": 1, "b": 2}');
    expect(editor.of(sessionId, "tool_call")[0]).toMatchObject({ kind });
    expect(editor.questions.map(({ toolCall }) => toolCall.kind)).toEqual([kind]);
  });

  it("that fails says why", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([echo()]);
    expect(await editor.ask(sessionId, "/call echo/fail")).toBe("The call failed.");
    expect(editor.of(sessionId, "tool_call_update").at(-1)).toMatchObject({
      status: "failed",
      content: [{ type: "content", content: { type: "text", text: "it failed" } }],
    });
  });

  it("carries every kind of content", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([mcpServer("content", "content")]);
    const tools = await editor.ask(sessionId, "/tools");
    const names = [...tools.matchAll(/^- (\S+): /gm)].map(([, name]) => name);
    for (const name of names) await editor.prompt(sessionId, `/call ${name}`);
    const kinds = editor
      .of(sessionId, "tool_call_update")
      .flatMap(({ content }) => content ?? [])
      .flatMap((part) => (part.type === "content" ? [part.content.type] : []));
    expect(new Set(kinds)).toEqual(
      new Set(["text", "image", "audio", "resource", "resource_link"]),
    );
  });
});

describe("permission", () => {
  it("is asked for with the id of the call, and four answers", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([echo()]);
    await editor.prompt(sessionId, '/call echo/echo {"text": "hi"}');
    const [question] = editor.questions;
    expect(question).toMatchObject({
      sessionId,
      toolCall: {
        toolCallId: editor.of(sessionId, "tool_call")[0]?.toolCallId,
        name: "mcp__echo__echo",
        rawInput: { text: "hi" },
      },
    });
    expect(question?.options.map(({ kind }) => kind)).toEqual([
      "allow_once",
      "allow_always",
      "reject_once",
      "reject_always",
    ]);
  });

  it.each([
    [true, "read/add", "read"],
    [true, "read/fail", "other"],
    [false, "read/add", "other"],
  ])("has a kind that clients may go by: trusted %s, %s is %s", async (trusted, tool, kind) => {
    const editor = await desk.open({ servers: { read: { ...fixture("echo"), trusted } } });
    const sessionId = await editor.newSession();
    await editor.prompt(sessionId, `/call ${tool} {"a": 1, "b": 2}`);
    expect(editor.questions[0]?.toolCall).toMatchObject({ kind });
  });

  it.each([
    ["allow", 2, "completed"],
    ["always", 1, "completed"],
    ["reject", 2, "failed"],
    ["never", 1, "failed"],
    ["made-up", 2, "failed"],
  ])("%s: %i questions in two calls, both %s", async (answer, questions, status) => {
    const editor = await desk.open({ decide: () => choose(answer) });
    const sessionId = await editor.newSession([echo()]);
    await editor.prompt(sessionId, "/call echo/pid");
    await editor.prompt(sessionId, "/call echo/pid");
    expect(editor.questions).toHaveLength(questions);
    const ends = editor.ended(sessionId).map((update) => update.status);
    expect(ends).toEqual([status, status]);
  });

  it("for good lasts: for the agent's servers until the tool changes, for the editor's in the session", async () => {
    const answers: string[] = [];
    const open = () =>
      desk.open({
        servers: { own: fixture("echo") },
        board: { stateDir: join(desk.directory, "state") },
        decide: ({ options, toolCall: { title } }) => {
          const { name } = options.find(({ optionId }) => optionId === "always") ?? {};
          answers.push(`${title}: ${name}`);
          return choose("always");
        },
      });
    // Two agents, as an editor starts one after the other, and two sessions of each.
    for (const editor of [await open(), await open()]) {
      for (const sessionId of [
        await editor.newSession([echo()]),
        await editor.newSession([echo()]),
      ]) {
        for (const tool of ["own/pid", "echo/pid", "own/pid", "echo/pid"]) {
          expect(await editor.ask(sessionId, `/call ${tool}`)).toBe("Done.");
        }
      }
    }
    const ofSession = "echo: pid: Always allow in this session";
    expect(answers).toEqual([
      "own: pid: Always allow, until the tool changes",
      ofSession,
      ofSession,
      ofSession,
      ofSession,
    ]);
  });

  it("that is cancelled at the editor means no", async () => {
    const editor = await desk.open({ decide: () => ({ outcome: { outcome: "cancelled" } }) });
    const sessionId = await editor.newSession([echo()]);
    expect(await editor.ask(sessionId, "/call echo/pid")).toBe("The call failed.");
  });
});

describe("modes", () => {
  it("are sent with a new session, as modes and as an option", async () => {
    const editor = await desk.open();
    const answer = await editor.agent.request(methods.agent.session.new, {
      cwd: desk.directory,
      mcpServers: [],
    });
    expect(answer.modes).toMatchObject({ currentModeId: "ask" });
    expect(answer.configOptions).toMatchObject([{ id: "mode", currentValue: "ask" }]);
  });

  it("auto does not ask", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([echo()]);
    await editor.agent.request(methods.agent.session.setMode, { sessionId, modeId: "auto" });
    expect(editor.of(sessionId, "config_option_update")).toHaveLength(1);
    expect(await editor.ask(sessionId, "/call echo/pid")).toBe("Done.");
    expect(editor.questions).toEqual([]);
  });

  it("read-only refuses tools that are not marked as read-only, and asks about the rest", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([echo()]);
    const set = { sessionId, configId: "mode", value: "read-only" };
    await editor.agent.request(methods.agent.session.setConfigOption, set);
    expect(editor.of(sessionId, "current_mode_update")).toMatchObject([
      { currentModeId: "read-only" },
    ]);
    expect(await editor.ask(sessionId, "/call echo/pid")).toBe("The call failed.");
    expect(editor.questions).toEqual([]);
    expect(await editor.ask(sessionId, '/call echo/add {"a": 1, "b": 1}')).toBe("Done.");
    expect(editor.questions).toHaveLength(1);
  });

  it("that do not exist are −32602", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession();
    const { setMode, setConfigOption } = methods.agent.session;
    await expect(
      editor.agent.request(setMode, { sessionId, modeId: "wild" }),
    ).rejects.toMatchObject({ code: -32602, data: { path: "modeId" } });
    await expect(
      editor.agent.request(setConfigOption, { sessionId, configId: "colour", value: "x" }),
    ).rejects.toMatchObject({ code: -32602, data: { path: "configId" } });
  });
});

describe("cancelling", () => {
  it("ends the running call and the prompt, and the session continues", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([echo()]);
    await editor.agent.request(methods.agent.session.setMode, { sessionId, modeId: "auto" });
    const turn = editor.prompt(sessionId, '/call echo/sleep {"ms": 600000}');
    await editor.until(() => editor.of(sessionId, "tool_call").length > 0);
    await editor.agent.notify(methods.agent.session.cancel, { sessionId });
    expect(await turn).toEqual({ stopReason: "cancelled" });
    expect(editor.of(sessionId, "tool_call_update").at(-1)).toMatchObject({ status: "failed" });
    expect(await editor.ask(sessionId, "/call echo/pid")).toBe("Done.");
  });

  it("withdraws a question that is not answered yet", async () => {
    const editor = await desk.open({ decide: () => new Promise(() => {}) });
    const sessionId = await editor.newSession([echo()]);
    const turn = editor.prompt(sessionId, "/call echo/pid");
    await editor.until(() => editor.questions.length > 0);
    await editor.agent.notify(methods.agent.session.cancel, { sessionId });
    expect(await turn).toEqual({ stopReason: "cancelled" });
  });

  it("does nothing for a session that does not exist or has no prompt", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([echo()]);
    await editor.agent.notify(methods.agent.session.cancel, { sessionId });
    await editor.agent.notify(methods.agent.session.cancel, { sessionId: "nobody" });
    expect(await editor.ask(sessionId, "/call echo/pid")).toBe("Done.");
  });

  it("a second prompt during the first is refused", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([echo()]);
    const first = editor.prompt(sessionId, '/call echo/sleep {"ms": 600000}');
    await editor.until(() => editor.of(sessionId, "tool_call").length > 0);
    await expect(editor.prompt(sessionId, "/mcp")).rejects.toMatchObject({ code: -32600 });
    await editor.agent.request(methods.agent.session.close, { sessionId });
    expect(await first).toEqual({ stopReason: "cancelled" });
  });
});

describe("limits of a session", () => {
  it("are reported when they first apply, with the setting", async () => {
    const editor = await desk.open({
      config: { limits: { sessionTools: 3 }, session: { rateLimit: 1 } },
    });
    const sessionId = await editor.newSession([mcpServer("many", "many-tools", "--count=3")]);
    const first = await editor.ask(sessionId, "/call many/tool_0");
    expect(first).not.toContain("limit");
    const second = await editor.ask(sessionId, "/call many/tool_0");
    expect(second).toContain(
      "Calls to many are slowed down to 1 call a minute; mcp.session.rateLimit changes that",
    );
    const added = await editor.ask(sessionId, `/mcp add more ${words(fixture("crlf"))}`);
    expect(added).toContain(
      "1 tool of the session is found by search alone, the limit is 3: more/echo; raise",
    );
    const last = await editor.ask(sessionId, "/call many/tool_0");
    expect([last.includes("slowed down"), last.includes("the limit is")]).toEqual([false, false]);
  });
});

function words({ command = "", args = [] }: ServerConfig): string {
  return [command, ...args].join(" ");
}
