// What comes up in a call where the board's own handlers answer it, and not the client that made the call.

import { expect, it } from "vitest";
import type { Endpoint } from "../../../../src/serve/endpoint/endpoint.ts";
import { closeBoards, fixture, open } from "../../../support/boards.ts";
import { closeServed, connectLegacy, connectModern, serve } from "../harness.ts";

closeBoards();
closeServed();

const FORM = { type: "object", properties: { name: { type: "string" } } };
const ELICIT = {
  method: "elicitation/create",
  params: { message: "Who?", requestedSchema: FORM, mode: "form" },
};
const SAMPLE = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: "Hm?" } }], maxTokens: 9 },
};

it.each([
  ["legacy", connectLegacy],
  ["modern", connectModern],
])("a %s client is asked nothing, and hears that its call waits", async (_, connect) => {
  const guards = { approval: "ask", sampling: "allow" } as const;
  const asked: string[] = [];
  const served: { endpoint?: Endpoint } = {};
  const board = await open(
    {
      old: { ...fixture("asks"), ...guards },
      new: { ...fixture("asks-modern"), ...guards },
      shelf: { ...fixture("library"), approval: { tools: { "resource:*": "ask" } } },
    },
    {
      onApproval({ callId, tool, caller }) {
        asked.push(`${tool} for ${caller}`);
        served.endpoint?.sayWaiting(callId, `waits for approval of ${tool}`);
        return "once";
      },
      onElicitation({ server, message }) {
        asked.push(`${server}: ${message}`);
        return { action: "accept", content: { name: "Ada" } };
      },
      onSampling: {
        handler({ server }) {
          asked.push(`${server} samples`);
          return { model: "m", content: { type: "text", text: "Well." } };
        },
      },
    },
  );
  const { url, endpoint } = await serve(board, { questions: "board" });
  served.endpoint = endpoint;
  const toClient: string[] = [];
  const client = await connect(url, {
    capabilities: { elicitation: { form: {} }, sampling: {} },
  });
  client.setRequestHandler("elicitation/create", async () => {
    toClient.push("elicitation");
    return { action: "decline" };
  });
  client.setRequestHandler("sampling/createMessage", async () => {
    toClient.push("sampling");
    return { role: "assistant", model: "x", content: { type: "text", text: "" } };
  });

  const progress: unknown[] = [];
  const call = (name: string, args: Record<string, unknown>) =>
    client.callTool(
      { name, arguments: args },
      { onprogress: ({ message }) => void progress.push(message) },
    );
  expect(JSON.stringify((await call("mcp__old__ask", ELICIT)).content)).toContain("Ada");
  expect(JSON.stringify((await call("mcp__old__ask", SAMPLE)).content)).toContain("Well.");
  const both = { inputRequests: { who: ELICIT, model: SAMPLE } };
  const answered = JSON.stringify((await call("mcp__new__ask", both)).content);
  expect(answered).toContain("Ada");
  expect(answered).toContain("Well.");

  const [resource] = (await client.listResources()).resources;
  await client.readResource({ uri: resource?.uri ?? "" });
  expect(asked.at(-1)).toMatch(/^shelf\/resource:.* for alice$/);

  expect(toClient).toEqual([]);
  expect(asked.filter((each) => each.startsWith("old"))).toEqual([
    "old/ask for alice",
    "old: Who?",
    "old/ask for alice",
    "old samples",
  ]);
  expect(new Set(asked.filter((each) => each.startsWith("new")))).toEqual(
    new Set(["new/ask for alice", "new: Who?", "new samples"]),
  );
  expect(progress).toContain("waits for approval of old/ask");
});
