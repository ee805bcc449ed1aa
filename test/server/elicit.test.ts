import type { ServerResponse } from "node:http";
import { describe, expect, it, vi } from "vitest";
import type { ElicitationAnswer, OnElicitation } from "../../src/model/elicitation.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { elicitThrough } from "../../src/server/elicit.ts";
import { serve } from "../net/servers.ts";
import { closeBoards, open, textOf } from "../support/boards.ts";
import { recordingLogger } from "../support/logger.ts";

closeBoards();

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string" },
    size: { type: "number", default: 3 },
    sure: { type: "boolean", default: false },
  },
};
const QUESTION = { message: "Who are you?", requestedSchema: SCHEMA };

function through(ask: OnElicitation) {
  const logger = recordingLogger();
  return { elicit: elicitThrough("docs", ask, logger), logger };
}

describe("a question", () => {
  it("is put to the callback, in plain text", async () => {
    const ask = vi.fn<OnElicitation>(() => ({ action: "cancel" }));
    const message = `\u001b[31mWho\u202e?\n${"x".repeat(20_000)}`;
    await through(ask).elicit({ ...QUESTION, message, mode: "form" });
    const request = ask.mock.calls[0]?.[0];
    expect(request).toMatchObject({ server: "docs", mode: "form", schema: SCHEMA });
    expect(request?.message).toMatch(/^Who\?\nx+…$/);
    expect(request?.message).toHaveLength(16 * 1024);
  });

  it.each<[ElicitationAnswer, JsonObject]>([
    [{ action: "decline" }, { action: "decline" }],
    [{ action: "cancel" }, { action: "cancel" }],
    [
      { action: "accept", content: { name: "Ada" } },
      { action: "accept", content: { name: "Ada", size: 3, sure: false } },
    ],
    [
      { action: "accept", content: { name: "Ada", size: 5, sure: true } },
      { action: "accept", content: { name: "Ada", size: 5, sure: true } },
    ],
    [
      { action: "accept", content: "Ada" as unknown as JsonObject },
      { action: "accept", content: { size: 3, sure: false } },
    ],
  ])("answered with %j goes back as %j", async (answer, expected) => {
    expect(await through(async () => answer).elicit(QUESTION)).toEqual(expected);
  });

  it("has a default for a field of any name", async () => {
    const requestedSchema = JSON.parse(
      '{ "properties": { "__proto__": { "default": 1 }, "odd": 5, "none": {} } }',
    );
    const content = { none: undefined } as JsonObject;
    const { elicit } = through(() => ({ action: "accept", content }));
    const answer = await elicit({ message: "?", requestedSchema });
    expect(JSON.stringify(answer)).toBe('{"action":"accept","content":{"__proto__":1}}');
  });

  it("is declined where the callback fails, and the log says why", async () => {
    for (const reason of [new Error("no\nterminal"), "no terminal"]) {
      const { elicit, logger } = through(() => Promise.reject(reason));
      expect(await elicit(QUESTION)).toEqual({ action: "decline" });
      expect(logger.lines).toEqual([
        {
          level: "warn",
          message: "a question of the server's was declined: its callback failed",
          fields: { reason: "no terminal" },
        },
      ]);
    }
  });

  it.each([
    undefined,
    null,
    "x",
    {},
    { message: "Go there", mode: "url", url: "https://example.com" },
    { message: "?", requestedSchema: [] },
  ])("of a kind that was not offered is declined: %j", async (params) => {
    const ask = vi.fn<OnElicitation>();
    const { elicit, logger } = through(ask);
    expect(await elicit(params)).toEqual({ action: "decline" });
    expect(ask).not.toHaveBeenCalled();
    expect(logger.lines).toHaveLength(1);
  });

  it("without words is one without words", async () => {
    const ask = vi.fn<OnElicitation>(() => ({ action: "decline" }));
    await through(ask).elicit({ message: 5, requestedSchema: SCHEMA });
    expect(ask.mock.calls[0]?.[0].message).toBe("");
  });
});

interface Message {
  id?: number | string;
  method?: string;
  params?: JsonObject;
  result?: JsonObject;
  error?: JsonObject;
}

/** A legacy server whose tool asks its caller a question in the middle of the call. */
async function startAsking() {
  const capabilities: unknown[] = [];
  let pending: { id: unknown; stream: ServerResponse } | undefined;
  const url = await serve((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      if (request.method !== "POST") return response.writeHead(405).end();
      const message = JSON.parse(body) as Message;
      const { id, method } = message;
      const reply = (result: JsonObject): void => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      };
      if (method === "initialize") {
        capabilities.push(message.params?.["capabilities"]);
        const serverInfo = { name: "asking", version: "1" };
        reply({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo });
      } else if (method === "tools/list") {
        reply({ tools: [{ name: "ask", inputSchema: { type: "object" } }] });
      } else if (method === "tools/call") {
        response.writeHead(200, { "content-type": "text/event-stream" });
        pending = { id, stream: response };
        const ask = { jsonrpc: "2.0", id: 7, method: "elicitation/create", params: QUESTION };
        response.write(`data: ${JSON.stringify(ask)}\n\n`);
      } else {
        response.writeHead(202).end();
        if (id !== 7 || pending === undefined) return undefined;
        const text = JSON.stringify(message.result ?? message.error?.["code"]);
        const result = { content: [{ type: "text", text }] };
        const answer = { jsonrpc: "2.0", id: pending.id, result };
        pending.stream.end(`data: ${JSON.stringify(answer)}\n\n`);
      }
      return undefined;
    });
  });
  return { url, capabilities };
}

describe("a legacy server that asks during a call", () => {
  it.each<[string, OnElicitation, string]>([
    [
      "accepted",
      () => ({ action: "accept", content: { name: "Ada" } }),
      '{"action":"accept","content":{"name":"Ada","size":3,"sure":false}}',
    ],
    ["declined", () => ({ action: "decline" }), '{"action":"decline"}'],
    ["cancelled", () => ({ action: "cancel" }), '{"action":"cancel"}'],
    ["lost", () => Promise.reject(new Error("gone")), '{"action":"decline"}'],
  ])("is told what was %s, and the call goes on", async (_, onElicitation, told) => {
    const { url, capabilities } = await startAsking();
    const board = await open({ docs: { url, protocol: "legacy" } }, { onElicitation });
    expect(capabilities).toEqual([{ elicitation: { form: {} } }]);
    expect(textOf(await board.call("docs/ask"))).toBe(told);
  });

  it("waits for a person longer than for anything else", async () => {
    const { url } = await startAsking();
    const onElicitation: OnElicitation = async () => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      return { action: "decline" };
    };
    const board = await open(
      { docs: { url, protocol: "legacy", toolTimeout: 150 } },
      { onElicitation },
    );
    expect(textOf(await board.call("docs/ask"))).toBe('{"action":"decline"}');
  });

  it("is not offered it, and is refused, without a callback", async () => {
    const { url, capabilities } = await startAsking();
    const board = await open({ docs: { url, protocol: "legacy" } });
    expect(capabilities).toEqual([{}]);
    expect(textOf(await board.call("docs/ask"))).toBe("-32601");
  });
});
