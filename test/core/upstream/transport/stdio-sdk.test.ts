import { Client, type JSONRPCMessage } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import { settle } from "../../../support/manual-clock.ts";
import { openTransport } from "../../../support/stdio-peer.ts";

const RESULT = { content: [] };

describe("the SDK", () => {
  const messages = {
    "an answer to its own request": { jsonrpc: "2.0", id: 0, result: {} },
    "an error to its own request": { jsonrpc: "2.0", id: 1, error: { code: 1, message: "no" } },
    "an answer to an unknown id": { jsonrpc: "2.0", id: 777, result: {} },
    "a request of the server's": { jsonrpc: "2.0", id: 5, method: "roots/list" },
    "a request with an id like the host's": { jsonrpc: "2.0", id: 100_000_000, method: "ping" },
    "a notification": { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
    "progress of its own request": {
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: 0, progress: 1 },
    },
    "progress without parameters": { jsonrpc: "2.0", method: "notifications/progress" },
  };

  it.each(Object.entries(messages))("gets %s", async (_, message) => {
    const { answer, forSdk, junk } = openTransport();
    await answer(message);
    expect(forSdk).toEqual([message]);
    expect(junk).toEqual([]);
  });

  it("gets the result of the host's own initialize", async () => {
    const { transport, stdin, forSdk } = openTransport();
    const initialize = (id: number): JSONRPCMessage => ({
      jsonrpc: "2.0",
      id,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} },
    });
    await transport.send(initialize(1));
    transport.adoptInitializeResult({ protocolVersion: "2025-06-18" });
    await transport.send(initialize(2));
    const { id: _, ...notification } = initialize(3) as JsonObject;
    await transport.send(notification as unknown as JSONRPCMessage);
    await settle();
    expect(stdin.messages().map(({ id }) => id)).toEqual([1]);
    expect(forSdk).toEqual([
      { jsonrpc: "2.0", id: 2, result: { protocolVersion: "2025-06-18" } },
      { jsonrpc: "2.0", id: 0, result: { protocolVersion: "2025-06-18" } },
    ]);
  });

  it("connects over it, answers the server and closes with it", async () => {
    const { transport, stdin, answer, fatal } = openTransport();
    transport.adoptInitializeResult({
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "docs", version: "1.2.3" },
    });
    const client = new Client({ name: "host", version: "1" });
    await client.connect(transport);
    expect(client.getServerVersion()).toEqual({ name: "docs", version: "1.2.3" });
    await answer({ jsonrpc: "2.0", id: 9, method: "ping" });
    // The host has sent its own `initialized`.
    expect(stdin.messages()).toMatchObject([{ id: 9, result: {} }]);
    await client.close();
    await expect(client.ping()).rejects.toThrow();
    expect(fatal).toEqual([]);
  });

  it("cannot end the host by throwing on a message", async () => {
    const { transport, answer, call, junk } = openTransport();
    transport.onmessage = () => {
      throw new RangeError("too deep");
    };
    const { id, outcome } = await call();
    await answer({ jsonrpc: "2.0", method: "notifications/odd" }, { id, result: RESULT });
    expect(await outcome).toEqual(RESULT);
    expect(junk).toHaveLength(1);
  });

  it("is optional", async () => {
    const { transport, answer, junk } = openTransport();
    delete transport.onmessage;
    await answer({ jsonrpc: "2.0", method: "notifications/early" });
    expect(junk).toEqual([]);
  });
});
