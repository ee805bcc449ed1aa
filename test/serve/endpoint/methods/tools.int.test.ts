// Calls through an endpoint: what servers ask goes to the client whose call caused it, progress and cancelling reach
// both ends, and what is under way in 2026-07-28 can be taken up again by nobody else.

import { describe, expect, it } from "vitest";
import type { AskApproval } from "../../../../src/core/types/approval.ts";
import { closeBoards, fixture, open, statusOf } from "../../../support/boards.ts";
import { eventually } from "../../../support/processes.ts";
import {
  closeServed,
  connectLegacy,
  connectModern,
  connectOld,
  modern,
  post,
  serve,
} from "../harness.ts";
import { declineUnattributed } from "../../../../src/core/board/decline-unattributed.ts";
import { silentLogger } from "../../../../src/core/types/logger.ts";

closeBoards();
closeServed();

const ASKING = declineUnattributed(silentLogger);
const FORM = {
  message: "Your name?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } } },
};
const FORMS = { capabilities: { elicitation: { form: {} } } };
const askArgs = { method: "elicitation/create", params: FORM };

describe("what a legacy server asks", () => {
  it("goes to the client whose call caused it, and to no other", async () => {
    const board = await open({ asks: fixture("asks") }, ASKING);
    const { url } = await serve(board);
    const asked: string[] = [];
    const connectAs = (name: string) =>
      connectLegacy(url, { capabilities: { elicitation: { form: {} } } }, (client) => {
        client.setRequestHandler("elicitation/create", async () => {
          asked.push(name);
          return { action: "accept", content: { name } };
        });
      });
    const [alice, bob] = await Promise.all([connectAs("alice"), connectAs("bob")]);
    for (const [client, name] of [
      [alice, "alice"],
      [bob, "bob"],
    ] as const) {
      const result = await client.callTool({ name: "mcp__asks__ask", arguments: askArgs });
      expect(JSON.stringify(result.content)).toContain(name);
    }
    expect(asked).toEqual(["alice", "bob"]);
  });

  it.each([
    ["2025-11-25", connectLegacy],
    ["2026-07-28", connectModern],
  ])(
    "is refused, and the call says why, while calls of two clients are in flight: %s",
    async (_, connect) => {
      const board = await open({ asks: fixture("asks") }, ASKING);
      const { url } = await serve(board);
      const connectAs = async (caller: string) => {
        const client = await connect(url, FORMS, undefined, caller);
        client.setRequestHandler("elicitation/create", async () => ({
          action: "accept",
          content: { name: "leak" },
        }));
        return client;
      };
      const [alice, bob] = await Promise.all([connectAs("alice"), connectAs("bob")]);
      const stop = new AbortController();
      const sleeping = bob
        .callTool({ name: "mcp__asks__sleep" }, { signal: stop.signal })
        .catch(() => "stopped");
      await eventually(() => statusOf(board, "asks").calls.inFlight === 1);
      const result = await alice.callTool({ name: "mcp__asks__ask", arguments: askArgs });
      expect(JSON.stringify(result.content)).toContain(
        "nobody was asked, because it is not clear whose call the question belongs to",
      );
      stop.abort();
      expect(await sleeping).toBe("stopped");
    },
  );

  it("is carried by any of the calls that one client of 2026-07-28 makes side by side", async () => {
    const board = await open({ asks: fixture("asks") }, ASKING);
    const { url } = await serve(board);
    const client = await connectModern(url, FORMS);
    const asked = new Set<string>();
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.add(params.message);
      return { action: "accept", content: { name: params.message } };
    });
    const ask = (message: string) =>
      client.callTool({
        name: "mcp__asks__ask",
        arguments: { ...askArgs, params: { ...FORM, message } },
      });
    const names = ["dora", "emil", "fritz"];
    const results = await Promise.all(names.map(ask));
    expect(asked).toEqual(new Set(names));
    expect(results.map(({ structuredContent }) => structuredContent)).toEqual(
      names.map((name) => ({ value: { action: "accept", content: { name } } })),
    );
  });

  it("reaches a client of 2026-07-28 as input_required, and the call goes on with the answer", async () => {
    const board = await open({ asks: fixture("asks") }, ASKING);
    const { url } = await serve(board);
    const client = await connectModern(url, { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler("elicitation/create", async () => ({
      action: "accept",
      content: { name: "carol" },
    }));
    const result = await client.callTool({ name: "mcp__asks__ask", arguments: askArgs });
    expect(JSON.stringify(result.content)).toContain("carol");
  });

  it("asks the model of a client", async () => {
    const board = await open({ asks: { ...fixture("asks"), sampling: "allow" } }, ASKING);
    const { url } = await serve(board);
    const client = await connectOld(url, { capabilities: { sampling: {} } });
    const { CreateMessageRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
    client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) => ({
      role: "assistant",
      model: "m",
      content: { type: "text", text: `heard ${JSON.stringify(params.messages)}` },
    }));
    const params = {
      messages: [{ role: "user", content: { type: "text", text: "the question" } }],
      maxTokens: 10,
    };
    const result = await client.callTool({
      name: "mcp__asks__ask",
      arguments: { method: "sampling/createMessage", params },
    });
    expect(JSON.stringify(result.content)).toContain("the question");
  });
});

