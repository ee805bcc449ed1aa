// The caller's id of a call: what the host runs, asks and is asked because of the call carries it.

import { describe, expect, it } from "vitest";
import type { ApprovalRequest } from "../src/core/types/approval.ts";
import type { Board } from "../src/core/types/board.ts";
import type { NativeTool } from "../src/core/types/tool.ts";
import { closeBoards, fixture, open } from "./support/boards.ts";

closeBoards();

const FORM = {
  message: "Who are you?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } } },
};

/** The two ways to call a tool with an id of one's own. */
const WAYS: [string, (board: Board, tool: string, args: object, id: string) => Promise<unknown>][] =
  [
    [
      "tool.execute",
      async (board, tool, args, id) => (await board.find(tool)).execute(id, { ...args }),
    ],
    ["board.call", (board, tool, args, callId) => board.call(tool, { ...args }, { callId })],
  ];

describe.each(WAYS)("the id given to %s", (_, run) => {
  it("is what a native tool gets", async () => {
    const ids: string[] = [];
    const board = await open({}, { native: [recordingTool(ids)] });
    await run(board, "native/note", {}, "call_1");
    expect(ids).toEqual(["call_1"]);
  });

  it("is on the question whether the call may be made, and then on its start and its end", async () => {
    const events: unknown[] = [];
    const board = await open(
      { s: { ...fixture("echo"), approval: "ask" } },
      {
        onApproval: ({ callId, tool, args }: ApprovalRequest) => {
          events.push(["asked", callId, tool]);
          return args["text"] === "no" ? "refuse" : "once";
        },
      },
    );
    board.on("callStart", ({ callId, tool }) => events.push(["started", callId, tool]));
    board.on("call", ({ callId, tool }) => events.push(["ended", callId, tool]));
    await run(board, "s/echo", { text: "hi" }, "call_2");
    await run(board, "s/echo", { text: "no" }, "call_3");
    expect(events).toEqual([
      ["asked", "call_2", "s/echo"],
      ["started", "call_2", "mcp__s__echo"],
      ["ended", "call_2", "mcp__s__echo"],
      ["asked", "call_3", "s/echo"],
      ["ended", "call_3", "mcp__s__echo"],
    ]);
  });

  it.each([
    ["2025-11-25", "asks", { method: "elicitation/create", params: FORM }],
    [
      "2026-07-28",
      "asks-modern",
      { inputRequests: { it: { method: "elicitation/create", params: FORM } } },
    ],
  ])("is on what a server of %s asks a person", async (_era, server, args) => {
    const ids: (string | undefined)[] = [];
    const board = await open(
      { s: fixture(server) },
      {
        onElicitation: ({ callId }) => {
          ids.push(callId);
          return { action: "accept", content: { name: "Ada" } };
        },
      },
    );
    await run(board, "s/ask", args, "call_3");
    expect(ids).toEqual(["call_3"]);
  });

  it("is on a server's request for the model", async () => {
    const ids: (string | undefined)[] = [];
    const params = {
      messages: [{ role: "user", content: { type: "text", text: "Hello?" } }],
      maxTokens: 10,
    };
    const board = await open(
      { s: { ...fixture("asks"), sampling: "allow" } },
      {
        onSampling: ({ callId }) => {
          ids.push(callId);
          return { model: "m", content: { type: "text", text: "Hello." } };
        },
      },
    );
    await run(board, "s/ask", { method: "sampling/createMessage", params }, "call_4");
    expect(ids).toEqual(["call_4"]);
  });
});

it("is on the event that reports the call", async () => {
  const board = await open({}, { native: [recordingTool([])] });
  const ids: string[] = [];
  board.on("call", ({ callId }) => ids.push(callId));
  await board.call("native/note", {}, { callId: "call_7" });
  expect(ids).toEqual(["call_7"]);
});

it("is made up, and another for each call, where the caller gives none", async () => {
  const ids: string[] = [];
  const board = await open({}, { native: [recordingTool(ids)] });
  await board.call("native/note");
  await board.call("native/note");
  expect(ids.every((id) => id.length > 0)).toBe(true);
  expect(new Set(ids).size).toBe(2);
});

it("is left out of a question that several calls may have caused", async () => {
  const ids: (string | undefined)[] = [];
  const onElicitation = ({ callId }: { callId?: string }) => {
    ids.push(callId);
    return { action: "accept", content: { name: "Ada" } } as const;
  };
  const board = await open({ s: fixture("asks") }, { onElicitation });
  const ask = (callId: string) =>
    board.call("s/ask", { method: "elicitation/create", params: FORM }, { callId, onElicitation });
  await Promise.all([ask("call_5"), ask("call_6")]);
  expect(ids).toContain(undefined);
});

function recordingTool(ids: string[]): NativeTool {
  return {
    name: "note",
    description: "Notes the id it is called with.",
    parameters: { type: "object" },
    execute: (id) => {
      ids.push(id);
      return { content: [{ type: "text", text: "noted" }] };
    },
  };
}
