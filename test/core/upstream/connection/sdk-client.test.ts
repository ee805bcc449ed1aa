import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import type { OnElicitation } from "../../../../src/core/types/elicitation.ts";
import { silentLogger } from "../../../../src/core/types/logger.ts";
import type { Handshake } from "../../../../src/core/upstream/connection/handshake.ts";
import { preloadSdk, SdkClient } from "../../../../src/core/upstream/connection/sdk-client.ts";
import type { HostAnswers } from "../../../../src/core/upstream/requests/host-answers.ts";
import { RequestRouter } from "../../../../src/core/upstream/requests/request-router.ts";
import { openTransport } from "../../../support/stdio-peer.ts";

const HANDSHAKE: Handshake = {
  era: "legacy",
  protocolVersion: "2025-11-25",
  statement: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "docs", version: "1" },
  },
  oddCapabilities: [],
};
const CHANGED = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });

function open(handshake = HANDSHAKE, answers: HostAnswers = {}) {
  const peer = openTransport();
  const { transport, clock } = peer;
  const router = new RequestRouter({
    server: "docs",
    wire: transport,
    answers,
    clock,
    logger: silentLogger,
    redact: (text) => text,
  });
  const failures: string[] = [];
  const errors: string[] = [];
  let changes = 0;
  const client = new SdkClient({
    transport,
    handshake,
    host: { name: "host", version: "1" },
    router,
    timeout: 1000,
    onToolsChanged: () => {
      changes += 1;
    },
    onContentChange: () => {},
    onError: ({ message }) => errors.push(message),
    onFailed: ({ code }) => failures.push(code),
  });
  return { ...peer, client, router, failures, errors, changes: () => changes };
}

/** Until the SDK is on top, however long it takes to load. */
async function attached(answer: (...messages: unknown[]) => Promise<void>): Promise<void> {
  await preloadSdk();
  for (let turn = 0; turn < 5; turn += 1) await answer();
}

