// Prompts that a scripted model answers, with the tools of a session's servers.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { methods, type NewSessionRequest } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { fixture } from "../../../support/boards.ts";
import { choose, mcpServer, useDesk } from "../harness.ts";
import { useScripted } from "../scripted.ts";

const desk = useDesk();
const scripted = useScripted();
const { session } = methods.agent;

const echoCall = {
  toolCalls: [{ name: "mcp__echo__echo", arguments: { text: "hi" }, id: "c1" }],
};

describe("an answer", () => {
  it("streams thoughts, text and usage, and knows what was said before", async () => {
    const newResponder = await scripted.script([
      { thinking: "hm", text: "forty-two" },
      { text: "as I said" },
    ]);
    const editor = await desk.open({ newResponder });
    const sessionId = await editor.newSession();
    expect(await editor.ask(sessionId, "What is it?")).toBe("forty-two");
    const thoughts = editor.of(sessionId, "agent_thought_chunk").map(({ content }) => content);
    expect(thoughts).toEqual([{ type: "text", text: "hm" }]);
    expect(editor.of(sessionId, "usage_update")).toHaveLength(1);
    expect(await editor.ask(sessionId, "Again?")).toBe("as I said");
    expect(scripted.requests[1]?.messages.map(({ role, text }) => [role, text])).toMatchObject([
      ["system", expect.stringContaining("Be brief.")],
      ["user", "What is it?"],
      ["assistant", "forty-two"],
      ["user", "Again?"],
    ]);
  });

  it("is given with the tools that the user has added, and without those that were removed", async () => {
    const newResponder = await scripted.script([{ text: "one" }, { text: "two" }]);
    const office = { ...fixture("office"), include: { tools: { find_badge: "manual" } } } as const;
    const editor = await desk.open({ newResponder, servers: { office } });
    const [sessionId, other] = [await editor.newSession(), await editor.newSession()];
    const offered = (at: number): string[] =>
      scripted.requests[at]?.tools.map(({ name }) => name.replace("mcp__office__", "")) ?? [];
    expect(await editor.ask(sessionId, "/tools find badge")).toContain("(not for the model)");
    expect(await editor.ask(sessionId, "/tools add")).toContain("needs the name of a tool");
    expect(await editor.ask(sessionId, "/tools add find_bage")).toContain("did you mean");
    expect(await editor.ask(sessionId, "/tools add find_badge office/list_badge")).toBe(
      "office/find_badge, office/list_badge are among the model's tools for the rest of this session.",
    );
    expect(await editor.ask(sessionId, "/tools remove office/create_badge")).toBe(
      "office/create_badge is not among the model's tools for the rest of this session. /call still works.",
    );
    expect(await editor.ask(sessionId, "/mcp")).toContain("a model gets 2 of 99 tools");
    const said = await editor.ask(sessionId, "create, find or list a badge");
    expect(said).toContain("one");
    expect(offered(0).slice(0, 3)).toEqual(["search_tools", "list_badge", "find_badge"]);
    expect(offered(0)).not.toContain("create_badge");
    // Another session has its own choice.
    await editor.ask(other, "create, find or list a badge");
    expect([offered(1).includes("create_badge"), offered(1).includes("find_badge")]).toEqual([
      true,
      false,
    ]);
  });

  it("calls the session's tools: with permission, shown unframed, framed for the model", async () => {
    const newResponder = await scripted.script([echoCall, { text: "done" }]);
    const editor = await desk.open({ newResponder });
    const sessionId = await editor.newSession([mcpServer("echo", "echo")]);
    expect(await editor.ask(sessionId, "go")).toBe("done");
    const [started] = editor.of(sessionId, "tool_call");
    // The editor shows the call under this title from now on.
    expect(editor.questions[0]?.toolCall).toMatchObject({
      toolCallId: started?.toolCallId,
      title: "echo: echo hi",
      content: [
        {},
        { content: { text: "Every call of this tool needs approval (echo/echo)." } },
        { content: { text: "It does not say whether it changes anything." } },
      ],
    });
    expect(started).toMatchObject({
      title: "echo: echo hi",
      status: "pending",
      rawInput: { text: "hi" },
    });
    expect(editor.of(sessionId, "tool_call_update")).toMatchObject([
      { status: "in_progress" },
      { status: "completed", content: [{ content: { type: "text", text: "hi" } }] },
    ]);
    expect(scripted.requests[1]?.toolResults[0]?.text).toContain("EXTERNAL_UNTRUSTED_CONTENT");
  });

  it("gives each call its own id, and the model its own one back", async () => {
    const again = () => ({
      toolCalls: [{ name: "mcp__echo__echo", arguments: { text: "hi" }, id: "call_0" }],
    });
    const newResponder = await scripted.script([
      again,
      again,
      { text: "done" },
      again,
      { text: "" },
    ]);
    const editor = await desk.open({ newResponder });
    const sessionId = await editor.newSession([mcpServer("echo", "echo")]);
    await editor.prompt(sessionId, "go");
    await editor.prompt(sessionId, "again");
    const ids = editor.of(sessionId, "tool_call").map(({ toolCallId }) => toolCallId);
    expect(new Set(ids).size).toBe(3);
    const ended = editor
      .of(sessionId, "tool_call_update")
      .flatMap(({ toolCallId, status }) => (status === "completed" ? toolCallId : []));
    expect(ended).toEqual(ids);
    expect(scripted.requests.at(-1)?.toolResults.map(({ id }) => id)).toEqual(
      ids.map(() => "call_0"),
    );
  });

  it("leaves a call pending until it is approved", async () => {
    const newResponder = await scripted.script([echoCall, { text: "done" }]);
    let statuses: unknown[] = [];
    const editor = await desk.open({
      newResponder,
      decide: () => {
        statuses = editor.updates.flatMap(({ update }) =>
          update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update"
            ? [update.status]
            : [],
        );
        return choose("allow");
      },
    });
    await editor.prompt(await editor.newSession([mcpServer("echo", "echo")]), "go");
    expect(statuses).toEqual(["pending"]);
  });

  it("shows a call's progress, and one of a tool that the model made up", async () => {
    const newResponder = await scripted.script([
      {
        toolCalls: [
          { name: "mcp__echo__progress", arguments: { steps: 1, ms: 1 }, id: "c1" },
          { name: "mcp__echo__made_up", arguments: {}, id: "c2" },
        ],
      },
      { text: "done" },
    ]);
    const editor = await desk.open({ newResponder });
    const sessionId = await editor.newSession([mcpServer("echo", "echo")]);
    await editor.prompt(sessionId, "go");
    const shown = JSON.stringify(editor.of(sessionId, "tool_call_update"));
    expect(shown).toContain("1/1 step 1 of 1");
    expect(editor.of(sessionId, "tool_call").map(({ title }) => title)).toContain(
      "mcp__echo__made_up",
    );
  });

  it("continues after a call was refused", async () => {
    const newResponder = await scripted.script([echoCall, { text: "then not" }]);
    const editor = await desk.open({ newResponder, decide: () => choose("reject") });
    const sessionId = await editor.newSession([mcpServer("echo", "echo")]);
    expect(await editor.ask(sessionId, "go")).toBe("then not");
    expect(scripted.requests[1]?.toolResults[0]).toMatchObject({ isError: true });
  });

  it("obeys the session's mode", async () => {
    const newResponder = await scripted.script([echoCall, { text: "then not" }]);
    const editor = await desk.open({ newResponder });
    const sessionId = await editor.newSession([mcpServer("echo", "echo")]);
    await editor.agent.request(session.setMode, { sessionId, modeId: "read-only" });
    await editor.prompt(sessionId, "go");
    expect(editor.questions).toEqual([]);
    expect(editor.of(sessionId, "tool_call_update")).toMatchObject([{ status: "failed" }]);
    expect(scripted.requests[1]?.toolResults[0]?.text).toContain("read-only mode");
  });

  it("ends at the limit of steps", async () => {
    const newResponder = await scripted.script(() => echoCall, 2);
    const editor = await desk.open({ newResponder });
    const sessionId = await editor.newSession([mcpServer("echo", "echo")]);
    expect(await editor.prompt(sessionId, "go")).toEqual({ stopReason: "max_turn_requests" });
  });

  it.each([
    [400, -32010, { kind: "HTTP_STATUS", retryable: false }],
    [401, -32010, { kind: "NEEDS_AUTH", retryable: false }],
    [403, -32010, { kind: "NEEDS_AUTH", retryable: false }],
    [404, -32010, { kind: "HTTP_STATUS", retryable: false }],
    [413, -32010, { kind: "HTTP_STATUS", retryable: false }],
    [500, -32603, { kind: "HTTP_STATUS", retryable: true }],
  ])("that fails with %i is an error", async (status, code, data) => {
    const failed = { error: { status, message: "out of cheese", retryAfter: 0 } };
    const newResponder = await scripted.script(() => failed);
    const editor = await desk.open({ newResponder, capabilities: { session: { notices: {} } } });
    const sessionId = await editor.newSession();
    const error = await editor.failure(sessionId, "go");
    expect(error).toMatchObject({ code, data: { ...data, status } });
    expect(error.message).toContain(`The model scripted/m answered with ${status}: out of cheese.`);
    // The client shows the error, so nothing says it a second time.
    expect(editor.said(sessionId)).toBe("");
  });

  it("that breaks off for good is an error, and what was said stays", async () => {
    const half = { text: "half an answer, and then", endAfter: 5 };
    const newResponder = await scripted.script([
      half,
      { error: { status: 401, message: "who are you" } },
      { text: "as I said" },
    ]);
    const editor = await desk.open({ newResponder, keeps: true });
    const sessionId = await editor.newSession([], desk.directory);
    expect(await editor.failure(sessionId, "go")).toMatchObject({ data: { status: 401 } });
    expect(await editor.ask(sessionId, "Go on.")).toBe("as I said");
    expect(scripted.requests.at(-1)?.messages.slice(1)).toMatchObject([
      { role: "user", text: "go" },
      { role: "assistant", text: expect.stringMatching(/^half/) },
      { role: "user", text: "Go on." },
    ]);
    await editor.close();
    const later = await desk.open({ newResponder, keeps: true });
    await later.agent.request(session.load, { sessionId, cwd: desk.directory, mcpServers: [] });
    expect(later.said(sessionId)).toMatch(/^half.*The model scripted\/m answered with 401/s);
  });

  it("that is silent for too long is announced, and then an error", async () => {
    const newResponder = await scripted.script([{ text: "never", delayMs: 60_000 }], 5, {
      notice: 10,
      timeout: 50,
    });
    const editor = await desk.open({ newResponder, capabilities: { session: { notices: {} } } });
    const sessionId = await editor.newSession();
    expect(await editor.failure(sessionId, "go")).toMatchObject({
      code: -32603,
      message: expect.stringContaining("The model scripted/m said nothing for 50 ms."),
      data: { kind: "TIMEOUT", retryable: true },
    });
    expect(editor.of(sessionId, "notice").map(({ title }) => title)).toEqual([
      "The model scripted/m has said nothing for 10 ms; it is given up after 50 ms",
    ]);
  });

  it("has one message id for its text and one for its thoughts, and the next has others", async () => {
    const newResponder = await scripted.script([
      { thinking: "let me see", text: "a few words", ...echoCall },
      { text: "and some more" },
    ]);
    const editor = await desk.open({ newResponder });
    const sessionId = await editor.newSession([mcpServer("echo", "echo")]);
    await editor.prompt(sessionId, "go");
    const idsOf = (kind: "agent_message_chunk" | "agent_thought_chunk") => [
      ...new Set(editor.of(sessionId, kind).map(({ messageId }) => messageId)),
    ];
    const ids = [...idsOf("agent_thought_chunk"), ...idsOf("agent_message_chunk")];
    expect(ids).toEqual([expect.any(String), expect.any(String), expect.any(String)]);
    expect(new Set(ids).size).toBe(3);
  });

  it("that is given again replaces the one that broke off", async () => {
    const newResponder = await scripted.script([
      { thinking: "hm hm hm", text: "half an answer, and then", endAfter: 12 },
      { text: "whole" },
      { text: "yes" },
    ]);
    const notices = { session: { notices: {} } };
    const editor = await desk.open({ newResponder, keeps: true, capabilities: notices });
    const sessionId = await editor.newSession([], desk.directory);
    await editor.prompt(sessionId, "go");
    const chunks = editor.updates.flatMap(({ update }) =>
      update.sessionUpdate === "agent_message_chunk" ||
      update.sessionUpdate === "agent_thought_chunk"
        ? [update]
        : [],
    );
    const before = new Set(chunks.map(({ messageId }) => messageId));
    const first = chunks.find(({ _meta }) => _meta !== undefined);
    before.delete(first?.messageId);
    expect(first?._meta).toEqual({ plugboard: { replaces: [...before] } });
    expect(before.size).toBe(2);
    await editor.close();
    const later = await desk.open({ newResponder, keeps: true });
    await later.agent.request(session.load, { sessionId, cwd: desk.directory, mcpServers: [] });
    expect(later.said(sessionId)).toBe("whole");
    expect(later.of(sessionId, "agent_thought_chunk")).toEqual([]);
    await later.prompt(sessionId, "Sure?");
    expect(
      scripted.requests
        .at(-1)
        ?.messages.slice(1)
        .map(({ text }) => text),
    ).toEqual(["go", "whole", "Sure?"]);
  });

  it("that is retried causes a notice", async () => {
    const newResponder = await scripted.script([
      { error: { status: 529, message: "busy", retryAfter: 0 } },
      { text: "now" },
    ]);
    const editor = await desk.open({ newResponder, capabilities: { session: { notices: {} } } });
    const sessionId = await editor.newSession();
    expect(await editor.ask(sessionId, "go")).toBe("now");
    expect(editor.of(sessionId, "notice")[0]?.title).toContain("Asking again");
  });

  it("that broke off is reported in its own paragraph if there are no notices", async () => {
    const newResponder = await scripted.script([
      { text: "half an answer", endAfter: 5 },
      { error: { status: 401, message: "who are you" } },
    ]);
    const editor = await desk.open({ newResponder });
    const sessionId = await editor.newSession();
    await editor.failure(sessionId, "go");
    expect(editor.said(sessionId)).toMatch(
      /^half.*\n\nThe answer of the model .* broke off.*\. Asking again in .* …\n\n$/,
    );
  });

  it("that is empty causes a notice", async () => {
    const editor = await desk.open({ newResponder: await scripted.script([{ text: "" }]) });
    const sessionId = await editor.newSession();
    expect(await editor.ask(sessionId, "go")).toBe("The model's answer is empty.\n\n");
  });

  it("is stopped by a cancel, and the session continues", async () => {
    const newResponder = await scripted.script([
      { text: "a long answer that takes its time", chunkDelayMs: 200 },
      { text: "short" },
    ]);
    const editor = await desk.open({ newResponder });
    const sessionId = await editor.newSession();
    const turn = editor.prompt(sessionId, "go");
    await editor.until(() => editor.said(sessionId) !== "");
    await editor.agent.notify(session.cancel, { sessionId });
    expect(await turn).toEqual({ stopReason: "cancelled" });
    expect(await editor.ask(sessionId, "again")).toContain("short");
  });
});

