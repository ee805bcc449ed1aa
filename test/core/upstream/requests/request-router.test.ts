// A legacy server over HTTP that asks its caller a question in the middle of a call.

import type { ServerResponse } from "node:http";
import { describe, expect, it, vi } from "vitest";
import type { OnElicitation } from "../../../../src/core/types/elicitation.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import type { Root } from "../../../../src/core/types/roots.ts";
import { RequestRouter } from "../../../../src/core/upstream/requests/request-router.ts";
import { LightSignal } from "../../../../src/util/abort.ts";
import { serve } from "../../net/servers.ts";
import { closeBoards, open, textOf } from "../../../support/boards.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { eventually } from "../../../support/processes.ts";
import { openTransport } from "../../../support/stdio-peer.ts";

closeBoards();

const QUESTION = {
  message: "Who are you?",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string" },
      size: { type: "number", default: 3 },
      sure: { type: "boolean", default: false },
    },
  },
};

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
  ])("gets what was %s, and the call goes on", async (_, onElicitation, told) => {
    const { url, capabilities } = await startAsking();
    const board = await open({ docs: { url, protocol: "legacy" } }, { onElicitation });
    expect(capabilities).toEqual([{ elicitation: { form: {}, url: {} } }]);
    expect(textOf(await board.call("docs/ask"))).toBe(told);
  });

  it("waits for a person longer than for anything else", async () => {
    const { url } = await startAsking();
    const clock = new ManualClock();
    const onElicitation: OnElicitation = async () => {
      await clock.advance(3_600_000);
      return { action: "decline" };
    };
    const board = await open(
      { docs: { url, protocol: "legacy", toolTimeout: 150 } },
      { onElicitation, clock },
    );
    expect(textOf(await board.call("docs/ask"))).toBe('{"action":"decline"}');
  });

  it("gets no capability, and is refused, without a callback", async () => {
    const { url, capabilities } = await startAsking();
    const board = await open({ docs: { url, protocol: "legacy" } });
    expect(capabilities).toEqual([{}]);
    expect(textOf(await board.call("docs/ask"))).toBe("-32601");
  });
});

describe("a legacy server that is offered roots", () => {
  it("is ready when it has had the time to ask for them", async () => {
    const { url } = await startAsking();
    const clock = new ManualClock();
    const offered = { docs: { url, protocol: "legacy" } } as const;
    let isReady = false;
    const opening = open(offered, { roots: ["file:///srv/data"], clock });
    void opening.then(() => (isReady = true));
    await eventually(() => clock.next() === 300);
    expect(isReady).toBe(false);
    await clock.advance(300);
    expect(textOf(await (await opening).call("docs/ask"))).toBe("-32601");
  });

  it("is ready soon after it was told", async () => {
    const clock = new ManualClock();
    const list = (): Root[] => [{ uri: "file:///srv/data", name: "data" }];
    const answers = { roots: { list, onChange: () => () => {} } };
    const { transport: wire } = openTransport();
    const [logger, redact] = [recordingLogger(), (text: string) => text];
    const router = new RequestRouter({ server: "s", wire, answers, clock, logger, redact });
    let isReady = false;
    const taken = router.untilRootsTaken().then(() => (isReady = true));
    const answer = await router.answer("roots/list", {}, new AbortController().signal);
    expect(answer).toEqual({ roots: list() });
    await clock.advance(49);
    expect(isReady).toBe(false);
    await clock.advance(1);
    await taken;
    expect(clock.next()).toBeUndefined();
  });
});

describe("a call that its client gives up", () => {
  it("makes nothing for a question that nobody will be asked", async () => {
    const made = vi.spyOn(LightSignal.prototype, "signal", "get");
    const { transport: wire } = openTransport();
    const answers = { onElicitation: () => ({ action: "accept" as const }) };
    const [clock, logger, redact] = [new ManualClock(), recordingLogger(), (text: string) => text];
    const router = new RequestRouter({ server: "s", wire, answers, clock, logger, redact });
    const signal = new LightSignal();
    const result = router.callTool("legacy", "ask", {}, { timeout: 1_000, ceiling: 1_000, signal });
    signal.abort();
    await expect(result).rejects.toThrow("cancelled");
    expect(made).not.toHaveBeenCalled();
    made.mockRestore();
  });
});