describe("the SDK", () => {
  it("answers what a server asks one by one, lets nothing more be read meanwhile, and forgets what is far too much", async () => {
    const { answer, stdin, transport } = open();
    const asked = Array.from({ length: 2500 }, (_, id) => ping(id + 1));
    await answer(...asked);
    const answered = (): unknown[] => stdin.messages().map(({ id }) => id);
    let isRead = false;
    void transport.room?.()?.then(() => (isRead = true));
    await preloadSdk();
    // In each turn of the event loop, something else gets its turn.
    const count = (): number => stdin.writes.join("").split("\n").length - 1;
    const each: number[] = [];
    for (let last = 0; last < 2000; last = count()) {
      await new Promise(setImmediate);
      each.push(count() - last);
      if (last < 1900) expect(isRead).toBe(false);
    }
    expect(Math.max(...each)).toBeLessThanOrEqual(8);
    await answer();
    expect(answered()).toEqual(asked.slice(0, 2000).map(({ id }) => id));
    expect([isRead, transport.room?.()]).toEqual([true, undefined]);
    // As a server asks that waits for the answers.
    await answer(...Array.from({ length: 5 }, (_, id) => ping(9000 + id)));
    expect(answered()).toHaveLength(2005);
  });

  it.each([
    ["updates", "notifications/resources/updated", { uri: "x://y" }],
    ["cancellations of nothing", "notifications/cancelled", { requestId: 7 }],
    ["reports that nobody knows", "notifications/nothing", {}],
  ])(
    "takes %s a few in a turn too, and lets nothing more be read meanwhile",
    async (_, method, params) => {
      const { answer, stdin, transport } = open();
      await attached(answer);
      // As many as fit into one chunk; the answer tells when all have had their turn.
      const reports = Array.from({ length: 600 }, () => ({ jsonrpc: "2.0", method, params }));
      for (const each of [...reports, ping(1)]) transport.onmessage?.(each as JSONRPCMessage);
      let isRead = false;
      void transport.room?.()?.then(() => (isRead = true));
      let turns = 0;
      for (; stdin.messages().length === 0; turns += 1) {
        if (turns < 50) expect(isRead).toBe(false);
        await new Promise(setImmediate);
      }
      expect(turns).toBeGreaterThan(50);
      expect([isRead, transport.room?.()]).toEqual([true, undefined]);
    },
  );

  it("forgets what a server asked and has cancelled before its turn", async () => {
    const { answer, stdin } = open();
    const cancelled = { method: "notifications/cancelled", params: { requestId: 2 } };
    await answer(ping(1), ping(2), ping(3), { jsonrpc: "2.0", ...cancelled });
    await attached(answer);
    expect(stdin.messages().map(({ id }) => id)).toEqual([1, 3]);
  });

  it("hears that a person is through with a page after it was asked to show it", async () => {
    const completed: string[] = [];
    const onElicitation: OnElicitation = async (request) => {
      if (request.mode === "url") await request.completed.then(() => completed.push(request.url));
      return { action: "accept" };
    };
    const { answer, stdin } = open(HANDSHAKE, { onElicitation });
    const params = { mode: "url", message: "Look.", elicitationId: "a", url: "https://x.example/" };
    const page = { jsonrpc: "2.0", id: 2, method: "elicitation/create", params };
    const method = "notifications/elicitation/complete";
    await attached(answer);
    await answer(ping(1), page, { jsonrpc: "2.0", method, params: { elicitationId: "a" } });
    await attached(answer);
    expect(completed).toEqual(["https://x.example/"]);
    expect(stdin.messages().map(({ id }) => id)).toEqual([1, 2]);
  });

  it("answers what the server sent before it was loaded, in order and once", async () => {
    const { answer, stdin, changes, errors, failures } = open();
    await answer(ping(1), CHANGED);
    await answer(ping(2));
    await attached(answer);
    await answer(ping(3), CHANGED);
    expect(stdin.messages()).toEqual([1, 2, 3].map((id) => ({ jsonrpc: "2.0", id, result: {} })));
    expect(changes()).toBe(2);
    expect([errors, failures]).toEqual([[], []]);
  });

  it("attributes what the server asked before it was loaded to no call that began meanwhile", async () => {
    const asked: string[] = [];
    const by =
      (whom: string): OnElicitation =>
      ({ message }) => {
        asked.push(`${whom}: ${message}`);
        return { action: "decline" };
      };
    const onElicitation = by("the board");
    const { answer, router, stdin, transport } = open(HANDSHAKE, { onElicitation });
    const question = (id: number, message: string) => {
      const params = { message, requestedSchema: { type: "object", properties: {} } };
      return { jsonrpc: "2.0" as const, id, method: "elicitation/create", params };
    };
    // At once: in this process the SDK may be loaded already.
    transport.onmessage?.(question(1, "early"));
    const handlers = { onElicitation: by("the caller") };
    const options = { timeout: 60_000, ceiling: 60_000, handlers };
    const call = router.callTool("legacy", "add", {}, options).catch(() => {});
    await attached(answer);
    await answer(question(2, "late"));
    expect(asked).toEqual(["the board: early", "the caller: late"]);
    const { id } = stdin.messages().find(({ method }) => method === "tools/call") ?? {};
    await answer({ jsonrpc: "2.0", id, result: { content: [] } });
    await call;
  });

  it("is not waited for by a report, nor by a report of the host's", async () => {
    const { answer, stdin, changes, client } = open();
    await answer(CHANGED);
    expect(changes()).toBe(1);
    const sent = client.sendRootsListChanged();
    await answer();
    expect(stdin.messages()).toMatchObject([{ method: "notifications/roots/list_changed" }]);
    await sent;
  });

  it("sends nothing of its own to a server that is silent", async () => {
    const { answer, stdin } = open();
    await attached(answer);
    expect(stdin.writes).toEqual([]);
  });

  it("reports a handshake that it does not take, and keeps nothing that the server sends", async () => {
    const { answer, failures, transport } = open({
      ...HANDSHAKE,
      statement: { protocolVersion: "1999-01-01", capabilities: {} },
    });
    await answer(ping(1));
    await attached(answer);
    expect(failures).toEqual(["HANDSHAKE_FAILED"]);
    expect(transport.onmessage).toBeUndefined();
  });

  it("is over with the conversation", async () => {
    const { client, transport } = open();
    expect(client.transport).toBe(transport);
    await transport.close();
    expect(client.transport).toBeUndefined();
  });
});