describe("a client's system prompt", () => {
  const open = async (
    systemPrompt: unknown,
    configured: string | undefined,
    capabilities = { session: { notices: {} } },
  ) => {
    const newResponder = await scripted.script(() => ({ text: "ok" }), 5, {
      systemPrompt: configured,
    });
    const editor = await desk.open({ newResponder, keeps: true, capabilities });
    const params = { cwd: desk.directory, mcpServers: [], _meta: { systemPrompt } };
    const { sessionId } = await editor.agent.request(session.new, params as NewSessionRequest);
    await editor.prompt(sessionId, "go");
    return { editor, sessionId };
  };
  const used = () => scripted.requests.at(-1)?.messages[0]?.text ?? "";

  it.each([
    ["a text", "You are Kim.", undefined, /^You are Kim\.\n\nResults of tools/],
    [
      "an addition",
      { append: "Speak French." },
      "Be brief.",
      /^Be brief\.\n\nSpeak French\.\n\nResults of tools/,
    ],
    [
      "an addition to the built-in one",
      { append: "Speak French." },
      undefined,
      /^You are an agent with tools\.[^]*\n\nSpeak French\.\n\nResults of tools/,
    ],
    ["something else", 5, "Be brief.", /^Be brief\.\n\nResults of tools/],
  ])("that is %s is used", async (_, systemPrompt, configured, expected) => {
    const { editor, sessionId } = await open(systemPrompt, configured);
    expect(used()).toMatch(expected);
    expect(editor.of(sessionId, "notice")).toEqual([]);
  });

  it("does not take the place of the configured one, which the client is told", async () => {
    const { editor, sessionId } = await open("You are Kim.", "Be brief.");
    expect(used()).toMatch(/^Be brief\.\n\nResults of tools/);
    await editor.until(() => editor.of(sessionId, "notice").length > 0);
    expect(editor.of(sessionId, "notice").map(({ title }) => title)).toEqual([
      "The client's system prompt is ignored: the configuration has one, and a client can only append to it",
    ]);
  });

  it("is ignored without a model, which the client is told", async () => {
    const editor = await desk.open({ capabilities: { session: { notices: {} } } });
    const params = { cwd: desk.directory, mcpServers: [], _meta: { systemPrompt: "You are Kim." } };
    const { sessionId } = await editor.agent.request(session.new, params as NewSessionRequest);
    await editor.until(() => editor.of(sessionId, "notice").length > 0);
    expect(editor.of(sessionId, "notice").map(({ title }) => title)).toEqual([
      "The client's system prompt is ignored: there is no model",
    ]);
  });

  it("holds when the session is loaded again, until the client sends another", async () => {
    const { editor, sessionId } = await open({ append: "Speak French." }, "Be brief.");
    await editor.close();
    const newResponder = await scripted.script(() => ({ text: "ok" }));
    const later = await desk.open({ newResponder, keeps: true });
    const params = { sessionId, cwd: desk.directory, mcpServers: [] };
    await later.agent.request(session.load, params);
    await later.prompt(sessionId, "go");
    expect(used()).toMatch(/^Be brief\.\n\nSpeak French\./);
    const _meta = { systemPrompt: { append: "Speak Dutch." } };
    await later.agent.request(session.load, { ...params, _meta });
    await later.prompt(sessionId, "go");
    expect(used()).toMatch(/^Be brief\.\n\nSpeak Dutch\./);
  });
});

