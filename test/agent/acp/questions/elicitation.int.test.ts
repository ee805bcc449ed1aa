// What a server asks the user during a call: forms and pages, shown in the session whose call caused them.

import {
  type ClientCapabilities,
  type CreateElicitationResponse,
  type McpServer,
  methods,
  RequestError,
} from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import type { BoardConfig } from "../../../../src/core/types/agent-config.ts";
import { fixture } from "../../../support/boards.ts";
import { choose, mcpServer, useDesk } from "../harness.ts";

const desk = useDesk();
const { session } = methods.agent;

type Editor = Awaited<ReturnType<typeof desk.open>>;

const FORM = {
  message: "Who are you?",
  requestedSchema: {
    type: "object",
    properties: { name: { type: "string" }, size: { type: "integer", default: 3 } },
    required: ["name"],
  },
};
const PAGE = {
  mode: "url",
  message: "Sign here",
  url: "https://example.com/a?b=1",
  elicitationId: "e1",
};
const SHOWS: ClientCapabilities = { elicitation: { form: {}, url: {} } };
const NOTICES: ClientCapabilities = { session: { notices: {} } };

const asks = (name = "s"): McpServer => mcpServer(name, "asks");
const ada = (): CreateElicitationResponse => ({ action: "accept", content: { name: "Ada" } });
const call = (tool: string, args: object): string => `/call s/${tool} ${JSON.stringify(args)}`;
const ask = (params: object): string => call("ask", { method: "elicitation/create", params });

/** The result of the session's last call, as the editor shows it. */
function resultOf(editor: Editor, sessionId: string): string {
  const last = editor.of(sessionId, "tool_call_update").at(-1);
  return (last?.content ?? [])
    .map((each) =>
      each.type === "content" && each.content.type === "text" ? each.content.text : "",
    )
    .join("");
}

function lastCall(editor: Editor, sessionId: string): string | undefined {
  return editor.of(sessionId, "tool_call").at(-1)?.toolCallId;
}

describe("a form", () => {
  it.each<[CreateElicitationResponse, object]>([
    [ada(), { action: "accept", content: { name: "Ada", size: 3 } }],
    [{ action: "accept", content: { name: "Ada", more: "x" } }, { action: "accept" }],
    [{ action: "accept", content: null }, { action: "cancel" }],
    [{ action: "decline" }, { action: "decline" }],
    [{ action: "cancel" }, { action: "cancel" }],
    [{ action: "_snooze" }, { action: "cancel" }],
  ])("answered with %j reaches the server", async (answer, expected) => {
    const editor = await desk.open({ capabilities: SHOWS, elicit: () => answer });
    const sessionId = await editor.newSession([asks()]);
    await editor.prompt(sessionId, ask(FORM));
    expect(JSON.parse(resultOf(editor, sessionId))).toMatchObject(expected);
    expect(editor.elicitations).toEqual([
      {
        sessionId,
        toolCallId: lastCall(editor, sessionId),
        mode: "form",
        message: "s asks during ask: Who are you?",
        requestedSchema: expect.objectContaining({
          properties: { name: { type: "string" }, size: { type: "integer", default: 3 } },
          required: ["name"],
        }),
      },
    ]);
  });

  it("has the id of its call in the newer revision too", async () => {
    const editor = await desk.open({ capabilities: SHOWS, elicit: ada });
    const sessionId = await editor.newSession([mcpServer("s", "asks-modern")]);
    const inputRequests = { it: { method: "elicitation/create", params: FORM } };
    await editor.prompt(sessionId, call("ask", { inputRequests }));
    expect(JSON.parse(resultOf(editor, sessionId))).toMatchObject({ it: { action: "accept" } });
    expect(editor.elicitations).toMatchObject([{ toolCallId: lastCall(editor, sessionId) }]);
  });

  it("is not shown between prompts", async () => {
    const editor = await desk.open({ capabilities: SHOWS, elicit: ada });
    const sessionId = await editor.newSession([mcpServer("s", "server-requests")]);
    await editor.prompt(sessionId, call("answers", {}));
    expect(JSON.parse(resultOf(editor, sessionId))).toMatchObject({
      "elicitation/create": { action: "decline" },
    });
    expect(editor.elicitations).toEqual([]);
  });
});