it.each([
  ["shows apps", { extensions: { "io.modelcontextprotocol/ui": {} } }],
  ["shows none", {}],
])("a tool that runs only as a task is not listed to a client that %s", async (_, capabilities) => {
  const board = await open({ lab: fixture("special-tools") }, { showsApps: true });
  const { url } = await serve(board);
  const { tools } = await (await connectModern(url, { capabilities })).listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toContain("mcp__lab__draw");
  expect(names).not.toContain("mcp__lab__research");
});

describe("a call that waits for an answer", () => {
  const capabilities = { elicitation: { form: {} } };
  const call = { name: "mcp__asks__ask", arguments: askArgs };
  const answers = { "question-1": { action: "accept", content: { name: "dora" } } };

  async function held() {
    const board = await open({ asks: fixture("asks") }, ASKING);
    const { url } = await serve(board);
    const first = modern("tools/call", call, capabilities);
    const { message } = await post(url, first.body, first.headers);
    expect(message?.["result"].resultType).toBe("input_required");
    expect(Object.keys(message?.["result"].inputRequests)).toEqual(["question-1"]);
    return { url, board, requestState: message?.["result"].requestState as string };
  }

  async function resume(url: URL, params: Record<string, unknown>, headers = {}) {
    const next = modern(
      "tools/call",
      { ...call, inputResponses: answers, ...params },
      capabilities,
    );
    return (await post(url, next.body, { ...next.headers, ...headers })).message;
  }

  it("goes on where the client comes back with it", async () => {
    const { url, requestState } = await held();
    const message = await resume(url, { requestState });
    expect(JSON.stringify(message?.["result"].content)).toContain("dora");
  });

  it("is refused it beside another call of a client that makes those of many", async () => {
    const board = await open({ asks: fixture("asks") }, ASKING);
    const { url } = await serve(board, { isForMany: true });
    const [first, second] = [1, 2].map(() => modern("tools/call", call, capabilities));
    const alone = await post(url, first?.body, first?.headers);
    expect(alone.message?.["result"].resultType).toBe("input_required");
    const beside = await post(url, second?.body, second?.headers);
    expect(JSON.stringify(beside.message)).toContain("several");
  });

  it.each<[string, Record<string, unknown>, Record<string, string>]>([
    ["another caller", {}, { "x-caller": "mallory" }],
    ["other arguments", { arguments: { ...askArgs, more: 1 } }, {}],
    ["another tool", { name: "mcp__asks__offered" }, { "mcp-name": "mcp__asks__offered" }],
    ["a state that was changed", { requestState: "tampered" }, {}],
  ])("does not go on for %s", async (_, params, headers) => {
    const { url, requestState } = await held();
    const message = await resume(url, { requestState, ...params }, headers);
    expect(message?.["error"].code).toBe(-32602);
    const proper = await resume(url, { requestState });
    expect(JSON.stringify(proper?.["result"].content)).toContain("dora");
  });

  it("is lost when the gateway was restarted, and says that it may have run", async () => {
    const { url, requestState } = await held();
    await resume(url, { requestState });
    // The state is good, but the call it names is not there any more.
    const message = await resume(url, { requestState });
    expect(message?.["result"].isError).toBe(true);
    expect(message?.["result"].content[0].text).toContain("may have run");
  });
});