describe("with a model, commands", () => {
  it("are answered without it", async () => {
    const editor = await desk.open({ newResponder: await scripted.script([]) });
    expect(await editor.ask(await editor.newSession(), "/mcp")).toBe("There are no servers.");
    expect(scripted.requests).toEqual([]);
  });

  it("send a server's prompt to the model, marked as untrusted", async () => {
    const editor = await desk.open({
      newResponder: await scripted.script([{ text: "It is this." }]),
    });
    const sessionId = await editor.newSession([mcpServer("one", "one-prompt")]);
    expect(await editor.ask(sessionId, "/one:ask")).toBe("It is this.");
    const asked = scripted.requests[0]?.messages.at(-1)?.text;
    expect(asked).toContain("What is it?");
    expect(asked).toContain("EXTERNAL_UNTRUSTED_CONTENT");
  });

  it("say why a server did not give its prompt", async () => {
    const editor = await desk.open({ newResponder: await scripted.script([]) });
    const sessionId = await editor.newSession([mcpServer("lib", "library")]);
    await editor.until(() =>
      JSON.stringify(editor.of(sessionId, "available_commands_update")).includes("lib:"),
    );
    const commands = editor.of(sessionId, "available_commands_update").at(-1)?.availableCommands;
    const filled = commands?.find(({ input }) => input?.hint.includes("=…") === true);
    expect(await editor.ask(sessionId, `/${filled?.name}`)).toContain("needs:");
  });
});