describe("a page", () => {
  it("is shown under an id of our own, and the editor is told when the user has finished", async () => {
    const editor = await desk.open({ capabilities: SHOWS, elicit: () => ({ action: "accept" }) });
    const sessionId = await editor.newSession([asks()]);
    await editor.prompt(sessionId, ask(PAGE));
    expect(JSON.parse(resultOf(editor, sessionId))).toEqual({ action: "accept" });
    expect(editor.elicitations).toMatchObject([
      { mode: "url", url: PAGE.url, message: "s asks during ask: Sign here" },
    ]);
    expect(editor.elicitations).not.toMatchObject([{ elicitationId: "e1" }]);
    expect(editor.completed).toEqual([]);
    await editor.prompt(sessionId, call("complete", { elicitationId: "e1" }));
    await editor.until(() => editor.completed.length > 0);
    expect(editor.elicitations).toMatchObject([{ elicitationId: editor.completed[0] }]);
  });

  it("that was declined is not reported as finished", async () => {
    const editor = await desk.open({ capabilities: SHOWS });
    const sessionId = await editor.newSession([asks()]);
    await editor.prompt(sessionId, ask(PAGE));
    expect(JSON.parse(resultOf(editor, sessionId))).toEqual({ action: "decline" });
    await editor.prompt(sessionId, call("complete", { elicitationId: "e1" }));
    await editor.prompt(sessionId, "/mcp");
    expect(editor.completed).toEqual([]);
  });

  const required = (complete?: string): string =>
    call("requirePage", {
      key: "k",
      elicitations: [PAGE],
      ...(complete !== undefined && { complete }),
    });

  it.each([
    ["done", "let in"],
    ["cancel", "open the page first"],
  ])("that a call waits for: the user answers %s", async (word, result) => {
    const editor = await desk.open({
      capabilities: SHOWS,
      elicit: () => ({ action: "accept" }),
      decide: ({ options }) =>
        choose(options.some(({ optionId }) => optionId === "done") ? word : "allow"),
    });
    const sessionId = await editor.newSession([asks()]);
    await editor.prompt(sessionId, required());
    expect(resultOf(editor, sessionId)).toContain(result);
    expect(editor.questions.at(-1)?.toolCall).toEqual({ toolCallId: lastCall(editor, sessionId) });
  });

  it("that a call waits for: the server says that it is finished", async () => {
    const editor = await desk.open({
      capabilities: SHOWS,
      elicit: () => ({ action: "accept" }),
      decide: ({ options }) =>
        options.some(({ optionId }) => optionId === "done")
          ? new Promise(() => {})
          : choose("allow"),
    });
    const sessionId = await editor.newSession([asks()]);
    await editor.prompt(sessionId, required("e1"));
    expect(resultOf(editor, sessionId)).toBe("let in");
    expect(editor.completed).toHaveLength(1);
  });
});

describe("an editor that cannot show it", () => {
  it.each<[string, object, ClientCapabilities, string]>([
    [
      "no form",
      FORM,
      { elicitation: { url: {} } },
      's asks "Who are you?" with a form, which this editor cannot show; the question was declined',
    ],
    [
      "no page",
      PAGE,
      { elicitation: { form: {} } },
      's asks you to open a page ("Sign here"), which this editor cannot show; the question was declined. ' +
        "If you trust s, open it yourself: <https://example.com/a?b=1>",
    ],
    [
      "nothing",
      FORM,
      { elicitation: null },
      's asks "Who are you?" with a form, which this editor cannot show; the question was declined',
    ],
  ])("declines with a notice: %s", async (_, question, capabilities, words) => {
    const editor = await desk.open({ capabilities: { ...NOTICES, ...capabilities } });
    const sessionId = await editor.newSession([asks()]);
    await editor.prompt(sessionId, ask(question));
    expect(JSON.parse(resultOf(editor, sessionId))).toEqual({ action: "decline" });
    expect(editor.elicitations).toEqual([]);
    expect(editor.of(sessionId, "notice").map(({ title }) => title)).toEqual([words]);
  });

  it("gets a message if it shows no notices, once per prompt", async () => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([asks()]);
    const flood = { method: "elicitation/create", params: FORM, count: 3 };
    const said = await editor.ask(sessionId, call("flood", flood));
    expect(said.match(/asks "Who are you\?" with a form/g)).toHaveLength(1);
    expect(await editor.ask(sessionId, call("flood", flood))).toContain("cannot show");
  });

  it("answers with an error: declined, with its reason", async () => {
    const elicit = (): never => {
      throw new RequestError(-32603, "no window");
    };
    const editor = await desk.open({ capabilities: { ...SHOWS, ...NOTICES }, elicit });
    const sessionId = await editor.newSession([asks()]);
    for (const question of [FORM, PAGE]) {
      await editor.prompt(sessionId, ask(question));
      expect(JSON.parse(resultOf(editor, sessionId))).toEqual({ action: "decline" });
    }
    const [form, page] = editor.of(sessionId, "notice").map(({ title }) => title);
    expect(form).toContain("but the editor did not show it (no window); the question was declined");
    expect(page).toContain(PAGE.url);
  });
});

