// A server that asks the model of the session whose call caused it, if the user agrees.

import { type McpServer, methods, type RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { fixture } from "../../../support/boards.ts";
import { choose, mcpServer, useDesk } from "../harness.ts";
import { useScripted } from "../scripted.ts";

const desk = useDesk();
const scripted = useScripted();
const { session } = methods.agent;

type Editor = Awaited<ReturnType<typeof desk.open>>;

const SAMPLE = {
  systemPrompt: "You are a poet.",
  messages: [{ role: "user", content: { type: "text", text: "A rhyme for cat?" } }],
  maxTokens: 50,
};
const ASK = { method: "sampling/createMessage", params: SAMPLE };
const CALL = `/call s/ask ${JSON.stringify(ASK)}`;
const HAT = { text: "hat" };

const servers = (sampling: "ask" | "allow") => ({ s: { ...fixture("asks"), sampling } });

/** Allows tool calls, and gives these answers to the questions about the model, in order. */
function deciding(...answers: string[]) {
  return ({ options }: RequestPermissionRequest) =>
    choose(isAboutModel(options) ? (answers.shift() ?? "reject") : "allow");
}

function isAboutModel(options: RequestPermissionRequest["options"]): boolean {
  return options.some(({ name }) => name.endsWith("for this server"));
}

/** The questions about the model. */
function asked(editor: Editor): RequestPermissionRequest[] {
  return editor.questions.filter(({ options }) => isAboutModel(options));
}

/** The servers' requests as the editor shows them: status and content. */
function shown(editor: Editor, sessionId: string): [status: unknown, text: string][] {
  return editor
    .of(sessionId, "tool_call")
    .filter(({ kind }) => kind === "think")
    .map(({ toolCallId, title }) => {
      const updates = editor.of(sessionId, "tool_call_update");
      const last = updates.findLast((each) => each.toolCallId === toolCallId);
      return [last?.status, `${title} ${JSON.stringify(last?.content)}`];
    });
}

function resultOf(editor: Editor, sessionId: string): string {
  return JSON.stringify(editor.of(sessionId, "tool_call_update").at(-1)?.content);
}

describe("the user", () => {
  it("sees everything that the server sends, and the answer", async () => {
    const newResponder = await scripted.script([HAT]);
    const editor = await desk.open({
      servers: servers("ask"),
      newResponder,
      decide: deciding("allow"),
    });
    const sessionId = await editor.newSession();
    await editor.prompt(sessionId, CALL);
    expect(asked(editor)).toHaveLength(1);
    const [question] = asked(editor);
    expect(question).toMatchObject({
      sessionId,
      toolCall: { title: "s asks the model during ask", kind: "think" },
    });
    const text = JSON.stringify(question?.toolCall.content);
    expect(text).toContain("system prompt: You are a poet.");
    expect(text).toContain("user: A rhyme for cat?");
    expect(question?.options.map(({ kind }) => kind)).toEqual([
      "allow_once",
      "allow_always",
      "reject_once",
      "reject_always",
    ]);
    expect(resultOf(editor, sessionId)).toContain("scripted/m");
    expect(shown(editor, sessionId)).toEqual([["completed", expect.stringContaining("hat")]]);
    // Only the server's words: nothing of the session, and none of its tools.
    expect(scripted.requests).toHaveLength(1);
    expect(scripted.requests[0]?.tools).toEqual([]);
    expect(scripted.requests[0]?.messages.map(({ role, text: said }) => [role, said])).toEqual([
      ["system", "You are a poet."],
      ["user", "A rhyme for cat?"],
    ]);
  });

  it.each([
    ["allow", "reject", 2, 1],
    ["always", "reject", 1, 2],
    ["reject", "allow", 2, 1],
    ["never", "allow", 1, 0],
  ])("answers %s, then %s: asked %i times, the model %i", async (first, then, times, answers) => {
    const newResponder = await scripted.script([HAT, HAT]);
    const decide = deciding(first, then);
    const editor = await desk.open({ servers: servers("ask"), newResponder, decide });
    const sessionId = await editor.newSession();
    await editor.prompt(sessionId, CALL);
    await editor.prompt(sessionId, CALL);
    expect(asked(editor)).toHaveLength(times);
    expect(scripted.requests).toHaveLength(answers);
    // It does not hold for another session.
    await editor.prompt(await editor.newSession(), CALL);
    expect(asked(editor)).toHaveLength(times + 1);
  });

  it.each([
    ["ask", "ask", 1],
    ["ask", "auto", 1],
    ["allow", "ask", 1],
    ["allow", "auto", 0],
  ] as const)("with sampling %s in mode %s is asked %i times", async (sampling, modeId, times) => {
    const newResponder = await scripted.script([HAT]);
    const editor = await desk.open({
      servers: servers(sampling),
      newResponder,
      decide: deciding("allow"),
    });
    const sessionId = await editor.newSession();
    await editor.agent.request(session.setMode, { sessionId, modeId });
    await editor.prompt(sessionId, CALL);
    expect(asked(editor)).toHaveLength(times);
  });

  it('is asked one question at a time, and "always" to the first answers the next', async () => {
    const newResponder = await scripted.script(() => HAT);
    const editor = await desk.open({
      servers: servers("ask"),
      newResponder,
      decide: deciding("always"),
    });
    const sessionId = await editor.newSession();
    await editor.prompt(sessionId, `/call s/flood ${JSON.stringify({ ...ASK, count: 3 })}`);
    expect(asked(editor)).toHaveLength(1);
    expect(shown(editor, sessionId).map(([status]) => status)).toEqual(
      Array.from({ length: 3 }, () => "completed"),
    );
  });
});

describe("a request for the model", () => {
  it("during that model's own answer works, with the server's tools", async () => {
    const weather = { name: "weather", inputSchema: { type: "object" } };
    const newResponder = await scripted.script([
      {
        toolCalls: [
          {
            name: "mcp__s__ask",
            arguments: { ...ASK, params: { ...SAMPLE, tools: [weather] } },
            id: "c1",
          },
        ],
      },
      { toolCalls: [{ name: "weather", arguments: {}, id: "w1" }] },
      { text: "done" },
    ]);
    const editor = await desk.open({
      servers: servers("ask"),
      newResponder,
      decide: deciding("allow"),
      keeps: true,
    });
    const sessionId = await editor.newSession([], desk.directory);
    expect(await editor.ask(sessionId, "go")).toBe("done");
    expect(scripted.requests[2]?.toolResults[0]?.text).toContain("tool_use");
    expect(shown(editor, sessionId)).toEqual([["completed", expect.stringContaining("weather")]]);
    // It is kept, and shown again when the session is loaded.
    const told = editor.updates.length;
    const params = { sessionId, cwd: desk.directory, mcpServers: [] };
    await editor.agent.request(session.load, params);
    const again = editor.updates.splice(0).slice(told);
    editor.updates.push(...again);
    expect(shown(editor, sessionId)).toEqual([["completed", expect.stringContaining("weather")]]);
  });

  it("is not possible by default for a session's own server", async () => {
    const newResponder = await scripted.script([]);
    const editor = await desk.open({ newResponder });
    const brought: McpServer[] = [mcpServer("s", "asks")];
    const sessionId = await editor.newSession(brought);
    await editor.prompt(sessionId, CALL);
    expect(resultOf(editor, sessionId)).toContain("-32601");
    expect(asked(editor)).toEqual([]);
  });

  it("is possible for a session's own server if mcp.session allows it", async () => {
    const newResponder = await scripted.script([HAT]);
    const editor = await desk.open({
      config: { session: { sampling: "ask" } },
      newResponder,
      decide: deciding("allow"),
    });
    const sessionId = await editor.newSession([mcpServer("s", "asks")]);
    await editor.prompt(sessionId, CALL);
    expect(resultOf(editor, sessionId)).toContain("hat");
    expect(asked(editor)).toHaveLength(1);
  });

  it("is declined with a notice if there is no model", async () => {
    const editor = await desk.open({
      servers: servers("allow"),
      capabilities: { session: { notices: {} } },
    });
    const sessionId = await editor.newSession();
    await editor.prompt(sessionId, `/call s/flood ${JSON.stringify({ ...ASK, count: 2 })}`);
    expect(resultOf(editor, sessionId)).toContain("the request for the model was declined");
    expect(editor.of(sessionId, "notice").map(({ title }) => title)).toEqual([
      's wants to ask a model, but this agent has none (set "model" in the configuration); the request was declined',
    ]);
  });

  it("fails if the model does not answer, and the editor shows why", async () => {
    const newResponder = await scripted.script([{ error: { status: 400, message: "not today" } }]);
    const editor = await desk.open({
      servers: servers("ask"),
      newResponder,
      decide: deciding("allow"),
    });
    const sessionId = await editor.newSession();
    await editor.prompt(sessionId, CALL);
    expect(resultOf(editor, sessionId)).toContain("the model could not be asked");
    expect(shown(editor, sessionId)).toEqual([["failed", expect.stringContaining("not today")]]);
  });

  it("is declined if the question is cancelled", async () => {
    const newResponder = await scripted.script([HAT]);
    const editor = await desk.open({
      servers: servers("ask"),
      newResponder,
      decide: (request) =>
        isAboutModel(request.options) ? { outcome: { outcome: "cancelled" } } : choose("allow"),
    });
    const sessionId = await editor.newSession();
    await editor.prompt(sessionId, CALL);
    expect(shown(editor, sessionId)).toEqual([["failed", expect.stringContaining("declined")]]);
    expect(scripted.requests).toEqual([]);
  });

  it("ends when its prompt is cancelled", async () => {
    const newResponder = await scripted.script([HAT]);
    const editor = await desk.open({
      servers: servers("ask"),
      newResponder,
      decide: ({ options }) => (isAboutModel(options) ? new Promise(() => {}) : choose("allow")),
    });
    const sessionId = await editor.newSession();
    const turn = editor.prompt(sessionId, CALL);
    await editor.until(() => asked(editor).length === 1);
    await editor.agent.notify(session.cancel, { sessionId });
    expect(await turn).toEqual({ stopReason: "cancelled" });
    await editor.until(() => shown(editor, sessionId)[0]?.[0] === "failed");
    expect(shown(editor, sessionId)).toEqual([["failed", expect.stringContaining("cancelled")]]);
    expect(scripted.requests).toEqual([]);
  });

  it("that may belong to another session fails, and says why", async () => {
    const newResponder = await scripted.script([HAT]);
    const editor = await desk.open({ servers: servers("allow"), newResponder });
    const [one, two] = [await editor.newSession(), await editor.newSession()];
    const sleeping = editor.prompt(one, "/call s/sleep {}");
    await editor.until(() => editor.questions.length === 1);
    await editor.prompt(two, CALL);
    expect(resultOf(editor, two)).toContain("it is not clear whose call the question belongs to");
    expect(asked(editor)).toEqual([]);
    await editor.agent.notify(session.cancel, { sessionId: one });
    await sleeping;
  });

  it.each([
    ["brings", "was declined", {}, [mcpServer("s", "server-requests")]],
    [
      "shares",
      "it is not clear whose call the question belongs to",
      { s: { ...fixture("server-requests"), sampling: "allow" as const } },
      [],
    ],
  ])(
    "of a server that the session %s fails between prompts: %s",
    async (_, why, shared, brought) => {
      const newResponder = await scripted.script([HAT]);
      const editor = await desk.open({
        servers: shared,
        config: { session: { sampling: "allow" } },
        newResponder,
      });
      const sessionId = await editor.newSession(brought);
      await editor.prompt(sessionId, "/call s/answers {}");
      expect(resultOf(editor, sessionId)).toContain(why);
      expect(scripted.requests).toEqual([]);
    },
  );
});