describe("a session that is loaded", () => {
  it("has no credential in its record, even if it was streamed in pieces", async () => {
    const secret = "hunter2-hunter2-hunter2";
    const newResponder = await scripted.script([{ text: `it is ${secret}, I think` }]);
    const editor = await desk.open({ newResponder, keeps: true });
    const server = { ...mcpServer("echo", "echo"), env: [{ name: "API_TOKEN", value: secret }] };
    const sessionId = await editor.newSession([server], desk.directory);
    await editor.prompt(sessionId, "go");
    expect(editor.of(sessionId, "agent_message_chunk").length).toBeGreaterThan(1);
    const kept = readFileSync(join(desk.directory, "sessions", `${sessionId}.jsonl`), "utf8");
    expect(kept).toContain("it is [REDACTED], I think");
    expect(kept).not.toMatch(/hunt|er2/);
  });

  it("knows what tools answered, framed again, but no commands", async () => {
    const first = await desk.open({
      newResponder: await scripted.script([
        { text: "let me see", ...echoCall },
        { text: "it said hi" },
      ]),
      keeps: true,
    });
    const sessionId = await first.newSession([mcpServer("echo", "echo")], desk.directory);
    await first.prompt(sessionId, "go");
    await first.prompt(sessionId, '/call echo/echo {"text": "by hand"}');
    await first.close();
    const newResponder = await scripted.script([{ text: "yes" }]);
    const second = await desk.open({ newResponder, keeps: true });
    const mcpServers = [mcpServer("echo", "echo")];
    await second.agent.request(session.load, { sessionId, cwd: desk.directory, mcpServers });
    expect(await second.ask(sessionId, "Sure?")).toBe("yes");
    const asked = scripted.requests[0];
    expect(asked?.messages.slice(1).map(({ role, text }) => [role, text])).toEqual([
      ["user", "go"],
      ["assistant", "let me see"],
      ["tool", expect.stringMatching(/EXTERNAL_UNTRUSTED_CONTENT[^]*server 'echo'[^]*\nhi\n/)],
      ["assistant", "it said hi"],
      ["user", "Sure?"],
    ]);
    expect(JSON.stringify(asked?.body)).not.toContain("by hand");
  });

  it("continues the conversation", async () => {
    const first = await desk.open({
      newResponder: await scripted.script([{ text: "Paris" }]),
      keeps: true,
    });
    const sessionId = await first.newSession([], desk.directory);
    await first.prompt(sessionId, "The capital of France?");
    await first.close();
    const newResponder = await scripted.script([{ text: "as I said" }]);
    const second = await desk.open({ newResponder, keeps: true });
    const params = { sessionId, cwd: desk.directory, mcpServers: [] };
    await second.agent.request(session.load, params);
    await second.prompt(sessionId, "Sure?");
    expect(scripted.requests[0]?.messages.slice(1).map(({ role, text }) => [role, text])).toEqual([
      ["user", "The capital of France?"],
      ["assistant", "Paris"],
      ["user", "Sure?"],
    ]);
  });
});