describe("a prompt that is cancelled", () => {
  it.each([["form", FORM] as const, ["url", PAGE] as const])(
    "takes its %s back, and the session goes on",
    async (mode, question) => {
      let taken: AbortSignal | undefined;
      const editor = await desk.open({
        capabilities: SHOWS,
        elicit: (_, cancelled) => {
          taken = cancelled;
          return new Promise((resolve) => {
            cancelled.addEventListener("abort", () => resolve({ action: "cancel" }));
          });
        },
      });
      const sessionId = await editor.newSession([asks()]);
      const turn = editor.prompt(sessionId, ask(question));
      await editor.until(() => editor.elicitations.length === 1);
      expect(editor.elicitations).toMatchObject([{ mode }]);
      await editor.agent.notify(session.cancel, { sessionId });
      expect(await turn).toEqual({ stopReason: "cancelled" });
      expect(await editor.ask(sessionId, call("told", {}))).toContain("Done.");
      expect(taken?.aborted).toBe(true);
    },
  );
});

describe("two sessions on one server of the agent's", () => {
  it("each get the questions of their own calls", async () => {
    const editor = await desk.open({
      servers: { s: fixture("asks") },
      capabilities: SHOWS,
      elicit: (request) => ({
        action: "accept",
        content: { name: "sessionId" in request ? String(request.sessionId) : "" },
      }),
    });
    const [one, two] = [await editor.newSession(), await editor.newSession()];
    for (const sessionId of [one, two, one]) {
      await editor.prompt(sessionId, ask(FORM));
      expect(resultOf(editor, sessionId)).toContain(sessionId);
      const toolCallId = lastCall(editor, sessionId);
      expect(editor.elicitations.at(-1)).toMatchObject({ sessionId, toolCallId });
    }
    expect(editor.elicitations).toMatchObject([one, two, one].map((sessionId) => ({ sessionId })));
  });

  it("get no question that may belong to the other one", async () => {
    const editor = await desk.open({
      servers: { s: fixture("asks") },
      capabilities: SHOWS,
      elicit: ada,
    });
    const [one, two] = [await editor.newSession(), await editor.newSession()];
    const sleeping = editor.prompt(one, call("sleep", {}));
    await editor.until(() => editor.questions.length === 1);
    await editor.prompt(two, ask(FORM));
    expect(resultOf(editor, two)).toContain("it is not clear whose call the question belongs to");
    expect(editor.elicitations).toEqual([]);
    await editor.agent.notify(session.cancel, { sessionId: one });
    await sleeping;
  });
});

describe("roots", () => {
  it.each<[string, Omit<BoardConfig, "servers">, string[] | undefined]>([
    ["not given to servers by default", {}, undefined],
    ["the session's directories where all servers get them", { roots: true }, [".", "/srv/data"]],
    ["so for the servers of sessions alone", { session: { roots: true } }, [".", "/srv/data"]],
    ["what the configuration lists", { roots: ["/srv/docs"] }, ["/srv/docs"]],
    [
      "none where session servers are left out",
      { roots: true, session: { roots: false } },
      undefined,
    ],
  ])("are %s", async (_, config, expected) => {
    const editor = await desk.open({ config });
    const cwd = desk.directory;
    const { sessionId } = await editor.agent.request(session.new, {
      cwd,
      additionalDirectories: ["/srv/data"],
      mcpServers: [asks()],
    });
    await editor.prompt(sessionId, call("ask", { method: "roots/list", params: {} }));
    const result = resultOf(editor, sessionId);
    if (expected === undefined) return expect(result).toContain("-32601");
    const roots = expected.map((each) => ({ uri: `file://${each === "." ? cwd : each}` }));
    expect(JSON.parse(result)).toMatchObject({ roots });
  });
});