describe("what a modern server asks", () => {
  const capabilities = { elicitation: { form: {} } };

  it("reaches a client of 2026-07-28 whole, and no call is held for it", async () => {
    const board = await open({ asks: fixture("faithful", "--era=modern") }, ASKING);
    const { url } = await serve(board);
    const first = modern("tools/call", { name: "mcp__asks__ask" }, capabilities);
    const asked = (await post(url, first.body, first.headers)).message?.["result"];
    expect(asked).toMatchObject({
      resultType: "input_required",
      inputRequests: { first: { method: "elicitation/create" } },
    });
    // Sealed: the server's own state does not go over the wire as it is.
    expect(asked.requestState).not.toBe("first");
    const second = modern(
      "tools/call",
      {
        name: "mcp__asks__ask",
        inputResponses: { first: { action: "accept", content: { key: "k" } } },
        requestState: asked.requestState,
      },
      capabilities,
    );
    const again = (await post(url, second.body, second.headers)).message?.["result"];
    expect(again.inputRequests).toHaveProperty("second");
    expect(again.requestState).not.toBe(asked.requestState);
  });

  it("is asked of a legacy client in the old way", async () => {
    const board = await open({ asks: fixture("faithful", "--era=modern") }, ASKING);
    const { url } = await serve(board);
    let rounds = 0;
    const client = await connectLegacy(url, { capabilities }, (each) => {
      each.setRequestHandler("elicitation/create", async () => {
        rounds += 1;
        return { action: "accept", content: { key: "k" } };
      });
    });
    await client.callTool({ name: "mcp__asks__ask" });
    expect(rounds).toBe(2);
  });
});

describe("approval", () => {
  const guarded = { approval: "ask" as const };

  it.each<["legacy" | "modern", string, boolean]>([
    ["legacy", "once", false],
    ["legacy", "refuse", true],
    ["modern", "once", false],
    ["modern", "refuse", true],
  ])("is asked of a %s client that can show forms: %s", async (era, decision, isError) => {
    const board = await open({ echo: { ...fixture("echo"), ...guarded } }, ASKING);
    const { url } = await serve(board);
    const questions: string[] = [];
    const connect = era === "legacy" ? connectLegacy : connectModern;
    const client = await connect(url, { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      questions.push(params.message);
      return { action: "accept", content: { decision } };
    });
    const result = await client.callTool({ name: "mcp__echo__echo", arguments: { text: "hello" } });
    expect(result.isError ?? false).toBe(isError);
    expect(questions).toHaveLength(1);
    expect(questions[0]).toMatch(/echo\/echo.*needs your approval[\s\S]*hello/);
  });

  it("is left to whoever answers elsewhere if the client cannot ask, and the client hears what it waits for", async () => {
    const board = await open({ echo: { ...fixture("echo"), ...guarded } }, ASKING);
    const asked: string[] = [];
    const onApproval: AskApproval = ({ tool, caller }) => {
      asked.push(`${tool} for ${caller}`);
      return "once";
    };
    const { url } = await serve(board, { onApproval });
    const client = await connectLegacy(url);
    const heard: unknown[] = [];
    const result = await client.callTool(
      { name: "mcp__echo__echo", arguments: { text: "hello" } },
      { onprogress: ({ message }) => heard.push(message) },
    );
    expect(result.isError ?? false).toBe(false);
    expect(asked).toEqual(["echo/echo for alice"]);
    expect(heard).toContain("waits for approval of echo/echo");
  });

  it("is refused with the remedy if nobody can be asked", async () => {
    const board = await open({ echo: { ...fixture("echo"), ...guarded } }, ASKING);
    const { url } = await serve(board);
    const client = await connectLegacy(url);
    const result = await client.callTool({ name: "mcp__echo__echo", arguments: { text: "hello" } });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toMatch(/approval/);
  });
});