describe("resources of servers", () => {
  it("take a tenth of the model's window, are told of once, and can be read by name", async () => {
    const newResponder = await scripted.script(
      [
        { toolCalls: [{ name: "read_resource", arguments: { uri: "lib:///book/99" } }] },
        { text: "read" },
        { text: "I know" },
      ],
      5,
      { contextWindow: 8000 },
    );
    const editor = await desk.open({ newResponder, board: { resourceTools: "auto" } });
    const sessionId = await editor.newSession([
      mcpServer("lib", "library", "--count=100"),
      mcpServer("echo", "echo"),
    ]);
    const first = await editor.ask(sessionId, "What do you have?");
    // This client shows no notices, and what it is told about resources is no part of the answer.
    expect(first).not.toContain("Every request");
    await editor.ask(sessionId, "Remember?");
    const thoughts = editor.of(sessionId, "agent_thought_chunk").map(({ content }) => content);
    const told = JSON.stringify(thoughts).match(
      /Every request to the model has the text of [^.]*/g,
    );
    expect(told).toEqual([expect.stringContaining("resources of lib")]);
    const [asked, after, later] = scripted.requests;
    const context = asked?.messages.find(({ text }) => text.startsWith("# Resources"))?.text ?? "";
    expect(context).toContain("Welcome to the library.");
    expect(Buffer.byteLength(context)).toBeLessThanOrEqual(8000 * 0.1 * 3);
    expect(after?.toolResults[0]?.text).toContain("Book 99");
    expect(JSON.stringify(later?.messages)).toContain("What do you have?");
  });
});
