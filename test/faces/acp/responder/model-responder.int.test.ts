// Prompts that a scripted model answers, with the tools of a session's servers.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
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

  it("calls the session's tools: with permission, shown unframed, framed for the model", async () => {
    const newResponder = await scripted.script([echoCall, { text: "done" }]);
    const editor = await desk.open({ newResponder });
    const sessionId = await editor.newSession([mcpServer("echo", "echo")]);
    expect(await editor.ask(sessionId, "go")).toBe("done");
    // The editor shows the call under this title from now on.
    expect(editor.questions[0]?.toolCall).toMatchObject({
      toolCallId: "c1",
      title: "echo: echo hi",
      content: [{}, { content: { text: "Every call of this tool needs approval (echo/echo)." } }],
    });
    expect(editor.of(sessionId, "tool_call")).toMatchObject([
      { toolCallId: "c1", title: "echo: echo hi", rawInput: { text: "hi" } },
    ]);
    expect(editor.of(sessionId, "tool_call_update")).toMatchObject([
      { status: "completed", content: [{ content: { type: "text", text: "hi" } }] },
    ]);
    expect(scripted.requests[1]?.toolResults[0]?.text).toContain("EXTERNAL_UNTRUSTED_CONTENT");
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

  it("that fails is reported with the reason", async () => {
    const newResponder = await scripted.script([
      { error: { status: 401, message: "who are you" } },
    ]);
    const editor = await desk.open({ newResponder });
    const sessionId = await editor.newSession();
    expect(await editor.ask(sessionId, "go")).toMatch(/who are you|401/);
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
    expect(await editor.ask(sessionId, "go")).toMatch(
      /^half.*\n\nThe answer of the model .* broke off.*\. Asking again in .* …\n\nThe model .* answered with 401: who are you\. Check the API key$/,
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
      8000,
    );
    const editor = await desk.open({ newResponder, board: { resourceTools: "auto" } });
    const sessionId = await editor.newSession([
      mcpServer("lib", "library", "--count=100"),
      mcpServer("echo", "echo"),
    ]);
    const first = await editor.ask(sessionId, "What do you have?");
    expect(first).toContain("Every request to the model has the text of ");
    expect(first).toContain("resources of lib");
    const second = await editor.ask(sessionId, "Remember?");
    expect(second).not.toContain("Every request");
    const [asked, after, later] = scripted.requests;
    const context = asked?.messages.find(({ text }) => text.startsWith("# Resources"))?.text ?? "";
    expect(context).toContain("Welcome to the library.");
    expect(Buffer.byteLength(context)).toBeLessThanOrEqual(8000 * 0.1 * 3);
    expect(after?.toolResults[0]?.text).toContain("Book 99");
    expect(JSON.stringify(later?.messages)).toContain("What do you have?");
  });
});
